"""What a device keeps of itself on its disk: all that it has sent, what that has cost, and that its user opted out.

It is read anew whenever it is needed, and changed by one process at a time. The lock is never held while anybody is
waited for, and opting out does not need it: nobody can keep a user from that.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from blender_dp_device.agent.shapes import MOST_ROUNDS, as_document, digest_name, finite, identifier, whole
from blender_dp_device.errors import DocumentError, StateError
from blender_dp_device.files import sync_folder, write_over


@dataclass(frozen=True)
class Limits:
    """What a device allows, whatever a collector asks for: ε of one round, of its life, and the time between two."""

    epsilon: Fraction
    lifetime_epsilon: Fraction
    least_seconds: float


@dataclass(frozen=True)
class Sent:
    """One report in the account: in which round, what it cost, the very bytes, and whether they have arrived.

    `over` is true of one that has not, and never will: its round is over.
    """

    campaign: str
    round: int
    round_id: str
    epsilon: str
    body: str
    arrived: bool = False
    over: bool = False


@dataclass(frozen=True)
class Uploaded:
    """An opt-in user's upload in the account: in which round, what it cost, and the receipt that takes it back.

    It is here before anything leaves, so that a lost answer takes nothing with it, and it stays here, `withdrawn` or not:
    the device takes no other part in the round. Whether there was a record in it is nobody's business. Uploads of earlier
    versions have no number, ε or δ.
    """

    campaign: str
    round_id: str
    receipt: str
    round: int = 0
    epsilon: str | None = None
    delta: str | None = None
    withdrawn: bool = False


@dataclass
class Account:
    """All of it, of all campaigns; whoever asks for a round says of which, for another collector could name one alike.

    `newest` has the highest round of each campaign that this device has taken part in, `bundles` the one it searches.
    """

    sent: list[Sent] = field(default_factory=list)
    records: list[Uploaded] = field(default_factory=list)
    newest: dict[str, int] = field(default_factory=dict)
    bundles: dict[str, int] = field(default_factory=dict)
    charged: float | None = None
    """When something was charged last, by the device's clock."""

    def spent(self, unknown: Fraction) -> Fraction:
        """What all reports and uploads have cost; `unknown` is for an upload that an earlier version did not charge."""
        costs = [*(one.epsilon for one in self.sent), *(one.epsilon for one in self.records)]
        return sum((unknown if cost is None else Fraction(cost) for cost in costs), Fraction(0))

    def report(self, campaign: str, round_id: str) -> Sent | None:
        """The report of a round, if there is one."""
        return next((one for one in self.sent if (one.campaign, one.round_id) == (campaign, round_id)), None)

    def record(self, campaign: str, round_id: str) -> Uploaded | None:
        """The upload of a round, withdrawn or not, if there is one."""
        return next((one for one in self.records if (one.campaign, one.round_id) == (campaign, round_id)), None)

    def charge(self, made: Sent | Uploaded, cost: Fraction, limits: Limits, now: float) -> None:
        """Put in a report or an upload that is about to leave.

        A round is known by its number: whoever signs documents chooses ids at will. And documents that come faster than
        rounds do are not answered, or a life's budget could be drained in a minute.
        """
        if made.round <= self.newest.get(made.campaign, 0):
            problem = "is of an older round than one that this device has taken part in, or of the same number"
            raise DocumentError("signed document", problem, "Wait for the next round")
        if self.spent(limits.epsilon) + cost > limits.lifetime_epsilon:
            raise StateError("budget", "of this device is used up", "Take part in no more rounds")
        if self.charged is not None and now < self.charged + limits.least_seconds:
            wait = f"Wait until {limits.least_seconds:.0f} seconds are over"
            raise StateError("budget", "was charged a short while ago", wait)
        if isinstance(made, Sent):
            self.sent.append(made)
        else:
            self.records.append(made)
        self.newest[made.campaign] = made.round
        self.charged = now

    def withdraw(self, upload: Uploaded) -> None:
        """Note that an upload was taken back. It stays charged: the collector has seen it."""
        self.records = [replace(one, withdrawn=True) if one.receipt == upload.receipt else one for one in self.records]

    def settle(self, sent: Sent, *, arrived: bool) -> Sent:
        """Note what has become of a report; what has arrived once has arrived."""
        named = (sent.campaign, sent.round_id)
        place = next(i for i, one in enumerate(self.sent) if (one.campaign, one.round_id) == named)
        arrived = arrived or self.sent[place].arrived
        self.sent[place] = replace(self.sent[place], arrived=arrived, over=not arrived)
        return self.sent[place]


class AccountFile:
    """An account on the disk."""

    def __init__(self, folder: Path) -> None:
        new = [one for one in (folder, *folder.parents) if not one.exists()]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for one in new:
            sync_folder(one.parent)  # or a power failure could take the folder, and the account in it
        self._folder = folder
        self._file = folder / "account.json"
        self._opted_out = folder / "opted-out"

    @property
    def opted_out(self) -> bool:
        """Whether the user wants no more of this."""
        return self._opted_out.exists()

    def opt_out(self) -> None:
        """Note it, for good, without waiting for anybody."""
        handle = os.open(self._opted_out, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        sync_folder(self._folder)

    def read(self) -> Account:
        """The account as it is."""
        if not self._file.exists():
            return Account()
        with as_document(str(self._file)):  # an account that cannot be read is not begun anew: it may be all spent
            kept = json.loads(self._file.read_text(encoding="utf-8"))
            return Account(
                [_sent(**one) for one in kept["sent"]],
                [_uploaded(**one) for one in kept["records"]],
                {name: whole(number, 0, MOST_ROUNDS) for name, number in kept["newest"].items()},
                {name: whole(number, 0, MOST_ROUNDS) for name, number in kept["bundles"].items()},
                None if kept["charged"] is None else finite(kept["charged"]),
            )

    @contextmanager
    def locked(self) -> Iterator[Account]:
        """Alone with the account: another process of this device may have spent from it."""
        handle = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield self.read()
        finally:
            os.close(handle)

    def save(self, account: Account) -> None:
        """Write it down; whoever calls this has it locked."""
        write_over(self._file, json.dumps(asdict(account)).encode())


def _sent(**kept: Any) -> Sent:  # noqa: ANN401 (JSON)
    sent = Sent(**kept)
    whole(sent.round, 0, MOST_ROUNDS)
    identifier(sent.round_id)
    _cost(sent.epsilon)
    _all_are(str, sent.campaign, sent.body)
    _all_are(bool, sent.arrived, sent.over)
    return sent


def _uploaded(**kept: Any) -> Uploaded:  # noqa: ANN401 (JSON)
    uploaded = Uploaded(**kept)
    whole(uploaded.round, 0, MOST_ROUNDS)
    identifier(uploaded.round_id)
    digest_name(uploaded.receipt)
    for cost in (uploaded.epsilon, uploaded.delta):
        if cost is not None:
            _cost(cost)
    _all_are(str, uploaded.campaign)
    _all_are(bool, uploaded.withdrawn)
    return uploaded


def _all_are(kind: type, *values: object) -> None:
    if not all(isinstance(value, kind) for value in values):
        raise TypeError


def _cost(text: str) -> None:
    """What a number that this device has written looks like; a short text can stand for a number without end."""
    if not re.fullmatch("[0-9]{1,1000}(/0{0,9}[1-9][0-9]{0,999})?", text):
        raise ValueError
