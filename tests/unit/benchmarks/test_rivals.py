"""Rivals are scored by one definition, and accused only with evidence."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest

from benchmarks import peers
from benchmarks.peers import evidence
from benchmarks.rivals import promises
from benchmarks.rivals.populations import codes, number_of
from benchmarks.rivals.scores import score
from blender_dp import aol_like


def test_a_query_that_is_not_listed_counts_with_its_whole_share():
    counts = {"a": 60, "b": 30, "c": 10}
    perfect = score({"a": 0.6, "b": 0.3}, counts, 100, 2)
    assert (perfect.ndcg, perfect.found) == (1.0, 2)
    assert perfect.query_l1 == pytest.approx(0)
    # b is missing (0.3), c is listed instead (|0.2 - 0.1|), and a is off by 0.1; d is beyond the list.
    other = score({"a": 0.5, "c": 0.2, "d": 0.1}, counts, 100, 2)
    assert other.query_l1 == pytest.approx(0.5)
    assert other.found == 1
    assert other.ndcg < 1


def test_every_query_has_a_code_of_its_own():
    numbers = np.arange(0, 300_000_000, 10_007)
    made = codes(numbers)
    assert len(set(made)) == numbers.size
    assert [number_of(code.decode()) for code in made[::5_000]] == numbers[::5_000].tolist()


@pytest.mark.parametrize(("count", "mean"), [(0, 3.0), (1, 3.0), (10, 10.0), (30, 10.0)])
def test_the_tail_is_that_of_rare_events(count, mean):
    exact = sum(math.exp(-mean) * mean**i / math.factorial(i) for i in range(count, 150))
    assert evidence.poisson_tail(count, mean) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("released", "holds"), [(0, True), (10, True), (20, True), (40, False)])
def test_only_too_many_released_singletons_break_a_promise(released, holds):
    assert evidence.singletons("a tool", released, 1_000_000, 1e-5)["holds"] is holds


def test_values_that_may_be_equal_by_chance_are_refused():
    with pytest.raises(ValueError, match="by chance"):
        evidence.repeated(lambda: None, lambda: [1, 1, 2])


def test_a_seeded_generator_is_recognised():
    rng = np.random.RandomState(1)

    def draw():
        return rng.randint(0, 2**62, 20).tolist()

    assert evidence.repeated(lambda: rng.seed(7), draw) == 20
    assert evidence.repeated(lambda: None, draw) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pytest has threads, and newer versions warn about forking them
        assert evidence.shared_after_fork(draw) == 20


@pytest.mark.slow
def test_our_own_promises_hold():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        found = promises.ours()
    assert [finding for finding in found if not finding.holds] == []
    assert len({finding.claim for finding in found}) == 4


@pytest.mark.slow
@pytest.mark.skipif(not peers.exists("local"), reason="make bench-rivals creates the environment")
def test_a_rival_runs_in_its_environment(tmp_path):
    users = 20_000
    table = aol_like(3, users=users)
    top = ["google", "yahoo"]
    values = [top.index(query) if query in top else len(top) for query in table["query"].to_pylist()]
    np.save(tmp_path / "values.npy", np.array(values, np.int32))
    job = {"folder": str(tmp_path), "method": "direct encoding", "epsilon": 6, "delta": 1e-5, "max_queries": len(top)}
    result = peers.run(peers.interpreter("local"), "oracles_pure_ldp.py", json.dumps(job))
    true = values.count(0) / users
    # Six standard deviations of the worst case: a false alarm in less than 1e-8 of the runs.
    assert abs(result["shares"]["0"] - true) < 6 * 0.5 / math.sqrt(users)
    assert result["rows"] == users
    assert result["peak_bytes"] > 0
