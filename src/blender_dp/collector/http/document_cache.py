"""Published documents in memory, both uncompressed and compressed. They never change."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import brotli

from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.rounds.published import Published
from blender_dp_device.digests import DocumentDigest

_REMEMBERED = 16  # documents in each form


class DocumentCache:
    """Reads every document once, and compresses it once."""

    def __init__(self, published: Published) -> None:
        self._published = published
        self._known: set[tuple[DocumentDigest, str]] = set()
        self.document = lru_cache(_REMEMBERED)(self._document)
        self.compressed = lru_cache(_REMEMBERED)(self._compressed)
        self.content = lru_cache(_REMEMBERED)(self._content)

    def is_known(self, digest: DocumentDigest, kind: str) -> bool:
        """Whether a document was read before. If so, it still exists: documents are never deleted."""
        return (digest, kind) in self._known

    def _document(self, digest: DocumentDigest, kind: str) -> bytes:
        body = self._published.document(digest, kind)
        if body is None:
            raise ProblemError(HTTPStatus.NOT_FOUND, "missing", "unknown document")
        self._known.add((digest, kind))
        return body

    def _compressed(self, digest: DocumentDigest, kind: str, coding: str) -> bytes:
        body = self.document(digest, kind)  # maximum compression, because it is done only once
        return brotli.compress(body) if coding == "br" else gzip.compress(body, mtime=0)

    def _content(self, digest: DocumentDigest, kind: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.document(digest, kind))["content"]
        return content
