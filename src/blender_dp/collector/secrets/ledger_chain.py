"""The privacy ledger as a chain: append-only, and every entry contains the digest of the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction

from blender_dp.collector.secrets.signing import canonical
from blender_dp.errors import DocumentError
from blender_dp.privacy.loss import Loss

START = "0" * 64
"""The digest before the first entry."""


@dataclass(frozen=True)
class Entry:
    """What one group of users has spent in one round."""

    number: int
    campaign: str
    round: str
    group: str
    epsilon: str
    delta: str
    before: str
    """The digest of the entry before."""

    def text(self) -> str:
        """The entry as canonical JSON."""
        return canonical(asdict(self)).decode()

    @property
    def digest(self) -> str:
        """The digest that the next entry contains."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    @property
    def loss(self) -> Loss:
        """What was spent, exactly."""
        return Loss(Fraction(self.epsilon), Fraction(self.delta))


_TYPES = {name: int if name == "number" else str for name in Entry.__dataclass_fields__}


def parse(text: str) -> Entry:
    """Read an entry, which must be canonical JSON to the byte."""
    try:
        entry = Entry(**json.loads(text))
        is_valid = {name: type(value) for name, value in asdict(entry).items()} == _TYPES and entry.text() == text
    except (ValueError, TypeError):
        is_valid = False
    if not is_valid:
        raise DocumentError("ledger", "has an invalid entry", "It is damaged or was tampered with: restore it")
    return entry


def check(entries: Iterable[tuple[str, str]]) -> list[Entry]:
    """Check a whole chain of (entry, digest); any change, gap or swap raises a `DocumentError`."""
    checked: list[Entry] = []
    before = START
    for number, (text, digest) in enumerate(entries, 1):
        entry = parse(text)
        if (entry.number, entry.before) != (number, before) or entry.digest != digest:
            problem = f"entry {number} does not follow from the one before"
            raise DocumentError("ledger", problem, "It was tampered with: compare with the digest in a signed release")
        checked.append(entry)
        before = digest
    return checked
