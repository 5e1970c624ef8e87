"""The randomiser of one device: a record goes in, randomised cells of the head list come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from io import BytesIO

from blender_dp_device.arithmetic import Number
from blender_dp_device.channel.subset import AnyChannel, channel_of, words_from
from blender_dp_device.channel.two_stage import WORD_BITS, Channel, Position
from blender_dp_device.digests import ListDigest
from blender_dp_device.entropy import system_bytes
from blender_dp_device.errors import ParameterError
from blender_dp_device.records.checks import at_least_one, checked_delta, checked_epsilon
from blender_dp_device.records.personal import usable_record
from blender_dp_device.records.record import Record
from blender_dp_device.records.reporting_list import ReportingList

_WORD_BYTES = WORD_BITS // 8


@dataclass(frozen=True)
class Report:
    """A randomised report: the digest of the `ReportingList` it was made for, and the reported cells, sorted."""

    head_list: ListDigest
    cells: tuple[int, ...]


class Device:
    """One client. It has its own ε (and δ and m_c), and refuses a list whose channel was made for different ones.

    The queries, f_C and the subset size come from the list; whatever they are, the loss is within ε and δ.

    Citation: Figure 6 of the BLENDER paper (LocalAlg) with the randomiser "two-stage"; subset selection with "subset".
    Privacy: each `report` is (ε/m_c, δ/m_c)-differentially private for the record in the local model, so m_c of them
        together are (ε, δ); the caller must count them. With "subset" δ is 0. Proofs:
        `mechanisms/two_stage_response/proof.md` and `mechanisms/subset_response/proof.md`.
    Utility: the true query is reported with probability about e^(f_c·ε) / (e^(f_c·ε) + k - 1), or more with a larger
        subset size; for a list of single items as if f_c were 1.
    Cost: 16 random bytes for every reported query, 24 more with several, and a few integer operations.
    """

    def __init__(self, reporting_list: ReportingList, *, epsilon: Number, delta: Number | None = None, m_c: int = 1) -> None:
        """Check the list's channel against this device's own ε, δ and m_c.

        Only the randomiser "two-stage" needs `delta`; the other one has no δ.
        """
        if not isinstance(reporting_list, ReportingList):
            problem = f"{type(reporting_list).__name__} does not name its channel"
            raise ParameterError("reporting_list", problem, "Pass a ReportingList, such as Release.reporting_list")
        self.reporting_list = reporting_list
        settings = reporting_list.channel
        own_delta = None if delta is None else checked_delta(delta)
        _same("epsilon", settings.epsilon, checked_epsilon(epsilon))
        _same("m_c", settings.m_c, at_least_one(m_c, "m_c"))
        if settings.delta is not None:
            _same("delta", settings.delta, own_delta)
        self.channel: AnyChannel = channel_of(reporting_list.head_list, settings)

    def report(self, query: str | None, url: str | None = None) -> Report:
        """Randomise one record with the operating system's entropy.

        On a list of single items only the query counts; on one with URLs, a record without a URL is not a record.
        A device with fewer than m_c records reports None for the rest: how many it has is private, too.
        """
        return self.randomise(usable_record(query, url, levels=self.reporting_list.head_list.levels))

    def randomise(self, record: Record) -> Report:
        """Randomise a record that is already canonical and usable: the time it takes hardly depends on the record."""
        return self._report(record, system_bytes)

    def answer(self, query: str | None, url: str | None, random_bytes: bytes) -> Report:
        """The report that follows from these random bytes. For test vectors only; devices use `report`."""
        stream = BytesIO(random_bytes)

        def next_bytes(count: int) -> bytes:
            part = stream.read(count)
            if len(part) < count:
                raise ParameterError("random_bytes", f"{len(random_bytes)} bytes are too few", "Pass more")
            return part

        return self._report(usable_record(query, url, levels=self.reporting_list.head_list.levels), next_bytes)

    def _report(self, record: Record, random_bytes: Callable[[int], bytes]) -> Report:
        head_list = self.reporting_list.head_list
        true = head_list.position(*record)
        if isinstance(self.channel, Channel):
            first, second = (int.from_bytes(random_bytes(_WORD_BYTES), "little") for _ in range(2))
            reported: tuple[Position, ...] = (self.channel.respond(*true, first, second),)
        else:
            reported = self.channel.respond(*true, words_from(random_bytes))
        return Report(self.reporting_list.digest, tuple(head_list.starts[q] + u for q, u in reported))


def _same(field: str, listed: Fraction | int, own: Fraction | int | None) -> None:
    if listed != own:
        problem = f"the list was made for {listed}, but this device has {'none' if own is None else own}"
        raise ParameterError(field, problem, "Do not use this list; a device never changes its own budget")
