"""Change every integer of every table: the exact loss stays within the claim, or the audit says that it does not.

The exact loss is computed here by enumerating what the samplers do with 64-bit words, without the audit's shortcuts. All
weights are integers, and e^ε is rounded down, as in the audit: a loss that is too high by a single word is detected.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import pytest

from blender_dp import HeadList
from blender_dp.mechanisms import (
    laplace_histogram,
    laplace_threshold,
    subset_response,
    truncated_geometric,
    two_stage_response,
)
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.privacy.loss import Loss
from blender_dp.sampling.capped import CappedGeometric
from blender_dp.sampling.laplace import GridLaplace
from blender_dp_device.channel.subset import SubsetChannel, slack_free
from blender_dp_device.channel.two_stage import Channel
from tests.unit.mechanisms.outputs import (
    capped_outputs,
    laplace_outputs,
    neighbours,
    subset_outputs,
    two_stage_outputs,
    worst,
)

pytestmark = pytest.mark.slow  # enumerates whole channels

LISTS = {
    "records": HeadList.of([("a", "u"), ("a", "v"), ("b", "u")]),
    "three queries": HeadList.of([("a", "u"), ("b", "u"), ("b", "v"), ("c", "w")]),
    "items": HeadList.of([("a", None), ("b", None), ("c", None)]),
    "one item": HeadList.of([("a", None)]),
}


def changed(value: int) -> set[int]:
    return {value + d for d in (-2, -1, 1, 2)} | {value // 2, 2 * value, 0, -value}


def moved(weights: tuple[int, ...], source: int, target: int) -> tuple[int, ...]:
    """The weights with half of one added to another: their sum stays the same."""
    half = weights[source] // 2
    return tuple(weight + half * ((i == target) - (i == source)) for i, weight in enumerate(weights))


def tampered(table: Any) -> Iterator[Any]:
    """The table with one integer changed, two neighbours swapped, one omitted or repeated, or half a weight moved."""
    for field in dataclasses.fields(table):
        value = getattr(table, field.name)
        if dataclasses.is_dataclass(value):
            yield from (dataclasses.replace(table, **{field.name: other}) for other in tampered(value))
        elif isinstance(value, int):
            yield from (dataclasses.replace(table, **{field.name: other}) for other in changed(value) - {value})
        else:
            rows = [(*value[:i], other, *value[i + 1 :]) for i, old in enumerate(value) for other in changed(old) - {old}]
            rows += [(*value[:i], b, a, *value[i + 2 :]) for i, (a, b) in enumerate(pairwise(value)) if a != b]
            rows += [value[:i] + value[i + 1 :] for i in range(len(value))] + [value[:1] + value, value + value[-1:]]
            if field.name == "weights":
                rows += [moved(value, i, j) for i, j in permutations(range(len(value)), 2)]
            yield from (dataclasses.replace(table, **{field.name: row}) for row in rows)


def check(audit: Callable[[Any, Loss], Any], table: Any, claim: Loss, exact_delta: Callable[[Any], Fraction]) -> None:
    """The shipped table holds, and every changed table that the audit accepts has at most the claimed loss."""
    assert audit(table, claim).holds
    assert exact_delta(table) <= claim.delta
    passed = refused = 0
    for other in tampered(table):
        if audit(other, claim).holds:
            passed += 1
            assert exact_delta(other) <= claim.delta, other
        else:
            refused += 1
    assert refused > passed > 0  # a step towards more noise is not a violation


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.01"), ("4", "1e-5")])
def test_tampering_with_the_papers_channel_is_detected(name, epsilon, delta):
    claim = Loss(Fraction(epsilon), Fraction(delta))
    table = Channel.of(LISTS[name], epsilon, delta, "0.85")
    check(two_stage_response.audit, table, claim, lambda t: worst(two_stage_outputs(t), claim.epsilon))


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("epsilon", ["1", "4"])
def test_tampering_with_the_tight_channel_is_detected_for_one_query(name, epsilon):
    claim = Loss(Fraction(epsilon), Fraction(0))
    table = slack_free(LISTS[name], epsilon, "0.8")
    assert isinstance(table, Channel)
    check(two_stage_response.audit, table, claim, lambda t: worst(two_stage_outputs(t), claim.epsilon))


@pytest.mark.parametrize(
    ("name", "epsilon"), [("records", "1"), ("records", "4"), ("three queries", "4"), ("items", "1"), ("items", "4")]
)
def test_tampering_with_the_tight_channel_is_detected_for_two_queries(name, epsilon):
    claim = Loss(Fraction(epsilon), Fraction(0))
    table = slack_free(LISTS[name], epsilon, "0.8", 2)
    assert isinstance(table, SubsetChannel)
    check(subset_response.audit, table, claim, lambda t: worst(subset_outputs(t), claim.epsilon))


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("bits", [32, 63, 65, 128])
@pytest.mark.parametrize("name", ["records", "many items"])
def test_a_channel_with_words_of_another_length_is_a_violation(name, bits, size):
    """The samplers draw 64 bits, whatever a table says. With other words, some tables would seem to hold with a margin."""
    names = LISTS[name] if name in LISTS else HeadList.of((f"q{i}", None) for i in range(6))
    audit, table = two_stage_response.audit if size == 1 else subset_response.audit, slack_free(names, 4, "0.8", size)
    claim = Loss(Fraction(4), Fraction(0))
    assert audit(table, claim).holds
    assert not audit(dataclasses.replace(table, bits=bits), claim).holds


@pytest.mark.parametrize("place", [1, -1])
@pytest.mark.parametrize("audited", ["discovery", "papers' discovery", "calibration"])
def test_a_sampler_that_holds_other_integers_is_a_violation(audited, place):
    """The table that is drawn from is derived from the weights; the audit reads it, not only the weights."""
    claim, noise = Loss(Fraction(4), Fraction("0.001")), GridLaplace.of(Fraction(2), grid_bits=2)
    laplace = LaplaceThreshold(noise, noise.half_steps + noise.threshold_for(claim.delta / 2))
    audit, table = {
        "discovery": (truncated_geometric.audit, TruncatedGeometric.of(4, "0.001")),
        "papers' discovery": (laplace_threshold.audit, laplace),
        "calibration": (laplace_histogram.audit, LaplaceHistogram(noise)),
    }[audited]
    assert audit(table, claim).holds
    held = table.noise._cumulative.copy()
    held[place] += 1  # towards less noise or more: either way, it is not what was audited
    table.noise.__dict__["_cumulative"] = held  # a cached property
    assert not audit(table, claim).holds


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.05"), ("2", "0.01"), ("4", "1e-5")])
def test_tampering_with_bounded_discovery_noise_is_detected(epsilon, delta):
    claim = Loss(Fraction(epsilon), Fraction(delta))

    def exact_delta(table: TruncatedGeometric) -> Fraction:
        counts = range(1, table.threshold + 3)
        return neighbours(lambda n: capped_outputs(table, n), range(counts[-1]), claim.epsilon, least=0)

    check(truncated_geometric.audit, TruncatedGeometric.of(epsilon, delta), claim, exact_delta)


@dataclasses.dataclass(frozen=True)
class Lowered(TruncatedGeometric):
    """Lists records one count earlier than its noise allows."""

    @property
    def threshold(self) -> int:
        return self.noise.cap - 1


def test_a_lowered_threshold_is_a_violation():
    claim = Loss(Fraction(4), Fraction("1e-5"))
    table = Lowered(CappedGeometric.of(Fraction(2), claim.delta))
    assert neighbours(lambda n: capped_outputs(table, n), range(4), claim.epsilon, least=0) > claim.delta
    assert not truncated_geometric.audit(table, claim).holds


@pytest.mark.parametrize(("epsilon", "delta"), [("2", "0.05"), ("4", "0.001")])
def test_tampering_with_laplace_discovery_noise_is_detected(epsilon, delta):
    claim = Loss(Fraction(epsilon), Fraction(delta))
    noise = GridLaplace.of(claim.epsilon / 2, grid_bits=1)
    table = LaplaceThreshold(noise, noise.half_steps + noise.threshold_for(claim.delta / 2))

    def exact_delta(other: LaplaceThreshold) -> Fraction:
        top = other.threshold // other.noise.half_steps + 3
        return neighbours(
            lambda n: laplace_outputs(other.noise, n, other.threshold, top), range(top - 1), claim.epsilon, least=0
        )

    check(laplace_threshold.audit, table, claim, exact_delta)


@pytest.mark.parametrize("epsilon", ["1", "4"])
def test_tampering_with_calibration_noise_is_detected(epsilon):
    claim = Loss(Fraction(epsilon), Fraction(0))
    table = LaplaceHistogram(GridLaplace.of(claim.epsilon / 2, grid_bits=2))

    def exact_delta(other: LaplaceHistogram) -> Fraction:
        return neighbours(lambda n: laplace_outputs(other.noise, n, None, 3), range(3), claim.epsilon, least=0)

    check(laplace_histogram.audit, table, claim, exact_delta)
