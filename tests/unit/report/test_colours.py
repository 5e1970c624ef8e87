from __future__ import annotations

import itertools

import pytest

from blender_dp.report import colours

BACKGROUNDS = ("paper", "wash")
TEXTS = ("ink", "soft")
MARKS = ("blue", "orange", "green", "purple", "gold", "sky", "violet", "grey")
# How a person without red, green or blue cones sees linear RGB (Viénot, Brettel and Mollon 1999; Machado et al. 2009).
VISION = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red cones": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green cones": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "no blue cones": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}


def linear(colour: str) -> list[float]:
    """The linear RGB values of a colour."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour: str) -> float:
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: list[float]) -> list[float]:
    """Oklab, in which distances are about as large as they look."""
    to_cones = ((0.4122, 0.5363, 0.0514), (0.2119, 0.6807, 0.1074), (0.0883, 0.2817, 0.6300))
    cones = [max(sum(a * b for a, b in zip(row, rgb, strict=True)), 0) ** (1 / 3) for row in to_cones]
    to_lab = ((0.2105, 0.7936, -0.0041), (1.9780, -2.4286, 0.4506), (0.0259, 0.7828, -0.8087))
    return [sum(a * b for a, b in zip(row, cones, strict=True)) for row in to_lab]


def distance(one: str, other: str, vision: str) -> float:
    seen = [
        lab([sum(a * b for a, b in zip(row, linear(colour), strict=True)) for row in VISION[vision]])
        for colour in (one, other)
    ]
    return sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5


@pytest.mark.parametrize("dark", [0, 1], ids=["light", "dark"])
def test_text_and_marks_have_enough_contrast(dark):
    for background in BACKGROUNDS:
        paper = colours.THEMES[background][dark]
        assert all(contrast(colours.THEMES[name][dark], paper) >= 4.5 for name in TEXTS)
        assert all(contrast(colours.THEMES[name][dark], paper) >= 3 for name in MARKS)
    assert contrast(colours.THEMES["ink"][dark], colours.THEMES["warning"][dark]) >= 4.5


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("dark", [0, 1], ids=["light", "dark"])
def test_the_groups_are_distinguishable_with_any_colour_vision(dark, vision):
    """The distance of two colours that are 'just different' is about 0.02."""
    shown = [colours.THEMES[name][dark] for name in ("blue", "orange", "green", "ink")]
    assert min(distance(a, b, vision) for a, b in itertools.combinations(shown, 2)) > 0.1


def test_every_constant_is_a_colour_of_the_light_theme():
    light = {value for value, _ in colours.THEMES.values()}
    assert {colours.PAPER, colours.INK, colours.SOFT, colours.LINE, *colours.colours_of("abcdefgh").values()} <= light
    assert len(light) == len(colours.THEMES)
    assert {colours.BLENDED, colours.OPT_IN, colours.CLIENT, colours.TRUTH} <= light
