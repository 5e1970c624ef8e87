"""ProblemError documents (RFC 9457): what went wrong, in a form that programs can read and that tells nothing private."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

import sqlalchemy.exc
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from blender_dp.errors import BlenderError, StateError

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 30

_LOG = logging.getLogger("blender_dp.collector")
_KINDS = {"conflict": HTTPStatus.CONFLICT, "missing": HTTPStatus.NOT_FOUND, "forbidden": HTTPStatus.FORBIDDEN}
_FULL = ("disk is full", "no space left", "disk full")


class ProblemError(Exception):
    """An answer other than the one that was asked for."""

    def __init__(self, status: HTTPStatus, name: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.name = name
        self.detail = detail
        self.headers = headers or {}


def problem(status: int, name: str, detail: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:  # noqa: ANN401
    """A problem document; its type is a name that never changes."""
    title = HTTPStatus(status).phrase
    body = {"type": f"urn:blender-dp:problem:{name}", "title": title, "status": int(status), "detail": detail, **more}
    return JSONResponse(body, status, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer every error with a problem document. None of them repeats what was sent."""

    @app.exception_handler(ProblemError)
    async def _problem(_: Request, error: ProblemError) -> JSONResponse:
        return problem(error.status, error.name, error.detail, error.headers)

    @app.exception_handler(StateError)
    async def _state(_: Request, error: StateError) -> JSONResponse:
        return problem(_KINDS[error.kind], error.kind, str(error))

    @app.exception_handler(BlenderError)
    async def _ours(_: Request, error: BlenderError) -> JSONResponse:
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", str(error))

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        places = [".".join(str(part) for part in one["loc"]) for one in error.errors()]
        kinds = [one["type"] for one in error.errors()]
        found = [{"where": where, "what": what} for where, what in zip(places, kinds, strict=True)]
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", "the request is not what its schema says", errors=found)

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, "http", HTTPStatus(error.status_code).phrase, dict(error.headers or {}))

    @app.exception_handler(sqlalchemy.exc.DBAPIError)
    async def _storage(_: Request, error: sqlalchemy.exc.DBAPIError) -> JSONResponse:
        _LOG.error("storage: %s", type(error.orig).__name__)  # its text may quote what was to be stored
        if any(words in str(error.orig).lower() for words in _FULL):
            return problem(HTTPStatus.INSUFFICIENT_STORAGE, "full", "the disk is full; nothing was stored")
        return problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "storage",
            "the storage does not answer; nothing was acknowledged, so send it again",
            {"Retry-After": str(RETRY_SECONDS)},
        )
