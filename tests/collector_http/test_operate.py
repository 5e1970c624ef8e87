"""The operator's subcommands apply to the named campaign, whichever was opened last."""

from __future__ import annotations

import importlib
import json

import pytest

from blender_dp.cli import operate
from blender_dp.cli.app import run_command
from blender_dp_device import CollectorClient


@pytest.fixture
def command(live, monkeypatch, capsys):
    """Run a subcommand; return its exit code and what it printed."""
    monkeypatch.setenv("BLENDER_DP_URL", live.url)
    monkeypatch.setenv("BLENDER_DP_TOKEN", live.token)
    connect, made = operate.client, []

    def kept(url: str, token: str | None = None):
        made.append(connect(url, token))
        return made[-1]

    for name in ("operate", "invite", "round", "ledger", "simulate"):
        monkeypatch.setattr(importlib.import_module(f"blender_dp.cli.{name}"), "client", kept)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["blender-dp", *words])
        with pytest.raises(SystemExit) as ended:
            run_command()
        while made:
            made.pop().close()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


def test_one_campaign_needs_no_name(live, command):
    code, _, message = command("round", "show")
    assert code != 0
    assert "none exists" in message
    round_id = live.opened(live.campaign())
    code, printed, _ = command("round", "show", "--json")
    assert (code, json.loads(printed)["id"]) == (0, round_id)


def test_several_campaigns_need_a_name(live, command):
    """A command for the first campaign does not affect the second, although that was opened last."""
    first = live.listed(live.campaign(name="first"))
    second = live.opened(live.campaign(name="second"))
    for words in (("show",), ("make-list", "--yes"), ("close",), ("abort", "enough")):
        code, _, message = command("round", *words)
        assert code != 0
        assert "several exist" in " ".join(message.split())
    code, printed, _ = command("round", "show", "--campaign", "first", "--json")
    assert (code, json.loads(printed)["id"]) == (0, first["id"])
    code, printed, _ = command("round", "abort", "enough", "--campaign", "first", "--json")
    assert (code, json.loads(printed)["id"], json.loads(printed)["state"]) == (0, first["id"], "aborted")
    assert live.operator("GET", f"/v1/operator/rounds/{second}")["state"] == "open"
    code, _, message = command("round", "show", "--campaign", "third")
    assert code != 0
    assert "unknown" in message


CREATE = ("campaign", "create", "searches", "--epsilon", "4", "--delta", "1e-6", "--max-epsilon", "40")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--min-opt-in", "1"), "body.min_opt_in: Input should be greater than or equal to 4. Fix the request."),
        (("--period-days", "3"), "period_epsilon and period_days must be set together. Fix the request."),
        (("--epsilon", "0"), "epsilon: "),
        (("--max-epsilon", "3"), "max_epsilon is less than epsilon"),
        (("--max-epsilon", "none"), "body.max_epsilon: String should match pattern"),
        (("--epsilon", "four"), "body.epsilon: String should match pattern"),
    ],
)
def test_a_mistake_is_explained(command, words, message):
    code, _, stderr = command(*CREATE, *words)
    assert code == 2
    assert message in " ".join(stderr.split())


def test_a_campaign_needs_a_limit_or_the_word_unlimited(live, command):
    code, _, stderr = command(*CREATE[:-2])
    assert code == 2
    assert "nothing limits the total ε" in (message := " ".join(stderr.split()))
    assert "--max-epsilon unlimited" in message
    assert live.operator("GET", "/v1/operator/campaigns") == []
    assert command(*CREATE[:-1], "unlimited")[0] == 0
    assert live.operator("GET", "/v1/operator/campaigns")[0]["settings"]["max_epsilon"] == "unlimited"


def test_a_weak_promise_is_refused_unless_forced(live, command):
    code, _, stderr = command(*CREATE, "--delta", "0.001")
    assert code == 2
    assert "is not below 1 / 1,000 opt-in users" in (message := " ".join(stderr.split()))
    assert "--force-weak-privacy" in message  # the end of a long explanation
    code, printed, stderr = command(*CREATE, "--delta", "0.001", "--force-weak-privacy", "--json")
    assert code == 0
    assert "warning: delta: 0.001" in " ".join(stderr.split())
    made = json.loads(printed)
    assert len(made["warnings"]) == 1
    assert "950 discovery users, up to about 0.95 records" in made["exposure"]
    assert live.operator("GET", "/v1/operator/campaigns")[0]["settings"]["allow_weak_privacy"]


def test_what_already_exists_is_not_created_again(command):
    assert command(*CREATE)[0] == 0
    code, _, stderr = command(*CREATE)
    assert code == 2
    assert stderr.endswith("responds with 409: campaign: one with this name already exists. Choose another name.\n")


def test_cached_responses_are_not_trusted(live, command, monkeypatch):
    """A proxy may cache public responses for five minutes; the operator needs the current state."""
    campaign = live.campaign()
    old = live.opened(campaign)
    with live.http() as http:
        kept = {path: http.get(path).json() for path in ("/v1/rounds/current", f"/v1/rounds/current?campaign={campaign}")}
    live.operator("POST", f"/v1/operator/rounds/{old}/abort", json={"reason": "over"})
    new = live.opened(campaign)
    get = CollectorClient.get

    def cached(self, path, **query):
        named = f"{path}?{'&'.join(f'{name}={value}' for name, value in query.items())}" if query else path
        return kept.get(named) or get(self, path, **query)

    monkeypatch.setattr(CollectorClient, "get", cached)
    code, printed, _ = command("round", "show", "--json")
    assert (code, json.loads(printed)["id"]) == (0, new)
    code, printed, _ = command("round", "abort", "enough", "--json")
    assert (code, json.loads(printed)["id"], json.loads(printed)["state"]) == (0, new, "aborted")
    with live.http(live.token) as http:
        assert http.get(f"/v1/operator/campaigns/{campaign}/rounds/current").headers["cache-control"] == "no-store"


def test_list_and_close(live, command):
    first = live.campaign(name="first")
    round_id = live.opened(first)
    for i, token in enumerate(live.enrolled(first, 150)):
        live.upload(round_id, token, f"query {i % 3}", "https://one.example/")
    live.opened(live.campaign(name="second"))
    code, printed, _ = command("round", "make-list", "--campaign", "first", "--yes", "--json")
    listed = json.loads(printed)
    assert (code, listed["id"], listed["state"]) == (0, round_id, "listed")
    with live.http() as http:
        http.post(f"/v1/rounds/{round_id}/reports", json={"reports": live.messages(listed, 150)})
    code, printed, _ = command("round", "close", "--campaign", "first", "--json")
    assert (code, json.loads(printed)["state"]) == (0, "released")
