"""The privacy ledger: append-only, every entry holding the digest of the one before, composed over rounds."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution, from_privacy_parameters

from blender_dp.collector.documents import canonical
from blender_dp.errors import DocumentError
from blender_dp.privacy.loss import Loss

START = "0" * 64
"""The digest before the first entry."""

_GRID = 100_000  # points of the accountant's distribution
_MOST = 500  # beyond this e^ε is no number to a computer, and no promise to anybody


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
        """What the next entry holds."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    @property
    def loss(self) -> Loss:
        """What was spent, exactly."""
        return Loss(Fraction(self.epsilon), Fraction(self.delta))


_TYPES = {name: int if name == "number" else str for name in Entry.__dataclass_fields__}


def parse(text: str) -> Entry:
    """Read an entry back; it must be written just as it was, to the byte."""
    try:
        entry = Entry(**json.loads(text))
        known = {name: type(value) for name, value in asdict(entry).items()} == _TYPES and entry.text() == text
    except (ValueError, TypeError):
        known = False
    if not known:
        raise DocumentError("ledger", "has an entry that is none", "It was tampered with, or is damaged: restore it")
    return entry


def check(entries: Iterable[tuple[str, str]]) -> list[Entry]:
    """Check a whole chain of (entry, digest); any change, gap or swap is a `DocumentError`."""
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


def composed(losses: Sequence[Loss]) -> Fraction:
    """The ε of all losses together, at the sum of their δ: the least that Google's accountant can prove, or their sum.

    Each loss is taken as an (ε, δ) bound, whatever mechanism it was. The accountant rounds up, to a grid that makes its work
    the same for any losses, so that it may come out above the plain sum, which holds as well and is then what counts.
    """
    plain, delta = sum((loss.epsilon for loss in losses), Fraction(0)), float(sum(loss.delta for loss in losses))
    if len(losses) < 2 or not 0 < delta < 1 or plain > _MOST:
        return plain  # nothing to compose, or nothing to gain: at a δ of 1 an accountant would allow anything
    whole: PrivacyLossDistribution | None = None
    for loss, times in Counter(losses).items():
        bound = DifferentialPrivacyParameters(float(loss.epsilon), float(loss.delta))
        part = from_privacy_parameters(bound, float(plain) / _GRID).self_compose(times)
        whole = part if whole is None else whole.compose(part)
    return min(Fraction(whole.get_epsilon_for_delta(delta)), plain) if whole else plain
