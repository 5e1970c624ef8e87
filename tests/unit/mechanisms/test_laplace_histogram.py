from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from blender_dp import OutsideTheoremError, ParameterError
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram


def test_noise_is_added_to_every_cell(entropy):
    counts = np.array([0, 10, 1000])
    noisy = LaplaceHistogram.of(Fraction(4)).release(counts, entropy)
    assert (noisy != counts).all()  # the noise is never 0
    assert noisy == pytest.approx(counts, abs=20)


def test_the_scale_matches_the_papers():
    assert LaplaceHistogram.of(Fraction(4)).noise.variance == pytest.approx(2 * (2 / 4) ** 2, rel=1e-4)


@pytest.mark.parametrize("epsilon", [0, -1, 65, "much"])
def test_invalid_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError):
        LaplaceHistogram.of(epsilon)


def test_several_records_per_user_are_refused():
    with pytest.raises(OutsideTheoremError, match=r"Theorem 3\.2"):
        LaplaceHistogram.of(Fraction(4), 2)
