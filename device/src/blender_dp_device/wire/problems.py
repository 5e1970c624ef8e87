"""The types of problem documents (RFC 9457) that a collector responds with. They never change."""

from __future__ import annotations

MEDIA_TYPE = "application/problem+json"
PREFIX = "urn:blender-dp:problem:"

PROBLEMS = {
    "busy": "Too many requests or connections at a time; wait as long as Retry-After says.",
    "conflict": "It does not fit the state that things are in.",
    "damaged": "The collector's own data are not what they should be; its operator must look.",
    "failed": "The collector failed in a way that nobody thought of; its log says of which kind.",
    "forbidden": "The token does not allow that.",
    "full": "The disk is nearly full; nothing was stored.",
    "headers": "The request's headers are too large or too many.",
    "http": "HTTP's own: the title says it.",
    "in-flight": "A request with this Idempotency-Key is under way; ask again.",
    "invalid": "The request is not what its schema says; `errors` tells where.",
    "key-reused": "The Idempotency-Key was used for another request.",
    "limited": "This source has sent too much in the last minute; wait as long as Retry-After says.",
    "malformed": "The request cannot be read.",
    "media": "The body is not JSON by its Content-Type, or it is packed (Content-Encoding).",
    "method": "The path is there, but not for this method.",
    "missing": "There is no such thing.",
    "not-ready": "The round cannot take this step yet; the detail says what it waits for.",
    "slow": "The request did not arrive in time.",
    "stopping": "The collector is being stopped; nothing was stored, so send it again.",
    "storage": "The storage does not answer; nothing was acknowledged, so send it again.",
    "stuck": "A round does not advance, or the worker fails; the detail says which.",
    "token": "A token is needed.",
    "too-large": "The body is too large.",
    "too-many": "Too many reports in one request.",
    "version": "Another major version than this collector's.",
}
"""Every type of problem, by the end of its URN, and its meaning."""
