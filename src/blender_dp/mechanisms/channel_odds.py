"""The probabilities that a channel reports the true query, and that it reports any given other query."""

from __future__ import annotations

from fractions import Fraction

from blender_dp_device.channel.subset import AnyChannel
from blender_dp_device.channel.two_stage import Channel


def query_truth(channel: AnyChannel) -> Fraction:
    """The probability that the true query is reported."""
    if isinstance(channel, Channel):
        return 1 - Fraction(channel.query_lie_bound, channel.words)
    return Fraction(channel.truth, channel.words)


def query_lie(channel: AnyChannel) -> Fraction:
    """The probability that any given other query is reported."""
    if isinstance(channel, Channel):
        return Fraction(channel.query_step, channel.words)
    return (channel.size - query_truth(channel)) / (len(channel.url_counts) - 1)
