"""What changed between two releases: risen, fallen, new and gone, with a limit on false discoveries.

Every listed query is tested against "its share is the same in both rounds". A query that is on one list only is tested with
the probability that the other list misses it: many queries come and go only because of the noise. This is post-processing
of what is already public, so it costs no privacy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from blender_dp.errors import ParameterError
from blender_dp.release.estimates import QueryEstimate, margin
from blender_dp.release.membership import Membership, Spread, spreads_of
from blender_dp.release.normal import normal_nodes, two_sided
from blender_dp.release.population import check_comparable, check_different, sampling_variance

if TYPE_CHECKING:
    from blender_dp.release.release import Release

Kind = Literal["risen", "fallen", "new", "gone", "unchanged"]

_TAIL = 0.025  # of each side of a 95 % interval


@dataclass(frozen=True, kw_only=True)
class Change:
    """One query's change between two releases; a share is None if that release does not list the query.

    `kind` is `unchanged` unless the change is a discovery at the comparison's false-discovery rate. The 95 % interval from
    `low` to `high` is for the new share minus the old one. If one share is None, the interval allows everything that
    the absence allows, and `chance_missing` is the probability that noise alone keeps a query with the other share off
    the list.
    """

    query: str
    kind: Kind
    old_share: float | None
    new_share: float | None
    difference: float | None
    low: float
    high: float
    p_value: float
    chance_missing: float | None


@dataclass(frozen=True)
class Comparison:
    """All changes: discoveries first, the largest first."""

    changes: tuple[Change, ...]
    fdr: float
    """The false-discovery rate: the expected part of the discoveries that are no changes is at most this."""

    @property
    def discoveries(self) -> tuple[Change, ...]:
        """The changes that noise does not explain."""
        return tuple(change for change in self.changes if change.kind != "unchanged")

    def to_arrow(self) -> pa.Table:
        """All changes as an Arrow table."""
        return pa.Table.from_pylist([asdict(change) for change in self.changes], schema=_SCHEMA)


def compare(old: Release, new: Release, *, fdr: float = 0.05, same_users: bool = False) -> Comparison:
    """Compare two releases, query by query. The same release twice is refused: it would count as two independent ones.

    By default, a change is one of the population that each round's users are drawn from. With `same_users`, it is one of
    the users themselves, who then must be the same in both rounds.
    """
    if not 0 < fdr < 1:
        raise ParameterError("fdr", f"{fdr} is not between 0 and 1", "Use a value such as 0.05")
    check_comparable([old, new])
    check_different([old, new], ["the older release", "the newer one"])
    tested = sorted(_tests(old, new, same_users=same_users), key=lambda change: change.p_value)
    count = _discoveries([change.p_value for change in tested], fdr)
    changes = [replace(change, kind=_kind(change)) for change in tested[:count]] + tested[count:]
    return Comparison(tuple(sorted(changes, key=_order)), fdr)


def _tests(old: Release, new: Release, *, same_users: bool) -> Iterator[Change]:
    before, after = _listed(old, same_users=same_users), _listed(new, same_users=same_users)
    lists = (old.head_list, new.head_list)
    not_before, not_after, spreads = Membership(old, lists), Membership(new, lists), spreads_of((old, new))
    for query in sorted(before.keys() | after.keys()):
        was, now = before.get(query), after.get(query)
        if was is not None and now is not None:
            yield _both(query, was, now)
        elif now is not None:
            yield _one(now, not_before, spreads[query])
        elif was is not None:
            appeared = _one(was, not_after, spreads[query])
            yield replace(appeared, old_share=was.share, new_share=None, low=-appeared.high, high=-appeared.low)


def _listed(release: Release, *, same_users: bool) -> dict[str, QueryEstimate]:
    """The listed queries, with the variance for what is compared: the users, or the population they are drawn from.

    The papers' average trusts an opt-in estimate the more the lower it happens to be, so its variance is too small just
    where it is wrong. Of such a release the clients' own estimates are compared.
    """
    rows = {row.query: row for row in release.queries if row.query is not None}
    if release.manifest.settings.estimator == "average":
        return {q: replace(row, share=row.client_share, variance=row.client_variance) for q, row in rows.items()}
    if same_users:
        return rows
    return {q: replace(row, variance=row.variance + sampling_variance(row, release.manifest)) for q, row in rows.items()}


def _both(query: str, was: QueryEstimate, now: QueryEstimate) -> Change:
    difference, variance = now.share - was.share, was.variance + now.variance
    half = margin(variance)
    low, high = _possible(difference - half, difference + half, difference)
    return Change(
        query=query,
        kind="unchanged",
        old_share=was.share,
        new_share=now.share,
        difference=difference,
        low=low,
        high=high,
        p_value=two_sided(difference / variance**0.5) if variance else float(difference == 0),
        chance_missing=None,
    )


def _one(row: QueryEstimate, other: Membership, spread: Spread) -> Change:
    """A query that only this release lists, as if it were the new one."""
    query = row.query or ""
    shares, weights = normal_nodes(row.share, row.variance)
    missing = float(other.missing(query, shares.clip(0.0, 1.0), spread) @ weights)
    half = margin(row.variance)
    low, high = _possible(row.share - half - other.largest_missing(query, _TAIL, spread), max(row.share + half, 0.0))
    return Change(
        query=query,
        kind="unchanged",
        old_share=None,
        new_share=row.share,
        difference=None,
        low=low,
        high=high,
        p_value=min(2 * missing, 1.0),  # two-sided: it would also be tested if the other list had it with a larger share
        chance_missing=missing,
    )


def _possible(low: float, high: float, difference: float | None = None) -> tuple[float, float]:
    """The part of an interval that differences of two shares can be in, extended to the estimated one if it has one."""
    ends = float(np.clip(low, -1.0, 1.0)), float(np.clip(high, -1.0, 1.0))
    return ends if difference is None else (min(ends[0], difference), max(ends[1], difference))


def _discoveries(p_values: Sequence[float], fdr: float) -> int:
    """How many of the sorted p-values are discoveries (Benjamini and Hochberg, 1995)."""
    return max((i for i, p_value in enumerate(p_values, 1) if p_value <= fdr * i / len(p_values)), default=0)


def _kind(change: Change) -> Kind:
    if change.old_share is None:
        return "new"
    if change.new_share is None:
        return "gone"
    return "risen" if change.new_share > change.old_share else "fallen"


def _order(change: Change) -> tuple[bool, float]:
    return change.kind == "unchanged", -abs((change.new_share or 0.0) - (change.old_share or 0.0))


_NUMBERS = {"old_share": True, "new_share": True, "difference": True, "low": False, "high": False, "p_value": False}
_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("query", "kind")),
        *(pa.field(name, pa.float64(), nullable=nullable) for name, nullable in _NUMBERS.items()),
        pa.field("chance_missing", pa.float64()),
    ]
)
