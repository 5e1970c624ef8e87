"""The tables of docs/capacity.md, computed from the figures in benchmarks/measured.toml."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
START, END = "<!-- tables -->\n", "<!-- end of tables -->\n"
FIGURES: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "benchmarks/measured.toml").read_text(encoding="utf-8"))

DEVICES = {"1 million": 10**6, "100 million": 10**8, "1 billion": 10**9}
DAY = 86_400
PEAK = 3  # the rate at the busiest moment, divided by the day's mean rate
LOAD = 0.7  # of the highest measured rate: the load for which response times were measured
SMALL_REQUESTS = 2  # the current round, and the list or 304
PROCESS_CORES = 2  # cores used in the measurement, including the database and the load generator
STATEMENT_SECONDS = 600  # the time limit of a reader's statement
ROWS_PER_USER = 55  # as in AOL's log: 36 million rows of 650,063 users
TERABYTE = 10**12
MEASURED_REPORTS = 10_000_000  # the largest round that was measured

COUNTING = f"several campaigns: a statement may take {STATEMENT_SECONDS} s"

Row = tuple[str, list[str]]


def value(name: str) -> float:
    """A measured figure."""
    return float(FIGURES[name]["value"])


def processes(devices: int, report_rate: float) -> float:
    """Processes that are busy at the peak, at the load for which response times were measured."""
    peak = PEAK * devices / DAY
    reports, others = peak / report_rate, SMALL_REQUESTS * peak / value("small_responses")
    return (reports + others) / LOAD


def collector_rows() -> list[Row]:
    """What a round of one day needs."""
    return [
        _row("reports per second: mean, peak", lambda n: f"{_number(n / DAY)}, {_number(PEAK * n / DAY)}", since=math.inf),
        _row("processes, devices report directly", lambda n: _count(processes(n, value("single_reports")))),
        _row("cores for them, database included", lambda n: _count(processes(n, value("single_reports")), PROCESS_CORES)),
        _row("processes behind relays with batches", lambda n: _count(processes(n, value("batched_reports")))),
        _row(
            "PostgreSQL at the peak, of its measured rate",
            lambda n: f"{100 * PEAK * n / DAY / value('batched_reports'):.2g} %",
        ),
        _row("reports on disk, PostgreSQL", lambda n: _bytes(n * value("stored_bytes_postgresql"))),
        _row("reports on disk, SQLite", lambda n: _bytes(n * value("stored_bytes_sqlite"))),
        _row("received by the collector in a round", lambda n: _bytes(n * value("bytes_sent"))),
        _row("sent by the collector in a round", lambda n: _bytes(n * value("bytes_received"))),
        _row("counting the reports, one statement", lambda n: _time(n / value("counted_reports"))),
        _row("from closing to the release", lambda n: _time(n / value("released_reports")), since=MEASURED_REPORTS),
        _row("deleting the reports afterwards", lambda n: _time(n / value("deleted_reports"))),
    ]


def log_rows() -> list[Row]:
    """What a log of as many users needs."""
    largest = 150_000_000 // ROWS_PER_USER
    return [
        _row("rows of the log", lambda n: _number(n * ROWS_PER_USER), since=math.inf),
        _row("DuckDB, one machine with two cores", lambda n: _time(n * ROWS_PER_USER / value("log_rows")), since=largest),
        _row("Spark, hours of one core", lambda n: _hours(n * ROWS_PER_USER / value("spark_rows")), since=650_063),
    ]


def limits() -> list[tuple[float, str, str]]:
    """Up to how many devices each part suffices, smallest first."""
    stored = LOAD * DAY / PEAK * value("batched_reports")
    found = [
        (1 / processes(1, value("single_reports")), "one process, devices report directly", "more processes, or relays"),
        (1 / processes(1, value("batched_reports")), "one process behind relays", "more processes"),
        (STATEMENT_SECONDS * value("counted_reports"), "PostgreSQL counts a round's reports in one statement", COUNTING),
        (stored, "PostgreSQL on two cores stores the reports of the peak", "more cores, a faster disk"),
        (TERABYTE / value("stored_bytes_postgresql"), "a terabyte holds the reports of a round", "a larger disk"),
        (DAY * value("deleted_reports"), "the reports are deleted within a day", "several campaigns"),
        (3600 * value("released_reports"), "the release is made within an hour", "patience, or several campaigns"),
    ]
    return sorted(found)


def page() -> str:
    """The page with current tables."""
    before, _, rest = (ROOT / "docs/capacity.md").read_text(encoding="utf-8").partition(START)
    return f"{before}{START}{tables()}{END}{rest.partition(END)[2]}"


def tables() -> str:
    """All tables in Markdown."""
    sizes = " | ".join(DEVICES)
    collector = [f"| a round of one day | {sizes} |", "|---|---|---|---|", *map(_line, collector_rows())]
    log = [f"| a log | {sizes} users |", "|---|---|---|---|", *map(_line, log_rows())]
    bounds = [f"| {_number(devices)} | {part} | {fix} |" for devices, part, fix in limits()]
    first = ["| devices per round | suffices | beyond that |", "|---|---|---|", *bounds]
    inputs = ["| measured | value | meaning | command |", "|---|---|---|---|", *map(_figure, FIGURES)]
    titles = (
        "What a collector needs",
        "Which part is the bottleneck first",
        "What a log needs",
        "The measurements behind it",
    )
    parts = zip(titles, (collector, first, log, inputs), strict=True)
    return "\n".join(f"## {title}\n\n" + "\n".join(table) + "\n" for title, table in parts)


def _row(name: str, shown: Any, since: float = MEASURED_REPORTS) -> Row:  # noqa: ANN401
    """A value for every number of devices, with a star where it is extrapolated from a smaller measurement."""
    return name, [f"{shown(n)}{'*' if n > since else ''}" for n in DEVICES.values()]


def _line(row: Row) -> str:
    return f"| {row[0]} | {' | '.join(row[1])} |"


def _figure(name: str) -> str:
    one = FIGURES[name]
    return f"| `{name}` | {one['value']:,} {one['unit']} | {one['meaning']} | `{one['command']}` |"


def _number(amount: float) -> str:
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if amount >= size:
            return f"{amount / size:.3g}{word}"
    return f"{amount:,.0f}"


def _count(amount: float, times: int = 1) -> str:
    return f"{math.ceil(amount) * times}"


def _share(mean: float) -> str:
    return f"{100 * PEAK * mean:.2g} %"


def _bytes(amount: float) -> str:
    return f"{amount / 1e9:,.3g} GB" if amount < 1e12 else f"{amount / 1e12:.2f} TB"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.2g}" if seconds < 36_000 else f"{seconds / 3600:,.0f}"
