"""Text files that are not UTF-8: the engines read UTF-8 copies of them."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from blender_dp.errors import LogError
from blender_dp.logs.compression import is_complete, pieces
from blender_dp.logs.source import UTF8, Source

_COMPRESSED = {".gz", ".zst"}
_MARKED = {"utf-16", "utf-32"}  # their files start with a byte order mark
_INVALID = "\udcff"  # not valid in UTF-8
_WIDE_ERRORS = "blender-dp-invalid"
codecs.register_error(_WIDE_ERRORS, lambda error: (_INVALID, error.end))  # type: ignore[attr-defined]


def as_utf8(source: Source, folder: str) -> Source:
    """The same log in UTF-8. If its files have another encoding, they are copied to the folder.

    Bytes that are invalid in the encoding are also invalid in the copy, so that their row is counted as bad.
    """
    if source.encoding == UTF8:
        return source
    copies = tuple(_copied(path, number, source.encoding, Path(folder)) for number, path in enumerate(source.local))
    return replace(source, files=copies, encoding=UTF8)


def decoded(content: Iterator[bytes], encoding: str, where: str) -> Iterator[str]:
    """Decode bytes piece by piece; invalid bytes become lone surrogates."""
    decoder = codecs.getincrementaldecoder(encoding)(_errors(encoding))
    for piece in content:
        try:
            yield decoder.decode(piece)
        except UnicodeError:  # e.g. no byte order mark
            kinds = f"{encoding}-le or {encoding}-be" if encoding in _MARKED else "another one"
            problem = f"is not {encoding} text" + (" that starts with a byte order mark" if encoding in _MARKED else "")
            raise LogError(where, problem, f"Pass its encoding (--encoding), such as {kinds}") from None
    try:
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError:  # half a character at the end
        yield _INVALID


def _copied(path: Path, number: int, encoding: str, folder: Path) -> Path:
    if not is_complete(path):
        problem = f"is cut off, and cannot be converted from {encoding}"
        raise LogError(str(path), problem, "Get the complete file, or convert it to UTF-8")
    copy = folder / f"{number}-{path.stem if path.suffix.lower() in _COMPRESSED else path.name}"
    with copy.open("wb") as file:
        for text in decoded(pieces(path), encoding, str(path)):
            file.write(text.encode(UTF8, "surrogatepass"))
    return copy


def _errors(encoding: str) -> str:
    return _WIDE_ERRORS if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
