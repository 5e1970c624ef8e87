"""Which promises OpenDP keeps, on each of its two ways to find frequent keys."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence

import numpy as np
import opendp.prelude as dp
import polars as pl
from evidence import Finding, finding, repeated, separate_workers, shared_after_fork, show, singletons, unpredictable

EPSILON, DELTA, PEOPLE, DRAWS = 4.0, 1e-5, 1_000_000, 1_000
ISSUE = "reported upstream as opendp/opendp issue 2922"

dp.enable_features("contrib")


def seed() -> None:
    random.seed(7)
    np.random.seed(7)


def core(names: Sequence[str]) -> Finding:
    """The claimed δ is what the measurement itself states for one added or removed person."""
    domain = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()

    def measurement(at: int) -> dp.Measurement:
        return domain >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=1 / EPSILON, threshold=at)

    at = dp.binary_search(lambda t: measurement(t).map(1)[1] <= DELTA, bounds=(2, 1000))
    chosen = measurement(at)
    return singletons("OpenDP: laplace_threshold", len(chosen(list(names))), len(names), chosen.map(1)[1], ISSUE)


def polars(names: Sequence[str]) -> list[Finding]:
    """The same people through the Polars interface."""
    context = dp.Context.compositor(
        data=pl.LazyFrame({"query": names}),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=EPSILON, delta=DELTA),
        split_evenly_over=1,
    )
    query = context.query().group_by("query").agg(dp.len(signed=True))
    noise = query.summarize()["distribution"][0]
    released = query.release().collect()
    integers = released["len"].dtype.is_integer()
    evidence = f"its summary says {noise}; the released counts have the type {released['len'].dtype}"
    return [
        singletons("OpenDP: stable keys", released.height, len(names), DELTA),
        finding("OpenDP", "no floating-point noise", integers and noise == "Integer Laplace", evidence),
    ]


def noise() -> Callable[[], Sequence[int]]:
    wide = dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), 1e12)
    return lambda: [wide(0) for _ in range(DRAWS)]


def main() -> None:
    warnings.simplefilter("ignore", FutureWarning)
    names = [f"person {i}" for i in range(PEOPLE)]
    draw = noise()
    show([
        core(names),
        *polars(names),
        unpredictable("OpenDP", repeated(seed, draw), DRAWS),
        separate_workers("OpenDP", shared_after_fork(draw), DRAWS),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
