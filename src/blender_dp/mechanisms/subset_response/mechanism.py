"""`SubsetChannel.respond` for millions of clients at once, with the same integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blender_dp.sampling import Entropy
from blender_dp.sampling.discrete import integers_below, integers_below_each
from blender_dp.sampling.stream import Words
from blender_dp_device.channel.subset import SubsetChannel

Cells = NDArray[np.int32]
Integers = NDArray[np.int64]

_CHUNK = 1 << 21  # entries of the table that marks which client has chosen which query: it stays in the cache


@dataclass(frozen=True)
class Draws:
    """The random draws for some clients: one row per reported query, one column per client."""

    query: Words
    url: Words
    others: Integers
    place: Integers


class SubsetResponse:
    """Randomise the clients' cells: a set of queries that contains the true one more often than any other, with a URL each.

    Citation: subset selection of Ye and Barg (2018) and Wang et al. (2016), with a URL attached to every query.
    Privacy: (ε, 0) per report in the local model: the channel of `channel.subset`. Proof: `proof.md` beside this file.
    Utility: see `stages.denoising`, which inverts the channel and gives the variance.
    Cost: three random words and about 50 ns for every reported query.
    """

    def __init__(self, channel: SubsetChannel) -> None:
        counts = np.array(channel.url_counts, np.int64)
        self.channel = channel
        self.cell_count = int(counts.sum())
        self._start = np.cumsum(counts) - counts
        self._url_count = counts
        self._query_of = np.repeat(np.arange(counts.size), counts)
        self._url_step = np.array(channel.url_steps, np.uint64)
        bounds = [channel.url_lie_bound(query) for query in range(counts.size)]
        self._url_lie_bound = np.array(bounds, np.uint64)

    def respond(self, cells: Cells, entropy: Entropy) -> Cells:
        """Return the reported cells, one row per client, given each client's true cell. Every row is sorted."""
        reports = np.empty((cells.size, self.channel.size), np.int32)
        clients = max(1, _CHUNK // len(self.channel.url_counts))
        for start in range(0, cells.size, clients):
            chunk = cells[start : start + clients]
            reports[start : start + clients] = self.decide(chunk, self.draw(chunk.size, entropy), entropy)
        return reports

    def draw(self, clients: int, entropy: Entropy) -> Draws:
        """Draw everything that does not depend on any record."""
        size, others = self.channel.size, self._url_count.size - 1
        numbers = [integers_below(last + 1, clients, entropy) for last in range(others - size, others)]
        return Draws(
            entropy.words(clients), entropy.words(clients), np.array(numbers), integers_below(size, clients, entropy)
        )

    def decide(self, cells: Cells, draws: Draws, entropy: Entropy) -> Cells:
        """Turn true cells and draws into sorted rows of reported cells; the URLs of the other queries are drawn here."""
        true = self._query_of[cells]
        queries = self._others(draws.others)
        queries += queries >= true
        urls = integers_below_each(self._url_count[queries], entropy)
        truthful = np.flatnonzero(draws.query < np.uint64(self.channel.truth))
        place = draws.place[truthful]
        queries[place, truthful] = true[truthful]
        urls[place, truthful] = self._own_urls(cells[truthful], true[truthful], draws.url[truthful])
        reported: Cells = np.sort((self._start[queries] + urls).astype(np.int32).T, axis=1)
        return reported

    def _others(self, numbers: Integers) -> Integers:
        """A uniform choice of other queries for every client, by Floyd's algorithm."""
        size, clients = numbers.shape
        others = self._url_count.size - 1
        taken = np.zeros((clients, others), np.bool_)
        everyone = np.arange(clients)
        chosen = np.empty_like(numbers)
        for i, last in enumerate(range(others - size, others)):
            chosen[i] = np.where(taken[everyone, numbers[i]], last, numbers[i])
            taken[everyone, chosen[i]] = True
        return chosen

    def _own_urls(self, cells: Cells, query: Integers, words: Words) -> Integers:
        url = cells - self._start[query]
        lying = np.flatnonzero(words < self._url_lie_bound[query])
        index = (words[lying] // self._url_step[query[lying]]).astype(np.int64)
        url[lying] = index + (index >= url[lying])
        return url
