"""The two digests, as two types that must not be confused. Both are SHA-256 in 64 hexadecimal digits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NewType

ListDigest = NewType("ListDigest", str)
"""Identifies a head list with its channel, regardless of who publishes it. `Report` and exported reports name it."""

DocumentDigest = NewType("DocumentDigest", str)
"""Identifies a signed document by its bytes. Documents are fetched by it, and reports sent to a collector name it."""


def list_digest(document: Mapping[str, Any]) -> ListDigest:
    """The digest of a list's JSON values, written with sorted keys, without spaces, in UTF-8."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return ListDigest(hashlib.sha256(text.encode()).hexdigest())


def document_digest(body: bytes) -> DocumentDigest:
    """The digest of a signed document."""
    return DocumentDigest(hashlib.sha256(body).hexdigest())
