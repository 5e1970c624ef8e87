from __future__ import annotations

import numpy as np
import pytest

from blender_dp.evaluation.groups import Listed
from blender_dp.planning import draws
from blender_dp.planning.outline import Records
from blender_dp.sampling import Entropy
from blender_dp.stages import simulate
from blender_dp_device.channel.subset import slack_free
from blender_dp_device.records.head_list import HeadList

RECORDS = Records(np.array([0, 0, 1, 2]), np.array([0.4, 0.1, 0.05, 0.001]))
USERS = 10_000
REPEATS = 1_200  # standard errors of variances are 4 %; beyond five of them a false alarm has a probability below 1e-6

REPORTS = 400


def close(found, exact, scale):
    """Whether variances (or covariances) agree to within five standard errors."""
    return np.abs(found - exact) <= 5 * scale * np.sqrt(2 / REPEATS)


def test_populations_have_the_moments_of_a_multinomial():
    entropy = Entropy.seeded("populations")
    drawn = [draws.population(RECORDS, USERS, 2, entropy).counts for _ in range(REPEATS)]
    counts = np.array([[*row, 0][:4] for row in drawn])
    mean, spread = RECORDS.shares * USERS, np.sqrt(RECORDS.shares * (1 - RECORDS.shares) * USERS)
    assert (np.abs(counts.mean(0) - mean) <= 5 * spread / np.sqrt(REPEATS) + 0.01).all()
    exact = USERS * (np.diag(RECORDS.shares) - np.outer(RECORDS.shares, RECORDS.shares))
    assert close(np.cov(counts.T), exact, np.outer(spread, spread))[:3, :3].all()


def test_names_are_different_and_sorted_like_the_records():
    people = draws.population(RECORDS, USERS, 2, Entropy.seeded(1))
    names = people.names(np.arange(4))
    assert names == sorted(set(names))
    assert [query for query, _ in names] == ["query 00000000", "query 00000000", "query 00000001", "query 00000002"]
    items = draws.population(RECORDS, USERS, 1, Entropy.seeded(1))
    assert {url for _, url in items.names(np.arange(4))} == {None}


def test_groups_are_parts_of_the_population():
    people = draws.population(RECORDS, USERS, 2, Entropy.seeded(1))
    groups = draws.groups(people, 9_000, 998, Entropy.seeded(2))
    assert (groups.sizes.discovery, groups.sizes.calibration, groups.sizes.clients) == (9_000, 998, 2)
    names = people.names(np.arange(4))
    listed = Listed(HeadList.of(names), dict(zip(names, range(4), strict=True)), people)
    parts = [groups.discovery.on(listed), groups.calibration.on(listed), groups.clients_on(listed)]
    assert sum(parts).tolist() == groups.everyone_on(listed).tolist()
    assert all((part >= 0).all() for part in parts[:2])


@pytest.mark.parametrize("share", [0.03, 0.3, 0.95])
def test_thinned_counts_have_the_moments_of_drawing_without_replacement(share):
    counts = np.array([4_000, 200, 40, 3])
    entropy = Entropy.seeded(f"thinned {share}")
    drawn = np.array([draws.thinned(counts, share, USERS, entropy) for _ in range(REPEATS)])
    variance = counts * share * (1 - share)
    assert (np.abs(drawn.mean(0) - counts * share) <= 5 * np.sqrt(variance / REPEATS) + 0.01).all()
    finite = variance * (1 - counts / USERS)
    assert close(drawn.var(0), finite, variance + 0.1).all()
    assert (drawn >= 0).all()
    assert (drawn <= counts).all()


def test_a_group_of_everyone_has_all_counts():
    counts = np.array([1_000, 5])
    assert draws.thinned(counts, 1.0, USERS, Entropy.seeded(1)).tolist() == [1_000, 5]


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
def test_scaled_reports_have_the_moments_of_real_ones(monkeypatch, size):
    monkeypatch.setattr(draws, "_REPORTS", 1)
    monkeypatch.setattr(draws, "_FEWEST", 500)
    channel = slack_free(HeadList.of([(q, u) for q in "abcde" for u in "xy"]), 2, "0.85", size)
    clients = np.array([300, 100, 20, 200, 5, 50, *([40] * 9), 1_500])
    entropy = Entropy.seeded(f"reports {size}")
    fast, real = (np.array([how(clients, channel, entropy) for _ in range(REPORTS)]) for how in (draws.reports, simulate))
    assert (fast.sum(1) == size * clients.sum()).all()
    spread = real.std(0)
    assert (np.abs(fast.mean(0) - real.mean(0)) <= 5 * spread * np.sqrt(2 / REPORTS) + 0.5).all()
    assert fast.var(0) == pytest.approx(real.var(0), rel=5 * np.sqrt(4 / REPORTS), abs=0.5)


def test_few_clients_all_report():
    channel = slack_free(HeadList.of([("a", "x")]), 2, "0.85")
    clients = np.array([10, 5, 30])
    found = draws.reports(clients, channel, Entropy.seeded(3))
    assert found.tolist() == simulate(clients, channel, Entropy.seeded(3)).tolist()
