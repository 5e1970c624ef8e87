"""Problem documents (RFC 9457): what went wrong, in a form that programs can read and that reveals nothing private."""

from __future__ import annotations

import errno
import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from blender_dp.collector.storage.database_errors import DatabaseError, is_disk_full, kind_of
from blender_dp.errors import BlenderError, DocumentError, StateError
from blender_dp_device.wire.problems import MEDIA_TYPE, PREFIX

RETRY_SECONDS = 30


_LOG = logging.getLogger("blender_dp.collector")
_KINDS = {"conflict": HTTPStatus.CONFLICT, "missing": HTTPStatus.NOT_FOUND, "forbidden": HTTPStatus.FORBIDDEN}
_HTTP = {
    HTTPStatus.BAD_REQUEST: "malformed",
    HTTPStatus.NOT_FOUND: "missing",
    HTTPStatus.METHOD_NOT_ALLOWED: "method",
}
_HUNG_UP = 499  # nginx's status for a client that hung up
_SUPPORTED = "this collector uses version 1"
_OPERATORS = "/v1/operator/"
_TYPES = {"unexpected_keyword_argument": "extra_forbidden", "dataclass_type": "model_attributes_type"}
"""Pydantic's error types for dataclasses, mapped to those for models: responses contain them."""
_UNKNOWN_FIELD = {"extra_forbidden", "unexpected_keyword_argument"}
_MOST_ERRORS = 20  # a small mistake should not get a long response


class ProblemError(HTTPException):
    """An error that becomes a problem document."""

    def __init__(self, status: HTTPStatus, name: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(int(status), detail, headers)
        self.name = name


def problem(status: int, name: str, detail: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:  # noqa: ANN401
    """A problem document; its type is a name that never changes."""
    title = HTTPStatus(status).phrase
    body = {"type": PREFIX + name, "title": title, "status": int(status), "detail": detail, **more}
    return JSONResponse(body, status, headers, MEDIA_TYPE)


def unexpected(error: Exception) -> JSONResponse:
    """The response to an unexpected error. Only its type is logged: its text may quote a record."""
    _LOG.error("unexpected: %s", type(error).__name__)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "failed", "the collector failed; its log has the type of the error")


def install(app: FastAPI) -> None:
    """Turn every error into a problem document. None of them repeats what was sent."""

    @app.exception_handler(ProblemError)
    async def _problem(_: Request, error: ProblemError) -> JSONResponse:
        return problem(error.status_code, error.name, error.detail, dict(error.headers or {}))

    @app.exception_handler(ClientDisconnect)
    async def _gone(_: Request, __: ClientDisconnect) -> Response:
        return Response(status_code=_HUNG_UP)  # nobody reads it, but it is counted; not a failure of ours

    @app.exception_handler(StateError)
    async def _state(_: Request, error: StateError) -> JSONResponse:
        return problem(_KINDS[error.kind], error.kind, str(error))

    @app.exception_handler(DocumentError)
    async def _damaged(_: Request, error: DocumentError) -> JSONResponse:
        _LOG.error("damaged: %s", error.subject)
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "damaged", str(error))

    @app.exception_handler(BlenderError)
    async def _ours(_: Request, error: BlenderError) -> JSONResponse:
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", str(error))

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        if any(one["loc"] == ("body", "version") and one["type"] == "literal_error" for one in error.errors()):
            return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "version", _SUPPORTED)
        explain = request.url.path.startswith(_OPERATORS)
        mistakes = [_mistake(one, explain=explain) for one in error.errors()[:_MOST_ERRORS]]
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", "the request does not match its schema", errors=mistakes)

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        headers = dict(error.headers or {})
        if status == HTTPStatus.NOT_FOUND and _is_other_version(request.url.path):
            return problem(status, "version", _SUPPORTED, headers)
        return problem(status, _HTTP.get(status, "http"), status.phrase, headers)

    @app.exception_handler(DatabaseError)
    async def _storage(_: Request, error: DatabaseError) -> JSONResponse:
        _LOG.error("storage: %s", kind_of(error))  # its text may quote what was to be stored
        return _full() if is_disk_full(error) else _no_storage()

    @app.exception_handler(OSError)
    async def _files(_: Request, error: OSError) -> JSONResponse:
        _LOG.error("storage: %s", type(error).__name__)
        return _full() if error.errno in {errno.ENOSPC, errno.EDQUOT} else _no_storage()


def _mistake(error: dict[str, Any], *, explain: bool) -> dict[str, str]:
    """Where and what a mistake is. An operator, who sends parameters and nothing private, gets the reason in words, too."""
    mistake = {"where": _place(error), "what": _TYPES.get(error["type"], error["type"])}
    return mistake | {"why": error["msg"].removeprefix("Value error, ").rstrip(".")} if explain else mistake


def _place(error: dict[str, Any]) -> str:
    """Where in the request; the name of an unknown field is left out, because the client chose it."""
    parts = error["loc"][:-1] if error["type"] in _UNKNOWN_FIELD else error["loc"]
    return ".".join(str(part) for part in parts)


def _is_other_version(path: str) -> bool:
    first = path.split("/")[1]
    return first[:1] == "v" and first[1:].isdecimal() and first != "v1"


def _full() -> JSONResponse:
    return problem(HTTPStatus.INSUFFICIENT_STORAGE, "full", "the disk is full; nothing was stored")


def _no_storage() -> JSONResponse:
    detail = "the storage does not respond; nothing was acknowledged, so send it again"
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, "storage", detail, {"Retry-After": str(RETRY_SECONDS)})
