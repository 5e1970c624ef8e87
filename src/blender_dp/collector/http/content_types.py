"""What a body may be: JSON, and not packed. Whoever sends something else is told so, and not that fields are missing."""

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
    """A route that looks at what kind of body it gets, if it takes one, before it reads it."""

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
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "media", "the body must not be packed")
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    if has_body and not _JSON.fullmatch(headers.get("content-type", "").strip()):
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "media", "the body must be of Content-Type application/json")
