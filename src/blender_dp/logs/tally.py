"""The rows of a log by outcome: how many have a record, and how many are bad for which reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum


class Problem(IntEnum):
    """Why a row is bad. Engines use the numbers; people see the names."""

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
"""Maximum bytes of a line, or of user, query and URL in a table: the limit of DuckDB's reader. A longer row is bad."""

LONGEST_TEXT = 8192
"""Maximum bytes of a query or URL. Nobody types more. A row with a longer one is not bad, but has no record."""


@dataclass(frozen=True)
class Tally:
    """The rows of a log by outcome. The numbers are exact, so they must not be published."""

    rows: int
    records: int
    problems: Mapping[Problem, int]

    @classmethod
    def of(cls, parts: Iterable[tuple[int | None, int, int]], more: Mapping[Problem, int]) -> Tally:
        """Add up parts of the rows (problem or None, rows, records) and additional bad rows."""
        problems, good, records = Counter(more), 0, 0
        for problem, rows, with_record in parts:
            records += with_record
            if problem is None:
                good += rows
            else:
                problems[Problem(problem)] += rows
        return cls(good + problems.total(), records, {problem: rows for problem, rows in sorted(problems.items()) if rows})

    @property
    def bad(self) -> int:
        """The number of bad rows. A row without a click has no record, but is not bad."""
        return sum(self.problems.values())

    def to_document(self) -> dict[str, object]:
        """The tally as JSON values."""
        problems = {str(problem): rows for problem, rows in self.problems.items()}
        return {"rows": self.rows, "records": self.records, "without_record": self.without_record, "bad": problems}

    @property
    def without_record(self) -> int:
        """The number of good rows without a query or a URL."""
        return self.rows - self.records - self.bad
