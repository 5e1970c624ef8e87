"""The JSON form of a release, checked against its types both ways."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter, ValidationError

from blender_dp.errors import DocumentError
from blender_dp.release.estimates import QueryEstimate, RecordEstimate
from blender_dp.release.manifest import Manifest

if TYPE_CHECKING:
    from blender_dp.release.release import Release


@dataclass(frozen=True)
class ReleaseDocument:
    """What a release file holds."""

    schema: Literal["blender-dp/release/1"]
    manifest: Manifest
    head_list: dict[str, Any]
    queries: tuple[QueryEstimate, ...]
    records: tuple[RecordEstimate, ...]


FIX = "Give a release.json that blender-dp wrote"
_ADAPTER = TypeAdapter(ReleaseDocument)


def dump(release: Release) -> str:
    """The release as JSON text."""
    parts = ReleaseDocument(
        "blender-dp/release/1", release.manifest, release.reporting_list.to_document(), release.queries, release.records
    )
    return _ADAPTER.dump_json(parts, indent=2).decode() + "\n"


def parse(value: object, source: str) -> ReleaseDocument:
    """Check JSON values against the schema."""
    try:
        return _ADAPTER.validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        raise DocumentError(source, f"{place}: {first['msg']}", FIX) from None


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a release file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_ADAPTER.json_schema()}
