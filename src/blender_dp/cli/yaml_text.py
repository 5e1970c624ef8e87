"""YAML for files that people edit: JSON values as indented text, with several lines as a block."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_STEP = "  "
_Shown = Callable[[str], bool]


def yaml_text(value: Mapping[str, Any], shown: _Shown = str.isprintable) -> str:
    """A mapping of JSON values as a YAML document; characters that are not `shown` are escaped."""
    return "\n".join(_lines(value, "", shown)) + "\n"


def _lines(value: Mapping[str, Any], indent: str, shown: _Shown) -> Iterator[str]:
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield f"{indent}{name}:"
            yield from _lines(one, indent + _STEP, shown)
        elif isinstance(one, list):
            yield f"{indent}{name}:"
            yield from (line for item in one for line in _item(item, indent + _STEP, shown))
        elif isinstance(one, str) and _is_block(one, shown):
            yield f"{indent}{name}: |-"
            yield from (f"{indent}{_STEP}{line}" for line in one.split("\n"))
        else:
            yield f"{indent}{name}: {_scalar(one, shown)}"


def _item(item: object, indent: str, shown: _Shown) -> Iterator[str]:
    if not isinstance(item, Mapping):
        yield f"{indent}- {_scalar(item, shown)}"
        return
    first, *others = _lines(item, indent + _STEP, shown)
    yield f"{indent}- {first.lstrip()}"
    yield from others


def _is_block(text: str, shown: _Shown) -> bool:
    """Whether the text can be a block: several printable lines that do not begin with spaces."""
    lines = text.split("\n")
    return len(lines) > 1 and all(shown(line) and line and not line[0].isspace() for line in lines)


def _scalar(value: object, shown: _Shown) -> str:
    """A number, or quoted text. A float has a point, because YAML reads 1e-05 as text."""
    if isinstance(value, str):
        return f'"{"".join(_escaped(one, shown) for one in value)}"'
    text = json.dumps(value)
    if isinstance(value, float) and "." not in text:
        mantissa, _, exponent = text.partition("e")
        return f"{mantissa}.0e{exponent}"
    return text


def _escaped(character: str, shown: _Shown) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if shown(character) else f"\\U{ord(character):08x}"
