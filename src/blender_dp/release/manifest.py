"""The manifest: everything a reader needs to judge a release."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.metadata import version
from typing import Any, Literal

from pydantic import TypeAdapter

from blender_dp.parameters import Parameters
from blender_dp.privacy.limits import expected_exposures, exposure_statement
from blender_dp.privacy.loss import Promise
from blender_dp.privacy.statement import statement
from blender_dp.release.exact import Exact
from blender_dp.release.settings import Settings, chosen
from blender_dp.stages import Design
from blender_dp_device.records.canonical import CANONICAL_VERSION
from blender_dp_device.records.reporting_list import ReportingList

_PACKAGES = ("blender-dp", "cryptography", "duckdb", "numpy", "pyarrow")


@dataclass(frozen=True)
class GroupPromise:
    """The promise to one group of users."""

    group: str
    users: int
    model: str
    epsilon: Exact
    delta: Exact
    unit: str
    neighbours: str


@dataclass(frozen=True)
class Manifest:
    """How a release was made.

    `randomness` is `system`, or `insecure: seeded` for tests and simulations. `reports_from` is `log` if the clients'
    reports were simulated from a log of their records, and `devices` if the clients' own devices made them.
    """

    settings: Settings
    groups: tuple[GroupPromise, ...]
    discovery_users: int
    calibration_users: int
    reports: int
    threshold: Exact
    head_list: str
    """The digest of the list with its channel; every report names it."""
    candidates: str | None
    """The digest of the public list whose records were listed without a threshold."""
    canonical_version: int
    randomness: Literal["system", "insecure: seeded"]
    reports_from: Literal["log", "devices"]
    versions: dict[str, str]
    expected_exposures: Exact
    """The expected number of listed records that only one user has is at most this: δ times the discovery users."""
    weak_privacy_allowed: bool
    """Whether an explicit option switched off the limits on ε and δ."""

    @property
    def is_seeded(self) -> bool:
        """Whether anyone who knows the seed can reproduce the noise and remove it."""
        return self.randomness != "system"

    def to_document(self) -> dict[str, Any]:
        """The manifest as JSON values, as in a release file: numbers that may be fractions are exact strings."""
        document: dict[str, Any] = _ADAPTER.dump_python(self, mode="json")
        return document


_ADAPTER = TypeAdapter(Manifest)


@dataclass(frozen=True)
class Sizes:
    """The size of each group; these numbers are public."""

    discovery: int
    calibration: int
    clients: int


def manifest_of(
    parameters: Parameters,
    promises: tuple[Promise, Promise],
    sizes: Sizes,
    *,
    design: Design,
    threshold: float,
    reports: int,
    head_list: ReportingList,
    seeded: bool,
    reports_from: Literal["log", "devices"] = "log",
) -> Manifest:
    """Create the manifest of a release."""
    return Manifest(
        settings=chosen(parameters, design),
        groups=(
            _group_promise(promises[0], sizes.discovery + sizes.calibration),
            _group_promise(promises[1], sizes.clients),
        ),
        discovery_users=sizes.discovery,
        calibration_users=sizes.calibration,
        reports=reports,
        threshold=Fraction(threshold),  # a grid point, which a float holds exactly
        head_list=head_list.digest,
        candidates=parameters.candidates.digest if parameters.candidates else None,
        canonical_version=CANONICAL_VERSION,
        randomness="insecure: seeded" if seeded else "system",
        reports_from=reports_from,
        versions=package_versions(),
        expected_exposures=expected_exposures(parameters.delta, sizes.discovery),
        weak_privacy_allowed=parameters.allow_weak_privacy,
    )


def package_versions() -> dict[str, str]:
    """The versions of Python and the packages that the numbers depend on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


@cache
def _version(package: str) -> str:
    """The version of a package, which Python would look for in all folders each time."""
    return version(package)


def statements(manifest: Manifest) -> list[str]:
    """What the manifest's promises mean, in plain words: one per group, and how many records may be exposed."""
    promises = [statement(g.group, g.users, g.model, g.epsilon, g.delta, manifest.reports_from) for g in manifest.groups]
    forced = ["Weak privacy was allowed explicitly for this release."] * manifest.weak_privacy_allowed
    return [*promises, exposure_statement(manifest.settings.delta, manifest.discovery_users), *forced]


def _group_promise(promise: Promise, users: int) -> GroupPromise:
    return GroupPromise(
        group=promise.group,
        users=users,
        model=promise.model.value,
        epsilon=promise.loss.epsilon,
        delta=promise.loss.delta,
        unit=promise.unit,
        neighbours=promise.neighbours,
    )
