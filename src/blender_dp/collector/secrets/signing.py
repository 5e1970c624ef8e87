"""The collector's signing key, and the documents it signs."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rfc8785
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.collector.secrets.files import write_once
from blender_dp.errors import DocumentError
from blender_dp_device.wire.documents import DOMAIN


@dataclass(frozen=True)
class Signer:
    """Signs the documents that the collector publishes."""

    key: Ed25519PrivateKey

    @classmethod
    def load(cls, path: Path) -> Signer:
        """Read the key, or create one if the file does not exist."""
        if not path.exists():
            write_once(
                path,
                Ed25519PrivateKey.generate().private_bytes(
                    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
                ),
            )
        refused = DocumentError(str(path), "not an Ed25519 key", "Restore the file; devices that pin its key trust no other")
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
        """The signed document: its content, the public key and the signature."""
        body = {"kind": kind, "content": content}
        signature = base64.b64encode(self.key.sign(DOMAIN + canonical(body))).decode()
        return canonical({**body, "key": self.public, "signature": signature})


def canonical(value: Any) -> bytes:  # noqa: ANN401 (any JSON value)
    """Canonical JSON (RFC 8785)."""
    return rfc8785.dumps(value)
