"""The colours of all charts: distinguishable with any colour vision, on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

BLENDED, OPT_IN, CLIENT, TRUTH = "#1f5fa8", "#d9822b", "#3a9a6b", "#222222"

_BY_NAME: Mapping[str, str] = {
    "blended": BLENDED,
    "tight": BLENDED,
    "opt-in": OPT_IN,
    "opt-in alone": OPT_IN,
    "client": CLIENT,
    "clients alone": CLIENT,
    "paper": "#b5459c",
    "printed": TRUTH,
    "truth": TRUTH,
}
# Okabe and Ito's palette, darkened where a thin line would vanish on white.
_OTHERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#3d9bd1", "#5b5b5b", "#7a3db8")


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """A colour for every name: always the same for the names above, and the next unused one for any other."""
    wanted = list(dict.fromkeys(names))
    others = iter(_OTHERS * (len(wanted) // len(_OTHERS) + 1))
    return {name: _BY_NAME[name] if name in _BY_NAME else next(others) for name in wanted}
