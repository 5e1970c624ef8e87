"""What the manifest of a run records."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.unit.pipeline.runs import DELTA, OPT_IN, run

pytestmark = pytest.mark.slow  # a whole run for every test


def test_the_manifest_records_how_the_release_was_made():
    manifest = run().manifest
    opt_in, clients = manifest.groups
    assert (opt_in.users, clients.users, manifest.reports) == (20_000, 40_000, 40_000)
    assert manifest.discovery_users + manifest.calibration_users == 20_000
    assert abs(manifest.discovery_users / 20_000 - 0.95) < 0.01
    assert (opt_in.model, clients.model) == ("central", "local")
    assert (opt_in.epsilon, opt_in.delta, clients.epsilon, clients.delta) == (4, DELTA, 4, 0)
    assert "substitution" in opt_in.neighbours
    assert manifest.randomness == "insecure: seeded"
    assert manifest.is_seeded
    assert manifest.settings.profile == "tight"
    assert manifest.canonical_version == 1
    assert manifest.reports_from == "log"
    assert {"blender-dp", "python", "numpy", "duckdb"} <= set(manifest.versions)


def test_the_manifest_of_a_paper_run_names_the_papers_parts():
    manifest = run(profile="paper").manifest
    opt_in, clients = manifest.groups
    assert (opt_in.epsilon, opt_in.delta, clients.epsilon, clients.delta) == (4, DELTA, 4, DELTA)
    settings = manifest.settings
    assert (settings.profile, settings.f_c, settings.subset_size) == ("paper", Fraction(85, 100), 1)
    assert (settings.discovery, settings.randomiser, settings.estimator) == ("laplace", "two-stage", "average")


def test_the_manifest_records_the_chosen_design():
    """With few opt-in users and a small ε reports of several queries are better; and explicit values are not replaced."""
    chosen = run(OPT_IN.slice(0, 1000), epsilon=1, delta="0.05", max_queries=200, allow_weak_privacy=True).manifest
    assert chosen.settings.subset_size > 1
    assert chosen.reports == 40_000
    settings = run().manifest.settings
    assert settings.subset_size == 1
    assert settings.f_c in [Fraction(percent, 100) for percent in (98, 95, 92, 90, 88, 85)]
    assert run(randomiser="two-stage").manifest.settings.f_c > 0.85
    assert run(randomiser="two-stage", f_c="0.7").manifest.settings.f_c == Fraction(7, 10)
    given = run(f_c="0.7", subset_size=3).manifest
    assert (given.settings.f_c, given.settings.subset_size, given.reports) == (Fraction(7, 10), 3, 40_000)


def test_the_subset_is_no_larger_than_the_list_and_the_manifest_records_it():
    release = run(subset_size=500)
    assert (len(release.head_list), release.manifest.settings.subset_size, release.manifest.reports) == (10, 10, 40_000)
    rows = [(str(i), f"q{i}", "https://u.example/") for i in range(600)]
    assert run(rows[:300], rows[300:], subset_size=500).manifest.settings.subset_size == 1  # on an empty list
