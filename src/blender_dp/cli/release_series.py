"""The releases of a series: files, folders, or a folder of releases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from blender_dp.cli.files import load_release
from blender_dp.errors import DocumentError
from blender_dp.release import Release
from blender_dp.release.files import RELEASE

Named = list[tuple[str, Release]]


def is_one_release(sources: Sequence[str]) -> bool:
    """Whether there is only one release: a file, or the folder of a release."""
    only = Path(sources[0])
    return len(sources) == 1 and (only.is_file() or not only.is_dir() or (only / RELEASE).exists())


def read_series(sources: Sequence[str]) -> Named:
    """The releases with their names, in the order of the sources; within a folder, by name, with numbers in order."""
    return [(_name(path), load_release(path)) for source in sources for path in _releases(Path(source))]


def _releases(path: Path) -> list[Path]:
    if not path.is_dir() or (path / RELEASE).exists():
        return [path]
    found = [one for one in path.iterdir() if (one / RELEASE).exists() or (one.is_file() and one.suffix == ".json")]
    if not found:
        raise DocumentError(str(path), "contains no release", "Pass a folder of releases, or releases themselves")
    return sorted(found, key=_natural)


def _natural(path: Path) -> list[tuple[int, str]]:
    """`round-2` before `round-10`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name)]


def _name(path: Path) -> str:
    return path.resolve().parent.name if path.name == RELEASE else path.stem if path.is_file() else path.resolve().name
