"""Invitations: link, file and QR code contain what a device pins, and the page behind the link reads none of it."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
from contextlib import suppress
from xml.etree import ElementTree

import httpx
import jsonschema
import pytest
import segno

from blender_dp.cli import output
from blender_dp.errors import ParameterError
from blender_dp.invitation import Invitation
from blender_dp_device import Agent, CollectorClient
from tests.collector_http.conftest import listening
from tests.collector_http.test_operate import command  # noqa: F401 (a fixture)
from tests.conftest import ROOT
from tests.device.vectors.files import vectors

SCHEMA = json.loads((ROOT / "spec/schemas/invitation.json").read_text(encoding="utf-8"))
PUBLIC = ("--public-url", "https://collector.example/")
VALUES = {
    "collector": "https://collector.example", "key": "A" * 43 + "=", "campaign": "0" * 32, "epsilon": "4", "delta": "1e-6",
    "lifetime_epsilon": "40", "name": "searches",
}  # fmt: skip


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A collector with a limited campaign, and one without limits."""
    with listening(tmp_path_factory.mktemp("invite") / "data") as one:
        one.campaign(max_epsilon="40")
        one.campaign(name="endless")
        one.campaign(name="weak", epsilon="21", max_epsilon="210", allow_weak_privacy=True)
        yield one


def in_link(link: str) -> dict[str, str]:
    text = link.partition("#")[2]
    assert "=" not in text
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


@pytest.mark.slow
def test_an_invitation_configures_a_device(live, command, tmp_path):  # noqa: F811
    listed = live.listed("searches")
    file, picture = tmp_path / "invitation.json", tmp_path / "invitation.svg"
    code, printed, _ = command("campaign", "invite", "searches", "--file", str(file), "--qr", str(picture))
    assert code == 0
    (link,) = re.findall(r"^http\S+$", printed, re.MULTILINE)
    invitation = json.loads(file.read_text(encoding="utf-8"))
    assert in_link(link) == invitation
    assert link.startswith(f"{live.url}/join#")
    jsonschema.validate(invitation, SCHEMA)
    assert invitation == {
        "schema": "blender-dp/invitation/1", "collector": live.url, "key": live.service.signer.public,
        "campaign": listed["campaign"], "epsilon": "4", "delta": "1/1000000", "lifetime_epsilon": "40", "name": "searches",
    }  # fmt: skip
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")  # noqa: S314 (our own file)
    pinned = {name: invitation[name] for name in ("key", "campaign", "epsilon", "delta", "lifetime_epsilon")}
    collector = CollectorClient(invitation["collector"])
    agent = Agent(tmp_path / "device", collector, **pinned)
    assert agent.take_part("query 1", "https://site1.example/").round_id == listed["id"]
    collector.close()


def test_json(live, command):  # noqa: F811
    code, printed, _ = command("campaign", "invite", "searches", "--lifetime-epsilon", "9.5", *PUBLIC, "--json")
    document = json.loads(printed)
    assert (code, document["invitation"]) == (0, in_link(document["link"]))
    assert document["invitation"]["lifetime_epsilon"] == "19/2"
    assert document["link"].startswith("https://collector.example/join#")


def test_the_printed_code_is_that_of_the_link(live, command, monkeypatch):  # noqa: F811
    monkeypatch.setattr(output.out, "_width", 80)
    _, printed, _ = command("campaign", "invite", "searches", *PUBLIC)
    lines = [line for line in printed.splitlines() if set(line) & set("▀▄█")]
    (link,) = re.findall(r"^https\S+$", printed, re.MULTILINE)
    width = len(lines[0])
    pairs = {"▀": (1, 0), "▄": (0, 1), "█": (1, 1), " ": (0, 0)}
    shown = [[pairs[one][half] for one in line.ljust(width)] for line in lines for half in (0, 1)]
    whole = [list(row) for row in segno.make_qr(link, error="l").matrix_iter(border=2)]
    assert width == len(whole[0]) <= 80
    dark = [row for row in whole if any(row)]
    assert [row for row in shown if any(row)] == dark


def test_a_narrow_terminal_gets_no_code(live, command, monkeypatch):  # noqa: F811
    monkeypatch.setattr(output.out, "_width", 40)
    code, printed, stderr = command("campaign", "invite", "searches", *PUBLIC)
    assert code == 0
    assert "█" not in printed
    assert "too narrow" in stderr


def test_without_the_extra_there_is_a_link(live, command, monkeypatch):  # noqa: F811
    find = importlib.util.find_spec
    monkeypatch.setattr("blender_dp.extras.find_spec", lambda name: None if name == "segno" else find(name))
    code, printed, stderr = command("campaign", "invite", "searches", *PUBLIC)
    assert code == 0
    assert "https://collector.example/join#" in printed
    assert "blender-dp[collector]" in stderr


def test_mistakes_are_explained(live, command, tmp_path):  # noqa: F811
    for words, message in (
        (("endless",), "lifetime-epsilon: the campaign has no limit"),
        (("searches", "--lifetime-epsilon", "3"), "3 is less than the ε of one round, 4"),
        (("weak",), "epsilon: 21 is more than 20, which offers no real privacy"),
        (("searches", "--lifetime-epsilon", "9", "--public-url", "http://collector.example"), "public-url: is not https"),
        (("others", "--lifetime-epsilon", "9"), "404"),
        (("searches", "--lifetime-epsilon", "9", "--qr", str(tmp_path / "no" / "qr.svg")), "its folder does not exist"),
    ):
        code, printed, stderr = command("campaign", "invite", *words)
        assert (code, printed) == (2, ""), words
        assert message in " ".join(stderr.split()), words
    assert list(tmp_path.glob("*.svg")) == []


@pytest.mark.parametrize(
    "url",
    [
        "http://collector.example", "ftp://collector.example", "https://", "https://user@collector.example",
        "https://collector.example/?q", "https://collector.example/#f", "https://collector.example/a b", "http://localhost.example",
        "http://127.0.0.1.example", "javascript:alert(1)", "https://collector.example\n/",
    ],
)  # fmt: skip
def test_addresses_that_are_refused(url):
    with pytest.raises(ParameterError, match="public-url"):
        Invitation.of(**{**VALUES, "collector": url})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**Invitation.of(**VALUES).to_document(), "collector": url}, SCHEMA)


@pytest.mark.parametrize(
    "url", ["https://collector.example:8443/blender", "http://localhost:8000", "http://127.0.0.1", "https://[2001:db8::1]/x"]
)
def test_addresses_that_are_accepted(url):
    document = Invitation.of(**{**VALUES, "collector": f"{url}/"}).to_document()
    assert document["collector"] == url
    jsonschema.validate(document, SCHEMA)


VECTORS = vectors("invitations")["cases"]
CASES = [(case["text"], case["invitation"]) for case in VECTORS]
FILES = [json.loads(case["text"]) for case in VECTORS if case["invitation"] is None and case["name"].startswith("file: ")]


@pytest.mark.parametrize("fields", FILES, ids=str)
def test_no_invitation_is_written_that_devices_refuse(fields):
    """What spec/vectors says that every client refuses, the command does not write, or it does not follow the schema."""
    with suppress(ParameterError, TypeError):
        written = Invitation.of(**{name: value for name, value in fields.items() if name != "schema"}).to_document()
        assert written != fields or not jsonschema.Draft202012Validator(SCHEMA).is_valid(fields)


@pytest.mark.parametrize(("text", "read"), [(text, read) for text, read in CASES if read])
def test_every_client_reads_what_is_written(text, read):
    written = Invitation.of(**{name: value for name, value in read.items() if name != "schema"})
    assert written.to_document() == read
    assert (in_link(text.strip()) if "#" in text else json.loads(text)) == read
    jsonschema.validate(read, SCHEMA)


def invited(live, campaign: str, **params: str) -> httpx.Response:
    with live.http(live.token) as http:
        return http.get(f"/v1/operator/campaigns/{campaign}/invitation", params={"public_url": live.url, **params})


def test_the_operator_gets_the_same_invitation_over_http(live, command):  # noqa: F811
    for words, params in (((), {}), (("--lifetime-epsilon", "9.5"), {"lifetime_epsilon": "9.5"})):
        _, printed, _ = command("campaign", "invite", "searches", *words, "--json")
        shown = invited(live, "searches", **params).json()
        assert {name: shown[name] for name in ("link", "invitation")} == json.loads(printed)
        expected = segno.make_qr(shown["link"], error="l").svg_inline(scale=4, light="white")
        paths = [re.findall(r' d="([^"]+)"', picture) for picture in (shown["qr_code"], expected)]
        assert paths[0] == paths[1]
        assert shown["qr_code"].startswith('<svg xmlns="http://www.w3.org/2000/svg"')  # otherwise it is no image


@pytest.mark.parametrize(
    ("campaign", "params", "status", "message"),
    [
        ("endless", {}, 422, "lifetime-epsilon: the campaign has no limit"),
        ("searches", {"lifetime_epsilon": "3"}, 422, "3 is less than the ε of one round, 4"),
        ("searches", {"public_url": "http://collector.example"}, 422, "public-url: is not https"),
        ("unknown", {}, 404, ""),
    ],
)
def test_mistakes_are_explained_over_http(live, campaign, params, status, message):
    answer = invited(live, campaign, **params)
    assert answer.status_code == status
    assert message in answer.json()["detail"]


def test_the_page_behind_the_link_reads_nothing(live):
    with live.http() as http:
        answer = http.get("/join")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert not re.search(r"<(script|img|link|form|iframe)|\son\w+=|https?://", answer.text)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "; style-src 'sha256-" in policy
    assert "unsafe" not in policy
    assert "extension" in answer.text
