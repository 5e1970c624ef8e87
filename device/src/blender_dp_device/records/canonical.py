"""The canonical form of queries and URLs: without it, one record would be counted as several.

The form is versioned and pinned by `spec/vectors/canonical.json`. Devices, curator and readers must agree on it
exactly, so any change of a result requires a new `CANONICAL_VERSION`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from blender_dp_device.records.record import Record

CANONICAL_VERSION = 1
"""Changes whenever the result for any input changes."""

TRACKING_PREFIXES = ("hsa_", "mtm_", "pk_", "utm_")
"""Parameters with these prefixes only track where a visitor came from, and are dropped."""

TRACKING_NAMES = frozenset(
    {
        "_ga", "_gl", "_hsenc", "_hsmi", "dclid", "fbclid", "gbraid", "gclid", "gclsrc", "igshid", "li_fat_id", "mc_cid",
        "mc_eid", "mkt_tok", "msclkid", "oly_anon_id", "oly_enc_id", "s_cid", "ttclid", "twclid", "vero_id", "wbraid",
        "wickedid", "yclid", "ysclid",
    }
)  # fmt: skip
"""Parameters with exactly these names are dropped, too."""

_PLAIN_QUERY = re.compile(r"[!-@\[-~]+(?: [!-@\[-~]+)*")
_PLAIN_URL = re.compile(
    r"https?://[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*/[\w/.~-]*", re.ASCII
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PARTS = re.compile(r"([^:/?#]+)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.DOTALL)  # as in RFC 3986, appendix B
_SPACES = re.compile(r"\s+")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_NESTED = re.compile(r"%[0-9A-Fa-f]?%")  # an escape may stand for a digit of the one before it
_DEFAULT_PORTS = {"http": "80", "https": "443", "ftp": "21"}
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def canonical_record(query: str | None, url: str | None, *, levels: int = 2) -> Record:
    """Return the canonical record, or ⟨⋆, ⋆⟩ if the query or the URL is missing.

    With one level (single items) the query is the record, and the URL is ignored.
    """
    if levels == 1:
        return Record(canonical_query(query or "") or None, None)
    record = Record(canonical_query(query or ""), canonical_url(url or ""))
    return record if record.query and record.url else Record(None, None)


def canonical_query(text: str) -> str:
    """Return the canonical form of a query: NFKC, case folded, invisible characters dropped, single spaces."""
    return text if _PLAIN_QUERY.fullmatch(text) else _settled(_query_step, text)


def canonical_url(text: str) -> str:
    """Return the canonical form of a URL.

    Scheme and host are in lower case (the default scheme is https); default port, fragment and tracking parameters are
    dropped; escapes are in their shortest form; and an empty path is `/`.
    """
    return text if _PLAIN_URL.fullmatch(text) else _settled(_url_step, text)


def _settled(step: Callable[[str], str], text: str) -> str:
    """Apply a step until nothing changes: folding can undo NFKC, and dropping a joiner can let letters compose."""
    while (changed := step(text)) != text:
        text = changed
    return text


def _query_step(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _visible(text)).casefold())
    return _SPACES.sub(" ", folded).strip()


def _url_step(text: str) -> str:
    tidy = _SPACES.sub("", unicodedata.normalize("NFKC", _visible(text)))
    parts = _PARTS.fullmatch(tidy if _SCHEME.match(tidy) else "https://" + tidy.lstrip("/"))
    if not tidy or parts is None:
        return tidy
    scheme, authority, path, query = parts.groups(default="")
    scheme = scheme.lower()
    parameters = _shortest_escapes("&".join(p for p in query.split("&") if p and not _is_tracking(p.partition("=")[0])))
    address = f"{scheme}://{_canonical_authority(authority, scheme)}{_shortest_escapes(path) or '/'}"
    return f"{address}?{parameters}" if parameters else address


def _is_tracking(name: str) -> bool:
    lower = name.lower()
    return lower in TRACKING_NAMES or lower.startswith(TRACKING_PREFIXES)


def _canonical_authority(authority: str, scheme: str) -> str:
    user, at, host_port = authority.rpartition("@")
    return user + at + _settled(lambda text: _host_step(text, scheme), host_port)


def _host_step(host_port: str, scheme: str) -> str:
    host, colon, port = host_port.rpartition(":")
    if not colon or not re.fullmatch("[0-9]*", port):  # no port, or the colon belongs to an IPv6 address
        host, port = host_port, ""
    host, port = host.lower().removesuffix("."), port.lstrip("0")
    return host if port in {"", _DEFAULT_PORTS.get(scheme)} else f"{host}:{port}"


def _shortest_escapes(text: str) -> str:
    return _shortest_nested(text) if _NESTED.search(text) else _ESCAPE.sub(_shortest_escape, text)


def _shortest_nested(text: str) -> str:
    """The same for escapes whose digits are escaped, such as %3%34: a whole chain of them at once, from right to left.

    With one link per step, a long chain would take quadratic time. A new escape that ends with a letter, and so stands for
    no digit, waits for the next step, because the letter may first be composed with a mark after it.
    """
    rest: list[str] = []
    is_new: list[bool] = []
    for character in reversed(text):
        rest.append(character)
        is_new.append(False)
        escape = _ESCAPE.fullmatch("".join(rest[-3:][::-1])) if character == "%" else None
        if escape and (rest[-3].isdecimal() or not any(is_new[-3:])):
            shortest = _shortest_escape(escape)[::-1]
            rest[-3:], is_new[-3:] = shortest, [len(shortest) == 1] * len(shortest)
    return "".join(reversed(rest))


def _shortest_escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _visible(text: str) -> str:
    """Drop control, format and unpaired surrogate characters; white space has a separate rule."""
    if text.isprintable():  # it has neither those nor white space besides spaces
        return text
    return "".join(c for c in text if c.isprintable() or c.isspace() or unicodedata.category(c) not in {"Cc", "Cf", "Cs"})
