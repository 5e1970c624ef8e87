"""The audit of a whole collection: every integer that decides a private outcome, and what it costs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from blender_dp.client.channel import Channel
from blender_dp.client.subset import SubsetChannel, channel_of
from blender_dp.errors import DocumentError
from blender_dp.mechanisms import (
    laplace_histogram,
    laplace_threshold,
    subset_response,
    truncated_geometric,
    two_stage_response,
)
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.privacy.finding import Finding
from blender_dp.privacy.loss import Loss
from blender_dp.profiles import DISCOVERIES, RANDOMISERS
from blender_dp.records.head_list import HeadList, read_json
from blender_dp.records.parameters import Parameters
from blender_dp.release.manifest import Settings
from blender_dp.stages.randomiser import Design


@dataclass(frozen=True)
class Tables:
    """The shipped integers: nothing else decides what is listed, released or reported."""

    discovery: LaplaceThreshold | TruncatedGeometric
    calibration: LaplaceHistogram
    channel: Channel | SubsetChannel

    @classmethod
    def of(cls, parameters: Parameters, head_list: HeadList, design: Design | None = None) -> Tables:
        """What this package ships for these parameters and this list, with the first design that comes into question."""
        p, randomiser = parameters, RANDOMISERS[parameters.randomiser]
        chosen = design or randomiser.designs(p, head_list)[0]
        return cls(
            DISCOVERIES[p.discovery].of(p.epsilon, p.delta, p.m_o),
            LaplaceHistogram.of(p.epsilon, p.m_o),
            channel_of(head_list, randomiser.settings(p, chosen)),
        )

    def to_document(self) -> dict[str, Any]:
        """The integers as plain JSON values: as text, since most of them do not fit a double."""
        document: dict[str, Any] = json.loads(_ADAPTER.dump_json(self), parse_int=str)
        return document

    @classmethod
    def load(cls, path: Path) -> Tables:
        """Read the integers back from an audit's JSON."""
        document = read_json(path)
        try:
            return _ADAPTER.validate_python(document["tables"] if isinstance(document, dict) else None)
        except (KeyError, ValidationError):
            fix = "Give what 'blender-dp audit --json' printed"
            raise DocumentError(str(path), "does not hold the tables of an audit", fix) from None


_ADAPTER = TypeAdapter(Tables)


def made_with(settings: Settings) -> Parameters:
    """The parameters of a release, with f_C and the subset size as they were chosen."""
    return Parameters.of(
        epsilon=settings.epsilon,
        delta=settings.delta,
        f_o=settings.f_o,
        f_c=settings.f_c,
        subset_size=settings.subset_size if settings.randomiser == "subset" else None,
        m_o=settings.m_o,
        m_c=settings.m_c,
        max_queries=settings.max_queries,
        profile=settings.profile,
        discovery=settings.discovery,
        randomiser=settings.randomiser,
        estimator=settings.estimator,
    )


def audit_tables(tables: Tables, parameters: Parameters) -> list[Finding]:
    """Compute the exact worst case of every mechanism against what it claims."""
    p = parameters
    local = RANDOMISERS[p.randomiser].loss(p)
    return [
        _discovery(tables, Loss(p.epsilon, p.delta)),
        laplace_histogram.audit(tables.calibration, Loss(p.epsilon, Fraction(0))),
        _channel(tables.channel, Loss(local.epsilon / p.m_c, local.delta / p.m_c)),
    ]


def _discovery(tables: Tables, claim: Loss) -> Finding:
    """Public candidates are counted with calibration's noise, which `laplace_threshold` has anyway."""
    if isinstance(tables.discovery, LaplaceThreshold):
        return laplace_threshold.audit(tables.discovery, claim)
    return truncated_geometric.audit(tables.discovery, claim, tables.calibration)


def _channel(channel: Channel | SubsetChannel, claim: Loss) -> Finding:
    if isinstance(channel, Channel):
        return two_stage_response.audit(channel, claim)
    return subset_response.audit(channel, claim)
