"""A release as an entry of the Differential Privacy Deployments Registry (registry.opendp.org).

Field names and allowed values follow the registry's schema (`schemas/deployments-schema.yaml` in the GitHub repository
opendp/deployments-registry-data). What a manifest does not say, only the operator knows: it comes from `Deployment`, or is
a placeholder that begins with TODO.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from fractions import Fraction
from typing import Any

from blender_dp.errors import DocumentError, ParameterError
from blender_dp.release.manifest import Manifest, statements
from blender_dp.release.registry_texts import (
    ACTORS,
    COMPOSITION,
    DISCOVERY,
    ESTIMATOR,
    EXACTNESS,
    PAPERS,
    PREPROCESSING,
    RANDOMISER,
    SOURCE_TYPE,
    TRUST,
)
from blender_dp.release.release import Release

TODO = "TODO"
_ALLOWED = {
    "curator_type": ("Government", "Industry", "Nonprofit"),
    "sector": ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
    "releases": ("One release", "Many releases"),
}
_DATE = "YYYY-MM-DD"


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What a release does not say about its deployment."""

    name: str = f"{TODO}: name of the data product"
    curator: str = f"{TODO}: organisation that publishes it"
    curator_type: str = f"{TODO}: {', '.join(_ALLOWED['curator_type'])}"
    intended_use: str = f"{TODO}: what it is for"
    region: str = f"{TODO}: region that it describes, such as Global"
    sector: str = f"{TODO}: {', '.join(_ALLOWED['sector'])}"
    published: str = f"{TODO}: {_DATE}"
    releases: str = f"{TODO}: {', '.join(_ALLOWED['releases'])}"
    justification: str = f"{TODO}: reason for this ε and this δ"
    author: str = f"{TODO}: author of this entry"
    url: str = ""
    """Where the release is published."""

    def __post_init__(self) -> None:
        """Refuse values that the registry does not accept."""
        for field in fields(self):
            if field.name != "url" and not getattr(self, field.name).strip():
                raise ParameterError(field.name, "is empty", "Leave it out to fill it in later")
        if self.url and not re.fullmatch(r"https?://[^\s/]+\S*", self.url):
            raise ParameterError("url", f"{self.url!r} is not a web address", "Write it as https://example.org/release")
        for name, values in _ALLOWED.items():
            if (value := getattr(self, name)) not in values and not value.startswith(TODO):
                raise ParameterError(name, f"{value!r} is unknown to the registry", f"Use one of: {', '.join(values)}")
        if not (self.published.startswith(TODO) or _is_date(self.published)):
            raise ParameterError("date", f"{self.published!r} is not a date", f"Write it as {_DATE}")


def registry_entry(release: Release, deployment: Deployment) -> dict[str, Any]:
    """The entry as JSON values. A release from a run with a seed is refused, because it is not private."""
    manifest = release.manifest
    if manifest.is_seeded:
        problem = "was made with a seed and offers no privacy, so it is not a deployment"
        raise DocumentError("release", problem, "Use a release that was made without one")
    sections = {
        "basic": _basic(release, deployment),
        "dp_variant": _variant(manifest),
        "privacy_loss": _loss(manifest),
        "deployment_model": _model(manifest, deployment),
        "implementation": _implementation(release, deployment),
        "administrative": {
            "evidence_sources": _sources(deployment),
            "status": "Draft",
            "registry_authors": [deployment.author],
            "tier": 3,
        },
    }
    return {"url_slug": _slug(deployment), "deployment": sections}


def placeholders(entry: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all fields that still have to be filled in."""
    for name, value in entry.items():
        here = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from placeholders(value, here)
        elif isinstance(value, list):
            numbered = {str(i): one for i, one in enumerate(value)}
            yield from placeholders(numbered, here)
        elif isinstance(value, str) and TODO in value:
            yield here


def _basic(release: Release, deployment: Deployment) -> dict[str, Any]:
    return {
        "name": deployment.name,
        "data_curators": [{"data_curator_name": deployment.curator, "data_curator_type": deployment.curator_type}],
        "description": (
            f"The {len(release.head_list)} most popular queries{_with_urls(release)}, each with its estimated share of all "
            "users and a 95 % interval, learned with BLENDER from opt-in users and clients together."
        ),
        "intended_use": deployment.intended_use,
        "data_product_type": "Summary statistics",
        "data_product_region": deployment.region,
        "data_product_sector": deployment.sector,
        "publication_date": deployment.published,
    }


def _variant(manifest: Manifest) -> dict[str, str]:
    settings, approximate = manifest.settings, any(group.delta for group in manifest.groups)
    candidates = f" The public candidates that were listed without a threshold: {manifest.candidates}."
    return {
        "variant_name": "Approximate DP" if approximate else "Pure DP",
        "data_domain": (
            "Any assignment of records (a query and a URL, or one item) to users, of which at most "
            f"{settings.m_o} per opt-in user and {settings.m_c} per client are used."
        ),
        "unprotected_quantities": f"The number of users in each group.{candidates if manifest.candidates else ''}",
    }


def _loss(manifest: Manifest) -> dict[str, Any]:
    groups = manifest.groups
    units = sorted({f"{group.unit}; {group.neighbours}" for group in groups})
    records = f"m is {manifest.settings.m_o} for opt-in users and {manifest.settings.m_c} for clients"
    epsilon, delta = max(group.epsilon for group in groups), max(group.delta for group in groups)
    return {
        "privacy_unit": "User-level",
        "privacy_unit_details": "\n".join([*units, records]),
        "number_of_privacy_units": sum(group.users for group in groups),
        "privacy_parameters": {"epsilon": _above(epsilon), **({"delta": _above(delta)} if delta else {})},
        "privacy_parameters_details": _list(statements(manifest)),
    }


def _model(manifest: Manifest, deployment: Deployment) -> dict[str, str]:
    from_devices = manifest.reports_from == "devices"
    return {
        "model_name": "Varies",
        "model_name_details": "Hybrid: " + ", ".join(f"{group.model} for {group.group}" for group in manifest.groups) + ".",
        "trust_assumptions": TRUST[manifest.reports_from],
        "actors": _list(ACTORS),
        "release_type": deployment.releases,
        "release_type_details": "The privacy parameters are those of this one release; further releases add to them.",
        "data_source_type": "Dynamic" if from_devices else "Static",
        "access_type": "Non-interactive",
        "access_type_details": "The release is a file; nobody can query the records behind it.",
    }


def _implementation(release: Release, deployment: Deployment) -> dict[str, str]:
    manifest = release.manifest
    settings = manifest.settings
    mechanisms = [DISCOVERY[settings.discovery], "Calibration: Laplace noise on the counts of the listed records."]
    return {
        "preprocessing_and_hyperparameter_tuning": PREPROCESSING.format(version=manifest.canonical_version),
        "mechanisms": _list([*mechanisms, RANDOMISER[settings.randomiser], *EXACTNESS, _versions(manifest)]),
        "composition": COMPOSITION.format(m_c=settings.m_c),
        "post_processing": ESTIMATOR[settings.estimator],
        "justification": deployment.justification,
        "utility": _utility(release),
        "additional_information": f"Digest of the list that devices reported on: {manifest.head_list}.",
    }


def _utility(release: Release) -> str:
    margins = sorted(row.margin for row in release.trends(len(release.queries)))
    if not margins:
        return "No query was listed."
    least, most = margins[0], margins[-1]
    return f"The 95 % intervals around the listed queries' shares are ±{least:.2g} to ±{most:.2g}."


def _versions(manifest: Manifest) -> str:
    return "Software: " + ", ".join(f"{name} {version}" for name, version in manifest.versions.items()) + "."


def _sources(deployment: Deployment) -> dict[str, Any]:
    own = {"release": {"evidence_source_type": SOURCE_TYPE, "misc": {"title": deployment.name, "url": deployment.url}}}
    return {**(own if deployment.url else {}), **PAPERS}


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _slug(deployment: Deployment) -> str:
    """Name, curator and year, as other entries have it."""
    text = f"{deployment.name} {deployment.curator} {deployment.published[:4]}".lower()
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-")


def _with_urls(release: Release) -> str:
    return " and their most popular URLs" if release.head_list.levels == 2 else ""


def _list(texts: list[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _above(value: Fraction) -> float:
    """A float whose decimal digits, as they are written, do not understate a loss."""
    number = float(value)
    return number if Fraction(repr(number)) >= value else math.nextafter(number, math.inf)
