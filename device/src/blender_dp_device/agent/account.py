"""A device's own account on disk: everything it has sent, what that has cost, and whether its user has opted out.

It is read from disk whenever it is needed, and changed by one process at a time. The lock is never held while waiting for
the network, and opting out does not need it: nothing can prevent a user from opting out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from blender_dp_device.errors import DocumentError, StateError
from blender_dp_device.files import create, exclusive, sync_folder, write_over
from blender_dp_device.wire.shapes import MAX_ROUNDS, as_document, digest_name, finite, identifier, text, whole

# What this device writes as a cost; a short string such as 1e999999999 could stand for an enormous number.
_COST = re.compile("[0-9]{1,1000}(/0{0,9}[1-9][0-9]{0,999})?")


@dataclass(frozen=True)
class Limits:
    """What a device allows, whatever a collector asks for: ε per round, ε in its lifetime, and the time between rounds."""

    epsilon: Fraction
    lifetime_epsilon: Fraction
    least_seconds: float


@dataclass(frozen=True)
class Sent:
    """One report in the account: its round, cost and exact bytes, and whether they have arrived or their round is over."""

    campaign: str
    round: int
    round_id: str
    epsilon: str
    body: str
    arrived: bool = False
    over: bool = False


@dataclass(frozen=True)
class Uploaded:
    """An opt-in user's upload in the account: its round, its cost, and the receipt that withdraws it.

    It is stored, never with the record, before anything leaves, and stays. Once its user withdraws it, nothing more is
    uploaded (`stopped`), and the collector confirms it (`withdrawn`). Uploads of earlier versions have no number, ε or δ.
    """

    campaign: str
    round_id: str
    receipt: str
    round: int = 0
    epsilon: str | None = None
    delta: str | None = None
    withdrawn: bool = False
    stopped: bool = False


@dataclass
class Account:
    """Everything, for all campaigns. A round is looked up with its campaign: another collector could use the same id.

    For each campaign, `newest` is the highest round that this device participated in, `bundles` the one it searches.
    """

    sent: list[Sent] = field(default_factory=list)
    records: list[Uploaded] = field(default_factory=list)
    newest: dict[str, int] = field(default_factory=dict)
    bundles: dict[str, int] = field(default_factory=dict)
    charged: float | None = None
    """When something was last charged, by the device's clock."""
    limit: str | None = None
    """The lifetime ε that the user has agreed to."""

    def spent(self, unknown: Fraction) -> Fraction:
        """The cost of all reports and uploads; `unknown` is for an upload that an earlier version did not charge."""
        costs = [*(one.epsilon for one in self.sent), *(one.epsilon for one in self.records)]
        return sum((unknown if cost is None else Fraction(cost) for cost in costs), Fraction(0))

    def lifetime(self, wanted: Fraction) -> Fraction:
        """What all rounds may cost: no more than the user has agreed to, whatever an application wants later."""
        return wanted if self.limit is None else min(wanted, Fraction(self.limit))

    def report(self, campaign: str, round_id: str) -> Sent | None:
        """The report of a round, if there is one."""
        return next((one for one in self.sent if (one.campaign, one.round_id) == (campaign, round_id)), None)

    def record(self, campaign: str, round_id: str) -> Uploaded | None:
        """The upload of a round, withdrawn or not, if there is one."""
        return next((one for one in self.records if (one.campaign, one.round_id) == (campaign, round_id)), None)

    def charge(self, entry: Sent | Uploaded, cost: Fraction, limits: Limits, now: float) -> None:
        """Add a report or an upload that is about to leave, if its round is new, the budget allows it and time has passed.

        A round is identified by its number, because the signer of documents chooses ids at will.
        """
        if entry.round <= self.newest.get(entry.campaign, 0):
            problem = "belongs to a round that this device participated in, or to an older round"
            raise DocumentError("signed document", problem, "Wait for the next round")
        lifetime = self.lifetime(limits.lifetime_epsilon)
        if self.spent(limits.epsilon) + cost > lifetime:
            raise StateError("budget", "of this device is used up", "Do not participate in more rounds")
        if self.charged is not None and now < self.charged + limits.least_seconds:
            raise StateError("budget", "was charged a short while ago", f"Wait {limits.least_seconds:.0f} s between rounds")
        entries: list[Any] = self.sent if isinstance(entry, Sent) else self.records
        entries.append(entry)
        self.newest[entry.campaign] = entry.round
        self.charged, self.limit = now, str(lifetime)

    def stop(self, campaign: str) -> None:
        """Note that the user withdraws all uploads of a campaign, whether or not the collector hears of it."""
        self.records = [replace(one, stopped=one.stopped or one.campaign == campaign) for one in self.records]

    def withdraw(self, upload: Uploaded) -> None:
        """Note that an upload was withdrawn. It stays charged: the collector has seen it."""
        self.records = [replace(one, withdrawn=True) if one.receipt == upload.receipt else one for one in self.records]

    def settle(self, sent: Sent, *, arrived: bool) -> Sent:
        """Note whether a report has arrived; one that has arrived stays so."""
        place = next(i for i, one in enumerate(self.sent) if (one.campaign, one.round_id) == (sent.campaign, sent.round_id))
        arrived = arrived or self.sent[place].arrived
        self.sent[place] = replace(self.sent[place], arrived=arrived, over=not arrived)
        return self.sent[place]


class AccountFile:
    """An account on disk."""

    def __init__(self, folder: Path) -> None:
        new = [one for one in (folder, *folder.parents) if not one.exists()]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for one in new:
            sync_folder(one.parent)  # otherwise a power failure could remove the folder with the account
        self._lock = folder / "lock"
        self._file = folder / "account.json"
        self._opted_out = folder / "opted-out"

    @property
    def opted_out(self) -> bool:
        """Whether the user has opted out."""
        return self._has(self._opted_out)

    def opt_out(self) -> None:
        """Store an opt-out permanently, without waiting for anything."""
        create(self._opted_out)

    def read(self) -> Account:
        """The account as stored."""
        if not self._has(self._file):
            return Account()
        with as_document(str(self._file)):  # an unreadable account is not replaced: its budget may be used up
            stored = json.loads(self._file.read_text(encoding="utf-8"))
            return Account(
                [_sent(**one) for one in [] + stored["sent"]],  # an empty object is not an account without reports
                [_uploaded(**one) for one in [] + stored["records"]],
                {name: whole(number, 0, MAX_ROUNDS) for name, number in stored["newest"].items()},
                {name: whole(number, 0, MAX_ROUNDS) for name, number in stored["bundles"].items()},
                None if stored["charged"] is None else finite(stored["charged"]),
                _cost(stored.get("limit")),
            )

    def _has(self, path: Path) -> bool:
        with as_document(str(path)):  # `Path.exists` would deny that a file exists when it cannot be looked at
            return path in path.parent.iterdir()

    @contextmanager
    def locked(self) -> Iterator[Account]:
        """Read the account and lock it: another process of this device may have spent from it."""
        with exclusive(self._lock):
            yield self.read()

    def save(self, account: Account) -> None:
        """Write the account; the caller has locked it."""
        write_over(self._file, json.dumps(asdict(account)).encode())

    def charge(self, account: Account, entry: Sent | Uploaded, cost: Fraction, limits: Limits, now: float) -> None:
        """Charge an entry on disk; the caller has locked the account."""
        if account.charged is not None and now < account.charged:  # the clock was set back: restart the wait,
            account.charged = now  # so that it neither ends early nor lasts for years
            self.save(account)
        account.charge(entry, cost, limits, now)
        self.save(account)

    def settle(self, sent: Sent, *, arrived: bool) -> Sent:
        """Note on disk whether a report has arrived."""
        with self.locked() as account:
            settled = account.settle(sent, arrived=arrived)
            self.save(account)
        return settled


def _sent(**stored: Any) -> Sent:  # noqa: ANN401 (JSON)
    sent = Sent(**stored)
    _check(sent, costs=[text(sent.epsilon)], flags=[sent.arrived, sent.over])
    text(sent.body)
    return sent


def _uploaded(**stored: Any) -> Uploaded:  # noqa: ANN401 (JSON)
    uploaded = Uploaded(**stored)
    _check(uploaded, costs=[uploaded.epsilon, uploaded.delta], flags=[uploaded.withdrawn, uploaded.stopped])
    digest_name(uploaded.receipt)
    return uploaded


def _check(entry: Sent | Uploaded, *, costs: list[str | None], flags: list[bool]) -> None:
    text(entry.campaign)
    identifier(entry.round_id)
    whole(entry.round, 0, MAX_ROUNDS)
    list(map(_cost, costs))
    if not all(type(flag) is bool for flag in flags):
        raise ValueError


def _cost(written: str | None) -> str | None:
    if written is not None and not _COST.fullmatch(written):
        raise ValueError
    return written
