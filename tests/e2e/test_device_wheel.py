"""Both wheels, and a live round in which an environment with nothing but the device's wheel participates."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.storage.schema import records, reports
from tests.collector_http.conftest import RECORDS, Live, listening
from tests.conftest import ROOT

UV = Path(sys.executable).parent / "uv"
PROGRAM = Path(__file__).with_name("device_program.py")


def run(*command: object, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of both distributions, built from this folder."""
    folder = tmp_path_factory.mktemp("wheels")
    for source in (ROOT / "device", ROOT):
        done = run(UV, "build", "--quiet", "--wheel", "--out-dir", folder, source)
        if "hatch" in done.stderr:
            pytest.skip(
                f"no package index can be reached, and what builds a wheel is not in uv's cache: {done.stderr[:300]}"
            )
        assert done.returncode == 0, done.stderr
    return {wheel.name.partition("-")[0]: wheel for wheel in folder.glob("*.whl")}


@pytest.fixture(scope="module")
def python(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the device's wheel and what that needs."""
    folder = tmp_path_factory.mktemp("device") / "venv"
    assert run(UV, "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
    python = folder / "bin/python"
    wheel = wheels["blender_dp_device"]
    done = run(UV, "pip", "install", "--quiet", "--python", python, "--constraint", ROOT / "constraints.txt", wheel)
    if done.returncode != 0:
        pytest.skip(f"no package index can be reached, and the packages are not in uv's cache: {done.stderr[:300]}")
    return python


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name.partition("/")[0] for name in archive.namelist() if ".dist-info" not in name}


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def needs(wheel: Path) -> list[str]:
    return metadata(wheel).get_all("Requires-Dist") or []


def test_the_readme_in_a_wheel_has_absolute_links(wheels: dict[str, Path]):
    for wheel in wheels.values():
        links = re.findall(r"\]\(([^)\s]+)\)", metadata(wheel).get_payload())
        assert links
        assert all(link.startswith("https://") for link in links)


def test_each_wheel_has_its_own_package(wheels: dict[str, Path]):
    assert {name: names(wheel) for name, wheel in wheels.items()} == {
        "blender_dp": {"blender_dp"},
        "blender_dp_device": {"blender_dp_device"},
    }


def test_the_device_needs_cryptography_only_and_the_server_needs_the_device(wheels: dict[str, Path]):
    assert needs(wheels["blender_dp_device"]) == ["cryptography>=46"]
    assert "blender-dp-device==0.1.0" in needs(wheels["blender_dp"])


def test_a_device_with_only_its_own_wheel_participates_in_a_round(python: Path, tmp_path: Path):
    with listening(tmp_path / "data") as live:
        campaign = live.campaign()
        settings = {"url": live.url, "key": live.service.signer.public, "campaign": campaign}

        def device(step: str, **more: Any) -> Any:
            environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
            done = run(python, "-I", PROGRAM, step, json.dumps({**settings, **more}), cwd=tmp_path, env=environment)
            assert (done.returncode, done.stderr) == (0, "")
            return json.loads(done.stdout)

        installed = device("installed")
        assert set(installed) <= {"blender-dp-device", "cryptography", "cffi", "pycparser"}
        assert "blender-dp-device" in installed

        round_id = live.opened(campaign)
        tokens = live.enrolled(campaign, 210)
        for i, token in enumerate(tokens[10:]):
            live.upload(round_id, token, *RECORDS[i % len(RECORDS)])
        uploads = [(token, RECORDS[i % len(RECORDS)]) for i, token in enumerate(tokens[:10])]
        assert len(set(device("upload", records=uploads))) == 10
        assert stored(live, records) == 210
        assert device("withdraw") == 1
        assert stored(live, records) == 209

        live.operator("POST", f"/v1/operator/rounds/{round_id}/list")
        listed = live.reached(round_id, "listed")
        assert device("report", records=RECORDS * 2) == [True] * 10
        assert stored(live, reports) == 10
        with live.http() as http:
            path = f"/v1/rounds/{round_id}/reports"
            assert http.post(path, json={"reports": live.messages(listed, 200)}).json() == {"refused": []}

        live.operator("POST", f"/v1/operator/rounds/{round_id}/close")
        live.reached(round_id, "released")
        assert set(device("search")) <= {query for query, _ in RECORDS}


def stored(live: Live, table: sa.Table) -> int:
    with live.service.rounds.store.read() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
