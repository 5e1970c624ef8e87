"""All cases, in one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blender_dp_device.digests import document_digest
from hostile_collectors.contents import content_cases, surrogate_cases
from hostile_collectors.documents import NOW, PINNED, RECORD, SIGNER, Json
from hostile_collectors.honest import honest_cases
from hostile_collectors.pointers import pointer_cases
from hostile_collectors.replays import replay_cases
from hostile_collectors.signatures import signature_cases
from hostile_collectors.steps import PATHS, pointer_to, usual
from hostile_collectors.transport import acknowledgement_cases, transport_cases


def hostile_collectors() -> Json:
    """All cases, with what the client has pinned."""
    return {
        "schema": "blender-dp/hostile-collectors/1",
        "pinned": {"key": SIGNER.public, **PINNED},
        "now": NOW,
        "record": RECORD,
        "usual": {act: pointer_to(act, usual(act)) for act in PATHS},
        "documents": {document_digest(usual(act)): usual(act).decode() for act in PATHS},
        "cases": [{"name": name, "steps": steps} for name, *steps in _cases()],
    }


def _cases() -> Iterator[tuple[Any, ...]]:
    yield from honest_cases()
    yield from signature_cases()
    yield from pointer_cases()
    yield from content_cases()
    yield from surrogate_cases()
    yield from replay_cases()
    yield from transport_cases()
    yield from acknowledgement_cases()
