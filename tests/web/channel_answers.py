"""Prints random lists with their channels, and the integers of the Python device for each, one JSON list per line."""

from __future__ import annotations

import json
import random
import sys
from fractions import Fraction
from typing import Any

from blender_dp_device.channel.subset import SubsetChannel, channel_of
from blender_dp_device.errors import ParameterError
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.records.reporting_list import ChannelSettings, ReportingList

EPSILONS = ("1/524288", "64", "1/3", "4", "1", "355/113")


def main(count: int, seed: int) -> None:
    """Print this many lines; a channel that leaves too little for a choice has null for its integers."""
    chance = random.Random(seed)  # noqa: S311 (parameters for a test)
    for _ in range(count):
        listed = ReportingList(head_list(chance), settings(chance))
        sys.stdout.write(json.dumps([listed.to_document(), integers(listed)]) + "\n")


def head_list(chance: random.Random) -> HeadList:
    """A list of one or two levels with up to 300 queries; some queries have many URLs."""
    queries = chance.choice((0, 1, 2, chance.randrange(3, 12), chance.randrange(300)))
    if chance.random() < 0.2:
        return HeadList.of((f"q{i}", None) for i in range(queries))
    counts = [chance.choice((1, 2, 3, chance.randrange(1, 60))) for _ in range(queries)]
    return HeadList.of((f"q{i}", f"https://{j}.example/") for i, count in enumerate(counts) for j in range(count))


def settings(chance: random.Random) -> ChannelSettings:
    """Parameters from all of their ranges, the ends included."""
    epsilon = chance.choice((*EPSILONS, str(Fraction(chance.randrange(1, 10**9), 10 ** chance.randrange(8, 11)))))
    f_c = Fraction(chance.randrange(1, 1000), 1000)
    m_c = chance.choice((1, 1, 2, 7, chance.randrange(1, 1000)))
    if chance.random() < 0.4:
        delta = Fraction(1, chance.randrange(2, 10 ** chance.randrange(1, 30) + 3))
        return ChannelSettings.of(randomiser="two-stage", epsilon=epsilon, delta=delta, f_c=f_c, m_c=m_c)
    size = chance.choice((1, 2, 3, chance.randrange(1, 400)))
    return ChannelSettings.of(epsilon=epsilon, f_c=f_c, m_c=m_c, subset_size=size)


def integers(listed: ReportingList) -> dict[str, Any] | None:
    """All integers that decide a report, as strings."""
    try:
        channel = channel_of(listed.head_list, listed.channel)
    except ParameterError:
        return None
    first = {"truth": channel.truth} if isinstance(channel, SubsetChannel) else {"queryStep": channel.query_step}
    return {name: str(value) for name, value in first.items()} | {
        "size": channel.size,
        "steps": [str(step) for step in channel.url_steps],
    }


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
