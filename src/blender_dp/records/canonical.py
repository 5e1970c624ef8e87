"""The canonical form of queries and URLs: without it one record is counted as many.

The form is versioned and pinned by `spec/vectors/canonical.json`. Devices, curator and readers must agree on it to the
letter, so any change of result is a new `CANONICAL_VERSION`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

CANONICAL_VERSION = 1
"""Changes whenever any input would come out differently."""

_PLAIN_QUERY = re.compile(r"[!-@\[-~]+(?: [!-@\[-~]+)*")
_PLAIN_URL = re.compile(
    r"https?://[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*/[\w/.~-]*", re.ASCII
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SPACES = re.compile(r"\s+")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_DEFAULT_PORTS = {"http": "80", "https": "443", "ftp": "21"}
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_TRACKING = re.compile(
    r"(?:utm_\w+|mtm_\w+|pk_\w+|hsa_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|ysclid|twclid|ttclid|igshid"
    r"|li_fat_id|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi|mkt_tok|oly_anon_id|oly_enc_id|vero_id|wickedid|s_cid)",
    re.ASCII | re.IGNORECASE,
)


def canonical_query(text: str) -> str:
    """Return the canonical form of a query: NFKC, case folded, invisible characters dropped, single spaces."""
    return text if _PLAIN_QUERY.fullmatch(text) else _settled(_query_step, text)


def canonical_url(text: str) -> str:
    """Return the canonical form of a URL.

    Scheme and host are in lower case (a missing scheme is https), default port, fragment and tracking parameters are
    gone, escapes are in their shortest form, and an empty path is `/`. A text that is no URL is only tidied.
    """
    return text if _PLAIN_URL.fullmatch(text) else _settled(_url_step, text)


def _settled(step: Callable[[str], str], text: str) -> str:
    """Apply a step until nothing changes: folding can undo NFKC, dropping a joiner can let letters compose."""
    while (changed := step(text)) != text:
        text = changed
    return text


def _query_step(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _visible(text)).casefold())
    return _SPACES.sub(" ", folded).strip()


def _url_step(text: str) -> str:
    tidy = _SPACES.sub("", unicodedata.normalize("NFKC", _visible(text)))
    if not tidy:
        return ""
    try:
        parts = urlsplit(tidy if _SCHEME.match(tidy) else f"https://{tidy}")
    except ValueError:  # a bracket that never closes, say
        return tidy
    scheme = parts.scheme.lower()
    query = "&".join(p for p in parts.query.split("&") if p and not _TRACKING.fullmatch(p.partition("=")[0]))
    path = _shortest_escapes(parts.path) or "/"
    return urlunsplit((scheme, _canonical_authority(parts.netloc, scheme), path, _shortest_escapes(query), ""))


def _canonical_authority(authority: str, scheme: str) -> str:
    user, at, host_port = authority.rpartition("@")
    host, colon, port = host_port.rpartition(":")
    if not colon or not re.fullmatch("[0-9]*", port):  # no port, or the colon belongs to an IPv6 address
        host, port = host_port, ""
    host = host.lower().removesuffix(".")
    keep_port = port and port.lstrip("0") != _DEFAULT_PORTS.get(scheme)
    return f"{user}{at}{host}:{port.lstrip('0')}" if keep_port else f"{user}{at}{host}"


def _shortest_escapes(text: str) -> str:
    return _ESCAPE.sub(_shortest_escape, text)


def _shortest_escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _visible(text: str) -> str:
    """Drop control, format and unpaired surrogate characters; white space stays for its own rule."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if c.isspace() or unicodedata.category(c) not in {"Cc", "Cf", "Cs"})
