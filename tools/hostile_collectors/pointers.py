"""Pointers, which are not signed: names in them become part of a path only if they have the expected shape."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from hostile_collectors.documents import REMOVED
from hostile_collectors.steps import PATHS, field_of, shown, step


def pointer_cases() -> Iterator[tuple[Any, ...]]:
    """Pointers with other names, other rounds or another shape."""
    names = ["", "\x00", "../../operator", "A" * 64, "1" * 63, "1" * 65, "1" * 64 + "\n", "\ud800", 7, None, ["1"]]
    for act, kind in PATHS.items():
        for name in [*names, REMOVED]:
            yield f"{kind} called {shown(name)}", step(act, pointer={field_of(kind): name}, requests=["current"])
        for name in ["", "../../operator", "A" * 32, "1" * 31, "1" * 33, 7, None, REMOVED]:
            yield f"{act}: a round called {shown(name)}", step(act, pointer={"id": name}, requests=["current"])
        both = [f'{{"round": {wrong}, "released": {wrong}}}' for wrong in ("1", "{}", "NaN", "[]")]
        for text in ["", "{", "[]", "7", "NaN", "{}", '"text"', *both]:
            yield f"{act}: {text} in place of a pointer", step(act, current={"body": text}, requests=["current"])
        deep = {"repeat": ["[", 100_000]}
        yield f"{act}: a pointer that is nested deeply", step(act, current=deep, requests=["current"])
        not_text = {"base64": base64.b64encode(b'{"round": "\xff"}').decode()}
        yield f"{act}: a pointer that is not UTF-8", step(act, current=not_text, requests=["current"])
