"""Which bodies are accepted: JSON, and not compressed. Other bodies get an error about that, not about missing fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.datastructures import Headers

from blender_dp.collector.http.problems import ProblemError

_JSON = re.compile(r"application/([\w.-]+\+)?json\s*(;.*)?", re.IGNORECASE)


class JsonRoute(APIRoute):
    """A route that checks the content type of its body, if it has one, before it parses it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with the check before it."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def checked(request: Request) -> Response:
            check_media(request.headers)
            return await handle(request)

        return checked


def check_media(headers: Headers) -> None:
    """Refuse a body that is not JSON, or that is compressed."""
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "media", "the body must not be compressed")
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    if has_body and not _JSON.fullmatch(headers.get("content-type", "").strip()):
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "media", "the Content-Type must be application/json")
