"""A life of a collector that can be killed anywhere and gone on with: what was acknowledged is written down."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import ibis.backends.duckdb  # noqa: F401 (imported late otherwise, by every process that is killed)

from blender_dp.collector import faults
from blender_dp.collector.rounds import Rounds
from blender_dp.errors import StateError
from tests.collector.places import Place, report, settings

USERS, BATCHES, BATCH = 10, 4, 5


class Log:
    """What the outside world has been told. A kill does not undo it."""

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


def live(place: Place) -> Rounds:
    """Lead one round to its release and abort another one, from wherever things are."""
    log = Log(place.folder / "log")
    rounds = place.rounds(export_from=0)  # a release has most steps so
    _, _, campaign = rounds.once("create", "asked", 201, lambda c: rounds.create_campaign(settings(), c))
    if rounds.current(campaign) is None:
        rounds.open_round(campaign)
    with rounds.store.read() as connection:
        names = connection.exec_driver_sql("SELECT id FROM rounds ORDER BY number").scalars().all()
    first = names[0]
    if not log.all("tokens"):
        log.add("tokens", rounds.enrol(campaign, USERS))
    (tokens,) = log.all("tokens")
    if rounds.round(first).state == "open":
        for user in range(USERS):
            if user not in {one["user"] for one in log.all("record")}:
                receipt = rounds.upload_record(first, tokens[user], "alpha", None)
                log.add("record", {"user": user, "receipt": receipt})
        if not log.all("withdrawn"):
            rounds.withdraw(log.all("record")[-1]["receipt"])
            log.add("withdrawn", True)
        rounds.freeze(first)
    rounds.advance_due()
    if rounds.round(first).state == "listed":
        for batch in range(BATCHES):
            if batch not in log.all("reports"):
                rounds.add_reports(first, reports_of(batch))
                log.add("reports", batch)
        rounds.close(first)
    rounds.advance_due()
    second = names[1] if len(names) > 1 else rounds.open_round(campaign).id
    try:
        rounds.abort(second, "enough")
    except StateError:  # it was, before the crash
        rounds.advance_due()
    return rounds


def crash(place: Place, point: str) -> None:
    """Live until that point."""
    faults._CRASH_AT = point
    live(place)
