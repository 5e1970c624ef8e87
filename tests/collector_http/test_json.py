"""Every subcommand has --json, and prints one JSON document (`serve` and `demo-live`: one per line) on standard output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer.main

from blender_dp.cli.app import app
from tests.collector_http.conftest import RECORDS, listening
from tests.collector_http.test_operate import command  # noqa: F401 (a fixture)
from tests.collector_http.warm_process import ended, started
from tests.e2e.test_without_extras import REPORTS, verbs

CAMPAIGN = ("--epsilon", "4", "--delta", "1e-6", "--max-epsilon", "40", "--min-opt-in", "60", "--min-reports", "100")


@pytest.fixture
def live(tmp_path: Path):
    """One database is enough: what is printed does not depend on it."""
    with listening(tmp_path / "data") as one:
        yield one


def parsed(text: str) -> Any:
    """One document of standard JSON, which has no NaN."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def every_verb() -> list[str]:
    return verbs(typer.main.get_command(app))


def test_every_subcommand_has_the_flag():
    for verb in every_verb():
        found: Any = typer.main.get_command(app)
        for word in verb.split():
            found = found.commands[word]
        assert "--json" in {flag for parameter in found.params for flag in parameter.opts}, verb


def test_every_subcommand_prints_one_document(live, command, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    ran = {"serve", "demo-live"}  # below, and in tests/e2e/test_demo_live.py

    def run(verb: str, *words: str) -> Any:
        code, printed, stderr = command(*verb.split(), *words, "--json")
        assert code == 0, (verb, stderr)
        ran.add(verb)
        return parsed(printed)

    assert {"release", "head list"} <= set(run("demo", "--users", "20000", "--out", "demo")["files"])
    made = run("run", "demo/log.parquet", "--epsilon", "4", "--delta", "1e-5", "--opt-in", "0.1", "--out", "release")
    assert made["manifest"]
    assert run("trends", "demo")[0]["query"]
    assert run("search", "demo", "goo")[0]["query"].startswith("goo")
    assert run("disagreement", "demo")["queries"]
    assert run("disagreement", "release")["poisoning"]
    assert run("compare", "demo", "release")["changes"]
    assert run("registry", "release")["deployment"]
    few = ("--epsilon", "4", "--delta", "1e-5", "--max-queries", "5", "--users", "20000")
    assert run("evaluate", "aol", *few, "--seeds", "1", "--workers", "1")[0]["measure"]
    assert run("plan", "aol", *few)["forecast"]
    assert run("reproduce", "list")
    assert run("audit", "--epsilon", "4", "--delta", "1e-5", "--max-queries", "5")["findings"]
    subprocess.run([sys.executable, "-c", REPORTS], check=True, cwd=tmp_path)
    words = ("reports.jsonl", "--head-list", "demo/head-list.json")
    assert run("aggregate", *words)["top"]

    campaign = run("campaign create", "searches", *CAMPAIGN)["id"]
    assert [one["id"] for one in run("campaign list")] == [campaign]
    assert run("campaign invite", "searches")["invitation"]["campaign"] == campaign
    opened = run("round open", "searches")
    for i, token in enumerate(run("campaign enrol", "searches", "--count", "150")["tokens"]):
        live.upload(opened["id"], token, *RECORDS[i % len(RECORDS)])
    assert run("round show")["id"] == opened["id"]
    assert [one["id"] for one in run("round list")] == [opened["id"]]
    listed = run("round make-list", "--yes")
    with live.http() as http:
        http.post(f"/v1/rounds/{opened['id']}/reports", json={"reports": live.messages(listed, 150)})
    assert run("round close")["state"] == "released"
    run("round open", "searches")
    assert run("round abort", "enough")["state"] == "aborted"
    assert len(run("ledger")["entries"]) == 2
    assert run("simulate", "searches", "--clients", "1000", "--opt-in", "0.2", "--attackers", "2")["counted"] == 802
    run("campaign create", "kept", *CAMPAIGN, "--keep-reports-days", "1")
    done = live.released("kept")
    exported = run("round export", done["id"], "--out", "exported.parquet")
    assert exported == {"round": done["id"], "file": "exported.parquet", "bytes": Path("exported.parquet").stat().st_size}
    assert sorted(ran) == sorted(every_verb())


def test_what_is_not_found_is_an_empty_document(command, live):  # noqa: F811
    for words in (("campaign", "list"), ("round", "list"), ("ledger",)):
        code, printed, _ = command(*words, "--json")
        assert code == 0
        assert not any(parsed(printed).values()) if words == ("ledger",) else parsed(printed) == []


def test_an_error_prints_no_document(command, live):  # noqa: F811
    code, printed, stderr = command("round", "show", "--json")
    assert (code, printed) == (2, "")
    assert stderr.startswith("error: ")


def test_serve_prints_a_document_per_line(tmp_path: Path):
    words = ["serve", "--data", tmp_path / "data", "--port", "0", "--json"]
    environment = {**os.environ, "BLENDER_DP_MIN_FREE_BYTES": "0"}
    assert parsed(ended([*words, "--migrate-only"], environment).stdout) == {"event": "migrated"}
    with started(words, environment) as one:
        try:
            token, listens = (parsed(one.stdout.readline()) for _ in range(2))
            assert (token["event"], listens["event"]) == ("token", "listening")
            header = {"Authorization": f"Bearer {token['operator_token']}"}
            assert httpx.get(f"{listens['url']}/v1/operator/campaigns", headers=header, timeout=60).json() == []
            assert httpx.get(f"{listens['url']}/v1/rounds/current", timeout=60).json()["key"] == listens["key"]
        finally:
            one.terminate()
            rest = one.stdout.read()
    assert rest == ""
