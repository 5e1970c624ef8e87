"""The output of a run: a folder with the release, the head list, the estimates and the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from blender_dp.cli.output import check_writable, note
from blender_dp.errors import BlenderError, ChartError, DocumentError, MissingExtraError
from blender_dp.evaluation import Scores, Truth
from blender_dp.privacy.statement import seeded_warning
from blender_dp.release import Release
from blender_dp.release.files import ESTIMATES, HEAD_LIST, RELEASE, save, write_atomically
from blender_dp_device.records.head_list import read_json
from blender_dp_device.records.reporting_list import names_channel

if TYPE_CHECKING:
    from blender_dp.report.figure import Draw

_REPORT = "report.html"
_WRITTEN = (RELEASE, HEAD_LIST, ESTIMATES, _REPORT)


@contextmanager
def output_folder(folder: Path, *, replace: bool) -> Iterator[None]:
    """Create the folder before any work is done, and remove it if the work fails.

    A folder that contains a release is refused, unless the release may be replaced or is from a seeded run.
    """
    if (folder / RELEASE).exists() and not (replace or _is_seeded(folder)):
        raise DocumentError(
            str(folder), "already contains a release", "Use another folder, or --force to replace the release"
        )
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        if not any(folder.iterdir()):
            folder.rmdir()


def check_more_files(paths: Sequence[Path], folder: Path, reads: Sequence[Path]) -> None:
    """Refuse more files of a run that cannot be written, or that would replace one that it reads or writes itself."""
    taken = {_key(path) for path in (folder, *(folder / name for name in _WRITTEN), *reads)}
    for path in paths:
        check_writable(path, created=folder)
        if _key(path) in taken:
            raise DocumentError(str(path), "this run reads or writes it itself", "Use another name")
        taken.add(_key(path))


def _key(path: Path) -> str:
    """What is equal for all names of a file, also where upper and lower case are the same."""
    return str(path.resolve()).casefold()


def write_folder(
    folder: Path,
    release: Release,
    truth: Truth | None = None,
    scores: Mapping[str, Scores] | None = None,
    draw: Draw | None = None,
) -> dict[str, Path]:
    """Write every file atomically, and return the paths by what they contain.

    The release has been paid for, so it is saved before its report is drawn.
    """
    (folder / _REPORT).unlink(missing_ok=True)  # from an older run
    files = save(release, folder)
    try:
        from blender_dp.report import render

        page = render(release, truth, scores, draw)
    except (MissingExtraError, ChartError) as error:
        note(f"No report.html: {error}")
        return files
    return {**files, "report": write_atomically(folder / _REPORT, lambda path: _write_text(path, page))}


def load_release(path: Path) -> Release:
    """Load a release from its file or folder, check its promises, and warn if it is from a seeded run."""
    release = read_release(path)
    if release.manifest.is_seeded:
        note(seeded_warning())
    return release


def read_release(path: Path) -> Release:
    """Load a release as `load_release` does, without a warning."""
    if path.parts[:1] in {("http:",), ("https:",)}:  # a path has no double slash
        url = "/".join((path.parts[0], "", *path.parts[1:]))
        raise DocumentError(url, "is a URL, and only trends reads from a collector", "Download the release first")
    return checked(Release.load(path), str(path))


def checked(release: Release, source: str) -> Release:
    """The release, unless its promises do not follow from its parameters."""
    from blender_dp.pipeline.manifest_check import check_manifest

    check_manifest(release, source)
    return release


def check_head_list(folder: Path, release: Release) -> None:
    """Refuse a folder whose head-list file, which is what devices receive, has another list or channel than the release."""
    path = folder / HEAD_LIST
    if not path.exists():
        return
    document = read_json(path)
    expected = release.reporting_list if names_channel(document) else release.head_list  # schema 1 names no channel
    if document != expected.to_document():
        raise DocumentError(str(path), f"is not the list of {RELEASE}", "Use the files of one run")


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _is_seeded(path: Path) -> bool:
    try:
        return Release.load(path).manifest.is_seeded
    except BlenderError:
        return False
