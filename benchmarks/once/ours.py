"""Discovery: count the records and list those whose noisy count exceeds the threshold."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.once import run
from blender_dp import Blender
from blender_dp.engines import DuckDBEngine
from blender_dp.engines.duckdb import DuckDBGroup
from blender_dp.logs import find
from blender_dp.sampling import Entropy
from blender_dp.stages.discovery import combine_survivors, survivors

MECHANISM = Blender(epsilon=4, delta="1e-5").collection.discovery


def listed(log: Path) -> int:
    """How many records are listed. The log already has one canonical record per user, so it need not be bounded."""
    engine = DuckDBEngine()
    group = DuckDBGroup(engine, engine.read(find(log)).rows)
    work = partial(survivors, mechanism=MECHANISM, entropy=Entropy.system())
    return len(combine_survivors(group.over_record_counts(work)).noisy_counts)


if __name__ == "__main__":
    run(listed)
