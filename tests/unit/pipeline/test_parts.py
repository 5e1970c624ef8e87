"""Profiles, and combinations of their parts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from itertools import product

import pytest

from blender_dp import (
    Columns,
    Entropy,
    OutsideTheoremError,
    Release,
)
from blender_dp.parameters import PARTS
from tests.unit.pipeline.runs import DELTA, POPULATION, blender, run

pytestmark = pytest.mark.slow  # a whole run for every test


@pytest.mark.parametrize("parts", list(product(*PARTS.values())), ids="-".join)
def test_parts_can_be_combined(parts):
    """All eight combinations find the head, state their parts, and promise what their parts promise."""
    discovery, randomiser, estimator = parts
    release = run(discovery=discovery, randomiser=randomiser, estimator=estimator)
    settings = release.manifest.settings
    assert (settings.discovery, settings.randomiser, settings.estimator) == parts
    assert release.trends(1)[0].query == "google"
    assert abs(release.trends(1)[0].share - 0.0211) < 0.006
    assert sum(row.share for row in release.queries) == pytest.approx(1)
    assert [group.delta for group in release.manifest.groups] == [DELTA, 0 if randomiser == "subset" else DELTA]
    assert "tight" in repr(blender(discovery=discovery, randomiser=randomiser, estimator=estimator))


def test_repr_shows_parts_that_differ_from_the_profile():
    assert "estimator='average'" in repr(blender(estimator="average"))
    assert "estimator" not in repr(blender(estimator="likelihood"))
    assert "estimator='likelihood'" in repr(blender(profile="paper", estimator="likelihood"))


def test_a_small_epsilon_works_end_to_end():
    """With a value that the papers' discovery theorem does not cover."""
    release = run(epsilon="0.1", delta="1e-3", allow_weak_privacy=True)
    assert "google" in release.head_list.queries
    assert sum(row.share for row in release.records) == pytest.approx(1)
    assert abs(release.trends(1)[0].share - 0.0211) < 0.02
    with pytest.raises(OutsideTheoremError, match="epsilon") as caught:
        blender(epsilon="0.1", discovery="laplace")
    assert caught.value.subject == "epsilon"


def digest(release: Release) -> str:
    """The digest of every number of a release, to the last bit, and of its promises."""
    rows = [asdict(row) for row in (*release.queries, *release.records)]
    m = release.manifest
    facts = [release.head_list.digest, m.reports, m.threshold, m.discovery_users, [asdict(g) for g in m.groups]]
    return hashlib.sha256(json.dumps([rows, facts], default=float).encode()).hexdigest()


@pytest.mark.parametrize(
    ("changes", "simulation", "columns", "expected"),
    [
        ({}, "users", Columns(), "a57a577e9177e0cbd7be106424aa0f9cfcdd0004bd066b5ae531250b3f537d3f"),
        (
            {"max_queries": 50, "project": False},
            "users",
            Columns(),
            "c6443d3a2dca37e817f725a448f6d5719797654529afcca043b6ca29aaa4f1b8",
        ),
        (
            {"f_c": "0.7", "m_c": 2, "epsilon": 1},
            "users",
            Columns(),
            "ddc2793b181603505465f04b3c8fde911f6f08983ba59466c8edf8f19f11b7d6",
        ),
        ({}, "cells", Columns(), "ad203dc71cdcb93227ac129757903e014e195062421d22e21bf82361e7fa0b9e"),
        ({}, "users", Columns(url=None), "482a00be51fda2262422c29daaf9ae53c4397d4c30ea5a11ff5e3b16835c7b26"),
    ],
)
def test_the_paper_profile_gives_the_same_results_as_before(changes, simulation, columns, expected):
    """Digests of commit 420a063, the last one with one profile: a seeded run gives the same result to the last bit.

    Except that an interval now includes its own share where that is below 0 (without projection).
    """
    log = POPULATION if columns.levels == 2 else POPULATION.drop_columns(["url"])
    release = blender(profile="paper", **changes).run_log(
        log, 0.3, columns=columns, key=b"k", entropy=Entropy.seeded(1), simulation=simulation
    )
    assert digest(release) == expected
