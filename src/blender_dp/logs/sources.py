"""Log files: which ones are meant, in which format they are, and what their columns are called."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from blender_dp.engines import PLAIN_COLUMNS, Columns, Format, Source
from blender_dp.engines.header import check_header, header_of
from blender_dp.engines.mending import first_line
from blender_dp.errors import LogError

AOL_HEADER = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
"""The first line of every file of the AOL log."""

_AOL_COLUMNS = Columns("AnonID", "Query", "ClickURL")
_YANDEX_COLUMNS = Columns("USERID", "QueryID", "URLID")
_YANDEX_LINE = re.compile(r"[0-9]+\tM\t[0-9]+\t[0-9]+\s*")
_SUFFIXES = {
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".tab": Format.TSV,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".txt": Format.TSV,
}
_PACKED = {".gz", ".zst"}
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def find(
    log: Path | str | Sequence[Path | str],
    log_format: str | None = None,
    columns: Columns = PLAIN_COLUMNS,
) -> Source:
    """Find a log: a file, a folder of files, a pattern such as `logs/*.csv.gz`, or several of these.

    The format is told by the endings and, for AOL and Yandex, by the first line; or name it. All files have one format.
    URIs such as `hdfs://host/logs` are for Spark, which reads their first lines too: AOL and Yandex have to be named there.
    """
    parts = [log] if isinstance(log, Path | str) else list(log)
    name = ", ".join(str(part) for part in parts)
    uris = tuple(dict.fromkeys(part for part in parts if isinstance(part, str) and _URI.match(part)))
    if uris and len(uris) < len(set(parts)):
        raise LogError(name, "mixes URIs with paths", "Give URIs only (file:///... is a path that all workers have)")
    paths = () if uris else tuple(dict.fromkeys(path for part in parts for path in _expanded(part)))
    files = uris or paths
    chosen = _named(log_format, name) if log_format else _detected(files, name)
    if chosen is Format.AOL and columns == replace(PLAIN_COLUMNS, url=columns.url and PLAIN_COLUMNS.url):
        columns = replace(_AOL_COLUMNS, url=columns.url and _AOL_COLUMNS.url)
    if chosen is Format.YANDEX:
        return Source(name, files, chosen, _YANDEX_COLUMNS)
    source = Source(name, files, chosen, columns)
    return replace(source, header=_common_header(source)) if chosen.has_header and not uris else source


def find_reports(reports: Sequence[Path | str]) -> Source:
    """Find clients' reports: Parquet files, or JSON lines."""
    source = find(reports)
    if source.format not in {Format.PARQUET, Format.JSONL}:
        raise LogError(source.name, f"reports in {source.format} cannot be read", "Give .parquet or .jsonl files")
    return source


def _expanded(part: Path | str) -> list[Path]:
    path = Path(part)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and _ending(file) in _SUFFIXES)
        if not files:
            raise LogError(str(part), "the folder has no log files", f"Give files that end in {', '.join(_SUFFIXES)}")
        return files
    if path.is_file():
        return [path]
    if glob.has_magic(str(part)):
        files = sorted(Path(file) for file in glob.glob(str(part), recursive=True) if Path(file).is_file())  # noqa: PTH207
        if files:
            return files
        raise LogError(str(part), "no file has such a name", "Check the pattern")
    raise LogError(str(part), "is not a file" if path.exists() else "does not exist", "Check the path")


def _ending(path: Path) -> str:
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in _PACKED else suffix


def _named(log_format: str, name: str) -> Format:
    try:
        return Format(log_format.lower())
    except ValueError:
        raise LogError(name, f"{log_format!r} is no format", f"Use one of: {', '.join(Format)}") from None


def _detected(files: Iterable[Path | str], name: str) -> Format:
    formats = {_format_of(file) for file in files}
    if len(formats) > 1:
        found = ", ".join(sorted(formats))
        raise LogError(name, f"the files are in different formats ({found})", "Give files of one format, or name it")
    return formats.pop()


def _format_of(file: Path | str) -> Format:
    ending = _ending(Path(file))
    usual = _SUFFIXES.get(ending)
    first = _first_line(file) if isinstance(file, Path) and usual in {None, Format.TSV} else ""
    if _YANDEX_LINE.fullmatch(first):
        return Format.YANDEX
    if usual is None:
        raise LogError(str(file), f"cannot tell the format of {ending!r}", f"Name it: {', '.join(Format)}")
    return Format.AOL if tuple(first.split("\t")) == AOL_HEADER else usual


def _common_header(source: Source) -> tuple[str, ...]:
    headers = {file: header_of(_first_line(file), source.format, str(file)) for file in source.local}
    (first, header), *_ = headers.items()
    for file, other in headers.items():
        if other != header:
            raise LogError(str(file), f"its first line differs from that of {first}", "Give files with the same columns")
    check_header(header, source.columns, str(first))
    return header


def _first_line(file: Path) -> str:
    try:
        return first_line(file).decode("utf-8-sig")
    except (UnicodeDecodeError, OSError):
        raise LogError(str(file), "its first line cannot be read as UTF-8 text", "Check the file and its ending") from None
