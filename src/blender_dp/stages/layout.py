"""Arrays over the cells of a head list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Estimate:
    """Shares and their variances, one per cell or one per query; NaN where there is no estimate."""

    share: Floats
    variance: Floats


class Layout:
    """Where every query's block of cells starts and ends. The last cell of each block is its ⋆; the last block is ⋆."""

    def __init__(self, url_counts: Sequence[int]) -> None:
        self.counts = np.array(url_counts, np.int64)
        self.ends = np.cumsum(self.counts)
        self.starts = self.ends - self.counts
        self.cell_count = int(self.ends[-1])
        self.query_of = np.repeat(np.arange(self.counts.size), self.counts)

    @property
    def star_cells(self) -> Integers:
        """The cells ⟨q, ⋆⟩ of every query (with one level: all cells), and finally ⟨⋆, ⋆⟩."""
        return self.ends - 1

    def per_query(self, values: Floats) -> Floats:
        """Sum the values of each query's cells, along the last axis."""
        if values.ndim == 1:  # several times faster for long lists
            return cast("Floats", np.bincount(self.query_of, weights=values))
        return np.add.reduceat(values, self.starts, axis=-1)

    def per_cell(self, values: Floats) -> Floats:
        """Repeat each query's value for all of its cells, along the last axis."""
        return values.take(self.query_of, axis=-1)


def largest(values: NDArray[np.number], most: int) -> Integers:
    """The places of this many of the largest values, in ascending order; of equal ones, the first."""
    return np.sort(np.argsort(-values, kind="stable")[:most])
