"""Which promises OpenDP keeps, on each of its two ways to find frequent keys."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence

import numpy as np
import opendp.prelude as dp
import polars as pl
from evidence import (
    LOSS,
    OTHER,
    Claim,
    Finding,
    Setting,
    ratio,
    released_pairs,
    repeated,
    separate_workers,
    shared_after_fork,
    show,
    singletons,
    unpredictable,
)
from selection_opendp import METHODS

PEOPLE, PAIRS, USERS = 1_000_000, 15_000, 25
DRAWS, RELEASES, COUNTS = 1_000, 1, 100
ISSUE = "reported upstream as opendp/opendp issue 2922"


def seed() -> None:
    """Seed what anyone can seed."""
    random.seed(7)
    np.random.seed(7)


def losses(method: str, setting: Setting) -> list[Finding]:
    """ε and δ of a method, with the same calls as its row."""
    what, release = f"OpenDP: {method}", METHODS[method]
    events = released_pairs(release, setting, PAIRS, USERS)
    released = len(release(people(), setting.epsilon, setting.delta))
    return [ratio(what, events, PAIRS, setting, "pairs of counts"), singletons(what, released, PEOPLE, setting)]


def people() -> list[str]:
    """Queries that only one person has."""
    return [f"person {i}" for i in range(PEOPLE)]


def stated(setting: Setting) -> Finding:
    """Whether the δ that a measurement states for one added or removed person is true; no row relies on that statement."""
    domain = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()

    def measurement(at: int) -> dp.Measurement:
        return domain >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=1 / setting.epsilon, threshold=at)

    at = dp.binary_search(lambda t: measurement(t).map(1)[1] <= setting.delta, bounds=(2, 1000))
    chosen = measurement(at)
    found = singletons("", len(chosen(people())), PEOPLE, Setting(setting.epsilon, chosen.map(1)[1], setting.max_queries))
    claim = Claim("OpenDP: laplace_threshold", OTHER, "the δ that it states for one added or removed person is true")
    used = "; the row is for two changed queries, with noise of twice this size"
    return claim.found(found["holds"], f"at δ = {chosen.map(1)[1]:.2g}, {found['evidence']}{used}", ISSUE)


def integers(method: str) -> Finding:
    """Whether the released counts are integers, which have no low bits that could leak."""
    values = list(METHODS[method](["query"] * 1_000, 4.0, 1e-5).values())
    evidence = f"the released counts have the type {type(values[0]).__name__}"
    whole = all(isinstance(value, int) for value in values)
    return Claim(f"OpenDP: {method}", LOSS, "no floating-point noise").found(whole, evidence)


def distribution() -> Finding:
    """The noise of the Polars interface, in its own words."""
    context = dp.Context.compositor(
        data=pl.LazyFrame({"query": ["query"]}),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=4.0, delta=1e-5),
        split_evenly_over=1,
    )
    name = context.query().group_by("query").agg(dp.len(signed=True)).summarize()["distribution"][0]
    claim = Claim("OpenDP: stable keys", LOSS, "its noise is drawn as an integer")
    return claim.found(name == "Integer Laplace", f"its summary says {name}")


def noise(method: str) -> list[Finding]:
    """Whether the noise of a method is its own in every run and every worker."""
    what, rows = f"OpenDP: {method}", [f"query {i % COUNTS}" for i in range(200 * COUNTS)]
    core = dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), 1e12)

    def draw() -> Sequence[str]:
        return [str(sorted(METHODS[method](rows, 4.0, 1e-5).items())) for _ in range(RELEASES)]

    def use() -> Sequence[int]:
        """Draw with the library's generator, but not through Polars, which would block a forked worker."""
        return [core(0) for _ in range(DRAWS)]

    shared = shared_after_fork(draw, use)  # before this process uses Polars
    unit = f"release of {COUNTS} counts"
    return [
        unpredictable(what, repeated(seed, draw), RELEASES, unit=unit),
        separate_workers(what, shared, RELEASES, unit=unit),
    ]


def main() -> None:
    warnings.simplefilter("ignore", FutureWarning)
    settings = Setting.read()
    unpredicted = {method: noise(method) for method in METHODS}  # first, because it forks before Polars is used
    found = []
    for method in METHODS:
        found += [finding for setting in settings for finding in losses(method, setting)]
        found += [integers(method), *unpredicted[method]]
    show([*found, distribution(), stated(settings[0])])


if __name__ == "__main__":
    main()
