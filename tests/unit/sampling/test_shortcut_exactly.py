"""The binomial shortcut has exactly the same distribution as drawing one by one: all paths through the code are enumerated.

The samplers below the shortcut are replaced by ones that take each possible outcome in turn and multiply its probability,
so the code itself is enumerated, not a formula for it.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod

import numpy as np
import pytest

from blender_dp.sampling import capped, laplace
from blender_dp.sampling.capped import CappedGeometric
from blender_dp.sampling.discrete import WORD
from blender_dp.sampling.laplace import GridLaplace
from tests.unit.sampling import test_capped
from tests.unit.sampling.test_laplace import probability

NOISE = GridLaplace.of(Fraction(1, 2), grid_bits=1)
CAPPED = CappedGeometric.of(Fraction(1, 2), Fraction(1, 20))
FURTHEST = 3  # units beyond the threshold that are distinguished; all further ones are one outcome
ONE = Fraction(1)


class Paths:
    """Runs a function once for every sequence of outcomes that its random choices can have."""

    def __init__(self) -> None:
        self._script: list[int] = []

    def choose(self, outcomes: list[tuple[object, Fraction]]) -> object:
        self._depth += 1
        if len(self._script) < self._depth:
            self._script.append(0)
        self._sizes.append(len(outcomes))
        value, chance = outcomes[self._script[self._depth - 1]]
        self.chance *= chance
        return value

    def __iter__(self):
        while True:
            self._depth, self._sizes, self.chance = 0, [], ONE
            yield self
            while self._script and self._script[-1] == self._sizes[len(self._script) - 1] - 1:
                self._script.pop()
            if not self._script:
                return
            self._script[-1] += 1


def enumerate_samplers(monkeypatch, paths: Paths, module, table_weights: tuple[int, ...]) -> None:
    def binomial(trials, weight, _):
        p = Fraction(weight, WORD)
        return paths.choose([(k, comb(trials, k) * p**k * (1 - p) ** (trials - k)) for k in range(trials + 1)])

    def independent(outcomes, count):
        rows = product(outcomes, repeat=count)
        return paths.choose([(np.array([v for v, _ in r], np.int64), prod((c for _, c in r), start=ONE)) for r in rows])

    def geometric(more, count, _):
        c = Fraction(more, WORD)
        return independent([(n, (1 - c) * c**n) for n in range(FURTHEST)] + [(FURTHEST, c**FURTHEST)], count)

    def table(_cumulative, count, _entropy, *, at_least=0):
        weights = [Fraction(w, WORD) for w in table_weights]
        whole = sum(weights[at_least:])
        return independent([(f, w / whole) for f, w in enumerate(weights) if f >= at_least], count)

    for name, replacement in (("binomial", binomial), ("geometric", geometric), ("table", table)):
        monkeypatch.setattr(module, name, replacement)


def plain(crowd: int, above: dict[int, Fraction], below: Fraction) -> dict[tuple[int, ...], Fraction]:
    """The distribution of the multiset of noises above the threshold, from the probabilities `above` and `below` it."""
    result = {}
    for size in range(crowd + 1):
        for values in combinations_with_replacement(above, size):
            orders = comb(crowd, size) * factorial(size) // prod(factorial(n) for n in Counter(values).values())
            result[values] = orders * prod((above[v] for v in values), start=ONE) * below ** (crowd - size)
    return result


@pytest.mark.slow
@pytest.mark.parametrize("crowd", [1, 2, 3])
@pytest.mark.parametrize("threshold", [0, 2, 4, 6])
def test_the_shortcut_has_the_same_distribution_as_drawing_one_by_one(monkeypatch, crowd, threshold):
    units = threshold // NOISE.half_steps
    furthest = (units + 1 + FURTHEST) * NOISE.half_steps  # from here on `geometric` above no longer distinguishes values
    paths, found = Paths(), Counter()
    enumerate_samplers(monkeypatch, paths, laplace, NOISE.weights)
    for path in paths:
        values = NOISE.exceeding(crowd, threshold, None)
        if path.chance and (values < furthest).all():
            found[tuple(sorted(values.tolist()))] += path.chance
    above = {v: probability(NOISE, v) for v in range(threshold + 1, furthest, 2)}
    assert dict(found) == plain(crowd, above, 1 - NOISE.survival(threshold))


@pytest.mark.parametrize("crowd", [1, 2, 3])
@pytest.mark.parametrize("threshold", range(CAPPED.cap))
def test_the_capped_shortcut_has_the_same_distribution_as_drawing_one_by_one(monkeypatch, crowd, threshold):
    paths, found = Paths(), Counter()
    enumerate_samplers(monkeypatch, paths, capped, (CAPPED.below, *CAPPED.weights))
    for path in paths:
        values = CAPPED.exceeding(crowd, threshold, None)
        if path.chance:
            found[tuple(sorted(values.tolist()))] += path.chance
    above = {x: test_capped.probability(CAPPED, x) for x in range(threshold + 1, CAPPED.cap + 1)}
    assert dict(found) == plain(crowd, above, 1 - sum(above.values()))


def test_capped_noise_drawn_one_by_one_has_its_stated_distribution(monkeypatch):
    paths, found = Paths(), Counter()
    enumerate_samplers(monkeypatch, paths, capped, (CAPPED.below, *CAPPED.weights))
    for path in paths:
        found[tuple(CAPPED.sample(2, None).tolist())] += path.chance
    values = range(1 - FURTHEST, CAPPED.cap + 1)
    for pair in product(values, repeat=2):
        assert found[pair] == prod(test_capped.probability(CAPPED, x) for x in pair)
