"""Our losses match OpenDP's privacy maps for the same basic mechanisms."""

from __future__ import annotations

from fractions import Fraction

import opendp.prelude as dp
import pytest

from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram, audit
from blender_dp.privacy.loss import Loss
from blender_dp_device.channel.two_stage import WORD_BITS, lie_step

dp.enable_features("contrib")


@pytest.mark.parametrize("choices", [2, 5, 51, 501])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(17, 5)])
def test_randomised_response_has_the_loss_that_opendp_computes(choices, epsilon):
    """With δ = 0 (the limit of small δ), one stage is k-ary randomised response with this probability of the truth."""
    step = lie_step(choices, epsilon, Fraction(0))
    truth = 1 - Fraction((choices - 1) * step, 1 << WORD_BITS)
    theirs = dp.m.make_randomized_response([str(i) for i in range(choices)], prob=float(truth)).map(1)
    assert theirs == pytest.approx(float(epsilon), rel=1e-9)


@pytest.mark.parametrize("epsilon", [1, 4])
def test_the_laplace_histogram_has_the_loss_that_opendp_computes(epsilon):
    """Two counts that move by one each: an L1 distance of 2 at scale 2/ε."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = dp.m.make_laplace(*space, scale=2 / epsilon).map(2)
    ours = audit(LaplaceHistogram.of(epsilon), Loss(Fraction(epsilon), Fraction(0))).epsilon
    assert ours == pytest.approx(theirs, rel=1e-9)
