"""A real collector for tests in browsers: a line of input calls one of its methods, a line of output is the result."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from blender_dp.collector.storage.schema import reports
from tests.collector_http.conftest import Live, listening


def call(live: Live, name: str, *values: Any, **named: Any) -> Any:
    """Call a method of the collector, or one of the two that it lacks."""
    if name == "close":
        live.operator("POST", f"/v1/operator/rounds/{values[0]}/close")
        return live.reached(values[0], "released")
    if name == "stored":
        with live.service.rounds.store.read() as connection:
            return connection.scalar(sa.select(sa.func.count()).select_from(reports))
    return getattr(live, name)(*values, **named)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, listening(Path(folder) / "data") as live:
        print(json.dumps({"url": live.url, "key": live.service.signer.public}), flush=True)
        for line in sys.stdin:
            name, values, named = json.loads(line)
            print(json.dumps(call(live, name, *values, **named)), flush=True)


if __name__ == "__main__":
    main()
