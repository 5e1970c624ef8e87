"""How a log is to be read: what its files do not say about themselves. Every command that reads a log has these options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from blender_dp.logs.locate import find
from blender_dp.logs.source import Columns, Source


@dataclass(frozen=True)
class Reading:
    """The names of the columns, and the details of the files; by default both are detected."""

    user: str = "user"
    query: str = "query"
    url: str = "url"
    no_url: bool = False
    """The log has no URLs: its queries are single items."""
    format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None

    def find(self, log: Path | str | Sequence[Path | str]) -> Source:
        """Find a log, as `find` does."""
        columns = Columns(self.user, self.query, None if self.no_url else self.url)
        return find(log, self.format, columns, delimiter=self.delimiter, encoding=self.encoding)


PLAIN_READING = Reading()
"""The default."""
