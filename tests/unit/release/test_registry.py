from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from blender_dp import DocumentError, ParameterError, Release
from blender_dp.release.registry import Deployment, placeholders, registry_entry

DATA = Path(__file__).with_name("data")
SCHEMA = Draft7Validator(
    json.loads((DATA / "registry-schema.json").read_text(encoding="utf-8")), format_checker=Draft7Validator.FORMAT_CHECKER
)
COMPLETE = Deployment(
    name="Search trends",
    curator="Example Ltd",
    curator_type="Industry",
    intended_use="Show what is popular.",
    region="Global",
    sector="Technology",
    published="2026-11-16",
    releases="One release",
    justification="As in the papers.",
    author="A. Person",
    url="https://example.org/trends",
)


def honest(release: Release, **changes) -> Release:
    """The release as if it had been made without a seed."""
    return dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, randomness="system", **changes))


@pytest.fixture
def release() -> Release:
    return honest(Release.load(DATA / "release-1.json"))


def test_a_complete_entry_follows_the_registry_s_schema(release, item_release):
    for one in (release, honest(item_release), dataclasses.replace(release, queries=release.queries[-1:])):
        entry = registry_entry(one, COMPLETE)
        assert [error.message for error in SCHEMA.iter_errors(entry)] == []
        assert list(placeholders(entry)) == []
        assert entry["url_slug"] == "search-trends-example-ltd-2026"


def test_what_only_the_operator_knows_is_marked_and_fails_the_registry_s_check(release):
    entry = registry_entry(release, Deployment())
    missing = list(placeholders(entry))
    assert len(missing) == 10
    assert "deployment.basic.data_curators.0.data_curator_type" in missing
    rejected = {".".join(map(str, error.absolute_path)) for error in SCHEMA.iter_errors(entry)}
    assert rejected == {
        "deployment.basic.data_curators.0.data_curator_type",
        "deployment.basic.data_product_sector",
        "deployment.basic.publication_date",
        "deployment.deployment_model.release_type",
    }


def test_privacy_comes_from_the_manifest(release):
    loss = registry_entry(release, COMPLETE)["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": 2.5, "delta": 1e-4}
    assert loss["number_of_privacy_units"] == 20_000
    assert "5,915" in loss["privacy_parameters_details"]
    assert "substitution" in loss["privacy_unit_details"]


def test_a_rounded_loss_is_never_understated(release):
    for exact in (Fraction(7, 3), Fraction(1, 30_000), Fraction(2, 3), Fraction("0.1")):
        groups = tuple(dataclasses.replace(group, epsilon=exact, delta=Fraction(0)) for group in release.manifest.groups)
        entry = registry_entry(honest(release, groups=groups), COMPLETE)["deployment"]
        written = entry["privacy_loss"]["privacy_parameters"]
        assert set(written) == {"epsilon"}
        assert exact <= Fraction(json.dumps(written["epsilon"])) < exact * (1 + Fraction(1, 10**15))
        assert entry["dp_variant"]["variant_name"] == "Pure DP"


def test_trust_and_mechanisms_follow_the_manifest(release):
    devices = registry_entry(honest(release, reports_from="devices"), COMPLETE)["deployment"]
    log = registry_entry(release, COMPLETE)["deployment"]
    assert "simulated from a log" in log["deployment_model"]["trust_assumptions"]
    assert "simulated from a log" not in devices["deployment_model"]["trust_assumptions"]
    assert (log["deployment_model"]["data_source_type"], devices["deployment_model"]["data_source_type"]) == (
        "Static",
        "Dynamic",
    )
    settings = dataclasses.replace(
        release.manifest.settings, profile="tight", discovery="geometric", randomiser="subset", estimator="likelihood"
    )
    tight = registry_entry(honest(release, settings=settings), COMPLETE)["deployment"]["implementation"]
    assert "geometric noise" in tight["mechanisms"]
    assert "Laplace noise and a threshold" in log["implementation"]["mechanisms"]
    candidates = registry_entry(honest(release, candidates="c" * 64), COMPLETE)["deployment"]["dp_variant"]
    assert "c" * 64 in candidates["unprotected_quantities"]


def test_a_seeded_release_is_no_deployment(release):
    seeded = dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, randomness="insecure: seeded"))
    with pytest.raises(DocumentError, match="offers no privacy"):
        registry_entry(seeded, COMPLETE)


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("curator_type", "Company", "curator_type: 'Company' is unknown to the registry. Use one of: Government"),
        ("sector", "Search", "sector: 'Search' is unknown"),
        ("releases", "one", "releases: 'one' is unknown"),
        ("published", "16.11.2026", "date: '16.11.2026' is not a date. Write it as YYYY-MM-DD"),
        ("published", "20261116", "date: '20261116' is not a date"),
    ],
)
def test_values_that_the_registry_does_not_accept_are_refused(field, value, problem):
    with pytest.raises(ParameterError, match=problem):
        Deployment(**{field: value})


def test_the_number_of_records_and_the_intervals_are_stated(release):
    deployment = registry_entry(release, COMPLETE)["deployment"]
    assert deployment["privacy_loss"]["privacy_unit_details"].endswith("m is 1 for opt-in users and 1 for clients")
    margins = sorted(row.margin for row in release.trends(1000))
    expected = f"around the listed queries' shares are ±{margins[0]:.2g} to ±{margins[-1]:.2g}."
    assert expected in deployment["implementation"]["utility"]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"region": ""}, "region: is empty"), ({"author": " "}, "author: is empty"),
        ({"url": "notaurl"}, "url: 'notaurl' is not a web address"), ({"url": "https://"}, "url: .* is not a web address"),
    ],
)  # fmt: skip
def test_an_empty_text_and_an_invalid_address_are_refused(values, problem):
    with pytest.raises(ParameterError, match=problem):
        Deployment(**values)
