from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest

from blender_dp import aol_like
from tests.warm_command import WarmCommand


@pytest.fixture
def executable() -> Path:
    """The installed command."""
    return Path(sys.executable).parent / "blender-dp"


@pytest.fixture(scope="session")
def warm_command() -> Iterator[WarmCommand]:
    made = WarmCommand(columns=120)
    yield made
    made.close()


@pytest.fixture
def command(tmp_path, warm_command):
    """Run the command in an empty folder."""
    return lambda *arguments: warm_command(arguments, tmp_path)


@pytest.fixture(scope="session")
def log(tmp_path_factory):
    """A log of 40,000 users whose columns are who, what and where."""
    path = tmp_path_factory.mktemp("logs") / "log.csv"
    pa_csv.write_csv(aol_like(2, users=40_000).rename_columns(["who", "what", "where"]), path)
    return path
