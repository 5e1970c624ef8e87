from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from blender_dp.release.normal import normal_quantile, normal_tail, student_quantile

# From tables: the two-sided probability, the degrees of freedom, and the quantile.
STUDENT = [
    (0.95, 1, 12.7062),
    (0.95, 2, 4.30265),
    (0.95, 3, 3.18245),
    (0.95, 10, 2.22814),
    (0.95, 29, 2.04523),
    (0.95, 30, 2.04227),
    (0.95, 1000, 1.96234),
    (0.99, 3, 5.84091),
    (0.998, 3, 10.2145),
    (0.998, 4, 7.1732),
    (0.998, 30, 3.3852),
    (0.5, 7, 0.71114),
]


@pytest.mark.parametrize(("probability", "freedom", "known"), STUDENT)
def test_the_quantile_of_student(probability, freedom, known):
    assert student_quantile(probability, freedom) == pytest.approx(known, rel=1e-4)


def test_the_tail():
    values = np.linspace(-6, 6, 101)
    assert normal_tail(values) == pytest.approx([math.erfc(v / math.sqrt(2)) / 2 for v in values.tolist()], abs=1e-7)


def test_the_quantile():
    small = np.geomspace(1e-15, 0.5, 200)
    probabilities = np.concatenate([small, [0.0242, 0.0243], 1 - small[small > 1e-9]])
    exact = [NormalDist().inv_cdf(one) for one in probabilities.tolist()]
    assert normal_quantile(probabilities) == pytest.approx(exact, rel=3e-9, abs=1e-8)
