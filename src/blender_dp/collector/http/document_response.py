"""Responses with published documents, which never change: compressed if the client accepts it, and cacheable for ever."""

from __future__ import annotations

import re
from http import HTTPStatus

from fastapi import Request, Response

from blender_dp.collector.http.service import service_of
from blender_dp_device.digests import DocumentDigest

FOR_EVER = "public, max-age=31536000, immutable"

_NEVER = re.compile(r"q\s*=\s*0(\.0*)?")


async def document_response(request: Request, digest: DocumentDigest, kind: str) -> Response:
    """A document; a client that has it already gets 304, without the document being read again."""
    documents = service_of(request).documents
    coding = _content_coding(request.headers.get("accept-encoding", ""))
    tag = f'"{digest}-{coding}"' if coding else f'"{digest}"'  # a strong tag stands for the exact bytes
    headers = {"Cache-Control": FOR_EVER, "ETag": tag, "Vary": "Accept-Encoding"}
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    body = None
    if not (known & {tag, "*"} and documents.is_known(digest, kind)):
        body = await documents.encoded(digest, kind, coding)
    if known & {tag, "*"}:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, media_type="application/json", headers=headers | ({"Content-Encoding": coding} if coding else {}))


def _content_coding(accept_encoding: str) -> str | None:
    """The content coding that an Accept-Encoding header allows: Brotli if it is named, otherwise gzip, or None.

    An entry for gzip takes precedence over an entry for `*`.
    """
    allowed: dict[str, bool] = {}
    for one in accept_encoding.lower().split(","):
        name, *parameters = (part.strip() for part in one.split(";"))
        allowed[name] = not any(_NEVER.fullmatch(part) for part in parameters)
    if allowed.get("br"):
        return "br"
    return "gzip" if allowed.get("gzip", allowed.get("*", False)) else None
