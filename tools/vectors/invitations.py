"""Invitations, as links and files, with the values that a client pins; and others that it refuses."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from blender_dp.invitation import Invitation
from vectors.signing import CAMPAIGN, SIGNER

_PINNED: dict[str, Any] = Invitation.of(
    collector="https://collector.example",
    key=SIGNER.public,
    campaign=CAMPAIGN,
    epsilon=4,
    delta="1e-6",
    lifetime_epsilon="48.5",
    name="searches",
).to_document()

_ALLOWED: tuple[dict[str, Any], ...] = (
    {"collector": "https://collector.example:8443/a/b"},
    {"collector": "http://localhost:8000"},
    {"collector": "http://127.0.0.1"},
    {"epsilon": "20"},
    {"epsilon": "1/3"},
    {"delta": "999/1000000"},
    {"lifetime_epsilon": "4"},
    {"lifetime_epsilon": "1000000"},
    {"name": "0-" + "x" * 61},
)
_REFUSED: tuple[dict[str, Any], ...] = (
    {"schema": "blender-dp/invitation/2"},
    {"more": 1},
    {"collector": "http://collector.example"},
    {"collector": "http://localhost.example"},
    {"collector": "http://127.0.0.2"},
    {"collector": "http://[::1]:8000"},
    {"collector": "https://joe@collector.example"},
    {"collector": "https://collector.example/?a"},
    {"collector": "https://collector.example/#a"},
    {"collector": "collector.example"},
    {"key": SIGNER.public[:-1]},
    {"key": f"{SIGNER.public}="},
    {"campaign": CAMPAIGN.upper()},
    {"campaign": CAMPAIGN[1:]},
    {"epsilon": "4.0"},
    {"epsilon": "8/2"},
    {"epsilon": 4},
    {"epsilon": "20000001/1000000"},
    {"epsilon": "48"},
    {"epsilon": "65"},
    {"epsilon": "0"},
    {"delta": "1e-6"},
    {"delta": "0"},
    {"delta": "1/1000"},
    {"delta": "1/2"},
    {"delta": "1"},
    {"lifetime_epsilon": "3"},
    {"name": ""},
    {"name": "Searches"},
    {"name": "x" * 64},
    *({field: ...} for field in _PINNED),
)

_ADDRESSES = {
    "https://collector.example": True, "https://collector.example:8443/a/": True, "http://localhost": True,
    "http://localhost:8000": True, "http://127.0.0.1": True, "http://127.0.0.1:8000/a": True,
    "http://127.0.0.2": False, "http://127.1.2.3:8000": False, "http://[::1]": False, "http://[::1]:8000": False,
    "http://[::ffff:127.0.0.1]": False, "http://0.0.0.0": False, "http://10.0.0.1": False, "http://localhost.example": False,
    "http://127.0.0.1.example": False, "http://127.0.0.1@collector.example": False, "http://collector.example": False,
    "ftp://localhost": False, "https://joe@collector.example": False, "https://collector.example/?a": False,
    "https://collector.example/#a": False,
}  # fmt: skip


def invitation_vectors() -> dict[str, Any]:
    """Texts that a user pastes or a file has, and the invitation in it, or null; and addresses of collectors."""
    return {
        "schema": "blender-dp/vectors/invitations/1",
        "cases": [{"name": name, "text": text, "invitation": read} for name, text, read in (*_forms(), *_values())],
        "addresses": [{"collector": url, "accepted": accepted} for url, accepted in _ADDRESSES.items()],
    }


def _forms() -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """The same invitation, written in different ways."""
    link, file = Invitation(**_PINNED).link, json.dumps(_PINNED)
    yield "a link", link, _PINNED
    yield "a link between spaces", f" {link}\n", _PINNED
    yield "a file", file, _PINNED
    yield "a file with line breaks", json.dumps(_PINNED, indent=1) + "\n", _PINNED
    yield "a link to another host", link.replace("collector", "elsewhere", 1), None
    yield "a link to another path", link.replace("/join", "/a/join", 1), None
    yield "a link that is cut off", link[:-3], None
    yield "a link without an invitation", link.partition("#")[0] + "#", None
    yield "a link to another page", link.replace("/join", "/joins", 1), None
    yield "a link with more behind it", f"{link}&a=1", None
    yield "a link with another invitation in its path", f"{link}/join#{_encoded({**_PINNED, 'name': 'other'})}", None
    for text in ("", "null", "[]", "7", '"text"', "{", file + file):
        yield f"the text {text[:6]!r} as a file", text, None


def _values() -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """Files and links with other values."""
    for changed in (*_ALLOWED, *_REFUSED):
        fields = {name: value for name, value in {**_PINNED, **changed}.items() if value is not ...}
        read = fields if changed in _ALLOWED else None
        ((field, value),) = changed.items()
        name = f"{field} is {'missing' if value is ... else json.dumps(value)}"
        yield f"file: {name}", json.dumps(fields), read
        if "collector" in fields:
            yield f"link: {name}", f"{fields['collector']}/join#{_encoded(fields)}", read


def _encoded(fields: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")
