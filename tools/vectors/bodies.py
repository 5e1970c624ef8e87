"""The bodies that leave a client, byte for byte: their length does not depend on the record."""

from __future__ import annotations

from typing import Any

_ID, _LIST, _RECEIPT = "0123456789abcdef" * 2, "ab" * 32, "cd" * 32
_LONGEST = 2_048 - len('["q", "https://a.example/"]')  # what fits into the path

_URL = "https://a.example/"

_UPLOADS = (
    ("a record", " Google ", "GOOGLE.com/?utm_source=x", '"google"', '"https://google.com/"'),
    ("quotes", 'say "a\\b"', "https://a.example/", '"say \\"a\\\\b\\""', '"https://a.example/"'),
    ("not ASCII", "münchen 地图 😀", "https://a.example/", '"münchen 地图 😀"', '"https://a.example/"'),
    ("as long as possible", "q", "https://a.example/" + "x" * _LONGEST, '"q"', f'"https://a.example/{"x" * _LONGEST}"'),
    ("one byte too long", "q", "https://a.example/" + "x" * (_LONGEST + 1), "null", "null"),
    ("too long as UTF-8", "ä" * 1_020, "https://a.example/", "null", "null"),
    ("as long as can be read", "q" + " " * (8_191 - len(_URL)), _URL, '"q"', f'"{_URL}"'),
    ("too long to be read", "q" + " " * (8_192 - len(_URL)), _URL, "null", "null"),
    ("a personal query", "joe@example.org", "https://a.example/", "null", "null"),
    ("a private host", "router", "http://192.168.0.1/", "null", "null"),
    ("no query", "  ", "https://a.example/", "null", "null"),
    ("no URL", "google", None, "null", "null"),
    ("no record", None, None, "null", "null"),
)
"""A record, and the JSON values that are sent for it."""

_RECORDS = (
    ("a record", " Google ", "GOOGLE.com/?utm_source=x", "google", ["google", "https://google.com/"]),
    ("no URL", "google", None, "google", None),
    ("no query", None, _URL, None, None),
    ("a personal query", "joe@example.org", _URL, None, None),
    ("a personal URL", "google", "https://joe:secret@a.example/", "google", None),
    ("a query of 2,048 bytes", "ä" * 1_024, _URL, "ä" * 1_024, ["ä" * 1_024, _URL]),
    ("a query of 2,049 bytes", "ä" * 1_024 + "b", _URL, None, None),
    ("a URL of 2,048 bytes", "q", _URL + "x" * (2_048 - len(_URL)), "q", ["q", _URL + "x" * (2_048 - len(_URL))]),
    ("a URL of 2,049 bytes", "q", _URL + "x" * (2_049 - len(_URL)), "q", None),
    ("8,192 bytes", "q", f"{_URL}?utm_={'ä' * 4_083}b", "q", ["q", _URL]),
    ("8,193 bytes in fewer characters", "q", f"{_URL}?utm_={'ä' * 4_084}", None, None),
)
"""A record, and what is reported: the item for a list of one level, the query and the URL for one of two."""


def body_vectors() -> dict[str, Any]:
    """Reports with their id, uploads with their receipt, and the records that reports are made from."""
    return {
        "schema": "blender-dp/vectors/bodies/1",
        "reports": [_report(*case) for case in (([0], 10), ([9], 10), ([3], 1_001), ([7, 10, 999], 1_000), ([0], 1))],
        "uploads": [_upload(*case) for case in _UPLOADS],
        "records": [dict(zip(("name", "query", "url", "item", "pair"), case, strict=True)) for case in _RECORDS],
    }


def _report(cells: list[int], cell_count: int) -> dict[str, Any]:
    body = f'{{"reports": [{{"id": "{_ID}", "head_list": "{_LIST}", "cells": {cells}}}]}}'
    longest = sum(len(str(cell_count - 1)) - len(str(cell)) for cell in cells)
    return {"id": _ID, "head_list": _LIST, "cells": cells, "cell_count": cell_count, "body": body + " " * longest}


def _upload(name: str, query: str | None, url: str | None, sent_query: str, sent_url: str) -> dict[str, Any]:
    body = f'{{"query": {sent_query}, "url": {sent_url}, "receipt": "{_RECEIPT}"}}'
    body += " " * (2_304 - len(body.encode()))
    return {"name": name, "query": query, "url": url, "receipt": _RECEIPT, "body": body}
