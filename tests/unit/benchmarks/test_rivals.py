"""Rivals are scored by one definition, and accused only with evidence."""

from __future__ import annotations

import json
import math
import warnings
from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks import peers
from benchmarks.peers import evidence
from benchmarks.peers.job import Job
from benchmarks.rivals import ours, promises
from benchmarks.rivals.populations import codes, number_of
from benchmarks.rivals.runs import Outcome
from benchmarks.rivals.scores import Scores, score
from benchmarks.rivals.settings import OURS, RIVALS, SETTINGS
from blender_dp import HeadList, aol_like
from blender_dp.pipeline.audit import Tables

AT_4 = evidence.Setting(4.0, 1e-5, 50)


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


@pytest.mark.parametrize(("released", "holds"), [(0, True), (10, True), (28, True), (29, False)])
def test_only_too_many_released_singletons_break_a_promise(released, holds):
    found = evidence.singletons("a tool", released, 1_000_000, AT_4)
    assert found["holds"] is holds
    assert "29 would be too many" in found["evidence"]
    # The stated false-alarm rate, and no smaller one than it must be.
    assert evidence.poisson_tail(29, 10.0) < 1e-6 <= evidence.poisson_tail(28, 10.0)


def expected(epsilon, values=51, trials=200_000):
    """How often direct encoding reports one value, if it is the true one and if it is not."""
    whole = math.exp(epsilon) + values - 1
    return round(trials * math.exp(epsilon) / whole), round(trials / whole)


@pytest.mark.parametrize(("factor", "holds"), [(0.5, True), (1.0, True), (1.05, False), (1.5, False)])
def test_five_percent_more_than_epsilon_is_detected(factor, holds):
    found = evidence.ratio("a tool", expected(4 * factor), 200_000, AT_4, "reports")
    assert found["holds"] is holds
    assert f"suggests ε = {4 * factor:.2f}" in found["evidence"]


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_a_promise_that_is_kept_is_accused_at_most_once_in_a_million(epsilon):
    """Sum up the probabilities of all pairs of counts that accuse; a smaller number of trials makes that possible."""
    trials, whole = 400, math.exp(epsilon) + 3
    one, other = (binom(trials, p) for p in (math.exp(epsilon) / whole, 1 / whole))
    accused = 0.0
    for b in range(trials + 1):
        fewest = bisect_right(range(trials + 1), epsilon, key=lambda a, b=b: evidence.least_epsilon(a, b, trials, 0.0))
        accused += other.pmf(b) * one.sf(fewest - 1)
    assert 0 < accused <= 1e-6


def test_delta_explains_as_many_events_as_it_allows():
    assert evidence.least_epsilon(100, 0, 1_000, 0.0) > 0
    assert evidence.least_epsilon(100, 0, 1_000, 0.2) == -math.inf


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "holds"), [(2.0, True), (1.0, True), (0.9, False), (0.0, False)])
def test_counts_with_too_little_noise_are_detected(scale, holds):
    """One person's change moves two counts by one, so noise of scale 2 / ε is needed. False alarms: at most 1e-6."""
    rng = np.random.default_rng(1)

    def release(rows, epsilon, delta):
        return {query: count + rng.laplace(0, scale * 2 / epsilon) for query, count in Counter(rows).items()}

    events = evidence.released_pairs(release, evidence.Setting(2.0, 0.0, 50), 50_000, 2)
    assert evidence.ratio("a tool", events, 50_000, evidence.Setting(2.0, 0.0, 50), "pairs")["holds"] is holds


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


def outcomes(**audit):
    """A run of each of our rows and baselines in every setting, with this audit."""
    values = {"rows": 1, "seconds": 1.0, "report_bytes": None, "peak_bytes": 1}
    audit = {"tables": 3, "delta": 1e-7, "holds": True, **audit}
    own = [rival for rival in RIVALS if rival.environment is None]
    return {
        (setting.name, rival.name): [Outcome(0, Scores(1.0, 0.0, 50), **values, audit=audit)]
        for setting in SETTINGS
        for rival in own
    }


@pytest.fixture(scope="module")
def our_findings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return promises.sorted_findings(promises.ours(outcomes()))


@pytest.mark.slow
def test_our_rows_and_baselines_have_evidence_for_their_own_promise(our_findings):
    assert [finding for finding in our_findings if not finding.holds] == []
    for rival in (rival for rival in RIVALS if rival.environment is None):
        for setting in SETTINGS:
            found = promises.answer(evidence.LOSS, rival, setting, our_findings)
            claims = [our_findings[i - 1] for i in found.claims]
            assert found.kept
            assert {claim.setting["epsilon"] for claim in claims} == {setting.epsilon}
            assert {claim.setting["delta"] for claim in claims} == {setting.delta}
            # Its own runs were audited; a list that users' queries decide was tested as well.
            assert [claim.methods for claim in claims if "audit" in claim.evidence] == [(rival.method,)]
            assert len(claims) == (1 if rival.method == "clients only" else 2)
            assert promises.answer(evidence.NOISE, rival, setting, our_findings).kept


@pytest.mark.slow
@pytest.mark.parametrize("audit", [{"holds": False}, {"delta": 1e-3}])
def test_one_bad_audit_of_a_run_breaks_the_promise_of_its_row(monkeypatch, audit):
    monkeypatch.setattr(promises, "PEOPLE", 1_000)
    monkeypatch.setattr(promises, "DEVICES", {})
    good, bad = outcomes(), outcomes(**audit)
    good[SETTINGS[1].name, OURS.name] += bad[SETTINGS[1].name, OURS.name]
    found = promises.ours(good)
    assert [promises.answer(evidence.LOSS, OURS, setting, found).kept for setting in SETTINGS] == [True, False]


def test_the_audit_of_a_run_looks_at_the_channel_that_it_used():
    job = Job(Path(), OURS.method, 2.0, 1e-6, 50)
    head_list = HeadList.of((f"query {i}", None) for i in range(16))

    def published(epsilon):
        collection = ours.blender_for(replace(job, epsilon=epsilon)).collection
        design = collection.randomiser.designs(collection.parameters, head_list)[0]
        return collection.published(head_list, design)

    assert ours.audited(ours.blender_for(job), published(2.0))["holds"]
    assert not ours.audited(ours.blender_for(job), published(2.1))["holds"]


def test_the_list_does_not_depend_on_urls():
    """Why one test of lists covers the rows with URLs and those without."""
    blender = promises.blender_for("tight", SETTINGS[1])
    lists = [HeadList.of((f"query {i}", url) for i in range(50)) for url in (None, "https://example.org/")]
    one, other = (Tables.of(blender.parameters, head_list) for head_list in lists)
    assert (one.discovery, one.calibration) == (other.discovery, other.calibration)


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
