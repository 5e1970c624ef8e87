"""Other libraries for private statistics, each in an environment of its own that is created on demand.

They are separate because they need versions, and packages, that the project does not. `NAME.txt` pins what the environment
NAME contains. The scripts next to this file run there and print JSON; they do not import the project.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

NAMES = {"pure-LDP": "run_pure_ldp.py", "multi-freq-ldpy": "run_multi_freq_ldpy.py"}
INTENDED_USE = "one call per client"
CLIENTS = 200_000
ROUNDS = 5

FOLDER = Path(__file__).parent
_HOME = Path(".bench/peers")


class InstallError(Exception):
    """An environment could not be created; the message is the installer's."""


def environment(name: str) -> Path:
    """The interpreter of an environment; created again whenever the pinned versions change."""
    requirements, home = FOLDER / f"{name}.txt", _HOME / name
    wanted = requirements.read_text(encoding="utf-8")
    if not exists(name):
        print(f"creating {home} (once)", file=sys.stderr)
        uv = Path(sys.executable).with_name("uv")
        _install([uv, "venv", "--quiet", "--clear", "--python", sys.executable, home])
        # Compiled at once: where Python may not write bytecode, every start would compile thousands of modules.
        install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", interpreter(name)]
        _install([*install, "--requirement", requirements])
        (home / "created-from.txt").write_text(wanted, encoding="utf-8")
    return interpreter(name)


def interpreter(name: str) -> Path:
    """Where the interpreter of an environment is, or will be."""
    return _HOME / name / "bin/python"


def exists(name: str) -> bool:
    """Whether an environment was created from the versions that are pinned now."""
    created_from = _HOME / name / "created-from.txt"
    wanted = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    return created_from.exists() and created_from.read_text(encoding="utf-8") == wanted


def rates(python: Path, peer: str, k: int, epsilon: float) -> dict[str, float]:
    """Reports per second for every way of using the peer."""
    found: dict[str, float] = run(python, NAMES[peer], k, epsilon, CLIENTS, ROUNDS)
    return found


def run(python: Path, script: str, *arguments: object) -> Any:  # noqa: ANN401 (whatever the script prints)
    """Run a script of this folder in an environment and return what it prints."""
    command = [python, FOLDER / script, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _install(command: list[object]) -> None:
    done = subprocess.run([str(part) for part in command], check=False, capture_output=True, text=True)
    if done.returncode:
        raise InstallError(done.stderr.strip())
