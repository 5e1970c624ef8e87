"""Made-up users who drive a live collector, honest and otherwise."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

from blender_dp.client import Device
from blender_dp.devices.collector import BusyError, CollectorClient
from blender_dp.entropy import system_bytes
from blender_dp.logs import aol_like
from blender_dp.records.head_list import HeadList

_BATCH = 1_000  # reports that one relay sends at a time
_THREADS = 8
_TRIES = 20
_MOST_SECONDS = 10.0

Message = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """How many reports of each kind were sent; the collector must have counted the honest and the stuffed ones, once."""

    honest: int
    stuffed: int
    replayed: int
    refused: int


class Crowd:
    """The users of one round. Their devices are real; only their searches are made up."""

    def __init__(self, operator: CollectorClient, url: str, users: int, opt_in: float, attackers: int, seed: int) -> None:
        rows = aol_like(seed, users=users).select(["query", "url"]).to_pylist()
        self.opt_in_users = round(users * opt_in)
        self.clients = users - self.opt_in_users
        self._opt_in, self._clients = rows[: self.opt_in_users], rows[self.opt_in_users :]
        self._attackers = attackers
        self._operator = operator
        self._anybody = CollectorClient(url)

    def upload(self, campaign: str) -> str:
        """Open a round, enrol the opt-in users and let them upload."""
        round_id: str = self._operator.post(f"/v1/operator/campaigns/{campaign}/rounds", {})["id"]
        tokens: list[str] = []
        for some in _batched(range(self.opt_in_users), 10_000):
            path = f"/v1/operator/campaigns/{campaign}/enrolments"
            tokens += self._operator.post(path, {"count": len(some)})["tokens"]

        def upload(one: tuple[str, dict[str, str]]) -> None:
            token, row = one
            self._anybody.post(f"/v1/rounds/{round_id}/records", row, Authorization=f"Bearer {token}")

        _all(upload, zip(tokens, self._opt_in, strict=True))
        return round_id

    def report(self, listed: dict[str, Any]) -> Outcome:
        """Let everybody report against the list of a round."""
        content = json.loads(self._operator.document(f"/v1/head-lists/{listed['head_list']}"))["content"]
        head_list = HeadList.from_document(content["head_list"])
        device = Device(
            head_list, epsilon=content["epsilon"], delta="0.5", f_c=content["f_c"], subset_size=content["subset_size"]
        )

        def message(query: str | None = None, url: str | None = None) -> Message:
            cells = list(device.report(query, url).cells)
            return {"id": system_bytes(16).hex(), "head_list": listed["head_list"], "cells": cells}

        honest = [message(row["query"], row["url"]) for row in self._clients]
        target = head_list.entries[-1][0] if head_list.entries else None
        stuffed = [message(target) for _ in range(self._attackers)]
        replayed = honest[: self._attackers] * 3
        stale = [{**message(), "head_list": "0" * 64} for _ in range(self._attackers)]
        nonsense = [{**message(), "cells": [head_list.cell_count]} for _ in range(self._attackers)]
        path = f"/v1/rounds/{listed['id']}/reports"
        refused = sum(self._send(path, batches) for batches in (honest, stuffed, replayed, stale, nonsense))
        return Outcome(len(honest), len(stuffed), len(replayed), refused)

    def _send(self, path: str, messages: Sequence[Message]) -> int:
        """Send reports as relays would, many at a time; how many were refused."""

        def send(some: tuple[Message, ...]) -> int:
            refused: list[object] = self._anybody.post(path, {"reports": list(some)})["refused"]
            return len(refused)

        return sum(_all(send, _batched(messages, _BATCH)))


def _batched(things: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    rest = iter(things)
    while some := tuple(islice(rest, size)):
        yield some


def _all(work: Callable[[Any], Any], things: Iterable[Any]) -> Iterator[Any]:
    """Do some work on many things at a time; a collector that is busy is asked again."""

    def patiently(thing: Any) -> Any:  # noqa: ANN401
        for _ in range(_TRIES):
            try:
                return work(thing)
            except BusyError as error:
                time.sleep(min(error.seconds, _MOST_SECONDS))
        return work(thing)

    with ThreadPoolExecutor(_THREADS) as pool:
        return iter(list(pool.map(patiently, things)))
