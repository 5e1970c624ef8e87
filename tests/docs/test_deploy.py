"""Everything that deploy/ and its page refer to exists: settings, flags, files, volumes. Nothing is deployed here."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from blender_dp.cli.app import app
from blender_dp.collector.secrets import vault
from blender_dp.collector.settings.settings import PREFIX, Settings, load
from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs/deployment.md").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
UNIT = (DEPLOY / "blender-dp.service").read_text(encoding="utf-8")
VARIABLE = re.compile(rf"\b{PREFIX}([A-Z_]+)")
OTHER = {"TOKEN", "URL"}  # read by the operator's commands


def flags_of(*names: str) -> set[str]:
    command: Any = typer.main.get_command(app)
    for name in names:
        command = command.commands[name]
    return {flag for parameter in command.params for flag in parameter.opts}


@pytest.mark.parametrize("path", [*sorted(DEPLOY.iterdir()), ROOT / "docs/deployment.md"], ids=lambda path: path.name)
def test_every_variable_is_a_setting(path: Path) -> None:
    named = set(VARIABLE.findall(path.read_text(encoding="utf-8")))
    assert {name.lower() for name in named - OTHER} <= set(Settings.model_fields)


def test_the_settings_file_can_be_loaded() -> None:
    found = load(DEPLOY / "collector.toml", {}, {})
    (state,) = re.findall(r"^StateDirectory=(.*)$", UNIT, re.MULTILINE)
    assert [found.data, found.keys] == [Path("/var/lib") / one for one in state.split()]
    assert found.reports_per_minute > 0


def test_compose_uses_valid_settings_and_existing_files() -> None:
    collector = COMPOSE["services"]["collector"]
    given = {name: value for name, value in collector["environment"].items() if "${" not in value}
    found = load(None, {}, given)
    assert str(found.data) == "/data"
    assert found.workers > 1
    assert (DEPLOY / collector["build"]["context"] / collector["build"]["dockerfile"]).exists()
    for service in COMPOSE["services"].values():
        assert {one.partition(":")[0] for one in service.get("volumes", ())} <= set(COMPOSE["volumes"])
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])
        assert set(service.get("depends_on", ())) <= set(COMPOSE["services"])
    mounted = {one.split(":")[1] for one in collector["volumes"]}
    assert {str(found.data), str(found.keys)} == mounted  # the keys outlive the container, each kind on its own volume
    assert f":{found.port}" in collector["ports"][0]
    assert all(one.startswith("127.0.0.1:") for one in collector["ports"])  # only the proxy can reach it
    assert f"{found.port}/__heartbeat__" in " ".join(collector["healthcheck"]["test"])


def test_swap_and_core_dumps_are_disabled() -> None:
    """Raw records are in memory while a list is made."""
    assert {"LimitCORE=0", "MemorySwapMax=0"} <= set(UNIT.splitlines())
    collector = COMPOSE["services"]["collector"]
    assert collector["ulimits"]["core"] == 0
    assert collector["memswap_limit"] == collector["mem_limit"]  # the same limit with and without swap: no swap


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_the_recipes_create_a_token_and_store_its_digest(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```sh\n(python3 -m venv.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    file = tmp_path / "blender-dp.toml"
    shutil.copy(DEPLOY / "collector.toml", file)
    lines = [line for line in block.splitlines() if "TOKEN" in line]
    lines += re.findall(
        r"^#   ((?:TOKEN|echo|openssl).*)$", (DEPLOY / "compose.yaml").read_text(encoding="utf-8"), re.MULTILINE
    )
    script = "\n".join(["set -e", *lines[:2], 'echo "$TOKEN"', *lines[2:], 'echo "$TOKEN"'])
    done = subprocess.run(
        ["sh", "-c", script.replace("/etc/", f"{tmp_path}/")], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    shown, first, second = done.stdout.split("\n")[:3]
    assert shown == f"export BLENDER_DP_TOKEN={first}"
    assert load(file, {}, {}).operator_token == vault.token_digest(first)
    name, _, digest = (tmp_path / ".env").read_text(encoding="utf-8").strip().partition("=")
    assert load(None, {}, {name: digest}).operator_token == vault.token_digest(second)
    assert re.fullmatch(r"[0-9a-f]{64}\n", (tmp_path / "database-password").read_text(encoding="utf-8"))
    assert Path(COMPOSE["secrets"]["database"]["file"]) == Path("database-password")
    assert {one.get("restart") for one in COMPOSE["services"].values()} == {"unless-stopped"}


def test_the_image_installs_both_packages_with_bytecode() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    (command,) = re.findall(r"^RUN (pip install .*?) +&& ", text, re.MULTILINE)
    assert {"/src/device", "/src[collector]", "--compile"} <= set(shlex.split(command))


def test_the_image_is_built_from_existing_files() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extra,) = re.findall(r"/src\[(\w+)\]", text)
    assert extra in project["optional-dependencies"]
    for path in re.findall(r"/src/([\w.-]+)", text):
        assert (ROOT / path).exists(), path
    (command,) = re.findall(r"^CMD (.*)$", text, re.MULTILINE)
    program, verb = yaml.safe_load(command)
    assert program in project["scripts"]
    assert flags_of(verb)


def test_the_image_contains_only_listed_files() -> None:
    """An allow-list: the first rule excludes everything, so that no stray key or database gets in."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    first, *rules = [line for line in lines if line and not line.startswith("#")]
    assert first == "*"
    allowed = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    assert allowed == {"src", "device", "pyproject.toml", "README.md", "LICENSE", "constraints.txt"}
    assert all((ROOT / one).exists() for one in allowed)
    copied = re.findall(r"/src/([\w.-]+)", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    assert {*copied} <= allowed
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"README.md", *(file.partition("/")[0] for file in project["license-files"])} <= allowed


@pytest.mark.parametrize("path", ["collector-data/signing-key.pem", "deploy/database-password", "deploy/.env"])
def test_secrets_are_never_committed(path: str) -> None:
    done = subprocess.run(["git", "-C", ROOT, "check-ignore", "--no-index", path], capture_output=True, check=False)
    if done.returncode == 128:
        pytest.skip("this is no git repository")
    assert done.returncode == 0


def test_the_unit_runs_existing_commands() -> None:
    (line,) = re.findall(r"^ExecStart=(.*)$", UNIT, re.MULTILINE)
    program, verb, *rest = shlex.split(line)
    flags = {one for one in rest if one.startswith("--")}
    assert flags <= flags_of(verb)
    for path in [program.removesuffix("/bin/blender-dp"), *[one for one in rest if one.startswith("/")]]:
        assert path in PAGE, path  # where the page installs it


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """Except for the program and the user, which do not exist here."""
    here = {"ExecStart": "/bin/true", "User": "root", "Group": "root"}
    changed = re.sub(r"^(ExecStart|User|Group)=.*$", lambda found: f"{found[1]}={here[found[1]]}", UNIT, flags=re.MULTILINE)
    for text, understood in ((changed, True), (changed.replace("UMask=", "UMasc="), False)):
        unit = tmp_path / "blender-dp.service"
        unit.write_text(text, encoding="utf-8")
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
        assert (done.returncode == 0 and "blender-dp.service" not in done.stderr) == understood, done.stderr


def test_the_page_has_every_setting_with_its_default() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|([^|]*)\|", PAGE, re.MULTILINE)
    shown: dict[str, str] = {}
    for names, values in rows:
        several = re.findall(r"`(\w+)`", names)
        usual = re.split(r", (?!\d{3})", values.strip()) if len(several) > 1 else [values.strip()]
        shown |= dict(zip(several, usual, strict=True))
    assert set(shown) == set(Settings.model_fields)
    for name, value in Settings().model_dump().items():
        written = f"{value:g}" if isinstance(value, float) else str("" if value is None else value)
        written = written.lower() if isinstance(value, bool) else written  # as in TOML
        assert re.sub(r"[`,]|:.*", "", shown[name]) == written, name


def test_the_page_names_existing_flags() -> None:
    named = re.findall(r"`(--[a-z-]+)`", PAGE) + re.findall(r"blender-dp serve (--[a-z-]+)", PAGE)
    assert {"--config", "--migrate-only"} <= set(named) <= flags_of("serve")
