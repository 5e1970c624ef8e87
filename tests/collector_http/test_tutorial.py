"""The tutorial's commands, as they are written, with fewer clients."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

BIN = Path(sys.executable).parent
COMMAND = re.compile(r"^\$ (.*)$", re.MULTILINE)


def test_the_tutorial(tmp_path):
    commands = COMMAND.findall((ROOT / "docs/collector.md").read_text(encoding="utf-8"))
    assert commands[0] == "blender-dp serve"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "BLENDER_DP_PORT": str(port),
        "BLENDER_DP_URL": f"http://127.0.0.1:{port}",
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    with subprocess.Popen(
        [BIN / "blender-dp", "serve"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as one:
        try:
            printed = ""
            while "BLENDER_DP_TOKEN=" not in printed:
                printed += one.stdout.readline()
            environment["BLENDER_DP_TOKEN"] = printed.rpartition("=")[2].strip()
            _wait(port)
            outputs = {}
            for command in commands[2:]:
                words = shlex.split(
                    command.replace("100000", "20000").replace("http://127.0.0.1:8000", environment["BLENDER_DP_URL"])
                )
                done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
                assert done.returncode == 0, (command, done.stderr)
                outputs[command] = done.stdout
        finally:
            one.terminate()
    assert commands[1].startswith("export BLENDER_DP_TOKEN=")
    simulated = next(text for command, text in outputs.items() if " simulate " in command)
    for said in ("honest", "19,000", "counted", "19,100", "refused", "Most popular queries", "google"):
        assert said in simulated
    assert len(commands) == 6


def _wait(port: int) -> None:
    for _ in range(200):
        with socket.socket() as one:
            one.settimeout(0.2)
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        subprocess.run(["sleep", "0.1"], check=True)
