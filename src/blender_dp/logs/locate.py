"""Locate log files: which files a path or pattern matches, their format and their columns."""

from __future__ import annotations

import codecs
import glob
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from blender_dp.errors import LogError
from blender_dp.logs.compression import first_bytes
from blender_dp.logs.encoding import decoded
from blender_dp.logs.file_types import check_is_text, not_utf8
from blender_dp.logs.header import header_of
from blender_dp.logs.source import PLAIN_COLUMNS, UTF8, Columns, Format, Source

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
_COMPRESSED = {".gz", ".zst"}
_OTHER_COMPRESSIONS = {".br", ".bz2", ".lz4", ".xz"}  # not every engine reads them
# Encodings in which the meaning of a byte depends on earlier lines, or a line break is encoded differently.
_STATEFUL = ("iso2022", "hz", "utf-7", "idna", "punycode", "unicode", "raw-unicode", "raw_unicode")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def find(
    log: Path | str | Sequence[Path | str],
    log_format: str | None = None,
    columns: Columns = PLAIN_COLUMNS,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Source:
    """Find a log: a file, a folder of files, a pattern such as `logs/*.csv.gz`, or several of these.

    The format is detected from the file endings and, for AOL and Yandex, from the first line; or pass it. All files have
    the same format. URIs such as `hdfs://host/logs` are for Spark; pass the format of AOL and Yandex logs there.
    `delimiter` is the separator of a CSV file, if not a comma; `encoding` is that of text files, if not UTF-8.
    """
    parts = [log] if isinstance(log, Path | str) else list(log)
    name = ", ".join(str(part) for part in parts)
    uris = tuple(dict.fromkeys(part for part in parts if isinstance(part, str) and _URI.match(part)))
    if uris and len(uris) < len(set(parts)):
        raise LogError(name, "mixes URIs with paths", "Use URIs only (file:///... is a path that exists on all workers)")
    paths = () if uris else tuple(dict.fromkeys(path for part in parts for path in _expanded(part)))
    files, coding = uris or paths, _checked_encoding(encoding, name)
    chosen = _chosen_format(files, log_format, delimiter, coding, name)
    if chosen is Format.PARQUET and coding != UTF8:
        raise LogError(name, "Parquet files have no encoding", "Leave --encoding out")
    if uris and coding != UTF8:
        raise LogError(name, f"files at URIs are read as UTF-8, not as {coding}", "Convert them, or copy them here")
    if chosen is Format.AOL and columns == replace(PLAIN_COLUMNS, url=columns.url and PLAIN_COLUMNS.url):
        columns = replace(_AOL_COLUMNS, url=columns.url and _AOL_COLUMNS.url)
    if chosen is Format.YANDEX:
        columns = _YANDEX_COLUMNS
    separator = "," if delimiter is None else _checked_delimiter(delimiter, name)
    source = Source(name, files, chosen, columns, delimiter=separator, encoding=coding)
    if chosen is not Format.PARQUET and coding == UTF8:
        for path in paths:
            check_is_text(_start(path), chosen, str(path))
    return replace(source, header=_common_header(source)) if chosen.has_header and not uris else source


def find_reports(reports: Sequence[Path | str]) -> Source:
    """Find clients' reports: Parquet files, or JSON lines."""
    source = find(reports)
    if source.format not in {Format.PARQUET, Format.JSONL}:
        raise LogError(source.name, f"reports in {source.format} cannot be read", "Use .parquet or .jsonl files")
    return source


def _expanded(part: Path | str) -> list[Path]:
    with reading(part):
        files = _matching(part)
        for file in files:
            file.open("rb").close()  # an engine would report a missing permission as a damaged file
            if file.suffix.lower() in _OTHER_COMPRESSIONS:
                raise LogError(str(file), f"{file.suffix} is not a supported compression", "Use gzip or Zstandard instead")
        return files


def _matching(part: Path | str) -> list[Path]:
    path = Path(part)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and _ending(file) in _SUFFIXES)
        if not files:
            raise LogError(str(part), "the folder has no log files", f"Use files that end in {', '.join(_SUFFIXES)}")
        return files
    if path.is_file():
        return [path]
    if glob.has_magic(str(part)):
        files = sorted(Path(file) for file in glob.glob(str(part), recursive=True) if Path(file).is_file())  # noqa: PTH207
        if files:
            return files
        raise LogError(str(part), "no file matches", "Check the pattern")
    raise LogError(str(part), "is not a file" if path.exists() else "does not exist", "Check the path")


def _ending(path: Path) -> str:
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in _COMPRESSED else suffix


def _chosen_format(
    files: Sequence[Path | str], log_format: str | None, delimiter: str | None, encoding: str, name: str
) -> Format:
    chosen = _named(log_format, name) if log_format else None
    if delimiter is None:
        return chosen or _detected(files, encoding, name)
    endings = {_SUFFIXES.get(_ending(Path(file)), Format.CSV) for file in files}
    if chosen not in {None, Format.CSV} or (chosen is None and endings - {Format.CSV, Format.TSV}):
        raise LogError(name, "only CSV files have a delimiter", "Leave --delimiter out, or pass --format csv")
    return Format.CSV


def _checked_delimiter(delimiter: str, name: str) -> str:
    character = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(character) != 1 or (character != "\t" and not character.isprintable()) or character in '"' or character.isalnum():
        raise LogError(name, f"{delimiter!r} cannot separate fields", "Use one character such as ; or |, or the word tab")
    return character


def _checked_encoding(encoding: str | None, name: str) -> str:
    if encoding is None:
        return UTF8
    try:
        "".encode(encoding)
        known = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        problem = f"{encoding!r} is not a known encoding"
        raise LogError(name, problem, "Use one such as latin-1, cp1252, utf-16 or shift_jis") from None
    if known.startswith(_STATEFUL):
        problem = f"cannot be read as {known}: one row could change how the next one is read"
        raise LogError(name, problem, "Convert the files to UTF-8")
    return UTF8 if known in {"utf-8-sig", "ascii"} else known


def _named(log_format: str, name: str) -> Format:
    try:
        return Format(log_format.lower())
    except ValueError:
        raise LogError(name, f"{log_format!r} is not a known format", f"Use one of: {', '.join(Format)}") from None


def _detected(files: Iterable[Path | str], encoding: str, name: str) -> Format:
    formats = {_format_of(file, encoding) for file in files}
    if len(formats) > 1:
        listed = ", ".join(sorted(formats))
        raise LogError(name, f"the files are in different formats ({listed})", "Use files of one format, or pass it")
    return formats.pop()


def _format_of(file: Path | str, encoding: str) -> Format:
    ending = _ending(Path(file))
    usual = _SUFFIXES.get(ending)
    first = _first_line(file, encoding, usual) if isinstance(file, Path) and usual in {None, Format.TSV} else ""
    if _YANDEX_LINE.fullmatch(first):
        return Format.YANDEX
    if usual is None:
        raise LogError(str(file), f"cannot detect the format from {ending!r}", f"Pass it (--format): {', '.join(Format)}")
    return Format.AOL if tuple(first.split("\t")) == AOL_HEADER else usual


def _common_header(source: Source) -> tuple[str, ...]:
    headers = {
        file: header_of(_first_line(file, source.encoding, source.format), source, str(file)) for file in source.local
    }
    (first, header), *_ = headers.items()
    for file, other in headers.items():
        if other != header:
            raise LogError(str(file), f"its first line differs from that of {first}", "Use files with the same columns")
    return header


def _first_line(file: Path, encoding: str, log_format: Format | None) -> str:
    start = _start(file)
    if encoding != UTF8:
        text = next(iter("".join(decoded(iter([start]), encoding, str(file))).splitlines()), "")
        return text.removeprefix("\ufeff")
    check_is_text(start, log_format, str(file))
    try:
        return re.split(rb"[\r\n]", start, maxsplit=1)[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise not_utf8(str(file)) from None


def _start(file: Path) -> bytes:
    with reading(file):
        return first_bytes(file)


@contextmanager
def reading(file: Path | str) -> Iterator[None]:
    """Raise a clear error for a file that cannot be read at all."""
    try:
        yield
    except PermissionError:
        problem = "permission denied: this account cannot read it"
        raise LogError(
            str(file), problem, "Change the permissions of the file or its folder, or use another account"
        ) from None
    except OSError:
        problem = "cannot be read: it is damaged, or not compressed as its extension says"
        raise LogError(str(file), problem, "Check the file and its extension") from None
