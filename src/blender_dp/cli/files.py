"""What a run leaves behind: a folder with the release, the head list, the estimates and the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow.parquet as pq

from blender_dp.errors import DocumentError
from blender_dp.evaluation import Scores, Truth
from blender_dp.release import Release

RELEASE, HEAD_LIST, ESTIMATES, REPORT = "release.json", "head-list.json", "estimates.parquet", "report.html"


def check_folder(folder: Path, *, replace: bool) -> None:
    """Refuse a folder that already holds a release, before any work is done."""
    if (folder / RELEASE).exists() and not replace:
        raise DocumentError(str(folder), "already holds a release", "Take another folder, or --force to replace it")
    folder.mkdir(parents=True, exist_ok=True)


def write_folder(
    folder: Path, release: Release, truth: Truth | None = None, scores: Mapping[str, Scores] | None = None
) -> dict[str, Path]:
    """Write every file whole or not at all; return what was written, by what it is."""
    writers: dict[str, tuple[str, Callable[[Path], None]]] = {
        "release": (RELEASE, release.save),
        "head list": (HEAD_LIST, release.head_list.save),
        "estimates": (ESTIMATES, lambda path: pq.write_table(release.to_arrow(), path)),
    }
    page = _page(release, truth, scores)
    if page is not None:
        writers["report"] = (REPORT, lambda path: _write_text(path, page))
    written = {}
    for what, (name, write) in writers.items():
        written[what] = folder / name
        partial = folder / f".{name}.partial"
        write(partial)
        partial.replace(written[what])
    return written


def load_release(path: Path) -> Release:
    """Load a release from its file or from the folder it was written to."""
    return Release.load(path / RELEASE if path.is_dir() else path)


def _page(release: Release, truth: Truth | None, scores: Mapping[str, Scores] | None) -> str | None:
    try:
        from blender_dp.report import render
    except ModuleNotFoundError:  # the extra `plots` is not installed
        return None
    return render(release, truth, scores)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
