"""A log: its files, their format and the names of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from blender_dp.errors import LogError

UTF8 = "utf-8"


@dataclass(frozen=True)
class Columns:
    """The names of a log's columns for user, query and URL; without a URL, records are single items."""

    user: str = "user"
    query: str = "query"
    url: str | None = "url"

    @property
    def levels(self) -> int:
        """The number of parts of a record."""
        return 1 if self.url is None else 2

    @property
    def named(self) -> dict[str, str]:
        """The columns of the log, by what they contain."""
        return {role: name for role, name in vars(self).items() if name is not None}


PLAIN_COLUMNS = Columns()
"""The default names."""


class Format(StrEnum):
    """The format of a log."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    AOL = "aol"
    YANDEX = "yandex"

    @property
    def has_header(self) -> bool:
        """Whether the first line of every file names the columns."""
        return self in {Format.CSV, Format.TSV, Format.AOL}


@dataclass(frozen=True)
class Source:
    """One log in one or more files of one format."""

    name: str
    """The log as the caller named it."""
    files: tuple[Path, ...] | tuple[str, ...]
    """Local files; or URIs of files, folders or patterns, which the engine resolves."""
    format: Format
    columns: Columns = PLAIN_COLUMNS
    header: tuple[str, ...] = ()
    """The column names in the first line of every file, if the format has such a line and the files are local."""
    delimiter: str = ","
    """The field separator of a CSV file."""
    encoding: str = UTF8
    """The encoding of text files, by its Python name."""

    @property
    def is_remote(self) -> bool:
        """Whether the files are URIs."""
        return any(isinstance(file, str) for file in self.files)

    @property
    def local(self) -> tuple[Path, ...]:
        """The files, for an engine that reads local files only."""
        if self.is_remote:
            raise LogError(self.name, "only Spark reads URIs", "Use the engine spark (--engine spark), or copy the files")
        return tuple(Path(file) for file in self.files)

    @property
    def user_place(self) -> int:
        """The number of columns before the user's, in a format that has a header."""
        return self.header.index(self.columns.user)

    @property
    def user_leads(self) -> bool:
        """Whether the user's column precedes the query and the URL, so that nothing people type can shift it."""
        others = (name for role, name in self.columns.named.items() if role != "user")
        return all(self.user_place < self.header.index(name) for name in others)

    @property
    def filtered(self) -> bool:
        """Whether records that look personal are removed. False for logs of numbers, where every record looks personal."""
        return self.format is not Format.YANDEX
