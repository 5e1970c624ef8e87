from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.report.text import shortened, text_width, widest

# Advance widths of DejaVu Sans, the widest sans-serif font that is common, in thousandths of an em.
DEJAVU = {
    "a": 613, "b": 635, "c": 550, "d": 635, "e": 615, "f": 352, "g": 635, "h": 634, "i": 278, "j": 278, "k": 579,
    "l": 278, "m": 974, "n": 634, "o": 612, "p": 635, "q": 635, "r": 411, "s": 521, "t": 392, "u": 634, "v": 592,
    "w": 818, "x": 592, "y": 592, "z": 525, "A": 684, "B": 686, "C": 698, "D": 770, "G": 775, "H": 752, "I": 295,
    "M": 863, "N": 748, "O": 787, "Q": 787, "W": 989, "0": 636, "9": 636, " ": 318, ".": 318, "-": 361, "/": 337,
    "%": 950, "@": 1000, "&": 780, "+": 838, "=": 838, "_": 500, "?": 531, "#": 838, '"': 460, "é": 615, "…": 1000,
}  # fmt: skip


@pytest.mark.parametrize(("character", "width"), DEJAVU.items())
def test_no_character_is_wider_than_assumed(character, width):
    assert text_width(character, 1000) >= width


def test_the_bound_is_not_much_too_large():
    for text in ("www.google.com", "facebook", "weather tomorrow"):
        real = sum(DEJAVU[character] for character in text) / 1000 * 12
        assert real <= text_width(text) < 1.15 * real


@given(st.text(), st.floats(20, 300))
def test_a_shortened_text_fits_and_is_the_beginning(text, width):
    short = shortened(text, width)
    assert text_width(short) <= width
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_only_long_texts_are_shortened():
    assert shortened("www.google.com", 200) == "www.google.com"
    assert shortened("a " * 50, 60).endswith("a…")
    assert widest([]) == 0
    assert widest(["a", string.ascii_letters, "bc"]) == text_width(string.ascii_letters)
