"""One device over its life: what it verifies before it takes part, and what it keeps account of.

The account is on the disk before a report leaves. A report that may not have arrived is sent again, byte by byte: the
same answer costs nothing, a second one would.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from blender_dp_device.agent.account import Account, AccountFile, Limits, Sent, Uploaded
from blender_dp_device.agent.http import AnswerError, CollectorClient, SilentError
from blender_dp_device.agent.opening import Opening, upload_message, verified_opening
from blender_dp_device.agent.search_index import SearchIndex
from blender_dp_device.agent.shapes import (
    MOST_CELLS,
    MOST_ROUNDS,
    as_document,
    bundle_rows,
    digest_name,
    identifier,
    whole,
)
from blender_dp_device.arithmetic import Number, exact
from blender_dp_device.channel import Device
from blender_dp_device.entropy import system_bytes
from blender_dp_device.errors import BlenderError, DocumentError, ParameterError, StateError
from blender_dp_device.files import write_over
from blender_dp_device.records.checks import checked_delta, checked_epsilon
from blender_dp_device.records.reporting_list import ReportingList
from blender_dp_device.records.upload import canonical_texts, upload_record
from blender_dp_device.wire.documents import digest, opened
from blender_dp_device.wire.suggestions import Row, Suggester

MOST_QUERIES = 20_000
"""A longer list is refused: every alternative makes the report of this device weigh less."""

LEAST_SECONDS = 86_400
"""The time between two rounds that a device takes part in: no campaign has a reason to ask more often than once a day."""

_KEY_BYTES = 32
_GONE = {404, 409}  # the round is over, or not known any more


class Agent:
    """A device with a folder of its own, which takes part in one campaign.

    `key` is the collector's public key and `campaign` the campaign's id, both pinned; `epsilon` is what one round may
    cost, `lifetime_epsilon` what all of them may, and `least_seconds` the time between two. `delta` is the largest δ of a
    round that an opt-in user's record is uploaded to; without it nothing is uploaded. None of it comes from the collector.
    """

    def __init__(
        self,
        folder: Path,
        collector: CollectorClient,
        *,
        key: str,
        campaign: str,
        epsilon: Number,
        lifetime_epsilon: Number,
        delta: Number | None = None,
        least_seconds: float = LEAST_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._key = _checked_key(key)
        self._campaign = _checked_campaign(campaign)
        self.epsilon = checked_epsilon(epsilon)
        self.lifetime_epsilon = _not_negative(lifetime_epsilon, "lifetime_epsilon")
        self.delta = None if delta is None else checked_delta(delta)
        seconds = float(_not_negative(least_seconds, "least_seconds"))
        self._limits = Limits(self.epsilon, self.lifetime_epsilon, seconds)
        self._clock = clock
        self._collector = collector
        self._file = AccountFile(folder)
        self._bundle = folder / "bundle.json"
        self._index = folder / "bundle.db"

    @property
    def sent(self) -> list[Sent]:
        """Every report that has left this device, to show to its user."""
        return self._file.read().sent

    @property
    def uploaded(self) -> list[Uploaded]:
        """Every upload of this device, withdrawn or not, to show to its user."""
        return self._file.read().records

    @property
    def spent(self) -> Fraction:
        """What all reports and uploads have cost."""
        return self._file.read().spent(self.epsilon)

    @property
    def left(self) -> Fraction:
        """What may still be spent in this device's life."""
        return self.lifetime_epsilon - self.spent

    @property
    def opted_out(self) -> bool:
        """Whether the user wants no more of this."""
        return self._file.opted_out

    def opt_out(self) -> None:
        """Take part in nothing any more, from now on, whatever is under way. An update does not forget it."""
        self._file.opt_out()

    def take_part(self, query: str | None, url: str | None = None) -> Sent | None:
        """Report one record in the current round, unless that is done already; nothing is sent after an opt-out.

        Reports of earlier rounds that may not have arrived are sent again first.
        """
        if self.opted_out:
            return None
        query, url = canonical_texts(query, url)  # before anybody is asked: the time it takes must not show in between
        self._file.read()  # a device whose account cannot be read asks nobody for anything; its user can still opt out
        pointer = self._pointer("round")
        listed = pointer if pointer and pointer["state"] == "listed" else None
        self._send_again(listed["id"] if listed else None)
        account = self._file.read()
        if listed is None or account.record(self._campaign, listed["id"]):
            return None  # nobody is in both groups, whatever has become of the upload
        done = account.report(self._campaign, listed["id"]) or self._charged(self._made(listed, query, url))
        return done if done is None or done.arrived else self._deliver(done)

    def upload(self, token: str, query: str | None, url: str | None = None) -> Uploaded | None:
        """Upload an opt-in user's record in the round that is open, in place of an earlier one of that round.

        Call it in every round, whether there is a record or not: one that is missing, looks personal or is too long is
        uploaded as no record, in a message of the same length, because the number of opt-in users is public and must not
        depend on anybody's record. Nothing leaves, not even the token, unless the pinned key has signed the opening of
        the round, with this device's ε and at most its δ. The upload is charged to the account before it leaves, once for
        all uploads of the round, which have one receipt. From then on this device does not report in that round, whatever
        becomes of the upload. A round that was withdrawn from is not uploaded to again.
        """
        if self.delta is None:
            raise ParameterError("delta", "is not set, and an upload needs a limit", "Give Agent a delta, such as 1e-6")
        if self.opted_out:
            return None
        record = upload_record(query, url)  # before anybody is asked: the time it takes must not show in between
        self._file.read()  # a device whose account cannot be read asks nobody for anything
        pointer = self._pointer("round")
        if pointer is None or pointer["state"] != "open":
            return None
        body = self._fetched("openings", pointer["opening"])
        opening = verified_opening(
            opened(body, "opening", self._key, "opening"),
            campaign=self._campaign,
            round_id=pointer["id"],
            epsilon=self.epsilon,
            most_delta=self.delta,
            now=self._clock(),
        )
        made = self._charged_upload(opening)
        if made is None or made.withdrawn or self.opted_out:
            return None
        message = upload_message(*record, made.receipt)
        path = f"/v1/rounds/{made.round_id}/records"
        answer = self._collector.post_bytes(path, message, Authorization=f"Bearer {token}")
        with as_document("answer"):
            if answer["receipt"] != made.receipt:
                raise DocumentError("answer", "is about another receipt than the one that was sent", "Withdraw the record")
        return made

    def withdraw(self) -> int:
        """Take back all records that can be, also after an opt-out, and say how many. It is too late when a list is made."""
        taken = 0
        for one in self.uploaded:
            if one.campaign != self._campaign or one.withdrawn:
                continue  # a receipt of another campaign is no business of this collector
            try:
                self._collector.delete(f"/v1/records/{one.receipt}")
                taken += 1
            except AnswerError as error:
                if error.status not in _GONE:
                    raise
                continue  # it may be in a list, or still on its way
            with self._file.locked() as account:
                account.withdraw(one)
                self._file.save(account)
        return taken

    def refresh_bundle(self) -> None:
        """Fetch and verify the bundle for local search; one of an older round than before is refused."""
        self._file.read()
        pointer = self._pointer("released")
        if pointer is None:
            return
        body = self._fetched("bundles", pointer["bundle"])
        content = opened(body, "bundle", self._key, "bundle")
        with as_document("bundle"):
            campaign, newest = content["campaign"], whole(content["round"], 1, MOST_ROUNDS)
            bundle_rows(content)
        if campaign != self._campaign:
            raise DocumentError("bundle", "is of another campaign", "Ask the collector's operator")
        with self._file.locked() as account:
            if newest < account.bundles.get(campaign, 0):
                raise DocumentError("bundle", "is older than the one that is here", "Ask the collector's operator")
            account.bundles[campaign] = newest
            self._file.save(account)
            write_over(self._bundle, body)

    def search(self, typed: str, n: int = 10) -> list[Row]:
        """The query that was typed and the best that begin so, from the verified bundle alone, without a connection."""
        with as_document("bundle"):
            return Suggester(self._queries()).matching(typed, n)

    def suggestions(self, typed: str, n: int = 10) -> list[Any]:
        """The same in OpenSearch's form, for the address bar of a browser."""
        with as_document("bundle"):
            return Suggester(self._queries()).opensearch(typed, n)

    def index(self) -> SearchIndex | None:
        """The verified bundle as a database that finds words as well; it is made anew when there is another bundle."""
        with self._file.locked():  # whoever fetches another bundle meanwhile waits
            body = self._bundle.read_bytes() if self._bundle.exists() else b""
            queries = self._rows(body)
            return SearchIndex.of(self._index, digest(body), queries) if queries else None

    def _queries(self) -> list[Row]:
        return self._rows(self._bundle.read_bytes() if self._bundle.exists() else b"")

    def _rows(self, body: bytes) -> list[Row]:
        if not body:
            return []
        content = opened(body, "bundle", self._key, "bundle")
        with as_document("bundle"):
            return bundle_rows(content) if content["campaign"] == self._campaign else []

    def _pointer(self, which: str) -> dict[str, Any] | None:
        """Where the collector says that things are. Nobody has signed it: it is only believed as far as documents go."""
        with as_document("current round"):
            found: dict[str, Any] | None = self._collector.get("/v1/rounds/current", campaign=self._campaign)[which]
            if found is None:
                return None
            names = ("state", "opening", "head_list", "bundle")
            return {"id": identifier(found["id"])} | {name: found.get(name) for name in names}

    def _made(self, pointer: dict[str, Any], query: str | None, url: str | None) -> Sent:
        body = self._fetched("head-lists", pointer["head_list"])
        content = opened(body, "head-list", self._key, "head list")
        with as_document("head list"):
            published = self._checked(content, pointer)
            device = Device(published, epsilon=self.epsilon)
        cells = list(device.report(query, url).cells)
        message = {"id": system_bytes(16).hex(), "head_list": digest(body), "cells": cells}
        longest = {**message, "cells": [published.head_list.cell_count - 1] * len(cells)}
        return Sent(
            campaign=content["campaign"],
            round=content["round"],
            round_id=content["round_id"],
            epsilon=str(self.epsilon),
            # As long as any other report: whoever sees encrypted bytes go by learns nothing from how many they are.
            body=json.dumps({"reports": [message]}).ljust(len(json.dumps({"reports": [longest]}))),
        )

    def _checked(self, content: dict[str, Any], pointer: dict[str, Any]) -> ReportingList:
        """The list, if it is this campaign's and round's, not expired, no older than one seen before, of a fair length."""
        whole(content["round"], 1, MOST_ROUNDS)
        published = ReportingList.from_document(content["head_list"])
        whole(published.channel.subset_size, 1, MOST_CELLS)
        head_list = published.head_list
        newest = self._file.read().newest.get(content["campaign"], 0)
        problem = (
            "is of another campaign"
            if content["campaign"] != self._campaign
            else "is not the list of this round"
            if content["round_id"] != pointer["id"] or published.digest != content["list_digest"]
            else "is of an older round than one seen before, or of the same number"
            if content["round"] <= newest
            else "does not say when it expires"
            if content["expires"] is None
            else "has expired"
            if content["expires"] < self._clock()
            else "has no queries, so that a report would cost ε and tell nothing"
            if not len(head_list)
            else f"has more than {MOST_QUERIES} queries"
            if len(head_list) > MOST_QUERIES
            else "was made for another ε than this device's"
            if published.channel.epsilon != self.epsilon
            else None
        )
        if problem:
            raise DocumentError("head list", problem, "Nothing is reported")
        return published

    def _fetched(self, kind: str, name: object) -> bytes:
        with as_document("current round"):
            path = f"/v1/{kind}/{digest_name(name)}"
        body = self._collector.document(path)
        if digest(body) != name:
            raise DocumentError(path, "is not what its name says", "Nothing is reported")
        return body

    def _charged(self, made: Sent) -> Sent | None:
        """Write a report into the account, before it leaves. If another process was faster, its report is the one."""
        with self._file.locked() as account:
            now = self._clock()  # after whoever had the lock, whose time must not look like a clock that was put back
            if self.opted_out or account.record(made.campaign, made.round_id):
                return None  # or an upload has begun meanwhile: nobody is in both groups
            if known := account.report(made.campaign, made.round_id):
                return known
            self._turn_back(account, now)
            account.charge(made, self.epsilon, self._limits, now)
            self._file.save(account)
        return made

    def _charged_upload(self, opening: Opening) -> Uploaded | None:
        """Write an upload into the account, before it leaves. All uploads of a round are one: they are charged once."""
        with self._file.locked() as account:
            now = self._clock()
            if self.opted_out:
                return None
            known = account.record(opening.campaign, opening.round_id)
            if known is not None:
                if known.round != opening.round:
                    raise DocumentError("opening", "gives this round another number than before", "Nothing is uploaded")
                return known
            made = Uploaded(
                opening.campaign,
                opening.round_id,
                receipt=system_bytes(32).hex(),
                round=opening.round,
                epsilon=str(opening.epsilon),
                delta=str(opening.delta),
            )
            self._turn_back(account, now)
            account.charge(made, opening.epsilon, self._limits, now)
            self._file.save(account)
        return made

    def _turn_back(self, account: Account, now: float) -> None:
        """After a clock was put back the wait begins anew: it neither ends early nor lasts for years."""
        if account.charged is not None and now < account.charged:
            account.charged = now
            self._file.save(account)

    def _send_again(self, current: str | None) -> None:
        """Send what may not have arrived in earlier rounds of this campaign: another's reports are for another collector.

        What is over stays in the account, and is in nobody's way.
        """
        for one in self.sent:
            if one.campaign != self._campaign or one.arrived or one.over or one.round_id == current:
                continue
            try:
                self._deliver(one)
            except AnswerError as error:
                if error.status in _GONE:
                    self._settle(one, arrived=False)
            except SilentError:
                return  # later
            except BlenderError:
                continue  # refused, or the answer is nonsense

    def _deliver(self, made: Sent) -> Sent | None:
        if self.opted_out:
            return None
        answer = self._collector.post_bytes(f"/v1/rounds/{made.round_id}/reports", made.body.encode())
        with as_document("answer"):
            refused = [str(one["reason"]) for one in answer["refused"]]
        if refused:
            raise StateError("report", "was refused by the collector", "It stays charged, and is sent again if asked for")
        return self._settle(made, arrived=True)

    def _settle(self, made: Sent, *, arrived: bool) -> Sent:
        with self._file.locked() as account:
            settled = account.settle(made, arrived=arrived)
            self._file.save(account)
        return settled


def _not_negative(value: Number, field: str) -> Fraction:
    number_given = exact(value, field)
    if number_given < 0:
        raise ParameterError(field, f"{value} is negative", "Give 0 or more")
    return number_given


def _checked_key(key: str) -> str:
    """The key, if it can be one: a mistake would otherwise look like a collector that lies."""
    try:
        if len(base64.b64decode(key, validate=True)) == _KEY_BYTES:
            return key
    except (ValueError, TypeError):
        pass
    raise ParameterError("key", "is not an Ed25519 key (base64 of 32 bytes)", "Copy the key that the collector shows")


def _checked_campaign(campaign: str) -> str:
    try:
        return identifier(campaign)
    except ValueError:
        raise ParameterError("campaign", "is not a campaign's id (32 hexadecimal digits)", "Pin the id") from None
