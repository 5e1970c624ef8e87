"""The rows of a release: estimates with their errors and each group's contribution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated

import numpy as np
import pyarrow as pa
from pydantic import Field

from blender_dp.release.normal import Floats

_Z = 1.959963984540054  # the normal quantile of 0.975: intervals cover the truth with 95 %

_LARGEST = 1e12  # no error is larger at the smallest ε and with a single user; squares of it are still finite
Finite = Annotated[float, Field(allow_inf_nan=False, ge=-_LARGEST, le=_LARGEST)]
Variance = Annotated[float, Field(allow_inf_nan=False, ge=0, le=_LARGEST**2)]


@dataclass(frozen=True, kw_only=True)
class QueryEstimate:
    """A query's estimated share of all users, with a 95 % interval; a query of None is ⋆, everything not listed.

    The opt-in columns are None if the opt-in users have no estimate.
    """

    query: str | None
    share: Finite
    variance: Variance
    low: Finite
    high: Finite
    opt_in_share: Finite | None
    opt_in_variance: Variance | None
    client_share: Finite
    client_variance: Variance
    opt_in_weight: Finite

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval, before it is cut off at 0 and 1."""
        return margin(self.variance)


@dataclass(frozen=True, kw_only=True)
class RecordEstimate(QueryEstimate):
    """A record's estimated share; a url of None is "any other URL of this query".

    In a release of single items every url is None, and a record is its query.
    """

    url: str | None


def margin(variance: float) -> float:
    """Half the width of a normal 95 % interval."""
    return float(_Z * variance**0.5)


def interval(share: float, variance: float) -> tuple[float, float]:
    """The normal interval around a share, cut off at 0 and 1, but never so far that it excludes the share itself.

    An unbiased estimate may lie below 0 or above 1. The true share cannot, so the cut loses no coverage. The interval
    always reaches into [0, 1]: one that lies entirely outside would rule out every possible share.
    """
    half = margin(variance)
    return min(max(share - half, 0.0), share, 1.0), max(min(share + half, 1.0), share, 0.0)


def intervals(shares: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """The lower and upper ends of many intervals: `interval` for arrays."""
    half = _Z * np.sqrt(variances)
    low, high = np.clip(shares - half, 0.0, 1.0), np.clip(shares + half, 0.0, 1.0)
    return np.minimum(low, shares), np.maximum(high, shares)


def to_arrow(queries: Sequence[QueryEstimate], records: Iterable[RecordEstimate]) -> pa.Table:
    """All estimates in one table; `level` distinguishes queries from records."""
    rows = [{"level": "query", "url": None, **asdict(row)} for row in queries]
    rows += [{"level": "record", **asdict(row)} for row in records]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


_SCHEMA = pa.schema(
    [
        pa.field("level", pa.string(), nullable=False),
        pa.field("query", pa.string()),
        pa.field("url", pa.string()),
        *(
            pa.field(f.name, pa.float64(), nullable="None" in str(f.type))
            for f in fields(QueryEstimate)
            if f.name != "query"
        ),
    ]
)
