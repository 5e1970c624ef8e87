"""The packages that the command loads at start-up. benchmarks/startup.py measures how long it takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"duckdb", "fastapi", "ibis", "jinja2", "numpy", "pandas", "pyarrow", "sqlalchemy", "vl_convert"}


def loaded(*arguments: str, folder) -> set[str]:
    """The packages that the command has loaded when it exits."""
    script = (
        f"import sys; sys.argv = ['blender-dp', *{arguments!r}]\nfrom blender_dp.cli.app import run_command\n"
        "try: run_command()\nexcept SystemExit as end: assert not end.code, end.code\n"
        "print('loaded', *{name.partition('.')[0] for name, module in sys.modules.items() if module})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    "arguments", [("--help",), ("run", "--help"), ("campaign", "create", "--help"), ("--version",)], ids=" ".join
)
def test_help_loads_nothing_heavy(tmp_path, arguments):
    assert loaded(*arguments, folder=tmp_path) & HEAVY == set()


def test_run_does_not_import_pandas(tmp_path):
    rows = (f"u{i},query {i % 5},https://site{i % 5}.example/" for i in range(2000))
    (tmp_path / "log.csv").write_text("\n".join(["user,query,url", *rows]), encoding="utf-8")
    options = ("--epsilon", "4", "--delta", "1e-5", "--opt-in", "0.3", "--out", "release")
    found = loaded("run", "log.csv", *options, folder=tmp_path)
    assert {"duckdb", "pyarrow"} <= found
    assert "pandas" not in found
