"""Whether a manifest promises what follows from its parameters: an audit of the parameters proves nothing else."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from blender_dp.errors import DocumentError
from blender_dp.pipeline.collection import Collection
from blender_dp.release import Release
from blender_dp.release.document import FIX
from blender_dp.release.manifest import Manifest, Sizes, manifest_of
from blender_dp.stages import Design

_STATED = ("groups", "threshold", "canonical_version", "expected_exposures")


def check_manifest(release: Release, source: str) -> None:
    """Refuse a release whose promises, threshold or exposures are not those of its parameters and group sizes."""
    expected = _expected(release)
    for name in _STATED:
        if getattr(release.manifest, name) != getattr(expected, name):
            raise DocumentError(source, f"manifest.{name}: does not follow from its parameters and group sizes", FIX)


def _expected(release: Release) -> Manifest:
    stated, collection = release.manifest, Collection(release.manifest.settings)
    return manifest_of(
        stated.settings,
        collection.promises(),
        Sizes(stated.discovery_users, stated.calibration_users, stated.groups[-1].users if stated.groups else 0),
        design=Design(cast("Fraction", stated.settings.f_c), stated.settings.subset_size or 1),
        threshold=collection.discovery.tau,
        reports=stated.reports,
        head_list=release.reporting_list,
        seeded=stated.is_seeded,
        reports_from=stated.reports_from,
    )
