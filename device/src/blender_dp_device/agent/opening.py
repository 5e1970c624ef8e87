"""What a device verifies before it uploads an opt-in user's record, and the message that it then sends."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from blender_dp_device.agent.shapes import MOST_ROUNDS, as_document, number, whole
from blender_dp_device.errors import DocumentError
from blender_dp_device.records.upload import RECORD_BYTES, upload_record

MESSAGE_BYTES = RECORD_BYTES + 256
"""The length of every upload: the record, the receipt and the names of the fields, padded with spaces."""

_LATEST = 1 << 42  # seconds since 1970


@dataclass(frozen=True)
class Opening:
    """A verified opening of a round."""

    campaign: str
    round: int
    round_id: str
    epsilon: Fraction
    delta: Fraction


def verified_opening(
    content: dict[str, Any], *, campaign: str, round_id: str, epsilon: Fraction, most_delta: Fraction, now: float
) -> Opening:
    """The opening, if it is of this campaign and this round, has this ε and no more than this δ, and has not expired.

    `content` is what the pinned key has signed; everything else is the device's own, or what the collector says is open.
    """
    with as_document("opening"):
        made = Opening(
            content["campaign"],
            whole(content["round"], 1, MOST_ROUNDS),
            content["round_id"],
            number(content["epsilon"]),
            number(content["delta"]),
        )
        expires = whole(content["expires"], 0, _LATEST)
    problem = (
        "is of another campaign"
        if made.campaign != campaign
        else "is of another round"
        if made.round_id != round_id
        else "has another ε than this device's"
        if made.epsilon != epsilon
        else "has a larger δ than this device allows"
        if made.delta > most_delta
        else "has expired"
        if expires < now
        else None
    )
    if problem:
        raise DocumentError("opening", problem, "Nothing is uploaded")
    return made


def upload_message(query: str | None, url: str | None, receipt: str) -> bytes:
    """What is sent: the record, or none if it cannot be used, in as many bytes as any other."""
    record = upload_record(query, url)
    message = {"query": record.query, "url": record.url, "receipt": receipt}
    return json.dumps(message, ensure_ascii=False).encode().ljust(MESSAGE_BYTES)
