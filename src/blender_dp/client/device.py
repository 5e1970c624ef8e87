"""LocalAlg for one device: a record goes in, a randomised cell of the head list comes out."""

from __future__ import annotations

from dataclasses import dataclass

from blender_dp.arithmetic import Number
from blender_dp.client.channel import WORD_BITS, Channel
from blender_dp.entropy import system_bytes
from blender_dp.errors import ParameterError
from blender_dp.records.head_list import HeadList
from blender_dp.records.personal import usable_record

_WORD_BYTES = WORD_BITS // 8
_REPORT_BYTES = 2 * _WORD_BYTES


@dataclass(frozen=True)
class Report:
    """What leaves the device: which list it answers and one cell of it."""

    head_list: str
    cell: int


class Device:
    """One client. It computes the channel from its own ε and δ; nobody else can set them.

    Citation: Figure 6 of the BLENDER paper (LocalAlg).
    Privacy: each `report` is (ε/m_c, δ/m_c)-differentially private for the record in the local model, so m_c of them
        together are (ε, δ); whoever calls it must keep count. Proof: `mechanisms/two_stage_response/proof.md`.
    Utility: the true query is reported with probability about e^(f_c·ε) / (e^(f_c·ε) + k - 1), a true item of a list of
        single items as if f_c was 1.
    Cost: 16 random bytes and a few integer operations, the same for every record.
    """

    def __init__(self, head_list: HeadList, *, epsilon: Number, delta: Number, f_c: Number = "0.85", m_c: int = 1) -> None:
        self.head_list = head_list
        self.channel = Channel.of(head_list, epsilon, delta, f_c, m_c)

    def report(self, query: str | None, url: str | None = None) -> Report:
        """Randomise one record with the operating system's entropy.

        On a list of single items only the query counts; on one with URLs, a record without a URL is none.
        A device that has fewer than m_c records reports None for the rest: how many it has is private too.
        """
        return self.answer(query, url, system_bytes(_REPORT_BYTES))

    def answer(self, query: str | None, url: str | None, random_bytes: bytes) -> Report:
        """The report that these 16 random bytes lead to. For test vectors; `report` is the way to make one."""
        if len(random_bytes) != _REPORT_BYTES:
            raise ParameterError("random_bytes", f"there are {len(random_bytes)} of them", f"Give {_REPORT_BYTES}")
        true = self.head_list.position(*usable_record(query, url, levels=self.head_list.levels))
        first = int.from_bytes(random_bytes[:_WORD_BYTES], "little")
        second = int.from_bytes(random_bytes[_WORD_BYTES:], "little")
        reported_query, reported_url = self.channel.respond(*true, first, second)
        return Report(self.head_list.digest, self.head_list.starts[reported_query] + reported_url)
