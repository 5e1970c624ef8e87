from __future__ import annotations

from blender_dp.privacy.statement import seeded_warning, statement


def test_a_promise_in_plain_words_has_its_numbers():
    text = statement("opt-in users", 25_969, "central", 4, 1e-5)
    assert text.startswith("Opt-in users (25,969): ")
    assert "at most 54.6 (e^4)" in text
    assert "1e-05" in text
    assert "curator sees" in text


def test_clients_are_told_that_nobody_sees_their_records():
    assert "nobody, the curator included" in statement("clients", 10, "local", 1, 1e-9)


def test_a_seeded_run_says_so():
    assert "protects nobody" in seeded_warning()
