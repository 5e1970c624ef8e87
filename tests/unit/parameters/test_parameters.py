from __future__ import annotations

from fractions import Fraction

import pytest

from blender_dp import ParameterError
from blender_dp.parameters import Parameters

GOOD = {"epsilon": 4, "delta": 1e-5}


def test_values_are_stored_exactly():
    p = Parameters(epsilon=0.7, delta=1e-5, f_c=0.85)
    assert (p.epsilon, p.delta, p.f_o, p.f_c) == (Fraction(7, 10), Fraction(1, 10**5), Fraction(19, 20), Fraction(17, 20))


def test_parameters_chosen_by_predicted_error_are_unset():
    p = Parameters(epsilon=1, delta=1e-5)
    assert (p.f_c, p.subset_size) == (None, None)
    assert (p.profile, p.discovery, p.randomiser, p.estimator) == ("tight", "geometric", "subset", "likelihood")


def test_a_profile_sets_its_parts_and_each_can_be_overridden():
    paper = Parameters(epsilon=1, delta=1e-5, profile="paper")
    assert (paper.discovery, paper.randomiser, paper.estimator) == ("laplace", "two-stage", "average")
    mixed = Parameters(epsilon=1, delta=1e-5, profile="paper", discovery="geometric")
    assert (mixed.discovery, mixed.randomiser, mixed.estimator) == ("geometric", "two-stage", "average")


@pytest.mark.parametrize(
    "wrong",
    [
        {"profile": "loose"}, {"discovery": "two-stage"}, {"randomiser": "laplace"}, {"estimator": "subset"},
        {"subset_size": 0}, {"subset_size": 1.5}, {"subset_size": 2, "profile": "paper"}, {"robust": "yes"},
    ],
    ids=str,
)  # fmt: skip
def test_unknown_parts_and_sizes_are_refused(wrong):
    with pytest.raises(ParameterError):
        Parameters(epsilon=1, delta=1e-5, **wrong)


def test_epsilon_and_delta_have_no_default():
    with pytest.raises(TypeError, match="epsilon"):
        Parameters(delta=1e-5)
    with pytest.raises(TypeError, match="delta"):
        Parameters(epsilon=1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epsilon", 0), ("epsilon", -1), ("epsilon", 65), ("epsilon", "much"), ("epsilon", float("nan")),
        ("delta", 0), ("delta", 1), ("delta", -1e-9), ("delta", 2),
        ("f_o", 0), ("f_o", 1), ("f_c", 0), ("f_c", 1.5),
        ("m_o", 0), ("m_c", 0), ("m_c", 1.5), ("max_queries", 0), ("max_queries", -3), ("max_queries", "ten"),
        ("profile", "loose"),
    ],
)  # fmt: skip
def test_the_error_names_a_parameter_that_is_out_of_range(field, value):
    with pytest.raises(ParameterError) as caught:
        Parameters(**{**GOOD, field: value})
    assert caught.value.subject == field
    assert caught.value.fix
