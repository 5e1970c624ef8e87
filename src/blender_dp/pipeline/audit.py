"""The audit of a whole collection: the exact privacy loss of all integers that decide a private outcome."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from blender_dp.errors import DocumentError
from blender_dp.mechanisms import (
    laplace_histogram,
    laplace_threshold,
    subset_response,
    truncated_geometric,
    two_stage_response,
)
from blender_dp.mechanisms.discoveries import DISCOVERIES
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.parameters import Parameters
from blender_dp.pipeline.profiles import RANDOMISERS
from blender_dp.privacy.finding import Finding, nothing_holds
from blender_dp.privacy.loss import Loss
from blender_dp_device.channel.subset import SubsetChannel, channel_of
from blender_dp_device.channel.two_stage import Channel
from blender_dp_device.records.head_list import HeadList, read_json
from blender_dp_device.records.reporting_list import ChannelSettings

CHANNEL = two_stage_response.NAME
"""The name of findings about clients' reports."""


@dataclass(frozen=True)
class Tables:
    """The integers in use: nothing else decides what is listed, released or reported."""

    discovery: LaplaceThreshold | TruncatedGeometric
    calibration: LaplaceHistogram
    channels: dict[str, Channel | SubsetChannel]
    """The clients' channel in every design that may be chosen, keyed by the name of the design."""

    @classmethod
    def of(cls, parameters: Parameters, head_list: HeadList, channel: ChannelSettings | None = None) -> Tables:
        """The tables for these parameters and this list: with the given channel, or with all that may be chosen for it."""
        p, randomiser = parameters, RANDOMISERS[parameters.randomiser]
        designs = [channel] if channel else [randomiser.settings(p, design) for design in randomiser.designs(p, head_list)]
        return cls(
            DISCOVERIES[p.discovery].of(p.epsilon, p.delta, p.m_o),
            LaplaceHistogram.of(p.epsilon, p.m_o),
            {_design(settings): channel_of(head_list, settings) for settings in designs},
        )

    def to_document(self) -> dict[str, Any]:
        """The integers as plain JSON values: as strings, since most of them do not fit a double."""
        document: dict[str, Any] = json.loads(_ADAPTER.dump_json(self), parse_int=str)
        return document

    @classmethod
    def load(cls, path: Path, expected: Tables) -> Tables:
        """Read the integers from an audit's JSON; they must be for the same list and designs as the expected ones."""
        document, fix = read_json(path), "Use the output of 'blender-dp audit --json'"
        written = document.get("tables") if isinstance(document, dict) else None
        try:
            tables = _ADAPTER.validate_python(written)
        except ValidationError:
            raise DocumentError(str(path), "does not contain the tables of an audit", fix) from None
        if tables.to_document() != written:
            raise DocumentError(str(path), "its tables have fields or digits that no sampler uses", fix)
        if problem := tables._differs(expected):
            raise DocumentError(str(path), problem, "Use the list, parameters and profile that the tables were made with")
        return tables

    def _differs(self, expected: Tables) -> str | None:
        """Why these tables, whatever their integers, are not those of the audited collection; None if they are."""
        if type(self.discovery) is not type(expected.discovery):
            return "it is for another discovery mechanism"
        if self.channels.keys() != expected.channels.keys():
            return f"it has the channels {sorted(self.channels)}, but {sorted(expected.channels)} may be chosen"
        counts = {channel.url_counts for channel in expected.channels.values()}
        if any(channel.url_counts not in counts for channel in self.channels.values()):
            return "its channels are for another list: the numbers of queries and URLs differ"
        return None


_ADAPTER = TypeAdapter(Tables)


def audit_tables(tables: Tables, parameters: Parameters, head_list: HeadList) -> list[Finding]:
    """Compute the exact worst case of every mechanism, and of the clients' channel in every design, against its claim."""
    p = parameters
    local = RANDOMISERS[p.randomiser].loss(p)
    per_report = Loss(local.epsilon / p.m_c, local.delta / p.m_c)
    channels = {name: _channel(channel, per_report, head_list) for name, channel in tables.channels.items()}
    named = {name: f"{CHANNEL} ({name})" if len(channels) > 1 else CHANNEL for name in channels}
    return [
        _discovery(tables, Loss(p.epsilon, p.delta)),
        laplace_histogram.audit(tables.calibration, Loss(p.epsilon, Fraction(0))),
        *(replace(finding, mechanism=named[name]) for name, finding in channels.items()),
    ]


def _design(channel: ChannelSettings) -> str:
    return f"f_C {channel.f_c}, {channel.subset_size} per report"


def _discovery(tables: Tables, claim: Loss) -> Finding:
    """Audit discovery; public candidates are counted with calibration's noise."""
    if isinstance(tables.discovery, LaplaceThreshold):
        return laplace_threshold.audit(tables.discovery, claim, tables.calibration)
    return truncated_geometric.audit(tables.discovery, claim, tables.calibration)


def _channel(channel: Channel | SubsetChannel, claim: Loss, head_list: HeadList) -> Finding:
    if channel.url_counts != head_list.url_counts:
        return nothing_holds(CHANNEL, claim)  # it would report cells of another list
    if isinstance(channel, Channel):
        return two_stage_response.audit(channel, claim)
    return subset_response.audit(channel, claim)
