from __future__ import annotations

from blender_dp.privacy.statement import seeded_warning, statement


def test_a_promise_in_plain_words_has_its_numbers():
    text = statement("opt-in users", 25_969, "central", 4, 1e-5, "log")
    assert text.startswith("Opt-in users (25,969): ")
    assert "at most 54.6 times as likely (e^4), plus a probability of 1e-05" in text
    assert "curator sees" in text


def test_clients_are_told_that_nobody_sees_their_records_only_if_nobody_does():
    assert "nobody, the curator included" in statement("clients", 10, "local", 1, 1e-9, "devices")
    assert "saw their records" in statement("clients", 10, "local", 1, 1e-9, "log")


def test_a_seeded_run_says_so():
    assert "protects nobody" in seeded_warning()
