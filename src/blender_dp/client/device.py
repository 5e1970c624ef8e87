"""LocalAlg for one device: a record goes in, a randomised cell of the head list comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blender_dp.arithmetic import Number
from blender_dp.client.channel import WORD_BITS, Channel
from blender_dp.entropy import system_bytes
from blender_dp.records.canonical import canonical_query, canonical_url
from blender_dp.records.head_list import HeadList
from blender_dp.records.parameters import Parameters

_WORD_BYTES = WORD_BITS // 8


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
    Utility: the true query is reported with probability about e^(f_c·ε) / (e^(f_c·ε) + k - 1).
    Cost: 16 random bytes and a few integer operations, the same for every record.
    """

    def __init__(self, head_list: HeadList, *, epsilon: Number, delta: Number, f_c: Number = "0.85", m_c: int = 1) -> None:
        p = Parameters.of(epsilon=epsilon, delta=delta, f_c=f_c, m_c=m_c)
        self.head_list = head_list
        self.channel = Channel.of(head_list, p.epsilon, p.delta, p.f_c, p.m_c)
        self._starts = _starts(head_list)

    def report(self, query: str, url: str, *, random_bytes: Callable[[int], bytes] = system_bytes) -> Report:
        """Randomise one record. Only tests and vectors pass `random_bytes`."""
        true = self.head_list.position(canonical_query(query), canonical_url(url))
        words = random_bytes(2 * _WORD_BYTES)
        first = int.from_bytes(words[:_WORD_BYTES], "little")
        second = int.from_bytes(words[_WORD_BYTES:], "little")
        reported_query, reported_url = self.channel.respond(*true, first, second)
        return Report(self.head_list.digest, self._starts[reported_query] + reported_url)


def _starts(head_list: HeadList) -> tuple[int, ...]:
    starts, total = [], 0
    for count in head_list.url_counts:
        starts.append(total)
        total += count
    return tuple(starts)
