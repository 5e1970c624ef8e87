"""What the samplers do with 64-bit words, by enumeration, and the exact loss of that."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.sampling.discrete import WORD
from blender_dp.sampling.laplace import GridLaplace
from blender_dp_device.arithmetic import exp_bounds
from blender_dp_device.channel.subset import SubsetChannel
from blender_dp_device.channel.two_stage import Channel

Outputs = Counter[Any]
"""Weights of outputs, over one scale for all inputs."""


def excess(pairs: list[tuple[int, int]], scale: int, epsilon: Fraction) -> Fraction:
    numerator, denominator = exp_bounds(epsilon)[0].as_integer_ratio()
    return Fraction(sum(max(0, p * denominator - q * numerator) for p, q in pairs)) / (scale * denominator)


def worst(inputs: list[Outputs], epsilon: Fraction) -> Fraction:
    """The exact δ over all pairs of inputs."""
    scale = {sum(row.values()) for row in inputs}
    assert len(scale) == 1
    (whole,) = scale
    return max(excess([(a[y], b[y]) for y in a.keys() | b.keys()], whole, epsilon) for a, b in permutations(inputs, 2))


# The channels: all words between two edges have the same effect, so one of them represents all.


def parts(edges: set[int]) -> list[tuple[int, int]]:
    """The first word and the length of each of the intervals into which these edges split the 2^64 words."""
    inside = sorted({0, WORD} | {edge for edge in edges if 0 < edge < WORD})
    return [(low, high - low) for low, high in pairwise(inside)]


def two_stage_outputs(channel: Channel) -> list[Outputs]:
    counts = channel.url_counts
    firsts = parts({i * channel.query_step for i in range(len(counts) + 1)})
    inner = {j * step for step in channel.url_steps for j in range(max(counts) + 1)}
    seconds = parts(inner | {-(-j * WORD // count) for count in counts for j in range(count)})
    inputs = []
    for position in ((q, u) for q, count in enumerate(counts) for u in range(count)):
        row: Outputs = Counter()
        for (first, many), (second, more) in product(firsts, seconds):
            row[channel.respond(*position, first, second)] += many * more
        inputs.append(row)
    return inputs


def subset_outputs(channel: SubsetChannel) -> list[Outputs]:
    counts, size = channel.url_counts, channel.size
    truth = parts({channel.truth})
    own = parts({j * step for step in channel.url_steps for j in range(max(counts) + 1)})
    others = [range(last + 1) for last in range(len(counts) - 1 - size, len(counts) - 1)]
    most = [range(count) for count in [max(counts)] * size]
    whole = math.lcm(*range(1, 1 + max(*counts, len(counts))))  # a multiple of all bounds
    inputs = []
    for position in ((q, u) for q, count in enumerate(counts) for u in range(count)):
        row: Outputs = Counter()
        for (first, many), (second, more) in product(truth, own):
            for chosen in product(*others, range(size), *most):
                # A URL beyond those of its query is a rejected draw: the rest is uniform, with more weight each.
                numbers = iter([first, second, *chosen])
                weight = [many * more]

                def draw(bound: int, numbers: Iterator[int] = numbers, weight: list[int] = weight) -> int:
                    number = next(numbers)
                    if bound < WORD:
                        weight[0] *= whole // bound if number < bound else 0
                    return number

                reported = channel.respond(*position, draw)
                row[reported] += weight[0]
        inputs.append(row)
    return inputs


# The noise: the output for a record of `count` users. Outputs with the same ratio for neighbouring counts are merged.


def capped_outputs(mechanism: TruncatedGeometric, count: int) -> Outputs:
    """The noisy count of a listed record, or None; over 2^64."""
    seen: Outputs = Counter()
    if count:
        for noise, weight in enumerate(mechanism.noise.weights, 1):
            seen[count + noise if count + noise > mechanism.threshold else None] += weight
        left, more = Fraction(mechanism.noise.below), Fraction(mechanism.noise.more, WORD)
        for noise in range(0, mechanism.threshold - count, -1):
            seen[count + noise] += left * (1 - more)
            left *= more
        seen[None] += left
    return seen or Counter({None: WORD})


def laplace_noise(noise: GridLaplace, value: int) -> Fraction:
    """The weight of one value, in half steps."""
    units, place = divmod(abs(value) // 2, noise.steps)
    more = Fraction(noise.more, WORD)
    return more**units * (1 - more) * noise.weights[place] / 2


def laplace_outputs(noise: GridLaplace, count: int, threshold: int | None, top: int) -> Outputs:
    """The noisy count in half steps up to `top` records, "above" and, without a threshold, "below" that many; over 2^64."""
    one = noise.half_steps
    lowest = -top * one if threshold is None else threshold
    if threshold is not None and not count:
        return Counter({None: WORD})
    values = range(lowest + 1, top * one, 2)
    seen: Outputs = Counter({value: laplace_noise(noise, value - count * one) for value in values})
    seen["above"] = noise.survival(top * one - count * one) * WORD
    seen["below" if threshold is None else None] = WORD - sum(seen.values())
    return seen


def neighbours(seen: Callable[[int], Outputs], counts: range, epsilon: Fraction, *, least: int) -> Fraction:
    """The exact δ of one record that loses a user beside one that gains it, over these counts."""

    def moved(before: int, after: int) -> list[tuple[Fraction, Fraction]]:
        a, b = seen(before), seen(after)
        return [(a[y], b[y]) for y in a.keys() | b.keys()]

    losses = [moved(n, n - 1) for n in counts if n - 1 >= least]
    gains = [moved(n, n + 1) for n in counts]
    both = ([(p * r, q * s) for p, q in loss for r, s in gain] for loss in losses for gain in gains)
    return max(excess(pairs, WORD**2, epsilon) for pairs in both)
