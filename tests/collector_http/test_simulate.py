"""Synthetic users against a live collector: every report is counted once, and nothing starts that cannot finish."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from blender_dp.collector.secrets.signing import Signer
from blender_dp.errors import BlenderError, DocumentError, ParameterError, StateError
from blender_dp.evaluation.crowd import Crowd
from blender_dp.logs import aol_like
from blender_dp_device import CollectorClient
from tests.collector_http.test_operate import command  # noqa: F401 (a fixture)

FEW = {"min_opt_in": 60, "min_reports": 500}
SHARE = ("--opt-in", "0.2")


def test_two_rounds(live, command):  # noqa: F811
    """In the second one, reports can refer to a real old list."""
    live.campaign(name="searches", **FEW)
    for _ in range(2):
        code, printed, said = command("simulate", "searches", "--clients", "1000", *SHARE, "--attackers", "7", "--json")
        assert code == 0, said
        told = json.loads(printed)
        assert told["sent"] == {"honest": 800, "stuffed": 7, "replayed": 21, "refused": 14}
        assert told["counted"] == 807


@pytest.mark.parametrize(
    ("changes", "said"), [({"min_opt_in": 500}, "500 opt-in users"), ({"min_reports": 900}, "900 clients")]
)
def test_too_few_users_are_refused_before_anything_starts(live, command, changes, said):  # noqa: F811
    campaign = live.campaign(name="searches", **{**FEW, **changes})
    code, _, told = command("simulate", "searches", "--clients", "1000", *SHARE)
    assert (code, said in " ".join(told.split())) == (2, True)
    assert live.service.rounds.lookup.current(campaign) is None


def test_a_round_that_is_under_way(live, command):  # noqa: F811
    live.opened(live.campaign(name="searches", **FEW))
    code, _, told = command("simulate", "searches", "--clients", "1000", *SHARE)
    assert (code, "blender-dp round abort" in " ".join(told.split())) == (2, True)


@pytest.fixture
def crowd(live):
    """A crowd for the existing campaign, whose settings may be changed."""
    operator, public = CollectorClient(live.url, live.token), CollectorClient(live.url)

    def made(**changes) -> Crowd:
        found = live.operator("GET", "/v1/operator/campaigns")[0]
        found["settings"] |= changes
        population = aol_like(1, users=1000)
        users = list(zip(population["query"].to_pylist(), population["url"].to_pylist(), strict=True))
        return Crowd(operator, public, found, users=users, opt_in=0.2, attackers=2)

    yield made
    operator.close()
    public.close()


def listed(live, some: Crowd) -> dict:
    round_id = some.upload()
    live.service.rounds.lifecycle.freeze(round_id)
    live.service.rounds.lists.make(round_id)
    return live.operator("GET", f"/v1/operator/rounds/{round_id}")


def test_devices_trust_only_the_pinned_key(live, crowd, tmp_path):
    live.campaign(name="searches", **FEW)
    some = crowd()
    found = listed(live, some)
    for change, said in (({"id": "0" * 32}, "not the list of this round"), ({"epsilon": "9"}, "the list was made for 4")):
        promised = some._promised
        some._promised = promised | change
        with pytest.raises(BlenderError, match=said):
            some.report(found | change)
        some._promised = promised
    some._key = Signer.load(tmp_path / "other.pem").public
    with pytest.raises(DocumentError, match="pinned key"):
        some.report(found)


@pytest.mark.parametrize(("changes", "said"), [({"epsilon": "3"}, "different ε"), ({"delta": "1e-9"}, "larger δ")])
def test_devices_upload_only_under_their_own_promise(live, crowd, changes, said):
    live.campaign(name="searches", **FEW)
    with pytest.raises(DocumentError, match=said):
        crowd(**changes).upload()
    with live.service.rounds.store.read() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM records")) == 0


def test_what_was_not_sent_is_not_counted(live, command, monkeypatch):  # noqa: F811
    live.campaign(name="searches", **FEW)
    send = Crowd._send
    monkeypatch.setattr(Crowd, "_send", lambda self, path, some: send(self, path, some[: 900 - 7]))
    code, _, told = command("simulate", "searches", "--clients", "1000", *SHARE, "--attackers", "70")
    assert code == 2
    assert "reports instead of" in " ".join(told.split())


def test_errors_of_a_crowd_are_typed(live, crowd):
    campaign = live.campaign(name="searches", **FEW)
    with pytest.raises(ParameterError):
        crowd(min_opt_in=201)
    live.opened(campaign)
    with pytest.raises(StateError):
        crowd()
