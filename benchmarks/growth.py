"""How discovery grows with the log, against how DuckDB's bare counting grows.

Linear growth means the same time per row at every size. Two ratios decide. The first one compares the largest log with
whichever size had the cheapest rows, not with the smallest one, where the fixed costs would hide a slope. The second one
compares our growth from the smallest to the largest log with DuckDB's: what hash tables lose when they outgrow the
caches is not ours to mend.
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
                f"time per row at {large:,} rows, to the cheapest size", ours[large] / min(ours.values()), 1.5, "at most"
            ),
            Verdict(
                f"growth from {small:,} to {large:,} rows, to DuckDB's own",
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
        "times DuckDB": ours.best / alone.best,
        "peak MB": ours.peak_megabytes,
        "DuckDB peak MB": alone.peak_megabytes,
    }
