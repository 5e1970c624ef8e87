"""Documents signed with keys that everyone knows, for vectors only."""

# ruff: noqa: ANN401 (any JSON)
from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.collector.secrets.signing import Signer
from blender_dp_device.digests import list_digest

SIGNER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
OTHER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64))))
CAMPAIGN = "c" * 32
NEVER = 1 << 41
"""A time of expiry that no test reaches."""

_CHANNEL = {"randomiser": "subset", "epsilon": "4", "f_c": "17/20", "m_c": 1, "subset_size": 1}
_QUERIES = [
    {"query": "google", "urls": ["https://www.google.com/"]},
    {"query": "maps", "urls": ["https://maps.example/", "https://maps.example/2"]},
    {"query": "yahoo", "urls": ["https://www.yahoo.com/"]},
]
_SCHEMA = {"schema": "blender-dp/head-list/2", "canonical_version": 1}


def round_id(number: int) -> str:
    """The id of the round with this number."""
    return f"{number:032x}"


def list_document(names: dict[str, Any] | None = None, **channel: Any) -> dict[str, Any]:
    """A head list with its channel, with these changes; a field of the channel that is None is left out."""
    changed = {name: value for name, value in {**_CHANNEL, **channel}.items() if value is not None}
    return {**_SCHEMA, "channel": changed, "queries": _QUERIES, **(names or {})}


def list_content(number: int = 1, document: Any = None, **changed: Any) -> dict[str, Any]:
    """The content of a signed head list."""
    document = list_document() if document is None else document
    digest = list_digest(document) if isinstance(document, dict) else "0" * 64
    content = {"campaign": CAMPAIGN, "round": number, "round_id": round_id(number), "head_list": document}
    return _changed(content | {"list_digest": digest, "expires": NEVER}, changed)


def opening_content(number: int = 1, **changed: Any) -> dict[str, Any]:
    """The content of a signed opening."""
    content = {"campaign": CAMPAIGN, "round": number, "round_id": round_id(number), "epsilon": "4"}
    return _changed(content | {"delta": "1e-6", "expires": NEVER}, changed)


def _changed(content: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    """The content with these fields; a field that is `...` is left out."""
    return {name: value for name, value in {**content, **changed}.items() if value is not ...}
