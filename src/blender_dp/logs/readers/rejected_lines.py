"""The lines that DuckDB's reader rejects because they are too long or not UTF-8, and the users they name.

DuckDB stores a rejected line in a table, but with a question mark for every byte that is not UTF-8, and only the start of a
long line. If that makes the user uncertain, the line is read again from its file. DuckDB silently drops lines of tens of
megabytes, so this module looks for them.
"""

from __future__ import annotations

import mmap
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from blender_dp.logs.compression import pieces
from blender_dp.logs.readers.known_users import line_user
from blender_dp.logs.source import Format, Source
from blender_dp.logs.tally import Problem

_PROBLEMS = {"INVALID ENCODING": Problem.NOT_UTF8, "LINE SIZE OVER MAXIMUM": Problem.TOO_LONG}
_STORED_BYTES = 10_000 - 3  # of a long line; the last character may be left out
_STEP = 8_000_000  # DuckDB loses no line that is shorter than twice this
_COMPRESSED = {".gz", ".zst"}
_LINE_END = re.compile(rb"[\r\n]")
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


class RejectedLines:
    """The rejected lines of a log: those in the table `rejects`, and those that DuckDB dropped silently."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, source: Source, rejects: str) -> None:
        self._connection = connection
        self._source = source
        # Each line once: DuckDB stores it for every invalid field, and every time the log is read.
        self._lines = f"""(
            SELECT file_path, line_byte_position - 1 AS place, min(error_type::VARCHAR) AS error, any_value(line) AS line,
                any_value(csv_line) AS content
            FROM {rejects} JOIN {rejects}_scan USING (scan_id, file_id) GROUP BY file_path, place
        )"""  # noqa: S608 (our own name)
        self._giants = self._missing_giants()

    def problems(self) -> Counter[Problem]:
        """The number of rejected lines by reason."""
        counts: Counter[Problem] = Counter({Problem.TOO_LONG: len(self._giants)})
        for error, lines in self._connection.sql(f"FROM {self._lines} SELECT error, count(*) GROUP BY error").fetchall():
            counts[_problem(error)] += lines
        return +counts

    def lines(self) -> Iterator[dict[str, object]]:
        """The lines, as far as DuckDB stores them, so that the log can be fixed."""
        query = f"FROM {self._lines} SELECT error, line, content ORDER BY file_path, place"
        for error, line, content in self._connection.execute(query).fetchall():
            yield {"reason": str(_problem(error)), "line": line, "content": content}
        yield from ({"reason": str(Problem.TOO_LONG), "file": file, "byte": place} for file, place in self._giants)

    def users(self) -> pa.Array:
        """The users that the lines name, unordered and with repetitions."""
        user = f"nullif({line_user(self._source, 'content')}, '')"
        # A leading field is complete in the stored start of the line, and so is a user that was found in JSON.
        start_is_enough = self._source.format in {Format.JSONL, Format.YANDEX} or self._source.user_leads
        cut = f"strlen(content) >= {_STORED_BYTES}" + (" AND found IS NULL" if start_is_enough else "")
        candidates = self._connection.sql(f"""
            SELECT file_path, place, found, coalesce(contains(found, '?'), false) OR {cut} AS doubtful
            FROM (SELECT file_path, place, content, {user} AS found FROM {self._lines})
        """)  # noqa: S608 (our own names)
        table = candidates.to_arrow_table()
        certain = table.filter(pc.invert(table["doubtful"]))["found"].drop_null()
        doubtful = table.filter(table["doubtful"]).select(["file_path", "place"]).to_pylist()
        places = [(row["file_path"], row["place"]) for row in doubtful] + self._giants
        return pa.concat_arrays([*certain.chunks, self._read_again(places)])

    def _read_again(self, places: Iterable[tuple[str, int]]) -> pa.Array:
        by_file: dict[str, list[int]] = defaultdict(list)
        for file, place in places:
            by_file[file].append(place)
        users: list[str] = []
        for file, positions in by_file.items():
            for line in _lines_at(Path(file), sorted(positions)):
                self._connection.register("refused_line", pa.table({"line": [line.decode("utf-8", "replace")]}))
                query = f"FROM refused_line SELECT {line_user(self._source, 'line')}"
                users += [user for (user,) in self._connection.execute(query).fetchall() if user and _UNKNOWN not in user]
                self._connection.unregister("refused_line")
        return pa.array(users, pa.string())

    def _missing_giants(self) -> list[tuple[str, int]]:
        giants = [(str(path), place) for path in self._source.local for place in _giant_lines(path)]
        if not giants:
            return []
        stored = set(self._connection.execute(f"FROM {self._lines} SELECT file_path, place").fetchall())
        return [giant for giant in giants if giant not in stored]


def _problem(error: str) -> Problem:
    return _PROBLEMS.get(error, Problem.WRONG_NUMBER_OF_COLUMNS)


def _giant_lines(path: Path) -> Iterator[int]:
    """The positions of lines with a whole step without a line end in them; compressed files are not searched."""
    size = path.stat().st_size
    if path.suffix.lower() in _COMPRESSED or size < _STEP:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        inside = False
        for start in range(0, size - _STEP + 1, _STEP):
            was_inside, inside = inside, _line_end(content, start, start + _STEP) == -1
            if inside and not was_inside:
                before = max(0, start - _STEP)
                yield max(before - 1, content.rfind(b"\n", before, start), content.rfind(b"\r", before, start)) + 1


def _line_end(content: mmap.mmap, start: int, end: int) -> int:
    """The position of the first line end between start and end, or -1."""
    newline = content.find(b"\n", start, end)
    carriage = content.find(b"\r", start, end if newline == -1 else newline)
    return newline if carriage == -1 else carriage


def _lines_at(path: Path, places: list[int]) -> Iterator[bytes]:
    """The lines that start at these places of the decompressed file, in order; places where no line starts are skipped."""
    if path.suffix.lower() in _COMPRESSED:
        yield from _streamed(pieces(path), places)
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for place in places:
            if _is_line_start(content, place):
                start = place + (content[place : place + 1] == b"\n")
                end = _line_end(content, start, len(content))
                yield content[start : len(content) if end == -1 else end]


def _streamed(content: Iterable[bytes], places: list[int]) -> Iterator[bytes]:
    wanted, offset, buffer = iter(places), 0, b""
    place = next(wanted, None)
    for piece in content:
        buffer += piece
        while place is not None and (end := _LINE_END.search(buffer, place - offset + 1)):
            yield from _line(buffer, place - offset, end.start())
            place = next(wanted, None)
        if place is None:
            return
        passed = max(
            0, min(place - 1 - offset, len(buffer))
        )  # keep the byte before the line, which shows whether a line ends there
        offset, buffer = offset + passed, buffer[passed:]
    if place is not None and place - offset < len(buffer):
        yield from _line(buffer, place - offset, len(buffer))


def _line(content: bytes, start: int, end: int) -> Iterator[bytes]:
    if _is_line_start(content, start):
        yield content[start:end].removeprefix(b"\n")


def _is_line_start(content: bytes | mmap.mmap, place: int) -> bool:
    """Whether a line starts here. After a carriage return and a newline, DuckDB's line starts with the newline."""
    return place == 0 or content[place - 1 : place] in {b"\n", b"\r"}
