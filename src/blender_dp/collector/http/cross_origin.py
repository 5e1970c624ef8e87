"""What a page of another origin may request (CORS): the routes that devices use, and no others.

Everything there is public, or needs a secret that the page must already have: no cookie and no stored password grants
anything. The headers are the same for all origins, so that a shared cache can store the responses.
"""

from __future__ import annotations

import re
from http import HTTPStatus

from starlette.responses import Response
from starlette.types import Scope

_DEVICES = re.compile(
    r"/v1/(?:(?P<GET>rounds/current|(?:openings|head-lists|bundles)/[^/]+)"
    r"|(?P<POST>rounds/[^/]+/(?:reports|records))|(?P<DELETE>records/[^/]+))"
)
_DAY = "86400"  # browsers that allow less use their own maximum
_HEADERS = {"reports": "content-type", "records": "authorization, content-type"}

ALLOWED = [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"retry-after")]
"""The headers of every response, errors included, that a page of another origin may read."""


def device_method(path: str) -> str | None:
    """The method that devices use for this path, if it is one of theirs."""
    used = _DEVICES.fullmatch(path)
    return used and used.lastgroup


def preflight_response(scope: Scope) -> Response | None:
    """The response to a browser that asks whether a page may send a request; None for any other request."""
    method = device_method(scope["path"]) if scope["method"] == "OPTIONS" else None
    if method is None or not any(name == b"access-control-request-method" for name, _ in scope["headers"]):
        return None
    headers = {"Access-Control-Allow-Methods": method, "Access-Control-Max-Age": _DAY}
    if allowed := _HEADERS.get(scope["path"].rpartition("/")[2]):
        headers["Access-Control-Allow-Headers"] = allowed
    return Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)
