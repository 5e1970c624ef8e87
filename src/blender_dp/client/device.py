"""The randomiser of one device: a record goes in, randomised cells of the head list come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

from blender_dp.arithmetic import Number
from blender_dp.client.channel import WORD_BITS, Channel, Position
from blender_dp.client.subset import AnyChannel, slack_free, words_from
from blender_dp.entropy import system_bytes
from blender_dp.errors import ParameterError
from blender_dp.records.head_list import HeadList
from blender_dp.records.parameters import checked_delta
from blender_dp.records.personal import usable_record

_WORD_BYTES = WORD_BITS // 8


@dataclass(frozen=True)
class Report:
    """What leaves the device: which list it answers and the reported cells of it, sorted, one for each query it tells."""

    head_list: str
    cells: tuple[int, ...]


class Device:
    """One client. It computes the channel from its own ε and δ; nobody else can set them.

    The list, `f_c` and `subset_size` come from whoever collects: whatever they are, the loss is within ε and δ.

    Citation: Figure 6 of the BLENDER paper (LocalAlg) with the randomiser "two-stage"; subset selection with "subset".
    Privacy: each `report` is (ε/m_c, δ/m_c)-differentially private for the record in the local model, so m_c of them
        together are (ε, δ); whoever calls it must keep count. With "subset" δ is 0. Proofs:
        `mechanisms/two_stage_response/proof.md` and `mechanisms/subset_response/proof.md`.
    Utility: the true query is reported with probability about e^(f_c·ε) / (e^(f_c·ε) + k - 1), or more with a larger
        `subset_size`; a true item of a list of single items as if f_c was 1.
    Cost: 16 random bytes for every reported query, 24 more with several, and a few integer operations.
    """

    def __init__(
        self,
        head_list: HeadList,
        *,
        epsilon: Number,
        delta: Number,
        f_c: Number = "0.85",
        subset_size: int = 1,
        m_c: int = 1,
        randomiser: str = "subset",
    ) -> None:
        self.head_list = head_list
        checked_delta(delta)  # "subset" has no use for it, but who gives a wrong one means something else
        if randomiser not in {"subset", "two-stage"}:
            raise ParameterError("randomiser", f"{randomiser!r} is not known", "Take one of: subset, two-stage")
        if randomiser != "subset" and subset_size != 1:
            raise ParameterError("subset_size", "only the randomiser 'subset' has one", "Leave it out, or use that one")
        self.channel: AnyChannel = (
            slack_free(head_list, epsilon, f_c, subset_size, m_c)
            if randomiser == "subset"
            else Channel.of(head_list, epsilon, delta, f_c, m_c)
        )

    def report(self, query: str | None, url: str | None = None) -> Report:
        """Randomise one record with the operating system's entropy.

        On a list of single items only the query counts; on one with URLs, a record without a URL is none.
        A device that has fewer than m_c records reports None for the rest: how many it has is private too.
        """
        return self._report(query, url, system_bytes)

    def answer(self, query: str | None, url: str | None, random_bytes: bytes) -> Report:
        """The report that these random bytes lead to. For test vectors; `report` is the way to make one."""
        stream = BytesIO(random_bytes)

        def taken(count: int) -> bytes:
            part = stream.read(count)
            if len(part) < count:
                raise ParameterError("random_bytes", f"{len(random_bytes)} of them are too few", "Give more")
            return part

        return self._report(query, url, taken)

    def _report(self, query: str | None, url: str | None, random_bytes: Callable[[int], bytes]) -> Report:
        true = self.head_list.position(*usable_record(query, url, levels=self.head_list.levels))
        if isinstance(self.channel, Channel):
            first, second = (int.from_bytes(random_bytes(_WORD_BYTES), "little") for _ in range(2))
            reported: tuple[Position, ...] = (self.channel.respond(*true, first, second),)
        else:
            reported = self.channel.respond(*true, words_from(random_bytes))
        return Report(self.head_list.digest, tuple(self.head_list.starts[q] + u for q, u in reported))
