"""The package as a whole: what it exports, what it loads, and how long it is to read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import blender_dp_device

PACKAGE = Path(blender_dp_device.__file__).parent
MODULES = sorted(
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for file in PACKAGE.rglob("*.py")
)
FOREIGN = ("numpy", "pyarrow", "duckdb", "httpx", "pydantic", "ibis", "fastapi", "sqlalchemy", "blender_dp")
PUBLIC = {
    "Agent", "BlenderError", "BusyError", "ChannelSettings", "CollectorClient", "Device", "DocumentDigest", "DocumentError",
    "HeadList", "ListDigest", "NoResponseError", "ParameterError", "Record", "Report", "ReportingList", "ResponseError",
    "SearchIndex", "Sent", "StateError", "Uploaded", "canonical_query", "canonical_url", "looks_personal",
}  # fmt: skip
MAX_LINES = 2_500


def python(script: str) -> str:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n{script}"]
    # Not under `make coverage`, which loads other modules.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()


def test_the_public_names():
    assert set(blender_dp_device.__all__) == set(dir(blender_dp_device)) == PUBLIC
    for name in PUBLIC:
        assert getattr(blender_dp_device, name).__doc__ or name.endswith("Digest"), name


def test_an_unknown_name():
    assert not hasattr(blender_dp_device, "nothing")


def test_all_modules_load_nothing_foreign():
    loaded = python(f"import {', '.join(MODULES)}\nprint(*sys.modules)").split()
    assert "cryptography" in loaded
    assert [name for name in FOREIGN if name in loaded] == []


def test_the_package_itself_loads_nothing_until_it_is_used():
    """A program that only randomises starts without sockets, SQLite and cryptography."""
    loaded = python("import blender_dp_device\nblender_dp_device.Device\nprint(*sys.modules)").split()
    assert {"socket", "sqlite3", "ssl", "cryptography"}.isdisjoint(loaded)


def test_the_package_stays_short_enough_to_review():
    """Everything that touches a client's record. Blank lines are not counted."""
    lines = [
        line for file in PACKAGE.rglob("*.py") for line in file.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    assert len(lines) <= MAX_LINES
