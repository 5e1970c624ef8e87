"""Recognise files of a wrong type, for clear errors. This never changes how a file is read, and never quotes it."""

from __future__ import annotations

import codecs
import re

from blender_dp.errors import LogError
from blender_dp.logs.source import Format

_SAMPLE = 1000
_JSON_ARRAY = re.compile(rb"\s*\[\s*(?:\{|\Z)")
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY = (
    (b"PAR1", "is a Parquet file", "Pass the format (--format parquet)"),
    (b"\x1f\x8b", "is compressed with gzip", "Rename it so that it ends in .gz"),
    (b"\x28\xb5\x2f\xfd", "is compressed with Zstandard", "Rename it so that it ends in .zst"),
    (b"BZh91AY&SY", "is compressed with bzip2", "Use gzip or Zstandard instead"),
    (b"\xfd7zXZ\x00", "is compressed with xz", "Use gzip or Zstandard instead"),
    (b"PK\x03\x04", "is a ZIP archive or a spreadsheet", "Save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "is a spreadsheet", "Save it as CSV"),
)


def check_is_text(start: bytes, log_format: Format | None, where: str) -> None:
    """Refuse a file whose first bytes show that it is not UTF-8 text of this format, and name its type."""
    for magic, problem, fix in _BINARY:
        if start.startswith(magic):
            raise LogError(where, problem, fix)
    if encoding := _wide_encoding(start[:_SAMPLE]):
        problem = f"is {encoding.upper()} text, not UTF-8"
        raise LogError(where, problem, f"Pass the encoding (--encoding {encoding}), or save the file as UTF-8")
    if log_format in {None, Format.JSONL} and _JSON_ARRAY.match(start.splitlines()[0] if start else b""):
        problem = "is a JSON array, not an object per line"
        raise LogError(where, problem, "Write one object per line, for example with: jq -c '.[]' FILE > log.jsonl")


def not_utf8(where: str) -> LogError:
    """The error for a file whose first line is not UTF-8."""
    problem = "its first line is not UTF-8 text; it may be Latin-1 or Windows-1252"
    return LogError(where, problem, "Pass the encoding (such as --encoding latin-1), or save the file as UTF-8")


def _wide_encoding(sample: bytes) -> str | None:
    for mark, name in _WIDE:
        if sample.startswith(mark):
            return name
    # Without a mark, every second byte of plain UTF-16 text is zero.
    zeros = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if half > 1 and max(zeros) > 0.6 * half and min(zeros) < 0.4 * half:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return None
