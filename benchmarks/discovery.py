"""Time of discovery on a log file, relative to DuckDB merely counting the same log."""

from __future__ import annotations

from benchmarks import data
from benchmarks.machine import cores
from benchmarks.once.duckdb_alone import distinct
from benchmarks.once.ours import listed
from benchmarks.race import CORES, race
from benchmarks.result import Result, Verdict
from benchmarks.stopwatch import seconds, spread

ROWS = 5_000_000
ROUNDS = 15
OURS, ALONE = "blender-dp, discovery", "DuckDB, bare GROUP BY"


def measure() -> Result:
    log = data.log(ROWS)
    with cores(CORES):
        warm = seconds({OURS: lambda: listed(log), ALONE: lambda: distinct(log)}, ROUNDS)
    runs = dict(zip((OURS, ALONE), race(ROWS, ROUNDS), strict=True))
    fresh = {name: run.seconds for name, run in runs.items()}
    ways = {"warm": warm, "fresh": fresh}
    return Result(
        "discovery",
        f"from a Parquet file of {ROWS:,} rows to the head list",
        f"One record per user, ε = 4, δ = 1e-5, {CORES} cores. {runs[ALONE].records:,} distinct records, "
        f"{runs[OURS].records:,} listed. {ROUNDS} rounds, taking turns, a new connection each: warm in one process, "
        "and fresh in a new process, which first has to get its memory from the system.",
        [
            {
                "what": name,
                **{f"{way}, best s": min(taken[name]) for way, taken in ways.items()},
                "million rows/s": ROWS / min(warm[name]) / 1e6,
                "peak MB": runs[name].peak_megabytes,
            }
            for name in (OURS, ALONE)
        ],
        [
            Verdict(
                f"{way}, relative to DuckDB, best times (quartiles by round: {spread(taken[OURS], taken[ALONE])})",
                min(taken[OURS]) / min(taken[ALONE]),
                1.25,
                "at most",
            )
            for way, taken in ways.items()
        ],
    )
