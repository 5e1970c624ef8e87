"""The files of a release: one JSON file, or a folder that also has its head list and its estimates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from blender_dp.errors import DocumentError
from blender_dp.release import document

if TYPE_CHECKING:
    from blender_dp.release.release import Release

RELEASE, HEAD_LIST, ESTIMATES = "release.json", "head-list.json", "estimates.parquet"


def save(release: Release, path: Path) -> dict[str, Path]:
    """Write a release to a .json file, or otherwise to a folder; return the paths by what they contain."""
    if path.suffix == ".json" and not path.is_dir():
        return {"release": write_atomically(path, lambda file: _write_json(release, file))}
    import pyarrow.parquet as pq  # noqa: PLC0415 (slow to load, and readers of a release do not need it)

    path.mkdir(parents=True, exist_ok=True)
    head_list = write_atomically(path / HEAD_LIST, release.reporting_list.save)
    estimates = write_atomically(path / ESTIMATES, lambda file: pq.write_table(release.to_arrow(), file))
    written = write_atomically(path / RELEASE, lambda file: _write_json(release, file))  # last: then the folder is complete
    return {"release": written, "head list": head_list, "estimates": estimates}


def release_file(path: Path) -> Path:
    """The JSON file of a release, from its folder or the file itself."""
    return path / RELEASE if path.is_dir() else path


def write_csv(release: Release, path: Path) -> None:
    """Write all estimates as CSV. Text is quoted, and a missing value (⋆) is empty without quotes."""
    import pyarrow.csv as pa_csv  # noqa: PLC0415

    write_atomically(path, lambda file: pa_csv.write_csv(release.to_arrow(), file))


def write_atomically(path: Path, write: Callable[[Path], None]) -> Path:
    """Write a file atomically: either all of it or nothing."""
    if not path.parent.is_dir():
        raise DocumentError(str(path), "cannot be written, because its folder does not exist", "Create the folder first")
    partial = path.with_name(f".{path.name}.partial")
    try:
        write(partial)
        partial.replace(path)
    except OSError as error:
        if error.filename == str(partial):
            error.filename = str(path)  # the name that the caller knows
        raise
    finally:
        partial.unlink(missing_ok=True)
    return path


def _write_json(release: Release, path: Path) -> None:
    path.write_text(document.dump(release), encoding="utf-8")
