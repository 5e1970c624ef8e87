"""A signed document is accepted in exactly one form: the bytes that the pinned key has signed."""

from __future__ import annotations

import base64
import json

import pytest

from blender_dp.collector.secrets.signing import Signer, canonical
from blender_dp_device.digests import document_digest, list_digest
from blender_dp_device.errors import DocumentError
from blender_dp_device.wire.documents import DOMAIN, verified_content

CONTENT = {"campaign": "c" * 32, "round": 1, "text": 'ä "quoted" \\ \u2028', "shares": [0.1, 1e-7, 1]}


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer.load(tmp_path_factory.mktemp("keys") / "key.pem")


@pytest.fixture(scope="module")
def body(signer: Signer) -> bytes:
    return signer.sign("bundle", CONTENT)


def signed(signer: Signer, content: bytes, kind: str = "bundle") -> bytes:
    """A document whose signature is valid, whatever its content is."""
    text = b'{"content":' + content + f',"kind":"{kind}"}}'.encode()
    signature = base64.b64encode(signer.key.sign(DOMAIN + text)).decode()
    return text[:-1].replace(
        f',"kind":"{kind}"'.encode(), f',"key":"{signer.public}","kind":"{kind}","signature":"{signature}"}}'.encode()
    )


def refused(body: bytes, signer: Signer, kind: str = "bundle") -> bool:
    with pytest.raises(DocumentError, match=f"not signed by the pinned key as '{kind}'"):
        verified_content(body, kind, signer.public)
    return True


def test_the_content_of_a_signed_document(body, signer):
    assert verified_content(body, "bundle", signer.public) == CONTENT
    assert signed(signer, canonical(CONTENT)) == body


@pytest.mark.parametrize(
    "written",
    [
        lambda document: json.dumps(document).encode(),
        lambda document: json.dumps(document, indent=1).encode(),
        lambda document: json.dumps(document, separators=(",", ":")).encode(),
        lambda document: canonical(document).replace(b",", b", ", 1),
        lambda document: canonical(document).replace(b'"round":1', b'"round":1.0'),
        lambda document: canonical(document).replace("ä".encode(), b"\\u00e4"),
        lambda document: canonical(dict(reversed(document.items()))).replace(b'{"content"', b'{ "content"', 1),
        lambda document: json.dumps(dict(reversed(document.items())), separators=(",", ":"), ensure_ascii=False).encode(),
        lambda document: canonical({**document, "more": 1}),
        lambda document: canonical({**document, "a": 1}),
    ],
)
def test_the_same_content_written_in_another_way_is_refused(body, signer, written):
    other = written(json.loads(body))
    assert other != body
    assert refused(other, signer)


def test_an_invisible_change_around_the_document_is_refused(body, signer):
    for other in (b" " + body, body + b" ", body + b"\n", body + body, b"\xef\xbb\xbf" + body, body[:-1] + b" }"):
        assert refused(other, signer)


def test_a_document_that_is_cut_anywhere_is_refused(body, signer):
    for length in range(len(body)):
        assert refused(body[:length], signer)


def test_a_document_with_any_byte_changed_is_refused(body, signer):
    for place in range(len(body)):
        changed = bytearray(body)
        changed[place] ^= 1
        assert refused(bytes(changed), signer)


def test_another_kind_is_refused(body, signer):
    for kind in ("release", "opening", "head-list", ""):
        assert refused(body, signer, kind)
    assert refused(body.replace(b'"kind":"bundle"', b'"kind":"opening"'), signer, "opening")


def test_another_key_is_refused(body, signer, tmp_path):
    other = Signer.load(tmp_path / "other.pem")
    assert refused(body, other)
    assert refused(body.replace(signer.public.encode(), other.public.encode()), other)
    with pytest.raises(DocumentError):
        verified_content(body, "bundle", "not a key")


def test_a_signature_for_another_purpose_is_refused(signer):
    text = b'{"content":{},"kind":"bundle"}'
    signature = base64.b64encode(signer.key.sign(text)).decode()  # without the domain
    assert refused(canonical({"content": {}, "key": signer.public, "kind": "bundle", "signature": signature}), signer)


@pytest.mark.parametrize("content", [b"[]", b"7", b'"text"', b"null", b"true"])
def test_signed_content_that_is_not_an_object_is_refused(signer, content):
    with pytest.raises(DocumentError, match="has no content"):
        verified_content(signed(signer, content), "bundle", signer.public)


@pytest.mark.parametrize("content", [b"", b"{", b"{}}", b"\xff", b"[" * 100_000 + b"]" * 100_000])
def test_signed_content_that_is_not_json_is_refused(signer, content):
    assert refused(signed(signer, content), signer)


def test_a_key_and_a_kind_inside_the_content_do_not_count(signer, tmp_path):
    """Content that looks like the end of a document of another key."""
    other = Signer.load(tmp_path / "other.pem")
    inner = f',"key":"{signer.public}","kind":"bundle","signature":"{"A" * 86}=="}}'
    assert refused(other.sign("bundle", {"text": inner}), signer)
    assert verified_content(signer.sign("bundle", {"text": inner}), "bundle", signer.public) == {"text": inner}


def test_a_signed_document_that_starts_in_another_way_is_refused(signer):
    text = b'{"Content":{},"kind":"bundle"}'
    signature = base64.b64encode(signer.key.sign(DOMAIN + text)).decode()
    end = f',"key":"{signer.public}","kind":"bundle","signature":"{signature}"}}'
    assert refused(b'{"Content":{}' + end.encode(), signer)


def test_a_huge_document(signer):
    content = {"queries": ["x" * 100] * 80_000}
    assert verified_content(signer.sign("bundle", content), "bundle", signer.public) == content


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b'"', b'{"content":', b'{"content":"}', bytes(1_000)])
def test_short_and_empty_documents_are_refused(body, signer):
    assert refused(body, signer)


def test_the_two_digests_differ():
    """One is the digest of bytes, the other that of a list, however it is written."""
    document = {"b": [1, "ä"], "a": None}
    assert list_digest(document) == document_digest('{"a":null,"b":[1,"ä"]}'.encode())
    assert list_digest({"a": None, "b": [1, "ä"]}) == list_digest(document)
    assert document_digest(b'{"a": null}') != document_digest(b'{"a":null}')
