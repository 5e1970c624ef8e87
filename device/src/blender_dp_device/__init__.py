"""The part of blender-dp that runs on a device: it verifies, randomises, accounts, sends and searches."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blender_dp_device.agent.account import Sent, Uploaded
    from blender_dp_device.agent.agent import Agent
    from blender_dp_device.agent.client import BusyError, CollectorClient, NoResponseError, ResponseError
    from blender_dp_device.agent.search_index import SearchIndex
    from blender_dp_device.channel.device import Device, Report
    from blender_dp_device.digests import DocumentDigest, ListDigest
    from blender_dp_device.errors import BlenderError, DocumentError, ParameterError, StateError
    from blender_dp_device.records.canonical import canonical_query, canonical_url
    from blender_dp_device.records.head_list import HeadList
    from blender_dp_device.records.personal import looks_personal
    from blender_dp_device.records.record import Record
    from blender_dp_device.records.reporting_list import ChannelSettings, ReportingList

# Loaded on first use: a device that only randomises needs neither SQLite nor sockets.
_MODULES = {
    "agent.account": ("Sent", "Uploaded"),
    "agent.agent": ("Agent",),
    "agent.client": ("BusyError", "CollectorClient", "NoResponseError", "ResponseError"),
    "agent.search_index": ("SearchIndex",),
    "channel.device": ("Device", "Report"),
    "digests": ("DocumentDigest", "ListDigest"),
    "errors": ("BlenderError", "DocumentError", "ParameterError", "StateError"),
    "records.canonical": ("canonical_query", "canonical_url"),
    "records.head_list": ("HeadList",),
    "records.personal": ("looks_personal",),
    "records.record": ("Record",),
    "records.reporting_list": ("ChannelSettings", "ReportingList"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Agent", "BlenderError", "BusyError", "ChannelSettings", "CollectorClient", "Device", "DocumentDigest",
    "DocumentError", "HeadList", "ListDigest", "NoResponseError", "ParameterError", "Record", "Report", "ReportingList",
    "ResponseError", "SearchIndex", "Sent", "StateError", "Uploaded", "canonical_query", "canonical_url", "looks_personal",
]  # fmt: skip


def __getattr__(name: str) -> Any:  # noqa: ANN401 (every public name has its own type, above)
    if name not in _HOMES:
        raise AttributeError(f"module 'blender_dp_device' has no attribute {name!r}")
    return getattr(import_module(f"blender_dp_device.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
