"""The live demonstration: a real collector in another process, with rounds in it, that stops when it is interrupted."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.slow

COMMAND = [
    sys.executable,
    "-m",
    "blender_dp",
    "demo-live",
    "--users",
    "5000",
    "--port",
    "0",
    "--rounds",
    "1",
    "--attackers",
    "5",
]
HANG = 300


def _get(url: str) -> Any:
    with urlopen(url) as response:  # noqa: S310 (http on this machine)
        return json.loads(response.read())


def test_it_runs_rounds_until_it_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLENDER_DP_DATABASE", "postgresql://nowhere/")  # settings of another collector do not matter
    with (
        (tmp_path / "errors").open("w") as errors,
        subprocess.Popen([*COMMAND, "--every", "1000"], stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        url = _after_two_rounds(process)
        names = {one["name"] for one in _get(f"{url}/v1/campaigns")}
        assert names == {"searches", "strict"}
        for name in names:
            assert len(_get(f"{url}/v1/campaigns/{name}/trends")["rounds"]) == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG) == 0
    with pytest.raises(OSError, match="refused"):
        _get(f"{url}/v1/campaigns")


def _after_two_rounds(process: subprocess.Popen[str]) -> str:
    """The collector's address, when one round of each campaign is over."""
    lines: list[str] = []
    for line in process.stdout or ():
        lines.append(line)
        if sum("honest reports" in one for one in lines) == 2:
            break
    return re.findall(r"dashboard: +(http\S+)/", lines[0])[0]


def test_a_port_in_use_is_explained() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [*COMMAND, "--last", "1"]
        command[command.index("--port") + 1] = port
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 2
    assert f"cannot listen on port {port}" in " ".join(done.stderr.split())


def test_it_prints_a_document_per_event() -> None:
    done = subprocess.run([*COMMAND, "--last", "1", "--json"], capture_output=True, text=True, timeout=HANG, check=True)
    listening, *rounds = map(json.loads, done.stdout.splitlines())
    assert listening["event"] == "listening"
    assert [(one["campaign"], one["number"], one["stuffed"]) for one in rounds] == [("searches", 1, 5), ("strict", 1, 5)]
