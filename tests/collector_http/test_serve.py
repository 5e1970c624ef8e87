"""`blender-dp serve` as a command: what it prints before it responds, and when it cannot start."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer.main

from blender_dp.cli.app import app
from blender_dp.collector.settings.settings import Settings, load
from blender_dp.errors import ParameterError
from tests.collector.places import Place, listed
from tests.collector_http import warm_process
from tests.conftest import ROOT

PROGRAM = Path(sys.executable).parent / "blender-dp"
VARIABLE = re.compile(r"\bBLENDER_DP_([A-Z_]+)")
CANARY = "kanarienvogel"


ENVIRONMENT = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": warm_process.COLUMNS, "BLENDER_DP_MIN_FREE_BYTES": "0"}


def ended(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return warm_process.ended(["serve", *words], ENVIRONMENT)


def warm(*words: str | Path) -> warm_process.Warm:
    return warm_process.started(["serve", *words], ENVIRONMENT)


def installed(*words: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [PROGRAM, "serve", *words], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def is_one_line(done: subprocess.CompletedProcess[str], message: str) -> bool:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert CANARY not in done.stderr
    return True


@pytest.mark.parametrize(
    ("database", "message"),
    [
        (f"mysql://a:{CANARY}@127.0.0.1/a", "is not the URL of a PostgreSQL database"),
        (CANARY, "is not the URL of a PostgreSQL database"),
        (f"postgresql://a:x@{CANARY}@127.0.0.1:1/a", "has more than one @"),
        (f"postgresql://a:x@{CANARY}/x@127.0.0.1:1/a", "has more than one @"),
        (f"postgresql://a:{CANARY}@127.0.0.1:one/a", "cannot be read"),
    ],
)
def test_invalid_urls_are_refused(database: str, message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        load(None, {"database": database}, {})
    assert str(refused.value).startswith(f"database: {message}")
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["", "postgresql://blender@db/blender", "postgresql://a:p%40ss@[::1]:5432/a?sslmode=require"]
)
def test_valid_urls_are_accepted(url: str) -> None:
    assert load(None, {"database": url}, {}).database == url


@pytest.mark.parametrize(
    ("name", "fix"), [("PROT", "Did you mean BLENDER_DP_PORT"), ("XYZZY", "See blender-dp serve --help")]
)
def test_a_mistyped_variable_is_refused(name: str, fix: str) -> None:
    with pytest.raises(ParameterError) as refused:
        load(None, {}, {f"BLENDER_DP_{name}": CANARY})
    assert str(refused.value) == f"BLENDER_DP_{name}: unknown setting. {fix}."


def test_variables_of_other_commands_are_ignored() -> None:
    read = {found for path in (ROOT / "src").rglob("*.py") for found in VARIABLE.findall(path.read_text(encoding="utf-8"))}
    assert {"TOKEN", "URL", "CRASH_AT"} <= read
    others = {f"BLENDER_DP_{name}": "x" for name in {*read, "SETTINGS"} if name.lower() not in Settings.model_fields}
    assert load(None, {}, {**others, "BLENDER_DP_PORT": "1"}).port == 1


def test_the_help_describes_every_setting() -> None:
    text = " ".join(ended("--help").stdout.split())
    for name, field in Settings.model_fields.items():
        assert field.description, name
        usual = f" = {field.default}" if field.default not in {None, ""} else ""
        assert f"{name}{usual}: {' '.join(field.description.split())}" in text
    command: Any = typer.main.get_command(app)
    shown = {one.name: one.show_default for one in command.commands["serve"].params if isinstance(one.show_default, str)}
    assert shown.pop("keys") == "DATA/round-keys"
    assert shown == {name: str(Settings.model_fields[name].default) for name in ("data", "host", "port", "workers")}


@pytest.mark.parametrize("flags", [[], ["--migrate-only"]], ids=["serve", "migrate"])
def test_a_database_that_does_not_respond(tmp_path: Path, flags: list[str]) -> None:
    database = f"postgresql://a:{CANARY}@127.0.0.1:1/a"
    done = ended("--data", tmp_path / "data", "--port", "0", "--database", database, *flags)
    assert is_one_line(done, "database: no server listens at this address. Check that the server runs, and its URL.")


def test_a_folder_with_other_content(tmp_path: Path) -> None:
    (tmp_path / "collector.db").write_text("this is no database, and it is long enough to tell" * 100, encoding="utf-8")
    assert is_one_line(ended("--data", tmp_path, "--port", "0"), "database: the file is not a database")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_that_is_in_use(tmp_path: Path, workers: str) -> None:
    """Nothing is created, and no useless token is shown."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = ended("--data", tmp_path / "data", "--port", port, "--workers", workers)
    assert is_one_line(done, f"cannot listen on port {port} of 127.0.0.1 (Address already in use).")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("start", "flags"),
    [(installed, []), (installed, ["--workers", "2"]), (warm, ["--host", "::1"])],
    ids=["one", "two workers", "IPv6"],
)
def test_everything_it_prints_is_already_true(tmp_path: Path, start: Callable[..., Any], flags: list[str]) -> None:
    if "::1" in flags and not has_ipv6():
        pytest.skip("there is no IPv6 here")
    with start("--data", tmp_path / "data", "--port", "0", *flags) as one:
        try:
            lines = [one.stdout.readline() for _ in range(3)]
            (url,) = re.findall(r"listens on (http://[\w.:\[\]]+[0-9]),", lines[2])
            assert not url.endswith(":0")
            assert httpx.get(f"{url}/__heartbeat__", timeout=120).is_success
            token = lines[1].rpartition("=")[2].strip()
            asked = httpx.get(f"{url}/v1/operator/campaigns", headers={"Authorization": f"Bearer {token}"}, timeout=120)
            assert asked.json() == []
        finally:
            one.terminate()
            one.wait(120)


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_no_address_is_written(tmp_path: Path) -> None:
    """Whatever is requested, valid or not, from anywhere: `serve` never prints an address."""
    words = ["serve", "--data", tmp_path / "data", "--port", "0"]
    with warm_process.started(words, ENVIRONMENT, stderr=subprocess.STDOUT) as one:
        try:
            printed = [one.stdout.readline() for _ in range(4)]
            port = int(re.findall(r"listens on http://127.0.0.1:(\d+),", printed[2])[0])
            transport = httpx.HTTPTransport(local_address="127.0.0.5")
            headers = {"X-Forwarded-For": "192.0.2.7", "Forwarded": "for=192.0.2.8"}
            with httpx.Client(
                base_url=f"http://127.0.0.1:{port}", transport=transport, headers=headers, timeout=120
            ) as http:
                for method, path in [("GET", "/v1/ledger"), ("GET", "/v1/nothing"), ("POST", "/v1/operator/campaigns")]:
                    http.request(method, path)
                http.post(f"/v1/rounds/{'0' * 32}/reports", content=b"{", headers={"Content-Type": "application/json"})
            upgrade = "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
            for sent in (b"nonsense\r\n\r\n", (upgrade + key).encode(), b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"):
                with socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.5", 0)) as raw:
                    raw.sendall(sent)
                    raw.settimeout(0.5)
                    with contextlib.suppress(TimeoutError):
                        raw.recv(1000)
        finally:
            one.terminate()
            rest = one.stdout.read()
    message = "".join(printed) + rest
    assert "Devices pin its key" in message
    assert f"http://127.0.0.1:{port}/v1/openapi.json" in message
    assert [address for address in ("127.0.0.5", "192.0.2.7", "192.0.2.8") if address in message] == []


def test_dates_in_the_future_are_corrected(tmp_path: Path) -> None:
    """After a clock ran 400 days fast, the ledger and its journal are dated now; a second call finds nothing to correct."""
    place = Place(tmp_path / "data")
    place.folder.mkdir()
    rounds = place.rounds(lambda: time.time() + 400 * 86_400)
    made = listed(rounds)
    for entries in ("2", "0"):
        done = ended("--data", place.folder, "--keys", place.settings.key_folder, "--correct-dates", "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == {"event": "corrected", "entries": entries}
    with rounds.store.write("test") as connection:
        spent = rounds.ledger.catch_up(connection)
    assert [one.entry.round for one in spent] == [made.round] * 2
    assert all(abs(one.at - time.time()) < 2 * 3600 for one in spent)
    place.close()


@pytest.mark.parametrize(
    ("module", "unused"),
    [
        ("startup", ("alembic", "dp_accounting", "duckdb", "ibis", "pandas", "pyspark", "scipy")),
        ("preparation", ("dp_accounting", "duckdb", "fastapi", "ibis", "pandas", "pyspark", "uvicorn")),
    ],
)
def test_starting_loads_no_package_that_it_does_not_use(module, unused):
    code = f"import sys, blender_dp.collector.server.{module}; print([name for name in {unused} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
