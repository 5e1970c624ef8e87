"""The gallery: every figure that `blender-dp reproduce` drew, from the page that explains them."""

from __future__ import annotations

import re

FIGURE = re.compile(r"^### (?P<name>[\w-]+): (?P<title>.+)$", re.MULTILINE)
INTRODUCTION = """# Gallery

Every figure of the papers, drawn by `blender-dp reproduce` from collections simulated on one machine. Each picture leads to
its command and to a comparison with what the papers say.

"""


def gallery(reproduction: str) -> str:
    """A card for every figure of docs/reproduce.md."""
    cards = "\n".join(_card(one["name"], one["title"]) for one in FIGURE.finditer(reproduction))
    return f'{INTRODUCTION}<div class="grid cards" markdown>\n\n{cards}\n</div>\n'


def _card(name: str, title: str) -> str:
    anchor = re.sub(r"[^\w\- ]", "", f"{name}: {title}".lower()).replace(" ", "-")
    return f"-   [![{name}](figures/{name}.svg)](reproduce.md#{anchor})\n\n    **{name}.** {title}\n"
