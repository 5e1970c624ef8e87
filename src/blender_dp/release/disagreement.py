"""Do opt-in users and clients agree? The report is computed from a release alone, so it costs no privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blender_dp.release.estimates import QueryEstimate, RecordEstimate
from blender_dp.stages import Estimate, disagreement


@dataclass(frozen=True)
class Difference:
    """The difference between the groups for one query (or one record, if it has a url), in standard errors.

    The score is above 0 if opt-in users have it more often, and None if one group has no estimate.
    """

    query: str
    url: str | None
    opt_in_share: float | None
    client_share: float
    score: float | None

    @property
    def is_plain(self) -> bool:
        """Whether chance is an unlikely explanation: with equal shares, 1 in 16,000 would be this far off."""
        return self.score is not None and abs(self.score) > 4


@dataclass(frozen=True)
class DisagreementReport:
    """All differences, largest first, and how probable they are as a whole if the groups have the same shares.

    The whole is judged by queries only, because the estimates of one query's URLs depend on each other.
    """

    queries: tuple[Difference, ...]
    records: tuple[Difference, ...]
    chi_square: float
    degrees: int
    p_value: float | None
    """None where nothing can be compared as a whole."""


def report_disagreement(
    queries: Sequence[QueryEstimate], records: Sequence[RecordEstimate], levels: int, *, whole_queries: bool
) -> DisagreementReport:
    """Compare the groups' estimates of all listed queries and, with two levels, of all listed records.

    Without `whole_queries`, the opt-in users' query estimates exclude unlisted URLs, as in the papers. They then measure
    something different from the clients' estimates, so only records are compared.
    """
    compared = queries if whole_queries or levels == 1 else [row for row in queries if row.query is None]
    whole = disagreement(*_groups(compared))
    by_query = _differences(compared, [None] * len(compared), whole.scores.tolist())
    by_record = _differences(records, [row.url for row in records], disagreement(*_groups(records)).scores.tolist())
    listed = [row for row in by_record if row.url is not None] if levels == 2 else []
    return DisagreementReport(
        tuple(sorted(by_query, key=_distance)),
        tuple(sorted(listed, key=_distance)),
        whole.chi_square,
        whole.degrees,
        whole.p_value if whole.degrees else None,
    )


def _groups(rows: Sequence[QueryEstimate]) -> tuple[Estimate, Estimate]:
    columns = [
        (_or_nan(row.opt_in_share), _or_nan(row.opt_in_variance), row.client_share, row.client_variance) for row in rows
    ]
    o_share, o_variance, c_share, c_variance = np.array(columns).T
    return Estimate(o_share, o_variance), Estimate(c_share, c_variance)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _differences(rows: Sequence[QueryEstimate], urls: Sequence[str | None], scores: Sequence[float]) -> list[Difference]:
    return [
        Difference(row.query, url, row.opt_in_share, row.client_share, None if math.isnan(score) else score)
        for row, url, score in zip(rows, urls, scores, strict=True)
        if row.query is not None
    ]


def _distance(difference: Difference) -> float:
    return -abs(difference.score or 0.0)
