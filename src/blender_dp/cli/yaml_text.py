"""YAML for files that people edit: JSON values as indented text, with several lines as a block."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_STEP = "  "


def yaml_text(value: Mapping[str, Any]) -> str:
    """A mapping of JSON values as a YAML document."""
    return "\n".join(_lines(value, "")) + "\n"


def _lines(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield f"{indent}{name}:"
            yield from _lines(one, indent + _STEP)
        elif isinstance(one, list):
            yield f"{indent}{name}:"
            yield from (line for item in one for line in _item(item, indent + _STEP))
        elif isinstance(one, str) and _is_block(one):
            yield f"{indent}{name}: |-"
            yield from (f"{indent}{_STEP}{line}" for line in one.split("\n"))
        else:
            yield f"{indent}{name}: {_scalar(one)}"


def _item(item: object, indent: str) -> Iterator[str]:
    if not isinstance(item, Mapping):
        yield f"{indent}- {_scalar(item)}"
        return
    first, *others = _lines(item, indent + _STEP)
    yield f"{indent}- {first.lstrip()}"
    yield from others


def _is_block(text: str) -> bool:
    """Whether the text can be a block: several printable lines that do not begin with spaces."""
    lines = text.split("\n")
    return len(lines) > 1 and all(line.isprintable() and line and not line[0].isspace() for line in lines)


def _scalar(value: object) -> str:
    """A number, or quoted text. A float has a point, because YAML reads 1e-05 as text."""
    if isinstance(value, str):
        return f'"{"".join(map(_escaped, value))}"'
    text = json.dumps(value)
    if isinstance(value, float) and "." not in text:
        mantissa, _, exponent = text.partition("e")
        return f"{mantissa}.0e{exponent}"
    return text


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
