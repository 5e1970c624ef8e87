"""One step of a case, and what a collector usually sends."""

from __future__ import annotations

import json
from typing import Any

from blender_dp_device.digests import document_digest
from hostile_collectors.documents import REMOVED, ROUND, SIGNER, USUAL, Json, signed

REPORT, UPLOAD, BUNDLE = "report", "upload", "refresh bundle"
PATHS = {REPORT: "head-list", UPLOAD: "opening", BUNDLE: "bundle"}


def step(
    act: str,
    body: bytes | None = None,
    *,
    document: Json | None = None,
    documents: Json | None = None,
    pointer: Json | None = None,
    current: Json | None = None,
    answer: Json | None = None,
    result: str = "refused",
    spent: str = "0",
    requests: list[str] | None = None,
) -> Json:
    """One act of the client, what the collector responds to its requests if that is not usual, and what must come out."""
    pointed = pointer_to(act, usual(act) if body is None else body, pointer or {})
    own = {} if body is None else {document_digest(body): body.decode()}
    own |= {document_digest(usual(act)): document} if document else {}
    responses = {"current": current or {"body": pointed}, "documents": {**own, **(documents or {})}, "answer": answer}
    as_usual = {"body": pointer_to(act, usual(act))}
    expected = {"result": result, "spent": spent, "requests": requests or ["current", PATHS[act]]}
    return {"act": act, **{key: value for key, value in responses.items() if value not in (None, {}, as_usual)}, **expected}


def pointer_to(act: str, body: bytes, changed: Json | None = None) -> str:
    """The collector's response that names the current round, which is not signed."""
    state = {REPORT: "listed", UPLOAD: "open", BUNDLE: "released"}[act]
    fields = {"id": ROUND, "state": state, field_of(PATHS[act]): document_digest(body), **(changed or {})}
    pointer = {key: value for key, value in fields.items() if value is not REMOVED}
    return json.dumps({"key": SIGNER.public, "round": None, "released": None, _which(act): pointer})


def _which(act: str) -> str:
    return "released" if act == BUNDLE else "round"


def usual(act: str) -> bytes:
    """The document that an honest collector sends."""
    return signed(PATHS[act], USUAL[PATHS[act]])


def field_of(kind: str) -> str:
    """The field of a pointer that names a document of this kind."""
    return kind.replace("-", "_")


def shown(value: Any) -> str:  # noqa: ANN401 (JSON)
    """A value in the name of a case."""
    return "missing" if value is REMOVED else json.dumps(value)[:80]
