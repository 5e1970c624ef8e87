"""LocalAlg for millions of clients at once, with the same integers as on a device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blender_dp.client.channel import Channel
from blender_dp.sampling import Entropy
from blender_dp.sampling.stream import Words

Cells = NDArray[np.int32]

_CHUNK = 1 << 15  # clients at a time: their words and positions stay in the second-level cache
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class TwoStageResponse:
    """Randomise the clients' cells: first the query, then the URL.

    Citation: Figure 6 of the BLENDER paper (LocalAlg).
    Privacy: (ε, δ) per report in the local model: the channel of `client.Channel`, word for word.
        Proof: `proof.md` beside this file.
    Utility: see `stages.denoising`, which inverts the channel and gives the variance.
    Cost: 16 random bytes per report; about half the speed of numpy's plain k-ary response.
    """

    def __init__(self, channel: Channel) -> None:
        counts = np.array(channel.url_counts, np.int64)
        starts = np.cumsum(counts) - counts
        self.channel = channel
        self.cell_count = int(counts.sum())
        self._query_of = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
        self._url_of = (np.arange(self.cell_count) - starts[self._query_of]).astype(np.int32)
        self._start = starts.astype(np.int32)
        self._url_count = counts.astype(np.uint64)
        self._url_step = np.array(channel.url_steps, np.uint64)
        self._url_lie_bound = np.array([channel.url_lie_bound(q) for q in range(counts.size)], np.uint64)

    def respond(self, cells: Cells, entropy: Entropy) -> Cells:
        """Return one report per client, given each client's true cell."""
        reports = np.empty_like(cells)
        words = np.empty((2, _CHUNK), np.uint64)
        for start in range(0, cells.size, _CHUNK):
            chunk = cells[start : start + _CHUNK]
            entropy.fill(words)
            reports[start : start + _CHUNK] = self.decide(chunk, words[0, : chunk.size], words[1, : chunk.size])
        return reports

    def decide(self, cells: Cells, first: Words, second: Words) -> Cells:
        """Turn true cells and two random words each into reported cells: `Channel.respond` for many."""
        if self.cell_count == 1:  # the list is empty: ⋆ is the only answer
            return cells.copy()
        truth = self._query_of.take(cells)
        lies = first < np.uint64(self.channel.query_lie_bound)
        index = (first // np.uint64(self.channel.query_step)).astype(np.int32)  # means something only where it lies
        index += index >= truth
        query = np.where(lies, index, truth)
        reports = self._start.take(query) + _scaled(second, self._url_count.take(query))
        kept = np.flatnonzero(~lies)
        reports[kept] = self._keep_query(cells[kept], truth[kept], second[kept])
        return reports

    def _keep_query(self, cells: Cells, query: Cells, second: Words) -> Cells:
        lying = np.flatnonzero(second < self._url_lie_bound.take(query))
        reports = cells.copy()
        index = (second[lying] // self._url_step.take(query[lying])).astype(np.int32)
        index += index >= self._url_of.take(cells[lying])
        reports[lying] = self._start.take(query[lying]) + index
        return reports


def _scaled(words: Words, counts: Words) -> Cells:
    """⌊word · count / 2^64⌋ without 128-bit integers, for counts below 2^32."""
    low = (words & _LOW) * counts >> _HALF
    return ((words >> _HALF) * counts + low >> _HALF).astype(np.int32)
