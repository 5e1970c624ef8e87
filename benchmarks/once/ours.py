"""Discovery: count the records and list those whose noisy count exceeds the threshold."""

from __future__ import annotations

from pathlib import Path

from benchmarks.once import run
from blender_dp import Blender
from blender_dp.engines import DuckDBEngine
from blender_dp.engines.duckdb import DuckDBGroup
from blender_dp.sampling import Entropy
from blender_dp.stages import discover

MECHANISM = Blender(epsilon=4, delta="1e-5").discovery


def listed(log: Path) -> int:
    """How many records are listed. The log holds one canonical record per user already, so it need not be bounded."""
    engine = DuckDBEngine()
    group = DuckDBGroup(engine, engine.read(log))
    return len(discover(group.record_counts(), MECHANISM, Entropy.system()).noisy_counts)


if __name__ == "__main__":
    run(listed)
