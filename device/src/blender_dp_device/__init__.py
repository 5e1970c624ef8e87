"""Everything of blender-dp that runs on a device: it verifies, randomises, keeps account, sends and searches."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blender_dp_device.agent.account import Sent as Sent
    from blender_dp_device.agent.account import Uploaded as Uploaded
    from blender_dp_device.agent.agent import Agent as Agent
    from blender_dp_device.agent.client import BusyError as BusyError
    from blender_dp_device.agent.client import CollectorClient as CollectorClient
    from blender_dp_device.agent.client import NoResponseError as NoResponseError
    from blender_dp_device.agent.client import ResponseError as ResponseError
    from blender_dp_device.agent.search_index import SearchIndex as SearchIndex
    from blender_dp_device.channel.device import Device as Device
    from blender_dp_device.channel.device import Report as Report
    from blender_dp_device.digests import DocumentDigest as DocumentDigest
    from blender_dp_device.digests import ListDigest as ListDigest
    from blender_dp_device.errors import BlenderError as BlenderError
    from blender_dp_device.errors import DocumentError as DocumentError
    from blender_dp_device.errors import ParameterError as ParameterError
    from blender_dp_device.errors import StateError as StateError
    from blender_dp_device.records.canonical import canonical_query as canonical_query
    from blender_dp_device.records.canonical import canonical_url as canonical_url
    from blender_dp_device.records.head_list import HeadList as HeadList
    from blender_dp_device.records.personal import looks_personal as looks_personal
    from blender_dp_device.records.record import Record as Record
    from blender_dp_device.records.reporting_list import ChannelSettings as ChannelSettings
    from blender_dp_device.records.reporting_list import ReportingList as ReportingList

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

__all__ = sorted(_HOMES)  # noqa: PLE0605 (a list of strings, from the table above)


def __getattr__(name: str) -> Any:  # noqa: ANN401 (every public name has its own type, above)
    if name not in _HOMES:
        raise AttributeError(f"module 'blender_dp_device' has no attribute {name!r}")
    return getattr(import_module(f"blender_dp_device.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
