"""The client sides of two libraries for local privacy, in a separate environment that is created on demand.

It is separate because they need packages that they do not declare. The scripts next to this file run there and print JSON;
they do not import the project.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

NAMES = {"pure-LDP": "run_pure_ldp.py", "multi-freq-ldpy": "run_multi_freq_ldpy.py"}
INTENDED_USE = "one call per client"
CLIENTS = 200_000
ROUNDS = 5

_HERE = Path(__file__).parent
_HOME = Path(".bench/peers")


def environment() -> Path:
    """The interpreter of the peers' environment; created again whenever the pinned versions change."""
    requirements = _HERE / "requirements.txt"
    python, created_from = _HOME / "bin/python", _HOME / "created-from.txt"
    wanted = requirements.read_text(encoding="utf-8")
    if not created_from.exists() or created_from.read_text(encoding="utf-8") != wanted:
        print(f"creating {_HOME} (once)", file=sys.stderr)
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, _HOME], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python, "--requirement", requirements], check=True)
        created_from.write_text(wanted, encoding="utf-8")
    return python


def rates(python: Path, peer: str, k: int, epsilon: float) -> dict[str, float]:
    """Reports per second for every way of using the peer."""
    command = [python, _HERE / NAMES[peer], *(str(a) for a in (k, epsilon, CLIENTS, ROUNDS))]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output)
