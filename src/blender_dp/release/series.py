"""Trends over time: every query's share over a series of releases, as published and smoothed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from blender_dp.errors import ParameterError
from blender_dp.release.population import check_comparable, check_different
from blender_dp.release.smoothing import Smoothed, smooth
from blender_dp.release.tracks import tracks_of

if TYPE_CHECKING:
    from blender_dp.release.release import Release


@dataclass(frozen=True, kw_only=True)
class Point:
    """A query in one release: the published share, None if it is not listed, and the smoothed one, with 95 % intervals."""

    share: float | None
    low: float | None
    high: float | None
    smoothed: float
    smoothed_low: float
    smoothed_high: float


@dataclass(frozen=True, kw_only=True)
class Series:
    """One query in all releases, oldest first, and its smoothed change from the first to the last with a 95 % interval."""

    query: str
    points: tuple[Point, ...]
    change: float
    change_low: float
    change_high: float


@dataclass(frozen=True)
class Trends:
    """The series of all queries that were ever listed, the most popular ones of the last release first."""

    names: tuple[str, ...]
    """The releases, oldest first."""
    series: tuple[Series, ...]

    def to_arrow(self) -> pa.Table:
        """A tidy table: one row per query and release."""
        rows = [
            {"query": one.query, "release": name, "number": number, **vars(point)}
            for one in self.series
            for number, (name, point) in enumerate(zip(self.names, one.points, strict=True), 1)
        ]
        return pa.Table.from_pylist(rows, schema=_SCHEMA)


def trends_over(releases: Sequence[Release], names: Sequence[str] | None = None, *, most: int | None = None) -> Trends:
    """The trends over the releases of one campaign, oldest first. This is post-processing: it costs no privacy.

    The smoothed shares are those of the population that the users of each round are drawn from. By default the releases
    are named by their numbers. `most` limits the work to the most popular queries.
    """
    if not releases:
        raise ParameterError("releases", "there are none", "Pass at least one release")
    check_comparable(releases)
    labels = tuple(names) if names is not None else tuple(str(number) for number in range(1, len(releases) + 1))
    if len(labels) != len(releases):
        raise ParameterError("names", f"{len(labels)} names for {len(releases)} releases", "Pass one name for each release")
    check_different(releases, labels)
    tracks = tracks_of(releases, most)
    if not tracks:
        return Trends(labels, ())
    series = [_series(smoothed) for smoothed in smooth(tracks)[0]]
    return Trends(labels, tuple(sorted(series, key=lambda one: -one.points[-1].smoothed)))


def _series(smoothed: Smoothed) -> Series:
    change, low, high = smoothed.change
    points = tuple(_points(smoothed))
    return Series(query=smoothed.query, points=points, change=change, change_low=low, change_high=high)


def _points(smoothed: Smoothed) -> Iterator[Point]:
    numbers = zip(smoothed.shares.tolist(), smoothed.low.tolist(), smoothed.high.tolist(), strict=True)
    for row, (share, low, high) in zip(smoothed.rows, numbers, strict=True):
        published = (None, None, None) if row is None else (row.share, row.low, row.high)
        yield Point(
            share=published[0],
            low=published[1],
            high=published[2],
            smoothed=share,
            smoothed_low=low,
            smoothed_high=high,
        )


_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("query", "release")),
        pa.field("number", pa.int64(), nullable=False),
        *(pa.field(name, pa.float64()) for name in ("share", "low", "high")),
        *(pa.field(name, pa.float64(), nullable=False) for name in ("smoothed", "smoothed_low", "smoothed_high")),
    ]
)
