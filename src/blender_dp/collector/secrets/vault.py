"""Tokens, which are stored as digests only, and encrypted raw records, which nobody can read once their key is destroyed."""

from __future__ import annotations

import hashlib
import hmac
import json

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from blender_dp.errors import DocumentError
from blender_dp.sampling.secret import Secret, restored_secret
from blender_dp_device.entropy import system_bytes
from blender_dp_device.records.record import Record
from blender_dp_device.records.upload import RECORD_BYTES, record_json

TOKEN_BYTES = 32
KEY_BYTES = 32
_NONCE_BYTES = 12


def new_token() -> str:
    """A new token, to be handed out once."""
    return system_bytes(TOKEN_BYTES).hex()


def repeated_token(secret: str, *context: str) -> str:
    """The token of a context: without the secret, it is as unpredictable as a new one."""
    return hmac.new(secret.encode(), "\x1f".join(context).encode(), hashlib.sha256).hexdigest()


def token_digest(token: str, *context: str) -> str:
    """The digest of a token. Tokens have 256 random bits, so that a plain hash cannot be reversed."""
    return hashlib.sha256("\x1f".join((*context, token)).encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Compare strings in a time that does not depend on where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())


def new_key() -> bytes:
    """A key for one round's raw records."""
    return system_bytes(KEY_BYTES)


def seal(key: bytes, place: str, content: bytes) -> bytes:
    """Encrypt content for one place (a round and an owner); it cannot be decrypted for any other."""
    nonce = system_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, content, place.encode())


def unseal(key: bytes, place: str, sealed: bytes) -> bytes:
    """Decrypt content that was sealed for this place."""
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place.encode())
    except (InvalidTag, ValueError):  # changed, or too short
        raise DocumentError(
            "record", "belongs elsewhere, or was changed", "Restore the database from a complete backup"
        ) from None


def seal_secret(key: bytes, place: str, secret: Secret) -> bytes:
    """Encrypt a secret that was drawn by the operating system."""
    return seal(key, place, secret.value)


def unseal_secret(key: bytes, place: str, sealed: bytes) -> Secret:
    """Decrypt a secret: what was sealed with this key for this place was drawn by the operating system."""
    return restored_secret(unseal(key, place, sealed))


def seal_record(key: bytes, place: str, record: Record) -> bytes:
    """Encrypt a raw record; all encrypted records have the same length."""
    return seal(key, place, record_json(record).ljust(RECORD_BYTES))


def unseal_record(key: bytes, place: str, sealed: bytes) -> Record:
    """Decrypt a raw record."""
    return read_record(unseal(key, place, sealed))


def read_record(content: bytes) -> Record:
    """A record from its JSON, padded or not."""
    try:
        query, url = json.loads(content)
    except (ValueError, TypeError):
        raise DocumentError("record", "is not a query and a URL", "Restore the database from a complete backup") from None
    return Record(query or None, url or None)
