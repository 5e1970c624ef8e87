from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest

from blender_dp import aol_like


@pytest.fixture
def executable() -> Path:
    """The installed command."""
    return Path(sys.executable).parent / "blender-dp"


@pytest.fixture
def command(tmp_path, executable):
    """Run the installed command in an empty folder."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
        return subprocess.run(
            [executable, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )

    return run


@pytest.fixture(scope="session")
def log(tmp_path_factory):
    """A log of 40,000 users whose columns are who, what and where."""
    path = tmp_path_factory.mktemp("logs") / "log.csv"
    pa_csv.write_csv(aol_like(2, users=40_000).rename_columns(["who", "what", "where"]), path)
    return path
