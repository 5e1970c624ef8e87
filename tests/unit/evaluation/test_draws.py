from __future__ import annotations

import math

import numpy as np
import pytest

from blender_dp.evaluation.draws import inverted


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.7, 0.999, 1.0])
@pytest.mark.parametrize("trials", [0, 1, 12, 900])
def test_counts_are_binomial(trials: int, p: float):
    """A query that everyone has used to be drawn as if one user had it."""
    words = (np.arange(20_000) + 0.5) / 20_000
    drawn = inverted(np.full(words.size, trials), np.full(words.size, p), words)
    assert drawn.mean() == pytest.approx(trials * p, abs=1e-3 + 1e-3 * trials * min(p, 1 - p))
    assert drawn.std() == pytest.approx(math.sqrt(trials * p * (1 - p)), rel=0.01)
