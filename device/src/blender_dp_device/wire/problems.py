"""The types of problem documents (RFC 9457) that a collector responds with. They never change."""

from __future__ import annotations

MEDIA_TYPE = "application/problem+json"
PREFIX = "urn:blender-dp:problem:"

PROBLEMS = {
    "busy": "Too many concurrent requests or connections; wait as long as Retry-After says.",
    "conflict": "The current state does not allow it.",
    "damaged": "The collector's own data are damaged; its operator must look into it.",
    "failed": "The collector failed unexpectedly; its log has the type of the error.",
    "forbidden": "The token does not allow this.",
    "full": "The disk is nearly full; nothing was stored.",
    "headers": "The request's headers are too large or too many.",
    "http": "Another HTTP error; the title says which.",
    "in-flight": "A request with this Idempotency-Key is under way; try again.",
    "invalid": "The request does not match its schema; `errors` says where.",
    "key-reused": "The Idempotency-Key was used for another request.",
    "limited": "This source has sent too much in the last minute; wait as long as Retry-After says.",
    "malformed": "The request cannot be read.",
    "media": "The body is not JSON by its Content-Type, or it is compressed (Content-Encoding).",
    "method": "The path exists, but not for this method.",
    "missing": "Not found.",
    "not-ready": "The round cannot take this step yet; the detail says what it waits for.",
    "slow": "The request did not arrive in time.",
    "stopping": "The collector is stopping; nothing was stored, so send it again.",
    "storage": "The storage does not respond; nothing was acknowledged, so send it again.",
    "stuck": "A round does not advance, or the worker fails; the detail says which.",
    "token": "A token is needed.",
    "too-large": "The body is too large.",
    "too-many": "Too many reports in one request.",
    "version": "The collector does not support the message's major version.",
}
"""Every type of problem (the end of its URN) and its meaning."""
