"""One device over its lifetime: it verifies, charges its account, sends, and searches offline.

The account is on disk before a report leaves. A report that may not have arrived is sent again unchanged, at no cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from blender_dp_device.agent.account import AccountFile, Limits, Sent, Uploaded
from blender_dp_device.agent.client import CollectorClient, NoResponseError, ResponseError
from blender_dp_device.agent.outgoing import report_body, upload_body
from blender_dp_device.agent.search_index import SearchIndex
from blender_dp_device.agent.verification import Opening, verified_bundle, verified_list, verified_opening
from blender_dp_device.arithmetic import Number
from blender_dp_device.channel import Device
from blender_dp_device.digests import DocumentDigest, document_digest
from blender_dp_device.entropy import system_bytes
from blender_dp_device.errors import BlenderError, DocumentError, ParameterError, StateError
from blender_dp_device.files import write_over
from blender_dp_device.records.checks import checked_delta, checked_epsilon, not_negative
from blender_dp_device.records.record import Record
from blender_dp_device.records.upload import upload_record, usable_records
from blender_dp_device.wire.documents import checked_key, verified_content
from blender_dp_device.wire.shapes import as_document, checked_campaign, digest_name, identifier
from blender_dp_device.wire.suggestions import Row, Suggester, bundle_rows

LEAST_SECONDS = 86_400
"""The minimum time between two rounds of a device: no campaign needs more than one round a day."""

_GONE = {404, 409}  # the round is over, or no longer known


class Agent:
    """A device with its own folder that participates in one campaign.

    `key` is the collector's public key and `campaign` the campaign's id, both pinned; `epsilon` is what one round may
    cost, `lifetime_epsilon` what all rounds may cost, and `least_seconds` the minimum time between two. `delta` is the
    largest δ of a round that an opt-in user's record is uploaded to; without it nothing is uploaded. None of these comes
    from the collector.
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
        self._key = checked_key(key)
        self._campaign = checked_campaign(campaign)
        self.epsilon = checked_epsilon(epsilon)
        self.lifetime_epsilon = not_negative(lifetime_epsilon, "lifetime_epsilon")
        self.delta = None if delta is None else checked_delta(delta)
        self._limits = Limits(self.epsilon, self.lifetime_epsilon, float(not_negative(least_seconds, "least_seconds")))
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
        """The ε of all reports and uploads."""
        return self._file.read().spent(self.epsilon)

    @property
    def left(self) -> Fraction:
        """The ε that this device may still spend in its lifetime."""
        account = self._file.read()
        return account.lifetime(self.lifetime_epsilon) - account.spent(self.epsilon)

    def agree_to_limit(self) -> None:
        """Allow `lifetime_epsilon` from now on, even if it is more than before: the user must have agreed to it."""
        with self._file.locked() as account:
            account.limit = str(self.lifetime_epsilon)
            self._file.save(account)

    @property
    def opted_out(self) -> bool:
        """Whether the user has opted out."""
        return self._file.opted_out

    def opt_out(self) -> None:
        """Report and upload nothing from now on: no request follows one that is under way. The opt-out survives updates."""
        self._file.opt_out()

    def take_part(self, query: str | None, url: str | None = None) -> Sent | None:
        """Report one record in the current round, unless already done; nothing is sent after an opt-out.

        Reports of earlier rounds that may not have arrived are sent again first.
        """
        if self.opted_out:
            return None
        records = usable_records(query, url)  # before any request: the time it takes must not be observable
        self._file.read()  # a device whose account cannot be read sends no requests; its user can still opt out
        pointer = self._pointer("round")
        listed = pointer if pointer and pointer["state"] == "listed" else None
        self._send_again(listed["id"] if listed else None)
        account = self._file.read()
        if listed is None or self.opted_out or account.record(self._campaign, listed["id"]):
            return None  # no device is in both groups, whatever happened to the upload
        sent = account.report(self._campaign, listed["id"]) or self._charge_report(self._randomise(listed, records))
        return sent if sent is None or sent.arrived else self._deliver(sent)

    def upload(self, token: str, query: str | None, url: str | None = None) -> Uploaded | None:
        """Upload an opt-in user's record in the open round, in place of an earlier one of that round.

        Call it in every round, with or without a record: one that is missing, looks personal or is too long is uploaded as
        no record, in a message of the same length, because the number of opt-in users is public. Nothing leaves, not even
        the token, unless the pinned key has signed the opening of the round, with this device's ε and at most its δ. All
        uploads of a round share one receipt and one charge. From then on this device does not report in that round,
        whatever happens to the upload, and after a withdrawal it does not upload to it again.
        """
        if self.delta is None:
            raise ParameterError("delta", "is not set, but an upload needs a limit", "Pass Agent a delta, such as 1e-6")
        if self.opted_out:
            return None
        record = upload_record(query, url)  # before any request: the time it takes must not be observable
        self._file.read()  # a device whose account cannot be read sends no requests
        pointer = self._pointer("round")
        if pointer is None or pointer["state"] != "open":
            return None
        body, _ = self._fetch("openings", pointer["opening"])
        content, now = verified_content(body, "opening", self._key, "opening"), self._clock()
        opening = verified_opening(
            content, campaign=self._campaign, round_id=pointer["id"], epsilon=self.epsilon, max_delta=self.delta, now=now
        )
        uploaded = self._charge_upload(opening)
        if uploaded is None or uploaded.withdrawn or uploaded.stopped or self.opted_out:
            return None
        path = f"/v1/rounds/{uploaded.round_id}/records"
        response = self._collector.post_bytes(path, upload_body(record, uploaded.receipt), Authorization=f"Bearer {token}")
        with as_document("response"):
            if response["receipt"] != uploaded.receipt:
                raise DocumentError("response", "names a different receipt from the one sent", "Withdraw the record")
        return uploaded

    def withdraw(self) -> int:
        """Withdraw all records whose lists are not made yet, even after an opt-out, and return their number."""
        count = 0
        with self._file.locked() as account, suppress(OSError):  # a full disk prevents no withdrawal
            account.stop(self._campaign)  # first of all: no response may come, and an upload may be under way
            self._file.save(account)
        for one in [one for one in account.records if one.campaign == self._campaign and not one.withdrawn]:
            try:
                self._collector.delete(f"/v1/records/{one.receipt}")
                count += 1
            except ResponseError as error:
                if error.status not in _GONE:
                    raise
                continue  # it may be in a list already, or still on its way
            with self._file.locked() as account:
                account.withdraw(one)
                self._file.save(account)
        return count

    def refresh_bundle(self) -> None:
        """Fetch and verify the bundle for offline search; a bundle older than the stored one is refused."""
        self._file.read()
        pointer = self._pointer("released")
        if pointer is None:
            return
        body, _ = self._fetch("bundles", pointer["bundle"])
        newest, _ = verified_bundle(verified_content(body, "bundle", self._key, "bundle"), campaign=self._campaign)
        with self._file.locked() as account:
            if newest < account.bundles.get(self._campaign, 0):
                raise DocumentError("bundle", "is older than the one on this device", "Ask the collector's operator")
            account.bundles[self._campaign] = newest
            self._file.save(account)
            write_over(self._bundle, body)

    def search(self, typed: str, n: int = 10) -> list[Row]:
        """The typed query and the most popular ones that start with it, from the verified bundle, offline."""
        return Suggester(self._rows(self._stored_bundle())).matching(typed, n)

    def suggestions(self, typed: str, n: int = 10) -> list[Any]:
        """The same as OpenSearch suggestions, for the address bar of a browser."""
        return Suggester(self._rows(self._stored_bundle())).opensearch(typed, n)

    def index(self) -> SearchIndex | None:
        """The verified bundle as a database that also finds words; it is rebuilt when the bundle changes."""
        with self._file.locked():  # a process that fetches another bundle must wait
            body = self._stored_bundle()
            rows = self._rows(body)
            return SearchIndex.of(self._index, document_digest(body), rows) if rows else None

    def _stored_bundle(self) -> bytes:
        return self._bundle.read_bytes() if self._bundle.exists() else b""

    def _rows(self, body: bytes) -> list[Row]:
        if not body:
            return []
        content = verified_content(body, "bundle", self._key, "bundle")
        with as_document("bundle"):
            return bundle_rows(content) if content["campaign"] == self._campaign else []

    def _pointer(self, which: str) -> dict[str, Any] | None:
        """The collector's pointer to a round. It is not signed, so signed documents must confirm it."""
        with as_document("current round"):
            pointer: dict[str, Any] | None = self._collector.get("/v1/rounds/current", campaign=self._campaign)[which]
            if pointer is None or (which == "round" and self.opted_out):
                return None
            names = ("state", "opening", "head_list", "bundle")
            return {"id": identifier(pointer["id"])} | {name: pointer.get(name) for name in names}

    def _fetch(self, kind: str, name: object) -> tuple[bytes, DocumentDigest]:
        with as_document("current round"):
            path = f"/v1/{kind}/{digest_name(name)}"
        body = self._collector.document(path)
        digest = document_digest(body)
        if digest != name:
            raise DocumentError(path, "does not match the digest in its address", "It is not used")
        return body, digest

    def _randomise(self, pointer: dict[str, Any], records: Mapping[int, Record]) -> Sent:
        """Verify the list of a round, and make a report on it from the record with as many levels."""
        document, digest = self._fetch("head-lists", pointer["head_list"])
        content = verified_content(document, "head-list", self._key, "head list")
        newest, now = self._file.read().newest.get(self._campaign, 0), self._clock()
        listed = verified_list(
            content, campaign=self._campaign, round_id=pointer["id"], epsilon=self.epsilon, newest=newest, now=now
        )
        head_list = listed.reporting_list.head_list
        report = Device(listed.reporting_list, epsilon=self.epsilon).randomise(records[head_list.levels])
        body = report_body(digest, report.cells, head_list.cell_count)
        return Sent(listed.campaign, listed.round, listed.round_id, str(self.epsilon), body)

    def _charge_report(self, sent: Sent) -> Sent | None:
        """Charge a report to the account before it leaves. If another process was faster, its report is returned."""
        with self._file.locked() as account:
            now = self._clock()  # after waiting for the lock; otherwise the clock could seem set back
            if self.opted_out or account.record(sent.campaign, sent.round_id):
                return None  # or an upload has started: no device is in both groups
            if known := account.report(sent.campaign, sent.round_id):
                return known
            self._file.charge(account, sent, self.epsilon, self._limits, now)
        return sent

    def _charge_upload(self, opening: Opening) -> Uploaded | None:
        """Charge an upload to the account before it leaves. All uploads of a round are charged once."""
        with self._file.locked() as account:
            now = self._clock()
            if self.opted_out:
                return None
            if known := account.record(opening.campaign, opening.round_id):
                if known.round != opening.round:
                    raise DocumentError("opening", "gives this round a different number than before", "Nothing is uploaded")
                return known
            receipt, costs = system_bytes(32).hex(), (str(opening.epsilon), str(opening.delta))
            uploaded = Uploaded(opening.campaign, opening.round_id, receipt, opening.round, *costs)
            self._file.charge(account, uploaded, opening.epsilon, self._limits, now)
        return uploaded

    def _send_again(self, current: str | None) -> None:
        """Resend reports of earlier rounds that may not have arrived, unless their round is over."""
        for one in self.sent:
            if one.campaign != self._campaign or one.arrived or one.over or one.round_id == current:
                continue
            try:
                self._deliver(one)
            except ResponseError as error:
                if error.status in _GONE:
                    self._file.settle(one, arrived=False)
            except NoResponseError:
                return  # try again later
            except BlenderError:
                continue  # refused, or the response is invalid

    def _deliver(self, sent: Sent) -> Sent | None:
        if self.opted_out:
            return None
        response = self._collector.post_bytes(f"/v1/rounds/{sent.round_id}/reports", sent.body.encode())
        with as_document("response"):
            if [] + response["refused"]:
                raise StateError("report", "was refused by the collector", "It stays charged and is sent again, unchanged")
        return self._file.settle(sent, arrived=True)
