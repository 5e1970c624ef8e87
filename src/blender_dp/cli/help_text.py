"""The help of a verb, from its docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable

_VERBATIM = "\b"  # click's mark of a paragraph whose lines are shown as they are


def help_text(verb: Callable[..., None]) -> str:
    """The docstring with every paragraph in one line, so that only the terminal's width breaks it."""
    paragraphs = (inspect.getdoc(verb) or "").split("\n\n")
    return "\n\n".join(one if one.startswith(_VERBATIM) else one.replace("\n", " ") for one in paragraphs)
