"""Which promises python-dp and PipelineDP keep."""

from __future__ import annotations

import math
import random

import numpy as np
import pipeline_dp.sampling_utils as sampling
from evidence import Finding, cited, finding, repeated, separate_workers, shared_after_fork, show, singletons, unpredictable
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism
from pydp.algorithms.partition_selection import create_partition_strategy
from selection_google import pipeline

EPSILON, DELTA, PEOPLE, PIPELINE_PEOPLE, DRAWS = 4.0, 1e-5, 2_000_000, 300_000, 1_000


def seed() -> None:
    random.seed(7)
    np.random.seed(7)


def grid(values: list[float]) -> Finding:
    """Noise that is a multiple of one power of two hides the low bits in which floating-point noise leaks."""
    exponent = max(_bits_after_point(value) for value in values)
    evidence = f"all of {len(values):,} noisy values are multiples of 2^-{exponent}; a double of their size resolves 2^-52"
    return finding("python-dp", "no floating-point noise", exponent < 45, evidence)


def _bits_after_point(value: float) -> int:
    denominator = value.as_integer_ratio()[1]
    return int(math.log2(denominator))


def sampled() -> Finding:
    """Which of a person's contributions count is chosen at random, too."""
    people = list(range(100))

    def draw() -> list[tuple[int, ...]]:
        return [tuple(sampling.choose_from_list_without_replacement(people, 10)) for _ in range(DRAWS)]

    same, source = repeated(seed, draw), cited(sampling, "np.random.choice(")
    evidence = f"seeding numpy's generator again repeats {same:,} of {DRAWS:,} choices; the noise itself is python-dp's"
    return finding("PipelineDP", "its choice of a person's contributions cannot be reproduced", same == 0, evidence, source)


def noisy_counts() -> list[float]:
    """What one small pipeline releases."""
    return list(pipeline([f"query {i % 20}" for i in range(2_000)], EPSILON, DELTA).values())


def main() -> None:
    strategy = create_partition_strategy("laplace", EPSILON, DELTA, 1)
    released = sum(strategy.noised_value_if_should_keep(1) is not None for _ in range(PEOPLE))
    names = [f"person {i}" for i in range(PIPELINE_PEOPLE)]
    mechanism = LaplaceMechanism(epsilon=EPSILON, sensitivity=1.0)

    def draw() -> list[float]:
        return [mechanism.add_noise(1.0) for _ in range(DRAWS)]

    shared = shared_after_fork(draw)
    show([
        singletons("python-dp", released, PEOPLE, DELTA),
        singletons("PipelineDP", len(pipeline(names, EPSILON, DELTA)), PIPELINE_PEOPLE, DELTA),
        grid(draw()),
        unpredictable("python-dp", repeated(seed, draw), DRAWS),
        separate_workers("python-dp", shared, DRAWS),
        separate_workers("PipelineDP", shared_after_fork(noisy_counts), len(noisy_counts())),
        sampled(),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
