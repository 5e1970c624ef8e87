"""Write and read the JSON form of a release, checked against its types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter, ValidationError

from blender_dp.errors import DocumentError, ParameterError
from blender_dp.privacy.limits import expected_exposures
from blender_dp.privacy.loss import Model
from blender_dp.release.estimates import QueryEstimate, RecordEstimate
from blender_dp.release.manifest import Manifest
from blender_dp_device.arithmetic import exact

if TYPE_CHECKING:
    from blender_dp.release.release import Release


@dataclass(frozen=True)
class ReleaseDocument:
    """The contents of a release file."""

    schema: Literal["blender-dp/release/2"]
    manifest: Manifest
    head_list: dict[str, Any]
    queries: tuple[QueryEstimate, ...]
    records: tuple[RecordEstimate, ...]


SCHEMA: Literal["blender-dp/release/2"] = "blender-dp/release/2"
_FLOATS = "blender-dp/release/1"  # this schema had parameters as floats
FIX = "Use a release.json that blender-dp wrote"
_ADAPTER = TypeAdapter(ReleaseDocument)
_MOST_USERS = 10**12
_ROUNDING = 1e-6  # projected shares may be this far outside 0 to 1


def dump(release: Release) -> str:
    """The release as JSON text."""
    parts = ReleaseDocument(SCHEMA, release.manifest, release.reporting_list.to_document(), release.queries, release.records)
    return _ADAPTER.dump_json(parts, indent=2).decode() + "\n"


def parse(value: object, source: str) -> ReleaseDocument:
    """Check JSON values against the schema."""
    try:
        parts = _ADAPTER.validate_json(json.dumps(_upgraded(value)), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        raise DocumentError(source, f"{place}: {first['msg'].removesuffix('.')}", FIX) from None
    _check_groups(parts.manifest, source)
    _check_shares(parts, source)
    return parts


def _check_groups(manifest: Manifest, source: str) -> None:
    """Refuse groups that no release has: trends and comparisons divide by their sizes."""
    sizes = (manifest.discovery_users, manifest.calibration_users, *(group.users for group in manifest.groups))
    if [group.model for group in manifest.groups] != [Model.CENTRAL.value, Model.LOCAL.value]:
        raise DocumentError(source, "manifest.groups: not one central group and one local group", FIX)
    if not all(1 <= size <= _MOST_USERS for size in sizes) or not 0 <= manifest.reports <= _MOST_USERS:
        raise DocumentError(source, f"manifest: a group has less than 1 or more than {_MOST_USERS:,} users", FIX)


def _check_shares(parts: ReleaseDocument, source: str) -> None:
    """Refuse shares outside their own interval, and projected ones outside 0 to 1."""
    for name, rows in (("queries", parts.queries), ("records", parts.records)):
        for number, row in enumerate(rows):
            if not row.low <= row.share <= row.high:
                raise DocumentError(source, f"{name}.{number}.share: is not between low and high", FIX)
            if parts.manifest.settings.project and not -_ROUNDING <= row.share <= 1 + _ROUNDING:
                raise DocumentError(source, f"{name}.{number}.share: is not between 0 and 1", FIX)


def _upgraded(value: object) -> object:
    """Convert a document of schema 1 to the current one. A float stands for the shortest decimal that parses to it."""
    if not isinstance(value, dict) or value.get("schema") != _FLOATS:
        return value
    manifest: dict[str, Any] = {}
    match value.get("manifest"):
        case {"settings": dict(settings), "groups": list(groups), **rest}:
            manifest |= _exactly(rest, "threshold")
            manifest["settings"] = _exactly(settings, "epsilon", "delta", "f_o", "f_c")
            manifest["expected_exposures"] = _exposures(settings, rest)
            manifest["weak_privacy_allowed"] = False  # schema 1 had no such option
            manifest["groups"] = [_exactly(g, "epsilon", "delta") if isinstance(g, dict) else g for g in groups]
    return {**value, "schema": SCHEMA, "manifest": manifest}


def _exactly(values: dict[Any, Any], *names: str) -> dict[str, Any]:
    """The same values, with the named numbers as exact text; a value that is not a number becomes None, refused later."""
    return {name: _text(value) if name in names else value for name, value in values.items()}


def _exposures(settings: dict[Any, Any], manifest: dict[Any, Any]) -> str | None:
    delta, users = settings.get("delta"), manifest.get("discovery_users")
    if not isinstance(delta, float) or not isinstance(users, int):
        return None
    return str(expected_exposures(exact(delta, "delta"), users))


def _text(value: object) -> object:
    try:
        return str(exact(value, "number")) if isinstance(value, int | float) else None
    except ParameterError:
        return None


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a release file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_ADAPTER.json_schema()}
