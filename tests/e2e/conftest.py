from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


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
