"""Compressed files. The readable part of a truncated file is used, and the file is counted as cut off."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from blender_dp.logs.source import Source

_PIECE = 1 << 20
_LINE_END = re.compile(rb"[\r\n]")
_GZIP = 16 + zlib.MAX_WBITS


def first_bytes(path: Path) -> bytes:
    """The start of a file, compressed or not, complete or truncated: its first line, or its first megabyte."""
    start, readable = b"", not path.stat().st_size
    for piece in pieces(path):
        start, readable = start + piece, True
        if len(start) >= _PIECE or _LINE_END.search(start):
            break
    if not readable:
        raise OSError("nothing can be decompressed")
    return start


def without_cut_off_ends(source: Source, folder: str) -> tuple[Source, int] | None:
    """The same log without incomplete last lines, and the number of truncated files; None if no file was truncated."""
    if source.is_remote:
        return None
    whole = [_whole_lines(path, Path(folder)) if path.suffix.lower() == ".gz" else path for path in source.local]
    cut_off = sum(new != old for new, old in zip(whole, source.files, strict=True))
    return (replace(source, files=tuple(whole)), cut_off) if cut_off else None


def _whole_lines(path: Path, folder: Path) -> Path:
    """The path itself if the file is complete, otherwise a copy that ends with the last complete line."""
    if is_complete(path):
        return path
    copy = folder / f"{abs(hash(path))}-{path.stem}"
    with copy.open("wb") as file:
        rest = b""
        for piece in pieces(path):
            head, newline, rest = (rest + piece).rpartition(b"\n")
            file.write(head + newline)
    return copy


def is_complete(path: Path) -> bool:
    """Whether a file is complete, as far as its compression shows."""
    if path.suffix.lower() != ".gz":
        return True
    *_, last = [True, *(ended for _, ended in _unzipped(path))]
    return last


def pieces(path: Path) -> Iterator[bytes]:
    """The decompressed content of a file in pieces; of a truncated file, the readable part."""
    if path.suffix.lower() == ".gz":
        yield from (piece for piece, _ in _unzipped(path))
        return
    with pa.input_stream(str(path)) as file:
        while piece := file.read(_PIECE):
            yield bytes(piece)


def _unzipped(path: Path) -> Iterator[tuple[bytes, bool]]:
    """The decompressed content in pieces, each with whether the stream is complete there. Stops at invalid data."""
    unzip = zlib.decompressobj(_GZIP)
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            while piece:
                try:
                    yield unzip.decompress(piece), unzip.eof
                except zlib.error:
                    return
                piece = unzip.unused_data
                if unzip.eof and piece:  # a file may consist of several concatenated gzip members
                    unzip = zlib.decompressobj(_GZIP)
