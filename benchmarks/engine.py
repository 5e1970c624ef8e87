"""Time from a log's files to a release, relative to one bare pass of DuckDB over the same files, and how it grows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.data import FOLDER
from benchmarks.race import CORES, Runs, in_turn, once
from benchmarks.result import Cell, Result, Verdict
from tests.generators.aol import write_aol
from tests.generators.yandex import write_yandex

AOL_ROUNDS = {4_000_000: 3, 36_000_000: 3, 150_000_000: 2}
REAL_SIZE = 36_000_000  # about the number of rows of the real log
YANDEX_SESSIONS = 4_000_000
SPARK_SIZE = 4_000_000
MEMORY, TIGHT_MEMORY = "2GB", "1GB"
_SMALL_ROWS, _SMALL_SESSIONS = 200_000, 20_000


def aol(rows: int) -> Path:
    """A folder with a log of this many rows, written on first use."""
    return _written(FOLDER / f"aol-{rows}", lambda folder: write_aol(folder, rows, files=10))


def yandex(sessions: int) -> Path:
    """A log of this many sessions, written on first use."""
    return _written(FOLDER / f"yandex-{sessions}.txt", lambda path: write_yandex(path, sessions))


def measure() -> Result:
    small = aol(_SMALL_ROWS)
    free = in_turn(["whole", "aol_alone"], [small, aol(REAL_SIZE)], AOL_ROUNDS[REAL_SIZE])
    limited = {rows: in_turn(["whole"], [small, aol(rows), MEMORY], rounds)[0] for rows, rounds in AOL_ROUNDS.items()}
    yandex_logs = [yandex(_SMALL_SESSIONS), yandex(YANDEX_SESSIONS)]
    joined = in_turn(["whole", "yandex_alone", "yandex_keys_alone"], yandex_logs, 3)
    _, middle, large = sorted(limited)
    tight = {rows: in_turn(["whole"], [small, aol(rows), TIGHT_MEMORY], 1)[0] for rows in (middle, large)}
    spark = in_turn(["whole", "whole_spark"], [small, aol(SPARK_SIZE)], 3)
    spark_counts, duckdb_counts = (once("counts", engine, aol(SPARK_SIZE)) for engine in ("spark", "duckdb"))
    per_row = {rows: runs.best / rows for rows, runs in limited.items()}
    peak = {rows: runs.peak_megabytes for rows, runs in limited.items()}
    tight_peak = {rows: runs.peak_megabytes for rows, runs in tight.items()}
    return Result(
        "engine",
        "from the files of a log to a release",
        f"ε = 4, δ = 1e-5, 5 % opt-in, every client's report simulated, {CORES} cores, each run in a fresh process, best "
        "time and highest peak of the whole process. The limit is a bare pass of DuckDB: read, one record per user, count; "
        "for Yandex also join, and look up the clicked URL among the results. Spark's peak is the sum over its processes.",
        [
            _row("AOL", REAL_SIZE, "no limit", free[0], free[1]),
            _row("AOL, DuckDB alone", REAL_SIZE, "no limit", free[1], free[1]),
            *(_row("AOL", rows, MEMORY, runs, None) for rows, runs in limited.items()),
            *(_row("AOL", rows, TIGHT_MEMORY, runs, None) for rows, runs in tight.items()),
            _row("Yandex, sessions", YANDEX_SESSIONS, "no limit", joined[0], joined[1]),
            _row("Yandex, DuckDB alone", YANDEX_SESSIONS, "no limit", joined[1], joined[1]),
            _row("Yandex, DuckDB alone, no results", YANDEX_SESSIONS, "no limit", joined[2], joined[1]),
            _row("AOL", SPARK_SIZE, "no limit", spark[0], None),
            _row(f"AOL, Spark local[{CORES}]", SPARK_SIZE, "1 GB per JVM", spark[1], None),
        ],
        [
            Verdict(f"AOL, {REAL_SIZE:,} rows, relative to DuckDB's bare pass", free[0].best / free[1].best, 1.6, "at most"),
            Verdict("AOL, peak GB at that size", free[0].peak_megabytes / 1000, 4, "at most"),
            Verdict("Yandex join, relative to DuckDB's bare join", joined[0].best / joined[1].best, 1.6, "at most"),
            Verdict("Yandex, peak GB", joined[0].peak_megabytes / 1000, 4, "at most"),
            Verdict(
                f"Spark's {', '.join(duckdb_counts)} equal DuckDB's at {SPARK_SIZE:,} rows (share of these)",
                sum(spark_counts[what] == duckdb_counts[what] for what in duckdb_counts) / len(duckdb_counts),
                1,
                "at least",
            ),
            Verdict(f"time per row, {large:,} to {middle:,} rows", per_row[large] / per_row[middle], 1.25, "at most"),
            Verdict(f"peak GB with {MEMORY}, any size", max(peak.values()) / 1000, 2, "at most"),
            Verdict(f"peak GB with {TIGHT_MEMORY}, any size", max(tight_peak.values()) / 1000, 1, "at most"),
            Verdict(f"peak with {MEMORY}, {large:,} to {middle:,} rows", peak[large] / peak[middle], 1.25, "at most"),
            Verdict(
                f"peak with {TIGHT_MEMORY}, {large:,} to {middle:,} rows",
                tight_peak[large] / tight_peak[middle],
                1.25,
                "at most",
            ),
        ],
    )


def _row(what: str, size: int, memory: str, runs: Runs, alone: Runs | None) -> dict[str, Cell]:
    return {
        "log": what,
        "size": size,
        "memory": memory,
        "users": runs.records,
        "s": runs.best,
        "CPU s": min(runs.cpu_seconds),  # less meaningful, but other load on the machine affects it less
        "million/s": size / runs.best / 1e6,
        "relative to DuckDB": runs.best / alone.best if alone else "",
        "peak MB": runs.peak_megabytes,
    }


def _written(path: Path, write: Callable[[Path], object]) -> Path:
    if not path.exists():
        print(f"writing {path} (once)", file=sys.stderr)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"unfinished-{path.name}")
        write(unfinished)
        unfinished.rename(path)
    return path
