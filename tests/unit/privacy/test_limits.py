from __future__ import annotations

import warnings
from fractions import Fraction

import pytest

from blender_dp.errors import ParameterError, PrivacyWarning
from blender_dp.privacy.limits import check_privacy, expected_exposures, exposure_statement, weaknesses


@pytest.mark.parametrize(
    ("epsilon", "delta", "users", "expected"),
    [
        ("4", "1e-6", 25_000, []),
        ("10", "4e-6", 25_000, []),
        ("4", "1e-5", 25_000, [("delta", False)]),  # the papers' setting for AOL
        ("4", "4.0001e-6", 25_000, [("delta", False)]),
        ("4", "3.9999e-5", 25_000, [("delta", False)]),
        ("4", "4e-5", 25_000, [("delta", True)]),
        ("4", "0.01", 20_000, [("delta", True)]),
        ("10.1", "1e-9", 25_000, [("epsilon", False)]),
        ("20", "1e-9", 25_000, [("epsilon", False)]),
        ("20.1", "1e-9", 25_000, [("epsilon", True)]),
        ("64", "0.5", 4, [("epsilon", True), ("delta", True)]),
        ("12", "1e-5", 25_000, [("epsilon", False), ("delta", False)]),
        ("4", "0.24", 4, [("delta", False)]),
        ("4", "0.25", 4, [("delta", True)]),
    ],
)
def test_weak_promises_are_refused_or_warned_about(epsilon, delta, users, expected):
    found = weaknesses(Fraction(epsilon), Fraction(delta), users)
    assert [(one.field, one.is_refused) for one in found] == expected
    loss = Fraction(epsilon), Fraction(delta), users
    if any(refused for _, refused in expected):
        with pytest.raises(ParameterError, match=r"allow weak privacy explicitly .*--force-weak-privacy"):
            check_privacy(*loss)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_privacy(*loss, allowed=True)
    assert [one.category for one in caught] == [PrivacyWarning] * len(expected)
    for (_, refused), one in zip(expected, caught, strict=True):
        assert ("This was allowed explicitly." in str(one.message)) is refused
        assert "--force-weak-privacy" not in str(one.message)


def test_epsilon_is_checked_without_the_number_of_users():
    assert weaknesses(Fraction(4), Fraction(1, 2)) == ()
    with pytest.raises(ParameterError, match="epsilon: 21 is above 20 and offers no meaningful privacy"):
        check_privacy(Fraction(21))


def test_advice_is_within_the_limits():
    """Following the advice avoids the next warning."""
    for users in (2, 7, 25_969, 123_456_789):
        (weak,) = weaknesses(Fraction(1), Fraction(1, users), users)
        advised = Fraction(weak.fix.split()[1])
        assert weaknesses(Fraction(1), advised, users) == ()


def test_the_stated_limit_is_rounded_down():
    """Rounded up, it would be above the real limit, 0.00016605..., and refused as well."""
    (weak,) = weaknesses(Fraction(4), Fraction(1, 100), 6_022)
    assert "1 / 6,022 opt-in users (0.000166)" in weak.problem
    assert not any(one.is_refused for one in weaknesses(Fraction(4), Fraction("0.000166"), 6_022))


def test_the_number_of_exposed_records_is_stated_and_rounded_up():
    assert expected_exposures(Fraction(1, 100), 19_000) == 190
    assert "up to about 190 records" in exposure_statement(Fraction(1, 100), 19_000)
    assert "δ = 1e-05 and 24,671 discovery users, up to about 0.247 records" in exposure_statement(
        Fraction(1, 100_000), 24_671
    )
    assert "about 0.334 records" in exposure_statement(Fraction(1, 3), 1)
