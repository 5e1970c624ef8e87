from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from blender_dp.release.normal import normal_quantile, normal_tail


def test_the_tail():
    values = np.linspace(-6, 6, 101)
    assert normal_tail(values) == pytest.approx([math.erfc(v / math.sqrt(2)) / 2 for v in values.tolist()], abs=1e-7)


def test_the_quantile():
    small = np.geomspace(1e-15, 0.5, 200)
    probabilities = np.concatenate([small, [0.0242, 0.0243], 1 - small[small > 1e-9]])
    exact = [NormalDist().inv_cdf(one) for one in probabilities.tolist()]
    assert normal_quantile(probabilities) == pytest.approx(exact, rel=3e-9, abs=1e-8)
