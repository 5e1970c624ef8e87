"""How the time of discovery grows with the log, relative to DuckDB's bare counting.

Linear growth means the same time per row at every size. There are two targets. The first compares the largest log with the
size that has the cheapest rows, not with the smallest log, where fixed costs would hide a slope. The second compares our
growth from the smallest to the largest log with DuckDB's: we cannot fix what hash tables lose when they outgrow the caches.
"""

from __future__ import annotations

from benchmarks.race import CORES, Runs, race
from benchmarks.result import Cell, Result, Verdict

ROUNDS = {500_000: 5, 5_000_000: 5, 50_000_000: 3}


def measure() -> Result:
    races = {rows: race(rows, rounds) for rows, rounds in ROUNDS.items()}
    ours = {rows: runs.best / rows for rows, (runs, _) in races.items()}
    alone = {rows: runs.best / rows for rows, (_, runs) in races.items()}
    small, large = min(races), max(races)
    return Result(
        "growth",
        "discovery over logs of three sizes",
        f"As in discovery, on {CORES} cores. Growth is the time per row relative to the smallest log.",
        [_row(rows, *races[rows], ours[rows] / ours[small], alone[rows] / alone[small]) for rows in races],
        [
            Verdict(
                f"time per row at {large:,} rows, relative to the cheapest size",
                ours[large] / min(ours.values()),
                1.5,
                "at most",
            ),
            Verdict(
                f"growth from {small:,} to {large:,} rows, relative to DuckDB's own",
                (ours[large] / ours[small]) / (alone[large] / alone[small]),
                1.25,
                "at most",
            ),
        ],
    )


def _row(rows: int, ours: Runs, alone: Runs, growth: float, alone_growth: float) -> dict[str, Cell]:
    return {
        "rows": rows,
        "distinct": alone.records,
        "listed": ours.records,
        "s": ours.best,
        "ns/row": ours.best / rows * 1e9,
        "growth": growth,
        "DuckDB s": alone.best,
        "DuckDB growth": alone_growth,
        "relative to DuckDB": ours.best / alone.best,
        "peak MB": ours.peak_megabytes,
        "DuckDB peak MB": alone.peak_megabytes,
    }
