"""Synthetic users of a live collector: honest ones and attackers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from blender_dp.errors import DocumentError, ParameterError, StateError
from blender_dp_device.agent.client import BusyError, CollectorClient
from blender_dp_device.agent.outgoing import upload_body
from blender_dp_device.agent.verification import verified_opening
from blender_dp_device.channel.device import Device
from blender_dp_device.digests import document_digest
from blender_dp_device.entropy import system_bytes
from blender_dp_device.records.reporting_list import ReportingList
from blender_dp_device.records.upload import upload_record
from blender_dp_device.wire.documents import verified_content

_BATCH = 1_000  # reports that one relay sends per request
_THREADS = 8
_TRIES = 20
_MAX_SECONDS = 10.0

Message = dict[str, Any]
Searched = tuple[str | None, str | None]
"""A user's query and the URL that was opened; None for neither."""


@dataclass(frozen=True)
class Outcome:
    """The number of reports of each kind that were sent. The collector must count each honest and each stuffed one once."""

    honest: int
    stuffed: int
    replayed: int
    refused: int


class Crowd:
    """The users in one round of a campaign. They run the real device code; only their searches are synthetic."""

    def __init__(
        self,
        operator: CollectorClient,
        public: CollectorClient,
        campaign: dict[str, Any],
        *,
        users: Sequence[Searched],
        opt_in: float,
        attackers: int,
    ) -> None:
        """Pin the key and the promise of the campaign, as devices do, before any other request.

        `users` has one search for each of them; the first ones opt in.
        """
        self.opt_in_users = round(len(users) * opt_in)
        self.clients = len(users) - self.opt_in_users
        self._id, self._promised = campaign["id"], campaign["settings"]
        _check(self.opt_in_users, self._promised["min_opt_in"], "opt-in users")
        _check(self.clients, self._promised["min_reports"], "clients")
        pointer = operator.get("/v1/rounds/current", campaign=self._id)
        before = pointer["round"]
        if before is not None and before["state"] not in {"released", "aborted"}:
            problem, fix = f"the current one is {before['state']}", "Release it, or abort it: blender-dp round abort REASON"
            raise StateError("round", problem, fix)
        self._key: str = pointer["key"]
        self._old_list: str = (before or {}).get("head_list") or "0" * 64
        self._opt_in, self._clients = users[: self.opt_in_users], users[self.opt_in_users :]
        self.attackers = attackers
        self._operator = operator
        self._public = public

    def upload(self) -> str:
        """Open a round, enrol the opt-in users, verify the opening, and upload their records."""
        opened = self._operator.post(f"/v1/operator/campaigns/{self._id}/rounds", {})
        body = self._public.document(f"/v1/openings/{opened['opening']}")
        if document_digest(body) != opened["opening"]:
            raise DocumentError("opening", "does not match the digest in its address", "Nothing was uploaded")
        opening = verified_opening(
            verified_content(body, "opening", self._key, "opening"),
            campaign=self._id,
            round_id=opened["id"],
            epsilon=Fraction(self._promised["epsilon"]),
            max_delta=Fraction(self._promised["delta"]),
            now=time.time(),
        )
        tokens: list[str] = []
        for batch in _batched(range(self.opt_in_users), 10_000):
            path = f"/v1/operator/campaigns/{self._id}/enrolments"
            tokens += self._operator.post(path, {"count": len(batch)})["tokens"]

        def upload(user: tuple[str, Searched]) -> None:
            token, searched = user
            message = upload_body(upload_record(*searched), system_bytes(32).hex())
            self._public.post_bytes(f"/v1/rounds/{opening.round_id}/records", message, Authorization=f"Bearer {token}")

        _all(upload, zip(tokens, self._opt_in, strict=True))
        return opening.round_id

    def report(self, listed: dict[str, Any]) -> Outcome:
        """Send the reports of all clients and attackers against the list of a round."""
        body = self._public.document(f"/v1/head-lists/{listed['head_list']}")
        content = verified_content(body, "head-list", self._key)
        names = document_digest(body), content["campaign"], content["round_id"]
        if names != (listed["head_list"], self._id, listed["id"]):
            raise DocumentError("head list", "is not the list of this round", "Nothing was reported")
        published = ReportingList.from_document(content["head_list"])
        device, head_list = Device(published, epsilon=self._promised["epsilon"]), published.head_list

        def message(query: str | None = None, url: str | None = None) -> Message:
            cells = list(device.report(query, url).cells)
            return {"id": system_bytes(16).hex(), "head_list": listed["head_list"], "cells": cells}

        honest = [message(*searched) for searched in self._clients]
        target = head_list.entries[-1][0] if head_list.entries else None
        stuffed = [message(target) for _ in range(self.attackers)]
        replayed = honest[: self.attackers] * 3
        stale = [{**message(), "head_list": self._old_list} for _ in range(self.attackers)]
        nonsense = [{**message(), "cells": [head_list.cell_count]} for _ in range(self.attackers)]
        path = f"/v1/rounds/{listed['id']}/reports"
        # Replayed reports are sent together with the originals, both before and after them.
        refused = sum(self._send(path, messages) for messages in ([*replayed, *honest], stuffed, stale, nonsense))
        return Outcome(len(honest), len(stuffed), len(replayed), refused)

    def _send(self, path: str, messages: Sequence[Message]) -> int:
        """Send reports as relays would, many per request, and return how many were refused."""

        def send(batch: tuple[Message, ...]) -> int:
            refused: list[object] = self._public.post(path, {"reports": list(batch)})["refused"]
            return len(refused)

        return sum(_all(send, _batched(messages, _BATCH)))


def _check(count: int, minimum: int, who: str) -> None:
    if count < minimum:
        problem = f"the campaign needs at least {minimum:,} {who}, but there would be {count:,}"
        raise ParameterError("clients", problem, "Use more --clients, or another --opt-in")


def _batched(items: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    rest = iter(items)
    while batch := tuple(islice(rest, size)):
        yield batch


def _all(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Process all items in several threads, and retry while the collector is busy."""

    def with_retries(item: Any) -> Any:  # noqa: ANN401
        for _ in range(_TRIES):
            try:
                return work(item)
            except BusyError as error:
                time.sleep(min(error.seconds, _MAX_SECONDS))
        return work(item)

    with ThreadPoolExecutor(_THREADS) as pool:
        return iter(list(pool.map(with_retries, items)))
