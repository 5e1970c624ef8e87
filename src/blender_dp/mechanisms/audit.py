"""The audit of a whole collection: every integer that decides a private outcome, and what it costs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from blender_dp.client.channel import Channel
from blender_dp.errors import DocumentError
from blender_dp.mechanisms import laplace_histogram, laplace_threshold, two_stage_response
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.privacy.finding import Finding
from blender_dp.privacy.loss import Loss
from blender_dp.records.head_list import HeadList, read_json
from blender_dp.records.parameters import Parameters


@dataclass(frozen=True)
class Tables:
    """The shipped integers: nothing else decides what is listed, released or reported."""

    discovery: LaplaceThreshold
    calibration: LaplaceHistogram
    channel: Channel

    @classmethod
    def of(cls, parameters: Parameters, head_list: HeadList) -> Tables:
        """What this package ships for these parameters and this list."""
        p = parameters
        return cls(
            LaplaceThreshold.of(p.epsilon, p.delta, p.m_o),
            LaplaceHistogram.of(p.epsilon, p.m_o),
            Channel.of(head_list, p.epsilon, p.delta, p.f_c, p.m_c),
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


def audit_tables(tables: Tables, parameters: Parameters) -> list[Finding]:
    """Compute the exact worst case of every mechanism against what it claims."""
    p = parameters
    return [
        laplace_threshold.audit(tables.discovery, Loss(p.epsilon, p.delta)),
        laplace_histogram.audit(tables.calibration, Loss(p.epsilon, Fraction(0))),
        two_stage_response.audit(tables.channel, Loss(p.epsilon / p.m_c, p.delta / p.m_c)),
    ]
