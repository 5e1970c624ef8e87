"""Log files as something DuckDB can scan.

The dialect of a text file is fixed, never guessed from its rows: if it were, one user's row could change how everybody
else's rows are read.
"""

from __future__ import annotations

import csv
import glob
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from blender_dp.errors import LogError

_USUAL_NAMES = frozenset(
    {
        "user", "user_id", "userid", "uid", "id", "anonid", "client", "client_id", "query", "q", "search", "term", "text",
        "url", "link", "clickurl", "href", "target", "time", "timestamp", "date", "querytime", "itemrank", "rank", "session",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Scan:
    """A table function call, and the column names as far as they may be shown."""

    sql: str
    columns: list[str] | None = None
    """None: the file has a schema, and DuckDB knows the names."""

    def described(self, names: list[str]) -> str:
        """Say which columns there are. The first line of a text file may be a person's row, so its words stay inside."""
        if self.columns is None:
            return f"its columns are {', '.join(names)}"
        usual = [name for name in names if name.casefold() in _USUAL_NAMES]
        among = f", among them {', '.join(usual)}" if usual else ""
        return f"its first line names {len(names)} columns{among}"


def scan(path: Path) -> Scan:
    """How to read a log file, by its ending."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise LogError(str(path), f"cannot tell the format of {path.suffix!r}", f"Use one of: {', '.join(_READERS)}")
    if not path.is_file():
        raise LogError(str(path), "is not a file" if path.exists() else "does not exist", "Check the path")
    return reader(path)


def quoted_text(value: str) -> str:
    """A text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def _scan_parquet(path: Path) -> Scan:
    return Scan(f"read_parquet({_literal(path)})")


def _scan_text(path: Path, delimiter: str) -> Scan:
    names = _header(path, delimiter)
    columns = ", ".join(f"{quoted_text(name)}: 'VARCHAR'" for name in names)
    dialect = f"header = true, delim = {quoted_text(delimiter)}, quote = '\"', escape = '\"', comment = '', skip = 0"
    return Scan(f"read_csv({_literal(path)}, auto_detect = false, {dialect}, columns = {{{columns}}})", names)


def _header(path: Path, delimiter: str) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file, delimiter=delimiter), [])
    except (UnicodeDecodeError, csv.Error):
        raise LogError(str(path), "its first line is no UTF-8 text", "Save the log as UTF-8") from None
    if not names:
        raise LogError(str(path), "is empty", "Give a log whose first line names its columns")
    if len(set(names)) < len(names):
        raise LogError(str(path), "names two columns alike", "Give every column a name of its own")
    return names


def _literal(path: Path) -> str:
    return quoted_text(glob.escape(str(path)))


_READERS: dict[str, Callable[[Path], Scan]] = {
    ".csv": lambda path: _scan_text(path, ","),
    ".tsv": lambda path: _scan_text(path, "\t"),
    ".parquet": _scan_parquet,
}
