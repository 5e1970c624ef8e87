"""The life of a collector that can be killed anywhere and resumed; what was acknowledged is written down."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from blender_dp.collector.rounds.date_correction import redate
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.server.preparation import prepare
from blender_dp.collector.storage import crash_points as faults
from blender_dp.collector.storage import store as store_module
from blender_dp.errors import DocumentError, StateError
from tests.collector.places import NOON, Place, report, settings

YEAR_SECONDS = 366 * 86_400
EARLIER = (NOON - 400 * 86_400) // 3600 * 3600
USERS, BATCHES, BATCH = 10, 2, 5


class Log:
    """What was acknowledged to the outside world. A kill does not undo it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, what: str, value: Any) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(handle, json.dumps([what, value]).encode() + b"\n")
        os.close(handle)

    def all(self, what: str) -> list[Any]:
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        return [value for kind, value in map(json.loads, lines) if kind == what]


def reports_of(batch: int) -> list[tuple[bytes, bytes]]:
    return [report(batch * BATCH + i) for i in range(BATCH)]


def live(place: Place, *, hasty: bool = False) -> Rounds:
    """Start, take one round to its release, and abort another one that is stuck, from any state.

    If `hasty`, every step is also requested too early and refused: the reason is committed, too.
    """
    log = Log(place.folder / "log")
    prepare(place.settings, lambda token: log.add("operator", token))
    rounds = place.rounds(migrated=False, export_from=0)  # so a release has the most steps
    campaign = rounds.idempotency.once("create", "asked", 201, lambda inside: inside.campaigns.create(settings())).body
    with suppress(StateError):  # it was created, and the response was lost
        rounds.campaigns.create(settings("another"))
    if rounds.lookup.current(campaign) is None:
        rounds.lifecycle.open(campaign)
    with rounds.store.read() as connection:
        first, *later = connection.exec_driver_sql("SELECT id FROM rounds ORDER BY number").scalars().all()
    if not log.all("tokens"):
        log.add("tokens", rounds.tokens.enrol(campaign, USERS))
    (tokens,) = log.all("tokens")
    _lead(rounds, log, first, tokens, hasty)
    _lose(rounds, later[0] if later else rounds.lifecycle.open(campaign).id, tokens)
    return rounds


def _lead(rounds: Rounds, log: Log, name: str, tokens: list[str], hasty: bool) -> None:
    """Bring a round to its release."""
    if rounds.lookup.round(name).state == "open":
        if hasty:
            rounds.lifecycle.freeze(name)
        for user in range(USERS):
            if user not in {one["user"] for one in log.all("record")}:
                log.add(
                    "record",
                    {"user": user, "receipt": rounds.contributions.upload_record(name, tokens[user], "alpha", None)},
                )
        if not log.all("withdrawn"):
            rounds.contributions.withdraw(log.all("record")[-1]["receipt"])
            log.add("withdrawn", True)
        rounds.lifecycle.freeze(name)
    _work(rounds)
    if rounds.lookup.round(name).state == "listed":
        if hasty:
            rounds.lifecycle.close(name)
        for batch in range(BATCHES):
            if batch not in log.all("reports"):
                rounds.contributions.add_reports(name, reports_of(batch))
                log.add("reports", batch)
        rounds.lifecycle.close(name)
    _work(rounds)


def _lose(rounds: Rounds, name: str, tokens: list[str]) -> None:
    """Take a round to where its list is made, lose its key as if the disk had failed, and abort it."""
    if rounds.lookup.round(name).state == "open":
        for token in tokens[: settings().min_opt_in]:
            rounds.contributions.upload_record(name, token, "alpha", None)
        rounds.lifecycle.freeze(name)
    if rounds.lookup.round(name).state == "listing":
        rounds.keys.destroy(name)
        _work(rounds)
        rounds.lifecycle.abort(name, rounds.lookup.round(name).problem or "nobody said why")
    _work(rounds)


def _work(rounds: Rounds) -> None:
    """Do what is due; a lease of a process that was killed expires first."""
    waiting = sa.text("SELECT count(*) FROM rounds WHERE state IN ('listing', 'closed') AND problem IS NULL")
    for _ in range(600):
        with suppress(DocumentError):  # of the round that has lost its key
            rounds.schedule.advance_due()
        with rounds.store.read() as connection:
            if not connection.scalar(waiting):
                return
        time.sleep(0.2)


def forget(place: Place) -> Rounds:
    """Run until the reports are old enough to be deleted."""
    rounds = live(place)
    rounds.clock.read = lambda: NOON + YEAR_SECONDS
    rounds.retention.delete_reports()
    return rounds


def corrected(place: Place) -> Rounds:
    """Run with a fast clock, and correct the dates once it is right."""
    rounds = live(place)
    redate(rounds.store, rounds.journal, EARLIER - 1)
    return rounds


def crash(place: Place, point: str, life: Callable[[Place], Rounds] = live) -> None:
    """Run until that point, with leases that expire soon."""
    store_module.TIMEOUTS = replace(store_module.TIMEOUTS, lease=1, renewal=0.3)  # type: ignore[misc]
    faults._CRASH_AT = point
    life(place)
