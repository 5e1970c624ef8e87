"""Documents that a collector could sign, with a key that everyone knows: for the table of hostile collectors."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.collector.secrets.signing import Signer
from blender_dp_device.wire.documents import DOMAIN

Json = dict[str, Any]

NOW = 1_700_000_000
LATER = NOW + 86_400
CAMPAIGN, OTHER = "c" * 32, "d" * 32
ROUND, SECOND = "1" * 32, "2" * 32
PINNED = {"campaign": CAMPAIGN, "epsilon": "4", "delta": "1e-6", "lifetime_epsilon": "40", "least_seconds": 0}
RECORD = {"token": "5" * 64, "query": "weather", "url": "https://weather.example/"}
SIGNER = Signer(Ed25519PrivateKey.from_private_bytes(b"k" * 32))
STRANGER = Signer(Ed25519PrivateKey.from_private_bytes(b"s" * 32))
REMOVED = object()

LIST: Json = {
    "schema": "blender-dp/head-list/2",
    "canonical_version": 1,
    "channel": {"randomiser": "subset", "epsilon": "4", "f_c": "17/20", "m_c": 1, "subset_size": 1},
    "queries": [
        {"query": "maps", "urls": ["https://maps.example/"]},
        {"query": "weather", "urls": ["https://weather.example/"]},
    ],
}


def signed(kind: str, content: Json) -> bytes:
    """A document with the signature of the pinned key."""
    return SIGNER.sign(kind, content)


def sign_raw(kind: str, content: str) -> str:
    """A document whose content is any text, with a valid signature."""
    signature = SIGNER.key.sign(DOMAIN + f'{{"content":{content},"kind":"{kind}"}}'.encode())
    return (
        f'{{"content":{content},"key":"{SIGNER.public}","kind":"{kind}",'
        f'"signature":"{base64.b64encode(signature).decode()}"}}'
    )


def opening(**changed: Any) -> Json:  # noqa: ANN401 (JSON)
    """The content of an opening."""
    return changed_in(
        {"campaign": CAMPAIGN, "round": 1, "round_id": ROUND, "epsilon": "4", "delta": "1e-6", "expires": LATER}, changed
    )


def head_list(listed: Any = LIST, **changed: Any) -> Json:  # noqa: ANN401 (JSON)
    """The content of a signed list; its digest is that of whatever list is in it."""
    text = json.dumps(listed, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    content = {"campaign": CAMPAIGN, "round": 1, "round_id": ROUND, "head_list": listed, "list_digest": digest}
    return changed_in({**content, "expires": LATER}, changed)


def bundle(**changed: Any) -> Json:  # noqa: ANN401 (JSON)
    """The content of a bundle."""
    rows = [{"query": "weather", "share": 0.5, "urls": [["https://weather.example/", 0.5]]}]
    return changed_in({"campaign": CAMPAIGN, "round": 1, "queries": rows}, changed)


def changed_in(content: Json, changed: Json) -> Json:
    """The content with these fields changed or removed."""
    return {key: value for key, value in {**content, **changed}.items() if value is not REMOVED}


USUAL: dict[str, Json] = {"head-list": head_list(), "opening": opening(), "bundle": bundle()}
