"""Headers that keep browsers from misusing a response. Every response has them, errors and files included."""

from __future__ import annotations

POLICY = "content-security-policy"

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The dashboard: only its own files, and its own collector."""

NO_PAGE = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Everything else. If a browser shows it as a page, that page can neither load nor run anything."""

EVERYWHERE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",  # of no concern to requests with CORS, which devices make
}
"""Headers that no response may lack."""
