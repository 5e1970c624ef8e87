"""The head of a search log, learnt with differential privacy from opt-in users and clients together."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blender_dp.errors import BlenderError as BlenderError
    from blender_dp.errors import DocumentError as DocumentError
    from blender_dp.errors import GroupError as GroupError
    from blender_dp.errors import LogError as LogError
    from blender_dp.errors import OutsideTheoremError as OutsideTheoremError
    from blender_dp.errors import ParameterError as ParameterError
    from blender_dp.errors import PrivacyWarning as PrivacyWarning
    from blender_dp.evaluation import Truth as Truth
    from blender_dp.evaluation import score as score
    from blender_dp.evaluation.evaluate import evaluate as evaluate
    from blender_dp.logs import Columns as Columns
    from blender_dp.logs import aol_like as aol_like
    from blender_dp.logs import yandex_like as yandex_like
    from blender_dp.pipeline.blender import Blender as Blender
    from blender_dp.planning import plan as plan
    from blender_dp.release import Release as Release
    from blender_dp.sampling import Entropy as Entropy
    from blender_dp_device.channel import Device as Device
    from blender_dp_device.records.canonical import canonical_query as canonical_query
    from blender_dp_device.records.canonical import canonical_url as canonical_url
    from blender_dp_device.records.head_list import HeadList as HeadList
    from blender_dp_device.records.reporting_list import ChannelSettings as ChannelSettings
    from blender_dp_device.records.reporting_list import ReportingList as ReportingList

# Loaded on first use: most of it needs numpy, pyarrow or DuckDB, and a verb of the command seldom needs all.
_HOMES = {
    "Blender": "blender_dp.pipeline.blender",
    "BlenderError": "blender_dp.errors",
    "ChannelSettings": "blender_dp_device.records.reporting_list",
    "Columns": "blender_dp.logs",
    "Device": "blender_dp_device.channel",
    "DocumentError": "blender_dp.errors",
    "Entropy": "blender_dp.sampling",
    "GroupError": "blender_dp.errors",
    "HeadList": "blender_dp_device.records.head_list",
    "LogError": "blender_dp.errors",
    "OutsideTheoremError": "blender_dp.errors",
    "ParameterError": "blender_dp.errors",
    "PrivacyWarning": "blender_dp.errors",
    "Release": "blender_dp.release",
    "ReportingList": "blender_dp_device.records.reporting_list",
    "Truth": "blender_dp.evaluation",
    "aol_like": "blender_dp.logs",
    "canonical_query": "blender_dp_device.records.canonical",
    "canonical_url": "blender_dp_device.records.canonical",
    "evaluate": "blender_dp.evaluation.evaluate",
    "plan": "blender_dp.planning",
    "score": "blender_dp.evaluation",
    "yandex_like": "blender_dp.logs",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 (a list of strings, made from the one table above)


def __getattr__(name: str) -> Any:  # noqa: ANN401 (every public name has its own type, above)
    if name not in _HOMES:
        raise AttributeError(f"module 'blender_dp' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
