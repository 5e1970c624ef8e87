from __future__ import annotations

from fractions import Fraction

import pytest

from blender_dp.privacy.statement import seeded_warning, statement


def test_a_promise_in_plain_words_has_its_numbers():
    text = statement("opt-in users", 25_969, "central", Fraction(4), Fraction(1, 100_000), "log")
    assert text.startswith("Opt-in users (25,969): ")
    assert "at most 54.6 times as likely (e^4), plus a probability of 1e-05" in text
    assert "curator sees" in text


def test_clients_are_told_that_nobody_sees_their_records_only_if_nobody_does():
    assert "nobody, the curator included" in statement("clients", 10, "local", Fraction(1), Fraction(1, 10**9), "devices")
    assert "saw their records" in statement("clients", 10, "local", Fraction(1), Fraction(1, 10**9), "log")


def test_a_seeded_run_says_so():
    assert "protects nobody" in seeded_warning()


@pytest.mark.parametrize(
    ("epsilon", "said"),
    [
        ("0.001", "1.01 times as likely (e^0.001)"),
        ("1", "2.72 times as likely (e^1)"),
        ("7/3", "10.4 times as likely (e^(7/3))"),
        ("4", "54.6 times as likely (e^4)"),
        ("5", "149 times as likely (e^5)"),
        ("6", "404 times as likely (e^6)"),
        ("10", "22,027 times as likely (e^10)"),
        ("64", "6.24e+27 times as likely (e^64)"),
    ],
)
def test_factors_are_rounded_up(epsilon, said):
    assert said in statement("clients", 10, "local", Fraction(epsilon), Fraction(0), "log")


def test_probabilities_are_rounded_up():
    assert "a probability of 3.34e-06." in statement("clients", 10, "local", Fraction(1), Fraction(1, 300_000), "log")
