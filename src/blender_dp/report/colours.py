"""The colours of all pages and charts, in a light and in a dark theme.

The hues are those of Okabe and Ito, which people with any kind of colour vision can distinguish. Lines and marks have a
contrast of at least 3 to 1 with the background, and text of at least 4.5 to 1.
"""

from __future__ import annotations

from collections.abc import Iterable

PAPER, INK, SOFT, LINE = "#ffffff", "#1c2430", "#5b6675", "#dfe4ea"
BLUE, ORANGE, GREEN, PURPLE = "#0065a8", "#d55e00", "#009e73", "#b0558b"
GOLD, SKY, VIOLET, GREY = "#8a6d00", "#3392c9", "#6f46b8", "#767f8c"
BLENDED, OPT_IN, CLIENT, TRUTH = BLUE, ORANGE, GREEN, INK

THEMES = {
    "paper": (PAPER, "#14181e"),
    "ink": (INK, "#e8ebef"),
    "soft": (SOFT, "#a3adba"),
    "line": (LINE, "#39414c"),
    "wash": ("#f6f8fa", "#1d232b"),
    "warning": ("#fff4e5", "#3a2a12"),
    "warning-line": ("#e3a857", "#8a6122"),
    "blue": (BLUE, "#4895e0"),
    "orange": (ORANGE, "#f58a3c"),
    "green": (GREEN, "#45d9aa"),
    "purple": (PURPLE, "#dd8fbd"),
    "gold": (GOLD, "#d9b640"),
    "sky": (SKY, "#9bd3f5"),
    "violet": (VIOLET, "#b394f2"),
    "grey": (GREY, "#8d97a4"),
}
"""Every colour by its name on a page: its value in the light theme, which charts use, and in the dark one."""

_BY_LINE = {
    "blended": BLENDED,
    "tight": BLENDED,
    "opt-in": OPT_IN,
    "opt-in alone": OPT_IN,
    "client": CLIENT,
    "clients alone": CLIENT,
    "paper": PURPLE,
    "paper, opt-in alone": GOLD,
    "paper, clients alone": SKY,
    "printed": TRUTH,
    "printed, BLENDER": TRUTH,
    "printed, Qin et al. (CCS 2016)": GREY,
    "truth": TRUTH,
}
_HUES = (BLUE, ORANGE, GREEN, PURPLE, GOLD, SKY, VIOLET, GREY)


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """A colour for every line: always the same for the names above, and the next unused one for any other."""
    wanted = list(dict.fromkeys(names))
    known = {name: _BY_LINE[name] for name in wanted if name in _BY_LINE}
    unused = [hue for hue in _HUES if hue not in known.values()]
    others = iter(unused * len(wanted) or _HUES * len(wanted))
    return {name: known[name] if name in known else next(others) for name in wanted}
