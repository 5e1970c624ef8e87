"""Which promises python-dp and PipelineDP keep."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pipeline_dp.sampling_utils as sampling
from evidence import (
    LOSS,
    NOISE,
    Claim,
    Finding,
    Setting,
    cited,
    ratio,
    released_pairs,
    repeated,
    separate_workers,
    shared_after_fork,
    show,
    singletons,
    unpredictable,
)
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism
from pydp.algorithms.partition_selection import create_partition_strategy
from selection_google import PARTITIONS, one_release, pipeline

DRAWS, USERS = 1_000, 60
PEOPLE, PAIRS = 2_000_000, 50_000  # for python-dp
PIPELINE_PEOPLE, PIPELINE_PAIRS = 1_000_000, 3_000  # each takes fifty times as long
COARSER = 3  # the powers of two between the resolution of doubles and that of noise on a grid
ROWS = [f"query {i % DRAWS}" for i in range(USERS * DRAWS)]
FEW_ROWS = [f"query {i % 20}" for i in range(2_000)]


def seed() -> None:
    """Seed what anyone can seed."""
    random.seed(7)
    np.random.seed(7)


def python_dp(setting: Setting) -> list[Finding]:
    """ε and δ of python-dp, with the same calls as its row."""
    strategy = create_partition_strategy("laplace", setting.epsilon, setting.delta, PARTITIONS)
    released = sum(strategy.noised_value_if_should_keep(1) is not None for _ in range(PEOPLE))
    events = released_pairs(one_release, setting, PAIRS, USERS)
    return [
        ratio("python-dp", events, PAIRS, setting, "pairs of counts"),
        singletons("python-dp", released, PEOPLE, setting),
    ]


def with_pipeline(setting: Setting) -> list[Finding]:
    """ε and δ of PipelineDP, which keeps a part of both for the choice of the queries."""
    names = [f"person {i}" for i in range(PIPELINE_PEOPLE)]
    events = released_pairs(pipeline, setting, PIPELINE_PAIRS, USERS)
    released = len(pipeline(names, setting.epsilon, setting.delta))
    return [
        ratio(
            "PipelineDP", events, PIPELINE_PAIRS, setting, "pairs of counts", "half of ε is for the choice of the queries; "
        ),
        singletons("PipelineDP", released, PIPELINE_PEOPLE, setting),
    ]


def grid(what: str, values: Sequence[float]) -> Finding:
    """Noise that is a multiple of one power of two hides the low bits in which floating-point noise leaks."""
    exponent = max(_bits_after_point(value) for value in values)
    finest = min(_bits_of_a_double(value) for value in values)
    evidence = (
        f"all of {len(values):,} noisy values are multiples of 2^-{exponent}; doubles of their size resolve 2^-{finest}"
    )
    return Claim(what, LOSS, "no floating-point noise").found(exponent <= finest - COARSER, evidence)


def _bits_after_point(value: float) -> int:
    return int(math.log2(value.as_integer_ratio()[1]))


def _bits_of_a_double(value: float) -> int:
    return int(-math.log2(math.ulp(value)))


def sampled() -> Finding:
    """Which of a person's contributions count is chosen at random, too."""
    people = list(range(100))

    def draw() -> list[tuple[int, ...]]:
        return [tuple(sampling.choose_from_list_without_replacement(people, 10)) for _ in range(DRAWS)]

    same, source = repeated(seed, draw), cited(sampling, "np.random.choice(")
    evidence = f"seeding numpy's generator again repeats {same:,} of {DRAWS:,} choices"
    claim = Claim("PipelineDP", NOISE, "its choice of a person's contributions cannot be reproduced")
    return claim.found(same == 0, evidence, source)


def noisy_counts() -> list[float]:
    """What one small pipeline releases."""
    return list(pipeline(FEW_ROWS, 4.0, 1e-5).values())


def noise() -> list[Finding]:
    """Whether the noise of both is on a grid, and its own in every run and every worker."""
    mechanism = LaplaceMechanism(epsilon=4.0, sensitivity=1.0)

    def draw() -> list[float]:
        return [mechanism.add_noise(1.0) for _ in range(DRAWS)]

    few = len(noisy_counts())
    return [
        grid("python-dp", list(one_release(ROWS, 4.0, 1e-5).values())),
        unpredictable("python-dp", repeated(seed, draw), DRAWS),
        separate_workers("python-dp", shared_after_fork(draw), DRAWS),
        grid("PipelineDP", list(pipeline(ROWS, 4.0, 1e-5).values())),
        unpredictable("PipelineDP", repeated(seed, noisy_counts), few),
        separate_workers("PipelineDP", shared_after_fork(noisy_counts), few),
        sampled(),
    ]


def main() -> None:
    settings = Setting.read()
    losses = [finding for losses_of in (python_dp, with_pipeline) for setting in settings for finding in losses_of(setting)]
    show([*losses, *noise()])


if __name__ == "__main__":
    main()
