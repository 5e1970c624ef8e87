"""The exact distribution of a two-stage report, as numbers of random words."""

from __future__ import annotations

from itertools import pairwise

from blender_dp_device.channel.two_stage import Channel


def weights(channel: Channel, query: int, url: int) -> list[int]:
    """For each cell in order: how many of the words² pairs of words turn this position into it."""
    truthful, honest = channel.words - channel.query_lie_bound, channel.words - channel.url_lie_bound(query)
    steps = channel.url_steps[query]
    own = [truthful * (honest if u == url else steps) for u in range(channel.url_counts[query])]
    blocks = ([channel.query_step * w for w in uniform_weights(channel.words, n)] for n in channel.url_counts)
    return [weight for q, block in enumerate(blocks) for weight in (own if q == query else block)]


def uniform_weights(words: int, count: int) -> list[int]:
    """For each value of ⌊w · count / words⌋: how many words w have it."""
    edges = [-(-i * words // count) for i in range(count + 1)]
    return [high - low for low, high in pairwise(edges)]
