"""The OpenAPI description: what FastAPI derives from the routes, with problem documents everywhere."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any

import msgspec
from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, TypeAdapter

from blender_dp_device.wire.messages import ReportsMessage
from blender_dp_device.wire.problems import MEDIA_TYPE, PREFIX, PROBLEMS

_SCHEMAS = "#/components/schemas/{model}"
_DESCRIPTIONS = {
    HTTPStatus.BAD_REQUEST: "The request cannot be read.",
    HTTPStatus.UNAUTHORIZED: "A token is needed.",
    HTTPStatus.FORBIDDEN: "The token does not allow this.",
    HTTPStatus.NOT_FOUND: "Not found.",
    HTTPStatus.REQUEST_TIMEOUT: "The body did not arrive in time.",
    HTTPStatus.CONFLICT: "The current state does not allow it.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Too large, or too many reports.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is not JSON, or it is compressed.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "The request does not match its schema.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests; Retry-After says how long to wait.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "The collector failed.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The storage does not respond; Retry-After says how long to wait.",
    HTTPStatus.INSUFFICIENT_STORAGE: "The disk is nearly full; nothing was stored.",
}
_EVERYWHERE = (
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
_WITH_A_BODY = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)

_PROBLEM = {
    "title": "Problem",
    "description": "What went wrong (RFC 9457). "
    + " ".join(f"`{PREFIX}{name}`: {meaning}" for name, meaning in sorted(PROBLEMS.items())),
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": sorted(PREFIX + name for name in PROBLEMS)},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"where": {"type": "string"}, "what": {"type": "string"}, "why": {"type": "string"}},
                "required": ["where", "what"],
            },
        },
    },
    "required": ["type", "title", "status", "detail"],
}


def may(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """The problems of a route, besides those that every route has."""
    return {int(status): {"description": _DESCRIPTIONS[status]} for status in statuses}


def takes(message: type) -> dict[str, Any]:
    """The description of a body that a route parses itself; its schema is added to the others below."""
    schema = {"$ref": _SCHEMAS.format(model=message.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def queries(model: type[BaseModel]) -> dict[str, Any]:
    """The description of a query string that a route reads itself."""
    schema = model.model_json_schema()
    required = schema.get("required", [])
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name in required, "schema": field}
            | ({"description": field["description"]} if "description" in field else {})
            for name, field in schema["properties"].items()
        ]
    }


def describe(app: FastAPI) -> None:
    """Add the description to an app."""

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]  # FastAPI's documented way
    text = cache(lambda: msgspec.json.encode(description()))  # FastAPI would serialise it again for every request

    @app.get("/v1/openapi.json", include_in_schema=False)
    async def _openapi() -> Response:
        return Response(text(), media_type="application/json")


def _described(app: FastAPI) -> dict[str, Any]:
    description: dict[str, Any] = get_openapi(
        title=app.title,
        version=app.version,
        description="Campaigns, head lists, reports and releases of a blender-dp collector. Every error is a problem "
        "document, and none of them repeats what was sent.",
        routes=app.routes,
    )
    for path in description["paths"].values():
        for operation in path.values():
            _complete(operation)
    schemas = description["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["Problem"] = _PROBLEM
    schemas |= _definitions(ReportsMessage)
    description["components"]["schemas"] = dict(sorted(schemas.items()))
    return description


def _definitions(message: type) -> dict[str, Any]:
    """The schemas of a message and of its parts, by their names."""
    schema = TypeAdapter(message).json_schema(ref_template=_SCHEMAS)
    return {**schema.pop("$defs", {}), message.__name__: schema}


def _complete(operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    responses.pop("422", None)
    checked = [HTTPStatus.UNPROCESSABLE_ENTITY] if "parameters" in operation else []
    for status in (*_EVERYWHERE, *(_WITH_A_BODY if "requestBody" in operation else checked)):
        responses.setdefault(str(int(status)), {"description": _DESCRIPTIONS[status]})
    for status, response in responses.items():
        if int(status) >= HTTPStatus.BAD_REQUEST:
            response["content"] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    operation["responses"] = dict(sorted(responses.items()))
