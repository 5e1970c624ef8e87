"""Channels for tests, and their audits."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from blender_dp import HeadList
from blender_dp.mechanisms import subset_response, two_stage_response
from blender_dp.mechanisms.subset_response.audit import is_sound as is_sound_subset
from blender_dp.mechanisms.two_stage_response.audit import is_sound as is_sound_two_stage
from blender_dp.privacy.finding import Finding
from blender_dp.privacy.loss import Loss
from blender_dp_device.channel import Channel
from blender_dp_device.channel.subset import AnyChannel, SubsetChannel

W = 1 << 64
EPSILONS = st.one_of(
    st.fractions(min_value=Fraction(1, 20), max_value=12, max_denominator=200),
    st.sampled_from([Fraction(1, 1 << 8), Fraction(30), Fraction(64)]),
)
SHARES = st.one_of(
    st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=50),
    st.sampled_from([Fraction(1, 200), Fraction(199, 200)]),
)


def audit(channel: AnyChannel, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Finding:
    mechanism = two_stage_response if isinstance(channel, Channel) else subset_response
    return mechanism.worst_case(channel, Loss(epsilon, delta))


def is_sound(channel: AnyChannel) -> bool:
    return is_sound_two_stage(channel) if isinstance(channel, Channel) else is_sound_subset(channel)


def positions(channel: AnyChannel) -> list[tuple[int, int]]:
    return [(q, u) for q, count in enumerate(channel.url_counts) for u in range(count)]


def list_of(url_counts: list[int]) -> HeadList:
    """A list with these numbers of URLs per query; 0 for single items."""
    return HeadList.of((f"q{i:04}", f"u{j}" if n else None) for i, n in enumerate(url_counts) for j in range(n or 1))


def small_channel(bits: int, size: int, url_counts: tuple[int, ...], truth: int, url_odds: int) -> SubsetChannel:
    """A channel of small words whose true URL is about `url_odds` times as likely as each other one."""
    words = 1 << bits
    steps = tuple(0 if k == 1 else -(-words // (url_odds + k - 1)) for k in url_counts)
    return SubsetChannel(size, truth, url_counts, steps, bits)
