"""An audit of a release refuses a manifest that promises something other than what was audited."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from blender_dp import DocumentError, Release
from blender_dp.pipeline.manifest_check import check_manifest
from tests.conftest import ROOT


@pytest.fixture(scope="module", params=["items", "schema 1"])
def release(request: pytest.FixtureRequest) -> Release:
    if request.param == "items":
        return request.getfixturevalue("item_release")
    return Release.load(ROOT / "tests/unit/release/data/release-1.json")


def test_an_unchanged_release_is_accepted(release: Release) -> None:
    check_manifest(release, "release")


@pytest.mark.parametrize("group", [0, 1])
@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": Fraction(1)}, {"delta": Fraction(1, 10**12)}, {"model": "none"}, {"group": "nobody"},
        {"unit": "row"}, {"neighbours": "none"},
    ],
    ids=str,
)  # fmt: skip
def test_a_promise_that_the_parameters_do_not_make_is_refused(release: Release, group: int, change) -> None:
    groups = list(release.manifest.groups)
    groups[group] = dataclasses.replace(groups[group], **change)
    _refused(release, "groups", groups=tuple(groups))


def test_a_missing_or_additional_promise_is_refused(release: Release) -> None:
    groups = release.manifest.groups
    for some in ((), groups[:1], (*groups, groups[1])):
        _refused(release, "groups", groups=some)


@pytest.mark.parametrize(
    ("field", "value"), [("threshold", Fraction(1)), ("expected_exposures", Fraction(0)), ("canonical_version", 2)]
)
def test_other_numbers_that_do_not_follow_are_refused(release: Release, field: str, value: object) -> None:
    _refused(release, field, **{field: value})


def test_group_sizes_must_add_up(release: Release) -> None:
    _refused(release, "groups", discovery_users=release.manifest.discovery_users + 1)


def _refused(release: Release, field: str, **change: object) -> None:
    changed = dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, **change))
    with pytest.raises(DocumentError, match=f"manifest.{field}: does not follow"):
        check_manifest(changed, "release")
