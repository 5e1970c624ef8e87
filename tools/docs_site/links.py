"""Links between files of the repository, turned into links between pages of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

LINK = re.compile(r"(?P<text>!?\[[^\]]*\])\((?P<target>[^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
SHOWN = {".svg", ".png", ".json"}  # browsers show these; other files are copied as text


def outside_code(change: Callable[[str], str], text: str) -> str:
    """The text with a change made everywhere but in code, which may itself be the text of a link."""
    codes = [code[0] for code in CODE.finditer(text)]
    numbers = count()
    changed = change(CODE.sub(lambda _: f"\0{next(numbers)}\0", text))
    return re.sub("\0(\\d+)\0", lambda place: codes[int(place[1])], changed)


class Links:
    """Rewrites the links of pages, and remembers which other files they lead to."""

    def __init__(self, root: Path, places: Mapping[str, str]) -> None:
        self.root = root
        self.places = places
        self.files: dict[str, str] = {}

    def rewritten(self, text: str, source: str) -> str:
        """The text of a page of the repository, with links that work at its place in the site."""
        return LINK.sub(lambda link: self._link(link, source), text)

    def _link(self, link: re.Match[str], source: str) -> str:
        target, hash_sign, anchor = link["target"].partition("#")
        if not target or "://" in target:
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if (self.root / path).is_dir():
            return link["text"][1:-1]  # a folder has no page
        relative = posixpath.relpath(self._place(path), posixpath.dirname(self.places[source]) or ".")
        return f"{link['text']}({relative}{hash_sign}{anchor})"

    def _place(self, path: str) -> str:
        if path in self.places:
            return self.places[path]
        if path not in self.files:
            inside = path.removeprefix("docs/") if path.startswith("docs/") else f"files/{path}"
            self.files[path] = inside if Path(path).suffix in SHOWN else f"{inside}.txt"
        return self.files[path]
