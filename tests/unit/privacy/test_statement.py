from __future__ import annotations

from fractions import Fraction

import pytest

from blender_dp.privacy.statement import seeded_warning, statement


def test_a_promise_in_plain_words_includes_its_numbers():
    text = statement("opt-in users", 25_969, "central", Fraction(4), Fraction(1, 100_000), "log")
    assert text.startswith("Opt-in users (25,969): ")
    assert "at most a factor of 54.6 (e^4), plus a probability of 1e-05" in text
    assert "curator sees" in text


def test_only_device_reports_promise_that_records_stay_on_the_device():
    assert "nobody else, not even the curator," in statement(
        "clients", 10, "local", Fraction(1), Fraction(1, 10**9), "devices"
    )
    assert "someone who saw their records" in statement("clients", 10, "local", Fraction(1), Fraction(1, 10**9), "log")


def test_a_seeded_run_has_a_warning():
    assert "offers no privacy" in seeded_warning()


@pytest.mark.parametrize(
    ("epsilon", "said"),
    [
        ("0.001", "a factor of 1.01 (e^0.001)"),
        ("1", "a factor of 2.72 (e^1)"),
        ("7/3", "a factor of 10.4 (e^(7/3))"),
        ("4", "a factor of 54.6 (e^4)"),
        ("5", "a factor of 149 (e^5)"),
        ("6", "a factor of 404 (e^6)"),
        ("10", "a factor of 22,027 (e^10)"),
        ("64", "a factor of 6.24e+27 (e^64)"),
    ],
)
def test_factors_are_rounded_up(epsilon, said):
    assert said in statement("clients", 10, "local", Fraction(epsilon), Fraction(0), "log")


def test_probabilities_are_rounded_up():
    assert "a probability of 3.34e-06." in statement("clients", 10, "local", Fraction(1), Fraction(1, 300_000), "log")
