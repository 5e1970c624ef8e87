"""Published documents in memory, both uncompressed and compressed. They never change.

Anyone may request any of them, in any order: what is no longer in memory costs time again. So compression is fast, one
document is compressed at a time, and all who wait for it share the result.
"""

from __future__ import annotations

import gzip
import json
import math
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import anyio
import anyio.to_thread
import brotli

from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.response_cache import ResponseCache
from blender_dp.collector.rounds.published import Published
from blender_dp_device.digests import DocumentDigest

_REMEMBERED = 16  # documents in each form
_COMPRESSED = 32  # documents, in one coding each
_QUALITY = 5  # of Brotli: the best, 11, saves a seventh and takes seventy times as long
_LEVEL = 6  # of gzip


class DocumentCache:
    """Reads and compresses documents, and remembers the last ones."""

    def __init__(self, published: Published) -> None:
        self._published = published
        self._known: set[tuple[DocumentDigest, str]] = set()
        self.document = lru_cache(_REMEMBERED)(self._document)
        self._compressed = ResponseCache(math.inf, most=_COMPRESSED, threads=anyio.CapacityLimiter(1))
        self.content = lru_cache(_REMEMBERED)(self._content)

    def is_known(self, digest: DocumentDigest, kind: str) -> bool:
        """Whether a document was read before. If so, it still exists: documents are never deleted."""
        return (digest, kind) in self._known

    async def encoded(self, digest: DocumentDigest, kind: str, coding: str | None) -> bytes:
        """A document in this content coding, if there is one."""
        if coding is None or not self.is_known(digest, kind):  # requests for unknown documents delay no others
            body = await anyio.to_thread.run_sync(self.document, digest, kind)
        return body if coding is None else await self._compressed.get(self._compress, digest, kind, coding)

    def _document(self, digest: DocumentDigest, kind: str) -> bytes:
        body = self._published.document(digest, kind)
        if body is None:
            raise ProblemError(HTTPStatus.NOT_FOUND, "missing", "unknown document")
        self._known.add((digest, kind))
        return body

    def _compress(self, digest: DocumentDigest, kind: str, coding: str) -> bytes:
        body = self.document(digest, kind)
        return brotli.compress(body, quality=_QUALITY) if coding == "br" else gzip.compress(body, _LEVEL, mtime=0)

    def _content(self, digest: DocumentDigest, kind: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.document(digest, kind))["content"]
        return content
