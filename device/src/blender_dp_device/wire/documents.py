"""Signed documents: an Ed25519 signature over exact bytes."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from blender_dp_device.errors import DocumentError, ParameterError

_SIGNATURE_CHARACTERS = 88  # 64 bytes in base64

DOMAIN = b"blender-dp/1\x00"
"""The prefix of everything that is signed, so that no signature made for another purpose is valid."""


def verified_content(body: bytes, kind: str, key: str, source: str = "document") -> dict[str, Any]:
    """Return the content of a signed document of this kind, if the pinned key signed it.

    A document is canonical JSON (RFC 8785): content, key, kind and signature. So the signed bytes are part of its own
    bytes, and nothing is serialised again. The same JSON written in any other way is refused.
    """
    refused = DocumentError(source, f"is not signed by the pinned key as {kind!r}", "Do not use it")
    start, middle, end = b'{"content":', f',"key":"{key}","kind":"{kind}","signature":"'.encode(), b'"}'
    place = len(body) - len(middle) - _SIGNATURE_CHARACTERS - len(end)
    if not body.startswith(start) or not body.endswith(end) or place < 0 or body[place : place + len(middle)] != middle:
        raise refused
    signed = DOMAIN + body[:place] + f',"kind":"{kind}"}}'.encode()
    signature = body[place + len(middle) : -len(end)]
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
        public.verify(base64.b64decode(signature, validate=True), signed)
        content = json.loads(body[len(start) : place])
    except (ValueError, RecursionError, InvalidSignature):
        raise refused from None
    if not isinstance(content, dict):
        raise DocumentError(source, "is signed, but has no content", "Do not use it")
    return content


def checked_key(key: str) -> str:
    """The key, if valid: otherwise a typing mistake would look like a dishonest collector."""
    with suppress(ValueError, TypeError):
        if len(base64.b64decode(key, validate=True)) == 32:
            return key
    raise ParameterError("key", "is not an Ed25519 key (base64 of 32 bytes)", "Copy the key that the collector shows")
