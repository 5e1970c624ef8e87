"""The normal equations of one Newton step, solved in time and memory linear in the size of the list.

The information matrix is a diagonal, plus rank two within every query's block (a client's report of a URL is
also evidence about its query), plus rank one over all cells (every discovery user has one record). The shares sum to 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from blender_dp.stages.layout import Floats, Layout


@dataclass(frozen=True)
class Pull:
    """Score and information of one kind of evidence.

    The information matrix is diag(information) + block·11ᵀ + block_along·(1 aᵀ + a 1ᵀ) within every block, with a = `along`,
    + common_information·(common commonᵀ) over all cells.
    """

    score: Floats
    information: Floats
    along: Floats | None = None
    block: Floats | float = 0.0
    block_along: Floats | float = 0.0
    common: Floats | None = None
    common_information: float = 0.0
    common_score: float = 0.0


@dataclass(frozen=True)
class Step:
    """The result of one Newton step, with the variances of every cell and of every query."""

    shares: Floats
    covariance: Inverse

    @cached_property
    def variance(self) -> Floats:
        """The variances of the cells."""
        return self.covariance.diagonal()

    @cached_property
    def query_variance(self) -> Floats:
        """The variances of the queries."""
        return self.covariance.blocks()


@dataclass
class System:
    """The sum of all evidence at some shares."""

    layout: Layout
    score: Floats
    diagonal: Floats
    along: Floats
    block: Floats
    block_along: Floats
    common: list[tuple[Floats, float, float]] = field(default_factory=list)

    @classmethod
    def of(cls, layout: Layout, pulls: Iterable[Pull]) -> System:
        """Add up all evidence; at most one kind may have its own direction (`along`) within the blocks."""
        cells, queries = layout.cell_count, layout.counts.size
        system = cls(layout, np.zeros(cells), np.full(cells, 1e-9), np.ones(cells), np.zeros(queries), np.zeros(queries))
        for pull in pulls:
            system.score = system.score + pull.score
            system.diagonal = system.diagonal + pull.information
            system.block = system.block + pull.block
            system.block_along = system.block_along + pull.block_along
            if pull.along is not None:
                system.along = pull.along
            if pull.common is not None:
                system.common.append((pull.common, pull.common_information, pull.common_score))
        return system

    def step(self, shares: Floats, more: Floats | float = 0.0, towards: Floats | float = 0.0) -> Step:
        """One Newton step from these shares, with additional information `more` that pulls every cell `towards` a share."""
        inverse = Inverse(self.layout, self.diagonal + more, self.along, self.block, self.block_along)
        score = self.score + more * (towards - shares)
        for direction, information, common_score in self.common:
            score = score + common_score * direction
            inverse.add(direction, information)
        move, to_sum = inverse.times(score), inverse.times_ones()
        excess = float((shares + move).sum()) - 1
        slope = float(to_sum.sum())
        inverse.subtract(to_sum, 1 / slope)  # the sum of the shares is known: 1
        return Step(shares + move - excess / slope * to_sum, inverse)


class Inverse:
    """The inverse by Woodbury's identity, with only a few numbers per cell and per query."""

    def __init__(self, layout: Layout, diagonal: Floats, along: Floats, block: Floats, block_along: Floats) -> None:
        self._layout, self._along, self._reciprocal = layout, along, 1 / diagonal
        per_query, reciprocal = layout.per_query, self._reciprocal
        # With U = [1, a] and K = [[block, block_along], [block_along, 0]]: (D + U K Uᵀ)⁻¹ = D⁻¹ - D⁻¹ U W Uᵀ D⁻¹,
        # where W = (1 + K G)⁻¹ K and G = Uᵀ D⁻¹ U, which is 2 × 2 for every block.
        scaled = reciprocal * along
        g11, g12, g22 = per_query(reciprocal), per_query(scaled), per_query(scaled * along)
        m11, m12 = 1 + block * g11 + block_along * g12, block * g12 + block_along * g22
        m21, m22 = block_along * g11, 1 + block_along * g12
        determinant = m11 * m22 - m12 * m21
        self._w11 = (m22 * block - m12 * block_along) / determinant
        self._w12 = m22 * block_along / determinant
        self._w22 = -m21 * block_along / determinant
        self._g = g11, g12
        self._removed: list[tuple[Floats, float]] = []

    def times(self, vector: Floats) -> Floats:
        """The inverse times a vector."""
        scaled = self._reciprocal * vector
        within = self._within_queries(self._layout.per_query(scaled), self._layout.per_query(self._along * scaled))
        result = scaled - self._reciprocal * within
        for direction, factor in self._removed:
            result -= direction * (factor * float(direction @ vector))
        return result

    def times_ones(self) -> Floats:
        """The inverse times a vector of ones, whose sums over the queries are known."""
        result = self._reciprocal * (1 - self._within_queries(*self._g))
        for direction, factor in self._removed:
            result -= direction * (factor * float(direction.sum()))
        return result

    def _within_queries(self, first: Floats, second: Floats) -> Floats:
        """U W (first, second), for every cell."""
        per_cell = self._layout.per_cell
        return per_cell(self._w11 * first + self._w12 * second) + self._along * per_cell(
            self._w12 * first + self._w22 * second
        )

    def add(self, direction: Floats, information: float) -> None:
        """Add information along one direction over all cells."""
        image = self.times(direction)
        self.subtract(image, information / (1 + information * float(direction @ image)))

    def subtract(self, direction: Floats, factor: float) -> None:
        """Subtract a rank-one term along one direction from the inverse."""
        self._removed.append((direction, factor))

    def diagonal(self) -> Floats:
        """The variances of the cells."""
        per_cell, r, a = self._layout.per_cell, self._reciprocal, self._along
        result = r - r**2 * (per_cell(self._w11) + a * (2 * per_cell(self._w12) + a * per_cell(self._w22)))
        for direction, factor in self._removed:
            result -= factor * direction**2
        return np.maximum(result, 0.0)

    def blocks(self) -> Floats:
        """The variances of the queries, which are sums over blocks."""
        g11, g12 = self._g
        result = g11 - (self._w11 * g11**2 + 2 * self._w12 * g11 * g12 + self._w22 * g12**2)
        for direction, factor in self._removed:
            result -= factor * self._layout.per_query(direction) ** 2
        return np.maximum(result, 0.0)
