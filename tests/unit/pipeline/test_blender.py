"""A run from end to end."""

from __future__ import annotations

import pytest

from blender_dp import (
    Entropy,
)
from tests.unit.pipeline.runs import CLIENTS, OPT_IN, POPULATION, blender, run


def test_a_run_finds_the_head():
    release = run()
    assert len(release.head_list) == 10
    assert release.trends(1)[0].query == "google"
    assert abs(release.trends(1)[0].share - 0.0211) < 0.006
    assert release.queries[-1].query is None
    assert sum(row.share for row in release.queries) == pytest.approx(1)
    assert sum(row.share for row in release.records) == pytest.approx(1)


@pytest.mark.parametrize("estimator", ["likelihood", "average"])
@pytest.mark.parametrize("project", [True, False])
def test_every_estimate_is_inside_its_interval(estimator, project):
    """With little budget, so that many unbiased shares are below 0."""
    release = run(estimator=estimator, project=project, epsilon=1, max_queries=50)
    rows = (*release.queries, *release.records)
    assert all(row.low <= row.share <= row.high for row in rows)
    assert any(row.share < 0 for row in rows) == (estimator == "average" and not project)


@pytest.mark.slow
def test_groups_that_agree_get_full_weight():
    """`robust` changes nothing, to the last bit, as long as chance explains the differences between the groups."""
    doubting, believing = run(), run(robust=False)
    assert not any(row.is_plain for row in doubting.disagreement().queries)
    assert (doubting.queries, doubting.records) == (believing.queries, believing.records)
    assert (doubting.manifest.settings.robust, believing.manifest.settings.robust) == (True, False)


@pytest.mark.slow
def test_the_same_seed_repeats_a_run_and_another_does_not():
    assert run() == run()
    assert run() != run(seed=2)


@pytest.mark.slow
def test_real_randomness_is_not_marked():
    release = blender().run(OPT_IN, CLIENTS)
    assert release.manifest.randomness == "system"
    assert release != blender().run(OPT_IN, CLIENTS)


@pytest.mark.slow
def test_several_reports_per_client_split_the_budget():
    release = run(m_c=2, profile="paper")
    assert release.manifest.reports == 80_000
    assert release.manifest.groups[1].epsilon == 4
    assert blender(m_c=2, profile="paper").collection.channel(release.head_list) != blender().collection.channel(
        release.head_list
    )
    assert len(blender(m_c=2, profile="paper").run_log(POPULATION, 0.4, key=b"k", entropy=Entropy.seeded(1)).head_list) == 10


@pytest.mark.slow
def test_the_projection_is_optional():
    assert min(row.share for row in run(project=False, max_queries=50, profile="paper").records) < 0
    assert min(row.share for row in run(project=False, max_queries=50).records) >= 0  # the likelihood has no shares below 0


def test_an_empty_list_still_gives_a_release():
    rows = [(str(i), f"q{i}", "https://u.example/") for i in range(600)]
    release = run(rows[:300], rows[300:])
    assert len(release.head_list) == 0
    assert [row.query for row in release.queries] == [None]
    assert release.trends() == []
    assert release.search("q") == []


def test_progress_is_reported():
    steps: list[str] = []
    blender().run(OPT_IN, CLIENTS, progress=steps.append)
    assert [step.split(":")[0] for step in steps] == [
        "one record per user",
        "discovery",
        "calibration",
        "reporting",
        "blending",
    ]


def test_repr_shows_the_parameters():
    assert repr(blender()).startswith("Blender(epsilon=4, delta=1/100000, f_o=19/20,")
