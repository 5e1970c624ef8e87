"""Results that were measured before, kept under a digest of everything that they depend on."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import machine

HOME = Path(".bench/rivals")

_HARDWARE_AND_VERSIONS = ("processor", "python", "numpy", "duckdb", "pyarrow")


def remembered(name: str, depends_on: str, measure: Callable[[], Any]) -> dict[str, Any]:
    """What was measured from the same inputs before, or is measured now, with the day of the measurement."""
    path = HOME / "results" / f"{name}-{digest(depends_on, environment())}.json"
    if not path.exists():
        today = datetime.now(UTC).date().isoformat()
        store(path, {"measured": today, "result": measure()})
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@cache
def environment() -> str:
    """The hardware and versions that results depend on; the versions in the rivals' environments are pinned files."""
    description = machine.description()
    return " ".join(str(description[name]) for name in _HARDWARE_AND_VERSIONS)


def digest(*parts: str) -> str:
    """A short name for these parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def source_of(script: Path) -> str:
    """The text of a script and of the files of this repository's benchmarks that it imports."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(files_of(script)))


def files_of(script: Path) -> set[Path]:
    """A script, the files next to it that it imports, and those that these import."""
    found, waiting = set(), [script]
    while waiting:
        if (path := waiting.pop()) not in found:
            found.add(path)
            waiting += _imported(path)
    return found


def _imported(path: Path) -> list[Path]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return [file for name in names if (file := _file_of(name, path.parent)).exists()]


def _file_of(module: str, folder: Path) -> Path:
    """Scripts import their neighbours by name alone, and our own rows run as part of the package `benchmarks`."""
    parts = Path(*module.split(".")).with_suffix(".py")
    return parts if module.startswith("benchmarks.") else folder / parts


def store(path: Path, values: object) -> None:
    """Write the file whole or not at all, so that an interrupted run can be continued."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    unfinished.rename(path)
