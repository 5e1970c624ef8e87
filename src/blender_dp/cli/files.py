"""The output of a run: a folder with the release, the head list, the estimates and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

from blender_dp.cli.output import note
from blender_dp.cli.svg_process import Draw
from blender_dp.errors import BlenderError, DocumentError, MissingExtraError
from blender_dp.evaluation import Scores, Truth
from blender_dp.privacy.statement import seeded_warning
from blender_dp.release import Release

HEAD_LIST, ESTIMATES, REPORT, RELEASE = "head-list.json", "estimates.parquet", "report.html", "release.json"


@contextmanager
def output_folder(folder: Path, *, replace: bool) -> Iterator[None]:
    """Create the folder before any work is done, and remove it if the work fails.

    A folder that contains a release is refused, unless the release may be replaced or is from a seeded run.
    """
    if (folder / RELEASE).exists() and not (replace or _is_seeded(folder / RELEASE)):
        raise DocumentError(
            str(folder), "already contains a release", "Use another folder, or --force to replace the release"
        )
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        if not any(folder.iterdir()):
            folder.rmdir()


def write_folder(
    folder: Path,
    release: Release,
    truth: Truth | None = None,
    scores: Mapping[str, Scores] | None = None,
    draw: Draw | None = None,
) -> dict[str, Path]:
    """Write every file atomically, the release last; return the paths by what they contain."""
    try:
        from blender_dp.report import render

        page = render(release, truth, scores, draw)
    except MissingExtraError as error:
        page = None
        note(f"No report.html: {error}")
    written = {
        "head list": write_atomically(folder / HEAD_LIST, release.reporting_list.save),
        "estimates": write_atomically(folder / ESTIMATES, lambda path: pq.write_table(release.to_arrow(), path)),
    }
    if page is None:
        (folder / REPORT).unlink(missing_ok=True)  # from an older run
    else:
        written["report"] = write_atomically(folder / REPORT, lambda path: _write_text(path, page))
    return {"release": write_atomically(folder / RELEASE, release.save), **written}


def load_release(path: Path) -> Release:
    """Load a release from its file or folder, and warn if it is from a seeded run."""
    release = Release.load(path / RELEASE if path.is_dir() else path)
    if release.manifest.is_seeded:
        note(seeded_warning())
    return release


def write_atomically(path: Path, write: Callable[[Path], None]) -> Path:
    """Write a file atomically: either all of it or nothing."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        write(partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _is_seeded(path: Path) -> bool:
    try:
        return Release.load(path).manifest.is_seeded
    except BlenderError:
        return False
