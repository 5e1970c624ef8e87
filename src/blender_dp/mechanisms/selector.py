"""Select the records to list, batch by batch, with far fewer random numbers than records."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from blender_dp.errors import ParameterError
from blender_dp.sampling import Entropy
from blender_dp.sampling.discrete import distinct

Integers = NDArray[np.int64]

# If less than this share of a crowd is expected to survive, only the noise of the survivors is drawn.
_RARE = Fraction(1, 8)


class Noise(Protocol):
    """Noise in whole steps; one record is `half_steps` steps."""

    @property
    def half_steps(self) -> int:
        """Steps per record."""
        ...

    def sample(self, count: int, entropy: Entropy) -> Integers:
        """Draw `count` noise values."""
        ...

    def exceeding(self, count: int, threshold: int, entropy: Entropy) -> Integers:
        """Draw `count` noise values and return those above `threshold` (0 or more), without drawing the others."""
        ...

    def above(self, count: int, threshold: int, entropy: Entropy) -> Integers:
        """Draw `count` noise values, given that all of them are above `threshold` (0 or more), in any order."""
        ...

    def threshold_for(self, probability: Fraction) -> int:
        """The lowest threshold, not below 0, that the noise exceeds with at most this probability."""
        ...


@dataclass(frozen=True)
class Selection:
    """Which rows are listed, and their noisy counts (already private) in records."""

    rows: Integers
    noisy_counts: NDArray[np.float64]


class Selector:
    """Decides once about every distinct record of one data set; the records may arrive in any number of batches."""

    def __init__(self, noise: Noise, threshold: int, entropy: Entropy) -> None:
        self.noise = noise
        self.threshold = threshold
        self.entropy = entropy
        self.largest_rare = max(0, (threshold - noise.threshold_for(_RARE)) // noise.half_steps)
        self._crowds: defaultdict[int, Crowd] = defaultdict(Crowd)

    def select(self, counts: Integers) -> Selection:
        """Decide which of the records with these counts are listed. Every count must be at least 1."""
        if counts.size and counts.min() < 1:
            raise ParameterError("counts", "some are below 1", "Pass only records that at least one user has")
        rare = self.largest_rare
        parts = [self._select_plainly(counts, np.flatnonzero(counts > rare))]
        sizes = np.bincount(np.minimum(counts, rare + 1), minlength=rare + 1)[: rare + 1].tolist()
        parts += [self._select_from_crowd(counts, count, size) for count, size in enumerate(sizes) if size]
        rows, noisy = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(rows)
        return Selection(rows[order], noisy[order] / self.noise.half_steps)

    def _select_plainly(self, counts: Integers, rows: Integers) -> tuple[Integers, Integers]:
        noisy = counts[rows] * self.noise.half_steps + self.noise.sample(rows.size, self.entropy)
        listed = noisy > self.threshold
        return rows[listed], noisy[listed]

    def _select_from_crowd(self, counts: Integers, count: int, size: int) -> tuple[Integers, Integers]:
        crowd, exact = self._crowds[count], count * self.noise.half_steps
        if size > crowd.ahead:
            crowd.look_ahead(size, self.noise, self.threshold - exact, self.entropy)
        places, noise = crowd.next(size)
        rows = np.flatnonzero(counts == count)[places] if places.size else places
        return rows, exact + noise


class Crowd:
    """The records with one count, in the order in which they arrive.

    Their noises are independent and identically distributed, so the survivors among the next records, and their noises,
    can be drawn in advance: many at once, even if the records arrive in small batches.
    """

    def __init__(self) -> None:
        self.ahead = 0
        """The number of next members for which the survivors are already drawn."""
        self._passed = 0
        self._places = self._noise = np.empty(0, np.int64)

    def look_ahead(self, size: int, noise: Noise, threshold: int, entropy: Entropy) -> None:
        """Draw the survivors among further members: enough for the next `size`, and at least as many as have passed."""
        more = max(size - self.ahead, self._passed)
        survivors = noise.exceeding(more, threshold, entropy)
        self._noise = np.concatenate([self._noise, survivors])
        self._places = np.concatenate([self._places, self.ahead + distinct(more, survivors.size, entropy)])
        self.ahead += more

    def next(self, size: int) -> tuple[Integers, Integers]:
        """Advance by `size` members; return the places of the survivors among them, and their noise."""
        now = self._places < size
        places, noise = self._places[now], self._noise[now]
        self._places, self._noise = self._places[~now] - size, self._noise[~now]
        self.ahead -= size
        self._passed += size
        return places, noise
