"""Signed documents that a client accepts, and others that it refuses."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from blender_dp.collector.secrets.signing import canonical
from blender_dp_device.wire.documents import DOMAIN
from vectors.signing import OTHER, SIGNER, opening_content

_ORDER = 2**252 + 27742317777372353535851937790883648493
"""L, the order of the group of Ed25519: a signature whose S is not below it is a second form of the same signature."""
_CONTENT = opening_content() | {"text": 'ä "quoted" \\ \u2028 \U00010000', "shares": [0.1, 1e-7, 1, 1e21]}
_SIGNED = SIGNER.sign("opening", _CONTENT)


def signature_vectors() -> dict[str, Any]:
    """Documents with the content that a client reads, or with null if it must refuse them."""
    accepted = [("valid", _SIGNED, _CONTENT), ("an empty content", SIGNER.sign("opening", {}), {})]
    cases = [*accepted, *((name, body, None) for name, body in _refused())]
    return {
        "schema": "blender-dp/vectors/signatures/1",
        "key": SIGNER.public,
        "kind": "opening",
        "cases": [{"name": name, **_written(body), "content": content} for name, body, content in cases],
    }


def _refused() -> Iterator[tuple[str, bytes]]:
    document, other = json.loads(_SIGNED), OTHER.sign("opening", _CONTENT)
    yield "signed by another key", other
    yield "signed by another key, but names the pinned one", other.replace(OTHER.public.encode(), SIGNER.public.encode())
    yield "signed by the pinned key, but names another one", _SIGNED.replace(SIGNER.public.encode(), OTHER.public.encode())
    yield "another kind", SIGNER.sign("bundle", _CONTENT)
    yield (
        "another kind, but names this one",
        SIGNER.sign("bundle", _CONTENT).replace(b'"kind":"bundle"', b'"kind":"opening"'),
    )
    yield "signed without the prefix", _assembled(canonical(_CONTENT), domain=b"")
    yield "signed without the kind", _assembled(canonical(_CONTENT), tail=b"}")
    yield "an altered byte in the content", _SIGNED.replace(b'"round":1', b'"round":2')
    yield "an altered byte in the signature", _with_signature(bytes([_signature()[0] ^ 1]) + _signature()[1:])
    yield "S is not below L", _with_signature(_signature()[:32] + _second_form(_signature()[32:]))
    yield "a signature of zeros", _with_signature(bytes(64))
    yield "a signature that is too short", _with_signature(_signature()[:63])
    yield (
        "a signature in the other alphabet of base64",
        _SIGNED[:-90] + _SIGNED[-90:].translate(bytes.maketrans(b"+/", b"-_")),
    )
    yield "the same JSON with a space", _SIGNED.replace(b'"round":1', b'"round": 1')
    yield "the same JSON with another spelling of a number", _SIGNED.replace(b'"round":1', b'"round":1.0')
    yield "the same JSON with another spelling of a string", _SIGNED.replace("ä".encode(), b"\\u00e4")
    yield "the same JSON in another order", json.dumps(document, ensure_ascii=False, sort_keys=False).encode()
    yield "the same JSON, indented", json.dumps(document, ensure_ascii=False, sort_keys=True, indent=1).encode()
    yield "an additional field", canonical({**document, "more": 1})
    yield "an additional field at the end", canonical({**document, "z": 1})
    yield "a byte before it", b" " + _SIGNED
    yield "a byte order mark before it", b"\xef\xbb\xbf" + _SIGNED
    yield "a byte after it", _SIGNED + b"\n"
    yield "the document twice", _SIGNED + _SIGNED
    yield "another last byte", _SIGNED[:-1] + b" "
    yield "cut short", _SIGNED[:-1]
    yield "no document", b""
    yield "the content alone", canonical(_CONTENT)
    yield "another name for the content", _assembled(canonical(_CONTENT), name=b"context")
    yield "signed content that is a list", _assembled(b"[]")
    yield "signed content that is null", _assembled(b"null")
    yield "signed content that is not JSON", _assembled(b"{")
    yield "signed content that is not UTF-8", _assembled(b'{"text":"\xff"}')


def _signature() -> bytes:
    return base64.b64decode(json.loads(_SIGNED)["signature"])


def _second_form(s: bytes) -> bytes:
    return (int.from_bytes(s, "little") + _ORDER).to_bytes(32, "little")


def _with_signature(signature: bytes) -> bytes:
    return canonical({**json.loads(_SIGNED), "signature": base64.b64encode(signature).decode()})


def _assembled(
    content: bytes, *, domain: bytes = DOMAIN, tail: bytes = b',"kind":"opening"}', name: bytes = b"content"
) -> bytes:
    """A document around any bytes, with a signature by the pinned key."""
    start = b'{"' + name + b'":' + content
    signature = base64.b64encode(SIGNER.key.sign(domain + start + tail)).decode()
    return start + f',"key":"{SIGNER.public}","kind":"opening","signature":"{signature}"}}'.encode()


def _written(body: bytes) -> dict[str, str]:
    """The bytes as text if they are UTF-8, and otherwise in hexadecimal digits."""
    try:
        return {"document": body.decode()}
    except UnicodeDecodeError:
        return {"document_hex": body.hex()}
