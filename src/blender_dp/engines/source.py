"""What an engine is asked to read: which files, in which format, and what became of their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import Path

from blender_dp.errors import LogError

UTF8 = "utf-8"


@dataclass(frozen=True)
class Columns:
    """The names under which a log keeps user, query and URL; without a URL, records are single items."""

    user: str = "user"
    query: str = "query"
    url: str | None = "url"

    @property
    def levels(self) -> int:
        """How many parts a record has."""
        return 1 if self.url is None else 2

    @property
    def named(self) -> dict[str, str]:
        """The columns that there are, by what they hold."""
        return {role: name for role, name in vars(self).items() if name is not None}


PLAIN_COLUMNS = Columns()
"""The names a log has if nobody says otherwise."""


class Format(StrEnum):
    """How a log is written."""

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
    """What the user called it."""
    files: tuple[Path, ...] | tuple[str, ...]
    """Files of this machine; or URIs, of files, folders or patterns, which the engine has to look up itself."""
    format: Format
    columns: Columns = PLAIN_COLUMNS
    header: tuple[str, ...] = ()
    """The column names in the first line of every file, where the format has such a line and it could be read yet."""
    delimiter: str = ","
    """What separates the fields of a CSV file."""
    encoding: str = UTF8
    """How the text files are encoded, as Python calls it."""

    @property
    def is_remote(self) -> bool:
        """Whether the files are URIs."""
        return any(isinstance(file, str) for file in self.files)

    @property
    def local(self) -> tuple[Path, ...]:
        """The files, for an engine that reads those of this machine only."""
        if self.is_remote:
            raise LogError(self.name, "only Spark reads URIs", "Take the engine spark (--engine spark), or copy the files")
        return tuple(Path(file) for file in self.files)

    @property
    def user_place(self) -> int:
        """The number of columns before the user's, in a format that has a header."""
        return self.header.index(self.columns.user)

    @property
    def user_leads(self) -> bool:
        """Whether the user's column comes before the query and the URL: then nothing that people write can move it."""
        others = (name for role, name in self.columns.named.items() if role != "user")
        return all(self.user_place < self.header.index(name) for name in others)

    @property
    def filtered(self) -> bool:
        """Whether records that look personal are left out; where all texts are numbers, every one looks so."""
        return self.format is not Format.YANDEX


class Problem(IntEnum):
    """Why a row is bad. Engines count by the numbers, people read the names."""

    WRONG_NUMBER_OF_COLUMNS = 1
    BROKEN_QUOTES = 2
    NOT_UTF8 = 3
    CONTROL_CHARACTER = 4
    TOO_LONG = 5
    NOT_JSON = 6
    NO_USER = 7
    CLICK_WITHOUT_RESULTS_PAGE = 8
    FILE_CUT_OFF = 9
    ANOTHER_HEAD_LIST = 10
    NO_SUCH_CELL = 11
    SESSION_OF_SEVERAL_USERS = 12

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ").replace("utf8", "UTF-8").replace("json", "JSON")


LONGEST_ROW = 1_999_999
"""Bytes of a line, or of user, query and URL where rows are no lines: what DuckDB's reader takes. Beyond this it is bad."""

LONGEST_TEXT = 8192
"""Bytes of a query or URL. Nobody types more: the row is well, but has no record."""


@dataclass(frozen=True)
class Tally:
    """What became of a log's rows. For whoever runs the log: these numbers are exact and must not be published."""

    rows: int
    records: int
    problems: Mapping[Problem, int]

    @classmethod
    def of(cls, parts: Iterable[tuple[int | None, int, int]], more: Mapping[Problem, int]) -> Tally:
        """Add up parts of the rows, given as problem or None, rows and records; and add bad rows that are in no part."""
        problems, good, records = Counter(more), 0, 0
        for problem, rows, found in parts:
            records += found
            if problem is None:
                good += rows
            else:
                problems[Problem(problem)] += rows
        return cls(good + problems.total(), records, {problem: rows for problem, rows in sorted(problems.items()) if rows})

    @property
    def bad(self) -> int:
        """How many rows could not be used for what they are; a row without a click is no record, but not bad."""
        return sum(self.problems.values())

    def to_document(self) -> dict[str, object]:
        """The tally for programs."""
        problems = {str(problem): rows for problem, rows in self.problems.items()}
        return {"rows": self.rows, "records": self.records, "without_record": self.without_record, "bad": problems}

    @property
    def without_record(self) -> int:
        """How many good rows have no query or no URL."""
        return self.rows - self.records - self.bad
