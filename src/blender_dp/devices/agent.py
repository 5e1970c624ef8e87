"""One device over its life: what it verifies before it takes part, and what it keeps account of.

The account is on the disk before a report leaves. A report that may not have arrived is sent again, byte by byte: the
same answer costs nothing, a second one would.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from blender_dp.arithmetic import Number, exact
from blender_dp.client import Device
from blender_dp.collector.documents import digest, opened
from blender_dp.devices.collector import CollectorClient
from blender_dp.entropy import system_bytes
from blender_dp.errors import BlenderError, DocumentError, StateError
from blender_dp.records.canonical import canonical_query
from blender_dp.records.head_list import HeadList

MOST_QUERIES = 20_000
"""A longer list is refused: every alternative makes the report of this device weigh less."""


@dataclass(frozen=True)
class Sent:
    """One report in the account: in which round, what it cost, the very bytes, and whether they have arrived."""

    campaign: str
    round: int
    round_id: str
    epsilon: str
    body: str
    arrived: bool = False


@dataclass
class _Account:
    sent: list[Sent] = field(default_factory=list)
    opted_out: bool = False
    newest: dict[str, int] = field(default_factory=dict)
    bundles: dict[str, int] = field(default_factory=dict)


class Agent:
    """A device with a folder of its own.

    `key` is the collector's public key, pinned; `epsilon` is what one report may cost, and `lifetime_epsilon` what all of
    them may. Neither comes from the collector.
    """

    def __init__(
        self,
        folder: Path,
        collector: CollectorClient,
        *,
        key: str,
        epsilon: Number,
        lifetime_epsilon: Number,
        clock: Callable[[], float] = time.time,
    ) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = folder / "lock"
        self._file = folder / "account.json"
        self._bundle = folder / "bundle.json"
        self._collector = collector
        self._key = key
        self.epsilon = exact(epsilon, "epsilon")
        self.lifetime_epsilon = exact(lifetime_epsilon, "lifetime_epsilon")
        self._clock = clock
        self._account = self._load()

    @property
    def sent(self) -> list[Sent]:
        """Everything that has left this device, to show to its user."""
        return list(self._account.sent)

    @property
    def left(self) -> Fraction:
        """What may still be spent in this device's life."""
        return self.lifetime_epsilon - sum((Fraction(one.epsilon) for one in self._account.sent), Fraction(0))

    def opt_out(self) -> None:
        """Take part in nothing any more. It is kept with the account, so an update does not forget it."""
        with self._locked():
            self._account.opted_out = True
            self._save()

    def take_part(self, query: str | None, url: str | None = None) -> Sent | None:
        """Report one record in the current round, unless that is done already; nothing is sent after an opt-out."""
        with self._locked():
            if self._account.opted_out:
                return None
            pointer = self._pointer("round")
            if pointer is None or pointer["state"] != "listed":
                return None
            done = next((one for one in self._account.sent if one.round_id == pointer["id"]), None)
            if done is None:
                done = self._charge(self._made(pointer, query, url))
            return done if done.arrived else self._deliver(done)

    def refresh_bundle(self) -> None:
        """Fetch and verify the bundle for local search; one of an older round than before is refused."""
        with self._locked():
            pointer = self._pointer("released")
            if pointer is None:
                return
            body = self._fetched(f"/v1/bundles/{pointer['bundle']}", pointer["bundle"])
            content = opened(body, "bundle", self._key, "bundle")
            with _as_document("bundle"):
                campaign, number = str(content["campaign"]), int(content["round"])
            if number < self._account.bundles.get(campaign, 0):
                raise DocumentError("bundle", "is older than the one that is here", "Ask the collector's operator")
            self._account.bundles[campaign] = number
            self._save()
            _write(self._bundle, body)

    def search(self, prefix: str, n: int = 10) -> list[dict[str, Any]]:
        """Answer from the verified bundle alone, without a connection."""
        if not self._bundle.exists():
            return []
        wanted = canonical_query(prefix)
        content = opened(self._bundle.read_bytes(), "bundle", self._key, "bundle")
        with _as_document("bundle"):
            return [row for row in content["queries"] if row["query"].startswith(wanted)][:n]

    def _pointer(self, which: str) -> dict[str, Any] | None:
        """Where the collector says that things are. Nobody has signed it: it is only believed as far as documents go."""
        with _as_document("current round"):
            found: dict[str, Any] | None = self._collector.get("/v1/rounds/current")[which]
            if found is None:
                return None
            return {name: found[name] for name in ("id", "state", "head_list", "bundle")}

    def _made(self, pointer: dict[str, Any], query: str | None, url: str | None) -> Sent:
        body = self._fetched(f"/v1/head-lists/{pointer['head_list']}", pointer["head_list"])
        content = opened(body, "head-list", self._key, "head list")
        with _as_document("head list"):
            head_list = self._checked(content, pointer)
            device = Device(
                head_list,
                epsilon=self.epsilon,
                delta="0.5",  # the subset randomiser has no use for it
                f_c=content["f_c"],
                subset_size=content["subset_size"],
            )
        report = device.report(query, url)
        message = {"id": system_bytes(16).hex(), "head_list": report.head_list, "cells": list(report.cells)}
        longest = {**message, "cells": [head_list.cell_count - 1] * len(report.cells)}
        return Sent(
            campaign=content["campaign"],
            round=content["round"],
            round_id=content["round_id"],
            epsilon=str(self.epsilon),
            # As long as any other report: whoever sees encrypted bytes go by learns nothing from how many they are.
            body=json.dumps({"reports": [message]}).ljust(len(json.dumps({"reports": [longest]}))),
        )

    def _checked(self, content: dict[str, Any], pointer: dict[str, Any]) -> HeadList:
        """The list, if it is the one of this round, not expired, not older than one seen before, and not too long."""
        head_list = HeadList.from_document(content["head_list"])
        newest = self._account.newest.get(content["campaign"], 0)
        problem = (
            "is not the list of this round"
            if content["round_id"] != pointer["id"] or head_list.digest != content["digest"]
            else "is of an older round than one seen before, or of the same number"
            if content["round"] <= newest
            else "does not say when it expires"
            if content["expires"] is None
            else "has expired"
            if content["expires"] < self._clock()
            else f"has more than {MOST_QUERIES} queries"
            if len(head_list) > MOST_QUERIES
            else "was made for another ε than this device's"
            if exact(content["epsilon"], "epsilon") != self.epsilon
            else None
        )
        if problem:
            raise DocumentError("head list", problem, "Nothing is reported")
        return head_list

    def _fetched(self, path: str, name: str) -> bytes:
        body = self._collector.document(path)
        if digest(body) != name:
            raise DocumentError(path, "is not what its name says", "Nothing is reported")
        return body

    def _charge(self, made: Sent) -> Sent:
        """Write a report into the account, before it leaves."""
        if self.left < Fraction(made.epsilon):
            raise StateError("budget", "of this device is used up", "Take part in no more rounds")
        self._account.sent.append(made)
        self._account.newest[made.campaign] = made.round
        self._save()
        return made

    def _deliver(self, made: Sent) -> Sent:
        answer = self._collector.post_bytes(f"/v1/rounds/{made.round_id}/reports", made.body.encode())
        with _as_document("answer"):
            refused = [str(one["reason"]) for one in answer["refused"]]
        if refused:
            raise StateError("report", "was refused by the collector", "It stays charged, and is sent again if asked for")
        arrived = Sent(**{**asdict(made), "arrived": True})
        self._account.sent[self._account.sent.index(made)] = arrived
        self._save()
        return arrived

    def _load(self) -> _Account:
        if not self._file.exists():
            return _Account()
        with _as_document(str(self._file)):  # an account that cannot be read is not begun anew: it may be all spent
            kept = json.loads(self._file.read_text(encoding="utf-8"))
            sent = [Sent(**one) for one in kept["sent"]]
            return _Account(sent, kept["opted_out"], kept["newest"], kept["bundles"])

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone with the account, as it is on the disk: another process of this device may have spent from it."""
        with self._lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._account = self._load()
            yield

    def _save(self) -> None:
        _write(self._file, json.dumps(asdict(self._account)).encode())


@contextmanager
def _as_document(source: str) -> Iterator[None]:
    """What does not have the shape it needs is a `DocumentError`."""
    try:
        yield
    except BlenderError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DocumentError(source, "does not have the shape it needs", "Nothing is done with it") from None


def _write(path: Path, content: bytes) -> None:
    """Replace a file whole; it is on the disk when this returns."""
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
