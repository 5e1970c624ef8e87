"""Documents whose signature is wrong or missing, or is that of another document."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from hostile_collectors.documents import SIGNER, STRANGER, USUAL, sign_raw, signed
from hostile_collectors.steps import PATHS, field_of, step


def signature_cases() -> Iterator[tuple[Any, ...]]:
    """Every kind of document, forged in every way."""
    for act, kind in PATHS.items():
        content = USUAL[kind]
        good = signed(kind, content).decode()
        _, _, signature = good.partition(f'"{SIGNER.public}"')[2].rpartition(',"signature":')
        forged = STRANGER.sign(kind, content).decode()
        documents = {
            "signed with another key": forged,
            "signed with another key, but names the pinned one": forged.replace(STRANGER.public, SIGNER.public),
            "with a signature of zeros": good.replace(signature, f'"{base64.b64encode(bytes(64)).decode()}"}}'),
            "with a short signature": good.replace(signature, '"AAAA"}'),
            "without a signature": good.replace(f',"signature":{signature}', "}"),
            "changed after it was signed": good.replace('"round":1', '"round":2'),
            "written with spaces": json.dumps(json.loads(good)),
            "with a line break at its end": good + "\n",
            "with its keys in another order": json.dumps(dict(reversed(json.loads(good).items())), separators=(",", ":")),
            "of another kind": signed("release", content).decode(),
            "that is not JSON": "{" + good,
            "that is empty": "",
            **{f"with {wrong!r} as content": sign_raw(kind, wrong) for wrong in ("[]", "null", "7", '"text"', "{", "NaN")},
        }
        for name, document in documents.items():
            yield f"{kind} {name}", step(act, document.encode())
        other = next(one for one in USUAL if one != kind)
        yield f"{kind} that is a signed {other}", step(act, signed(other, USUAL[other]))
        name = "0" * 64
        yield f"{kind} that does not match its digest", step(act, documents={name: good}, pointer={field_of(kind): name})
