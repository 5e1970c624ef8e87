"""The command in a process of its own, without the second that a new interpreter takes to import everything.

A server imports what the verbs need, and forks for every command: the child has its own folder, output and exit code, and
ends as the installed command does. `tests/e2e/test_startup.py` and `test_without_extras.py` start the installed command.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

# No pandas: the command makes it seem missing.
IMPORTED = (
    "blender_dp.cli.app", "blender_dp.cli.engine", "blender_dp.cli.files", "blender_dp.cli.outlook",
    "blender_dp.engines.choice", "blender_dp.pipeline.audit", "blender_dp.pipeline.blender", "blender_dp.report",
    "ibis.backends.sql.compilers", "pyarrow.parquet", "sqlglot.dialects.duckdb", "typer._adapters",
)  # fmt: skip


class WarmCommand:
    """Runs the command in a new process for every call."""

    def __init__(self, columns: int) -> None:
        self._environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"}
        self._server = subprocess.Popen(
            [sys.executable, __file__], env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, arguments: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in arguments]
        with TemporaryDirectory() as scratch:
            output, errors = Path(scratch, "output"), Path(scratch, "errors")
            request = {"arguments": words, "folder": str(folder), "output": str(output), "errors": str(errors)}
            assert self._server.stdin is not None
            assert self._server.stdout is not None
            self._server.stdin.write(json.dumps(request) + "\n")
            self._server.stdin.flush()
            code = int(self._server.stdout.readline())
            return subprocess.CompletedProcess(words, code, output.read_text("utf-8"), errors.read_text("utf-8"))

    def close(self) -> None:
        self._server.communicate()  # the end of its input ends it


def serve() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    while line := sys.stdin.readline():
        request = json.loads(line)
        child = os.fork()
        if not child:
            run(**request)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def run(arguments: list[str], folder: str, output: str, errors: str) -> NoReturn:
    """Be the command from now on."""
    code = 1
    try:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, path in ((1, output), (2, errors)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
        sys.argv = ["blender-dp", *arguments]
        importlib.import_module("blender_dp.cli").main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 (what an interpreter prints)
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
