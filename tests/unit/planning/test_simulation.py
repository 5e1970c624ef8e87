from __future__ import annotations

import pytest

from blender_dp.evaluation.draws import normal
from blender_dp.planning import Expected
from blender_dp.sampling import Entropy

COLLECTIONS = 4_000


@pytest.mark.parametrize("runs", [4, 6, 16])
def test_the_range_contains_95_percent_of_all_collections(runs):
    """Beyond five standard errors of the coverage (1.8 %), a false alarm has a probability below 1e-6."""
    drawn = 10 + normal(COLLECTIONS * (runs + 1), Entropy.seeded(f"ranges {runs}")).reshape(COLLECTIONS, runs + 1)
    ranges = [Expected.of(row[:-1].tolist()) for row in drawn]
    covered = [one.low <= new <= one.high for one, new in zip(ranges, drawn[:, -1].tolist(), strict=True)]
    assert sum(covered) / COLLECTIONS == pytest.approx(0.95, abs=0.018)


def test_one_run_has_no_spread():
    assert Expected.of([3.0]) == Expected(3.0, 3.0, 3.0, 0.0)
