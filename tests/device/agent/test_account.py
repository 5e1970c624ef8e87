"""A device's account: shared by its processes, durable, and never replaced by a new one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest

from blender_dp.errors import DocumentError, StateError
from blender_dp_device.agent.account import AccountFile, Sent, Uploaded
from blender_dp_device.agent.verification import Opening


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_concurrent_processes_do_not_exceed_the_budget(agent, monkeypatch):
    """Each process has a report for a different campaign. The budget allows three of them, in any order."""
    agent(lifetime_epsilon=12)
    save, saves = AccountFile.save, []

    def slowly(file, account):
        time.sleep(0.05)  # so that, without a lock, all would read before any of them writes
        save(file, account)
        saves.append(account)

    monkeypatch.setattr(AccountFile, "save", slowly)
    children = []
    for number in range(1, 9):
        child = os.fork()
        if child == 0:
            try:
                device = agent(lifetime_epsilon=12)
                if number % 2:
                    device._charge_report(Sent(f"{number:032x}", 1, f"{number:032x}", "4", ""))
                else:
                    opening = Opening(f"{number:032x}", 1, f"{number:032x}", Fraction(4), Fraction(1, 10**6))
                    device._charge_upload(opening)
            except StateError:
                pass
            finally:
                os._exit(len(saves))  # no further tests run in this process
        children.append(child)
    charged = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    assert charged == len(agent().sent) + len(agent().uploaded) == 3
    assert agent(lifetime_epsilon=12).left == 0


def test_two_processes_share_one_account(agent, fake):
    """Both were started before either has spent anything."""
    one, other = agent(lifetime_epsilon=4), agent(lifetime_epsilon=4)
    one.take_part("query 1")
    fake.state["id"] = "2" * 32
    fake.publish_list(round=2)
    with pytest.raises(StateError, match="used up"):
        other.take_part("query 1")


def test_an_account_of_an_earlier_version_has_no_limit_yet(agent, fake, tmp_path):
    """The first charge stores the one that its agent has; a refused one stores nothing."""
    agent(lifetime_epsilon=40).take_part("query 1")
    file = tmp_path / "device/account.json"
    stored = json.loads(file.read_text())
    assert stored.pop("limit") == "40"
    file.write_text(json.dumps(stored))
    assert agent(lifetime_epsilon=Fraction(22, 3)).left == Fraction(10, 3)
    fake.state["id"] = "2" * 32
    fake.publish_list(round=2)
    with pytest.raises(StateError, match="used up"):
        agent(lifetime_epsilon=Fraction(22, 3)).take_part("query 1")
    agent(lifetime_epsilon=8).take_part("query 1")
    assert agent(lifetime_epsilon=1000).left == 0


EMPTY = {"sent": [], "records": [], "newest": {}, "bundles": {}, "charged": None}
SENT = {"campaign": "c" * 32, "round": 1, "round_id": "1" * 32, "epsilon": "4", "body": ""}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        "[" * 100_000,
        json.dumps({**EMPTY, "sent": [{}]}),
        *[json.dumps({**EMPTY, name: wrong}) for name in ("sent", "records") for wrong in ({}, "", None)],
        *[
            json.dumps({**EMPTY, "sent": [{**SENT, "epsilon": wrong}]})
            for wrong in ("x", "1e400000000", "1/0", "-4", "", 4, None, "9" * 5_000)
        ],
        *[
            json.dumps({**EMPTY, "sent": [{**SENT, **wrong}]})
            for wrong in (
                {"round": "1"},
                {"round": True},
                {"round": -1},
                {"round_id": "../../x"},
                {"campaign": 7},
                {"body": 7},
                {"arrived": "no"},
                {"over": 0},
            )
        ],
        *[
            json.dumps({**EMPTY, "records": [{"campaign": "c" * 32, "round_id": "1" * 32, "receipt": "ab" * 32} | wrong]})
            for wrong in (
                {"receipt": None},
                {"epsilon": "1e400000000"},
                {"epsilon": "-4"},
                {"epsilon": 4},
                {"delta": "x"},
                {"withdrawn": "no"},
                {"round": "1"},
                {"round_id": 7},
                {"campaign": None},
                {"more": 1},
            )
        ],
        *[json.dumps({**EMPTY, "newest": {"c" * 32: wrong}}) for wrong in ("x", "1", 0.5, True, -5, None)],
        *[json.dumps({**EMPTY, "bundles": {"c" * 32: wrong}}) for wrong in ("x", "1", 0.5, True, -5, None)],
        *[json.dumps({**EMPTY, "limit": wrong}) for wrong in ("x", "-4", "1e400000000", "1/0", 4, True, [])],
        *[
            json.dumps({**EMPTY, "charged": wrong})
            for wrong in ("x", "1", "nan", True, float("nan"), float("inf"), float("-inf"))  # NaN would end the wait
        ],
    ],
)
class TestDamagedAccount:
    @pytest.fixture(autouse=True)
    def damaged(self, agent, tmp_path, text) -> None:
        agent()
        (tmp_path / "device/account.json").write_text(text)

    def test_a_damaged_account_is_not_replaced(self, agent, fake, tmp_path, text):
        fake.publish_bundle(1)
        for act in (
            lambda: agent().take_part("query 1"),
            lambda: agent().upload("t", "query", "a.example"),
            lambda: agent().withdraw(),
            lambda: agent().refresh_bundle(),
            lambda: agent().left,
            lambda: agent().agree_to_limit(),
            lambda: agent().sent,
        ):
            with pytest.raises(DocumentError, match="shape"):
                act()
        assert fake.requests == []
        assert (tmp_path / "device/account.json").read_text() == text

    def test_its_user_can_opt_out(self, agent, fake):
        assert not agent().opted_out
        agent().opt_out()
        assert agent().opted_out
        assert agent().take_part("query 1") is None
        assert fake.requests == []


class TestUnreachableAccount:
    """A file that cannot be looked at is not a missing one: neither the budget nor the opt-out starts again."""

    @pytest.fixture(params=["a link to nowhere", "a link to itself", "a folder", "a file in place of its folder"])
    def unreachable(self, request, agent, tmp_path) -> str:
        one, folder = agent(), tmp_path / "device"
        one.take_part("query 1")
        (folder / "account.json").rename(tmp_path / "lost.json")
        match request.param:
            case "a link to nowhere":
                (folder / "account.json").symlink_to(tmp_path / "unmounted/account.json")
            case "a link to itself":
                (folder / "account.json").symlink_to("account.json")
            case "a folder":
                (folder / "account.json").mkdir()
            case _:
                folder.rename(tmp_path / "moved")
                folder.touch()
        return one

    def test_nothing_is_sent(self, unreachable, fake):
        before = len(fake.requests)
        for act in (
            lambda: unreachable.take_part("query 1"),
            lambda: unreachable.upload("t", "query", "a.example"),
            unreachable.refresh_bundle,
            lambda: unreachable.spent,
        ):
            with pytest.raises(DocumentError, match="cannot be read"):
                act()
        assert len(fake.requests) == before

    def test_a_link_to_nowhere_is_an_opt_out(self, agent, fake, tmp_path):
        one = agent()
        (tmp_path / "device/opted-out").symlink_to(tmp_path / "unmounted/opted-out")
        assert one.opted_out
        assert one.take_part("query 1") is None
        assert fake.requests == []


class TestAccountOfAnEarlierVersion:
    """Its uploads have neither a number nor an ε, and were not charged."""

    OLD: ClassVar = {**EMPTY, "records": [{"campaign": "c" * 32, "round_id": "1" * 32, "receipt": "ab" * 32}]}

    @pytest.fixture(autouse=True)
    def old(self, agent, tmp_path) -> None:
        agent()
        (tmp_path / "device/account.json").write_text(json.dumps({**self.OLD, "sent": [SENT], "newest": {"c" * 32: 1}}))

    def test_its_uploads_are_charged_as_much_as_a_round_may_cost(self, agent):
        assert (agent().spent, agent().left) == (8, 0)
        assert agent().uploaded == [Uploaded("c" * 32, "1" * 32, "ab" * 32)]

    def test_the_rounds_of_its_uploads_are_known(self, agent, fake):
        assert agent(lifetime_epsilon=40).take_part("query 1") is None
        fake.state["state"] = "open"
        with pytest.raises(DocumentError, match="different number"):
            agent(lifetime_epsilon=40).upload("t", "query", "a.example")
        assert not fake.posted

    def test_its_uploads_can_be_withdrawn(self, agent, fake):
        fake.records["ab" * 32] = b""
        assert agent().withdraw() == 1
        assert [one.withdrawn for one in agent().uploaded] == [True]


class TestFiles:
    """What a device stores is durable, and readable by its user only."""

    @pytest.fixture(autouse=True)
    def everybody_may_read_new_files(self) -> Iterator[None]:
        before = os.umask(0)
        yield
        os.umask(before)

    @pytest.fixture
    def synced(self, monkeypatch) -> list[Path]:
        """What is synced, in order."""
        names, sync = [], os.fsync

        def recorded(handle):
            names.append(Path(f"/proc/self/fd/{handle}").readlink())
            sync(handle)

        monkeypatch.setattr(os, "fsync", recorded)
        return names

    def test_modes(self, agent, tmp_path):
        agent().take_part("query 1")
        agent().opt_out()
        folder = tmp_path / "device"
        modes = {one.name: one.stat().st_mode & 0o777 for one in (folder, *folder.iterdir())}
        assert modes == {"device": 0o700, "account.json": 0o600, "lock": 0o600, "opted-out": 0o600}

    def test_a_new_folder_is_synced_with_those_above_it(self, tmp_path, synced):
        AccountFile(tmp_path / "a/b/device")
        assert synced == [tmp_path / "a/b", tmp_path / "a", tmp_path]
        AccountFile(tmp_path / "a/b/device")
        assert len(synced) == 3  # once

    def test_an_opt_out_is_synced_and_then_its_folder(self, agent, tmp_path, synced):
        agent().opt_out()
        assert synced[-2:] == [tmp_path / "device/opted-out", tmp_path / "device"]
