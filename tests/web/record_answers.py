"""Prints random texts and what the Python device makes of them, one JSON list per line, for the TypeScript client to repeat.

Texts are rich in Unicode (version 14 only, on which all clients agree), look like URLs, or lie near the filter's limits.
"""

from __future__ import annotations

import json
import random
import string
import sys
import unicodedata

from blender_dp_device.records.canonical import canonical_query, canonical_url
from blender_dp_device.records.personal import PARAMETER_NAMES, PRIVATE_NAMES, looks_personal
from blender_dp_device.records.upload import upload_record

CHARACTERS = [chr(place) for place in range(0x110000) if unicodedata.category(chr(place)) not in {"Cn", "Co", "Cs"}]
CASED = [c for c in CHARACTERS if c.lower() != c or c.upper() != c or c.casefold() != c]
MARKS = [c for c in CHARACTERS if unicodedata.combining(c)]
CHANGED = [c for c in CHARACTERS if unicodedata.normalize("NFKC", c) != c]
SPACES = [c for c in map(chr, range(0x110000)) if c.isspace()]
INVISIBLE = [c for c in CHARACTERS if unicodedata.category(c) in {"Cc", "Cf"}] + ["\udc00", "\udfff"]
DIGITS = [c for c in CHARACTERS if c.isdecimal()]
NUMERIC = [c for c in CHARACTERS if c.isnumeric()]
SIGMAS = list("ΣσςΑα.'\u00b7\u0345\u0301\u200d\u2060-_1 \u1d00")
KINDS = (CHARACTERS, CASED, MARKS, CHANGED, SPACES, INVISIBLE, DIGITS, NUMERIC, SIGMAS, list(string.printable))
URL_PIECES = (
    *"/?#&=:@.%[]; -_~+", "//", "://", "..", "%4", "%34", "%%341", "%2F", "%7e", "%C3%A9", "%E2%84%AA", "%FF", "%EF%BB%BF",
    "%00", "%c4%B0", "http:", "HTTPS://", "ftp://", "www.", "example", ".org", "utm_source=1", "UTM_x", "gclid=", "fbclid",
    "a=1", "\u3002", "\uff0e", "\u212a", "\u0130", "\u03a3", "e\u0301", "\u0301", "\u200d", "\u00df", "\ufb01", "xn--",
    ":80", ":443", ":0", ":08080", "localhost", "0x7f", "0x", "127.0.0.1", "8.8.8.8", "08.8.8.8", "256.1.1.1", "[::1]",
    "[2001:db8::1]", "[2600::1]", "[::ffff:8.8.8.8]", "[2600::8.8.8.8]", "[fe80::1%25eth0]", "joe@example.com",
    "joe%40example.com", "user:pass@", "550e8400-e29b-41d4-a716-446655440000", "0123456789abcdef0123",
    "abcdefghijabcdefghij", "12345678901234567890", "555-123-4567", "123-45-6789", "4111 1111 1111 1111", "(555)+123.4567",
    *PRIVATE_NAMES, *(f"{name}=" for name in PARAMETER_NAMES),
)  # fmt: skip
QUERY_PIECES = (
    *" -.()[]\u2010\u2013\u2015\u2212,/:+@", "  ", "---", "12", "555", "1234", "2006", "1999", "1805", "31", "01", "3.",
    "2006-03-01", "1.3.2006", "03 01 2006", "joe", "@example", ".com", "%40", "b.c", "b.1", "\u0660\u0661\u0662", "\u096a",
    "\u00b2", "\u2167", "\u4e94", "isbn", "\u01c5", "_",
)  # fmt: skip


def main(count: int, seed: int) -> None:
    """Print this many lines."""
    chance = random.Random(seed)  # noqa: S311 (texts for a test)
    for _ in range(count):
        query, url = text(chance), url_text(chance)
        sys.stdout.write(json.dumps([query, url, answers(query, url)]) + "\n")


def answers(query: str, url: str) -> list[object]:
    """Everything that a record's way through the device depends on."""
    forms = canonical_query(query), canonical_url(url)
    crossed = canonical_query(url), canonical_url(query)
    return [*forms, *crossed, looks_personal(*forms), looks_personal(*crossed), upload_record(query, url)]


def text(chance: random.Random) -> str:
    """A query: characters of some kinds, or pieces near the filter's limits; sometimes one near the limit of its length."""
    if chance.random() < 0.002:
        return "".join(chance.choices(chance.choice(KINDS), k=20)) * chance.randrange(1, 220)
    if chance.random() < 0.4:
        return pieces(chance, QUERY_PIECES)
    return "".join(chance.choice(chance.choice(KINDS)) for _ in range(chance.randrange(12)))


def url_text(chance: random.Random) -> str:
    """A URL: pieces, one of several beginnings, and sometimes any characters."""
    start = chance.choice(("", "http://", "https://", "https://example.org/", "HTTP://a.b/", "https://x.example/?"))
    return start + pieces(chance, URL_PIECES) + (text(chance) if chance.random() < 0.2 else "")


def pieces(chance: random.Random, of: tuple[str, ...]) -> str:
    """Up to ten of these pieces."""
    return "".join(chance.choices(of, k=chance.randrange(10)))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
