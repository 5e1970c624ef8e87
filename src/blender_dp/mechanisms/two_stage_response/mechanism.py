"""LocalAlg for millions of clients at once, with the same integers as on a device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blender_dp.sampling import Entropy
from blender_dp.sampling.stream import Words
from blender_dp_device.channel.two_stage import Channel

Cells = NDArray[np.int32]

_CHUNK = 1 << 16  # clients per chunk: enough to make numpy's cost per call small, few enough for the processor's cache
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class TwoStageResponse:
    """Randomise the clients' cells: first the query, then the URL.

    Citation: Figure 6 of the BLENDER paper (LocalAlg).
    Privacy: (ε, δ) per report in the local model: the channel of `channel.two_stage`, word for word.
        Proof: `proof.md` beside this file.
    Utility: see `stages.denoising`, which inverts the channel and gives the variance.
    Cost: 16 random bytes per report; more than half the speed of numpy's plain k-ary response.
    """

    def __init__(self, channel: Channel) -> None:
        counts = np.array(channel.url_counts, np.int64)
        starts = np.cumsum(counts) - counts
        self.channel = channel
        self.cell_count = int(counts.sum())
        # By query: its first cell and its number of cells.
        self._start = starts.astype(np.int32)
        self._url_count = counts.astype(np.uint64)
        # By cell: its query, that query's first cell, its place among that query's URLs, and the bounds for a false URL.
        self._query_of = np.repeat(np.arange(counts.size), counts)
        self._start_of = self._start[self._query_of]
        self._url_of = np.arange(self.cell_count, dtype=np.int32) - self._start_of
        self._url_step_of = np.array(channel.url_steps, np.uint64)[self._query_of]
        bounds = [channel.url_lie_bound(query) for query in range(counts.size)]
        self._url_lie_bound_of = np.array(bounds, np.uint64)[self._query_of]

    def respond(self, cells: Cells, entropy: Entropy) -> Cells:
        """Return one report per client, given each client's true cell."""
        reports = np.empty_like(cells)
        words = np.empty((2, min(_CHUNK, cells.size)), np.uint64)
        for start in range(0, cells.size, _CHUNK):
            chunk = cells[start : start + _CHUNK]
            entropy.fill(words)
            reports[start : start + _CHUNK] = self.decide(chunk, words[0, : chunk.size], words[1, : chunk.size])
        return reports

    def decide(self, cells: Cells, first: Words, second: Words) -> Cells:
        """Turn true cells and two random words each into reported cells: `Channel.respond` for many."""
        if self.cell_count == 1:  # the list is empty: ⋆ is the only possible report
            return cells.copy()
        # First replace every query. Where the true query is reported instead, `other` is meaningless, may be too large,
        # and is overwritten below: that is cheaper than a branch per report, which no processor can predict.
        other = (first // np.uint64(self.channel.query_step)).view(np.int64)
        other += other >= self._query_of.take(cells)
        count = self._url_count.take(other, mode="clip")
        reports = self._start.take(other, mode="clip") + _scaled(second, count)
        truthful = np.flatnonzero(first >= np.uint64(self.channel.query_lie_bound))
        reports[truthful] = self._keep_query(cells.take(truthful), second.take(truthful))
        return reports

    def _keep_query(self, cells: Cells, second: Words) -> Cells:
        lying = np.flatnonzero(second < self._url_lie_bound_of.take(cells))
        truth = cells.take(lying)
        index = (second.take(lying) // self._url_step_of.take(truth)).astype(np.int32)
        index += index >= self._url_of.take(truth)
        reports = cells.copy()
        reports[lying] = self._start_of.take(truth) + index
        return reports


def _scaled(words: Words, counts: Words) -> Cells:
    """⌊word · count / 2^64⌋ without 128-bit integers, for counts below 2^32."""
    low = (words & _LOW) * counts >> _HALF
    return ((words >> _HALF) * counts + low >> _HALF).astype(np.int32)
