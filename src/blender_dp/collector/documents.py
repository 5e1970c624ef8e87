"""Signed documents: canonical JSON, an Ed25519 signature, and the digest they are fetched by."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rfc8785
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from blender_dp.entropy import system_bytes
from blender_dp.errors import DocumentError

_DOMAIN = b"blender-dp/1\x00"


@dataclass(frozen=True)
class Signer:
    """Signs what the collector publishes."""

    key: Ed25519PrivateKey

    @classmethod
    def load(cls, path: Path) -> Signer:
        """Read the key, or make one if there is none."""
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_secret(
                path,
                Ed25519PrivateKey.generate().private_bytes(
                    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
                ),
            )
        refused = DocumentError(str(path), "is no Ed25519 key", "Restore it; clients that pin it trust no other")
        try:
            key = serialization.load_pem_private_key(path.read_bytes(), None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise refused from None
        if not isinstance(key, Ed25519PrivateKey):
            raise refused
        return cls(key)

    @property
    def public(self) -> str:
        """The public key that clients pin."""
        return base64.b64encode(self.key.public_key().public_bytes_raw()).decode()

    def sign(self, kind: str, content: dict[str, Any]) -> bytes:
        """The document as bytes: the content, who signed it, and the signature."""
        body = {"kind": kind, "content": content}
        signature = base64.b64encode(self.key.sign(_DOMAIN + canonical(body))).decode()
        return canonical({**body, "key": self.public, "signature": signature})


def canonical(value: Any) -> bytes:  # noqa: ANN401 (whatever JSON can hold)
    """JSON that is the same for everybody (RFC 8785)."""
    return rfc8785.dumps(value)


def digest(body: bytes) -> str:
    """What a document is fetched by."""
    return hashlib.sha256(body).hexdigest()


def opened(body: bytes, kind: str, key: str, source: str = "document") -> dict[str, Any]:
    """The content of a signed document of this kind, if the pinned key has signed it."""
    refused = DocumentError(source, "is not signed by the pinned key", "Do not use it; ask for another")
    try:
        document = json.loads(body)
        signed = canonical({"kind": document["kind"], "content": document["content"]})
        Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True)).verify(
            base64.b64decode(document["signature"], validate=True), _DOMAIN + signed
        )
    except (ValueError, KeyError, TypeError, RecursionError, InvalidSignature):
        raise refused from None
    if document["kind"] != kind or not isinstance(document["content"], dict):
        raise DocumentError(source, f"is signed, but is no {kind}", "Ask for another")
    content: dict[str, Any] = document["content"]
    return content


def _write_secret(path: Path, content: bytes) -> None:
    """Write a file that nobody else may read; it is on the disk, whole, before it has its name, and replaces no other.

    Of several processes that come at once one gives the name, and the others find that it is there.
    """
    partial = path.with_suffix(f".{system_bytes(8).hex()}.partial")
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, content)
        os.fsync(handle)
        with contextlib.suppress(FileExistsError):
            os.link(partial, path)
    finally:
        os.close(handle)
        partial.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
