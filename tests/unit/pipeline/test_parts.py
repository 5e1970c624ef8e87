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
    """The digest of every number of a release, to ten decimals, and of its promises.

    The last bits of a sum depend on its order, which may change: noise moves every share in its fourth decimal.
    """
    rows = [
        {name: round(value, 10) if isinstance(value, float) else value for name, value in asdict(row).items()}
        for row in (*release.queries, *release.records)
    ]
    m = release.manifest
    facts = [release.head_list.digest, m.reports, m.threshold, m.discovery_users, [asdict(g) for g in m.groups]]
    return hashlib.sha256(json.dumps([rows, facts], default=float).encode()).hexdigest()


@pytest.mark.parametrize(
    ("changes", "simulation", "columns", "expected"),
    [
        ({}, "users", Columns(), "f08c721321447a5f306c387f2e499403440713d9ba7d65c715300a1eda1500ef"),
        (
            {"max_queries": 50, "project": False},
            "users",
            Columns(),
            "acf456af71fa7f99cc4cd87276cde741d2c45a339e5268cc6a1ab6a29f9c4cb9",
        ),
        (
            {"f_c": "0.7", "m_c": 2, "epsilon": 1},
            "users",
            Columns(),
            "b5e360c1b324618c7f7aeb0f39c43cf0cada75a95c016c93283d6b60e10b96f7",
        ),
        ({}, "cells", Columns(), "12a818bc9934df61fb6f36db602513e3a5c01f95250ac2bb1935daf7a4cb2893"),
        ({}, "users", Columns(url=None), "b328f6b7dbef8db48eb3d87a8df4577c85574a588446af0bebb494d01a9a0a17"),
    ],
)
def test_the_paper_profile_gives_the_same_results_as_before(changes, simulation, columns, expected):
    """Digests of commit 420a063, the last one with one profile: a seeded run gives the same result.

    Except that an interval now includes its own share where that is below 0 (without projection).
    """
    log = POPULATION if columns.levels == 2 else POPULATION.drop_columns(["url"])
    release = blender(profile="paper", **changes).run_log(
        log, 0.3, columns=columns, key=b"k", entropy=Entropy.seeded(1), simulation=simulation
    )
    assert digest(release) == expected
