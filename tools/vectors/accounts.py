"""What a device does over its life: sequences of calls, with every request that leaves, and what it has spent afterwards.

A collector serves the signed documents in the file and responds to everything else with the given status.
"""

# ruff: noqa: ANN401 (any JSON)
from __future__ import annotations

import json
from typing import Any

from blender_dp_device.digests import document_digest
from vectors.account_device import Device
from vectors.signing import CAMPAIGN, SIGNER, list_content, list_document, opening_content, round_id

_DAY = 86_400
_USED = "of this device is used up"
_SOON = "was charged a short while ago"
_SEEN = "belongs to a round seen before, or to an older round"
_CHARGED = "belongs to a round that this device participated in, or to an older round"
_LOST, _GONE, _BUSY = None, 409, 503
_OK, _CREATED, _DELETED = 200, 201, 204

_documents: dict[str, str] = {}


def account_vectors() -> dict[str, Any]:
    """All sequences, and the documents that they use."""
    _documents.clear()
    sequences = [make().to_document() for make in _SEQUENCES]
    return {
        "schema": "blender-dp/vectors/accounts/1",
        "key": SIGNER.public,
        "campaign": CAMPAIGN,
        "documents": dict(_documents),
        "sequences": sequences,
    }


def _round(number: int, state: str, epsilon: str = "4", **changed: Any) -> dict[str, Any]:
    """A round as the collector shows it, with its documents; `of` is the number that the documents state."""
    stated, name = changed.pop("of", number), round_id(number)
    documents: dict[str, str | None] = {"opening": None, "head_list": None}
    if state == "open":
        documents["opening"] = _publish("opening", opening_content(stated, round_id=name, epsilon=epsilon, **changed))
    if state == "listed":
        documents["head_list"] = _publish("head-list", list_content(stated, list_document(epsilon=epsilon), round_id=name))
    rest = {"lists_at": None, "closes_at": None, "release": None, "bundle": None, "problem": None}
    return {"id": name, "campaign": CAMPAIGN, "number": stated, "state": state, **documents, **rest}


def _publish(kind: str, content: dict[str, Any]) -> str:
    body = SIGNER.sign(kind, json.loads(json.dumps(content)))
    _documents[document_digest(body)] = body.decode()
    return document_digest(body)


def _one_report_per_round() -> Device:
    device, first = Device("one report per round"), _round(1, "listed")
    device.take_part(None)
    for state in ("open", "listing", "closed", "released", "aborted"):
        device.take_part(_round(1, state))
    device.take_part(first, reads=1, posts=[(1, 0, _OK)], cost="4")
    device.take_part(first, result="sent")
    device.take_part(_round(2, "listed"), reads=1, posts=[(2, 1, _OK)], cost="4")
    return device


def _the_same_bytes() -> Device:
    device, first, second = Device("a retry sends the same bytes"), _round(1, "listed"), _round(2, "listed")
    device.take_part(first, reads=1, posts=[(1, 0, _LOST)], cost="4", error="no response")
    device.take_part(first, posts=[(1, 0, _BUSY)], error="status 503")
    device.take_part(_round(1, "closed"), posts=[(1, 0, _LOST)], result="nothing")
    device.take_part(second, reads=1, posts=[(1, 0, _BUSY), (2, 1, _LOST)], cost="4", error="no response")
    device.take_part(second, posts=[(1, 0, _GONE), (2, 1, _OK)])
    device.take_part(second, result="sent")
    return device


def _arrives_late() -> Device:
    device = Device("a report that arrives in a later round", seconds=_DAY)
    device.take_part(_round(1, "listed"), reads=1, posts=[(1, 0, _LOST)], cost="4", error="no response")
    device.take_part(_round(2, "open"), now=1, posts=[(1, 0, _OK)], result="nothing")
    device.take_part(_round(2, "listed"), now=2, reads=1, error=_SOON)
    device.take_part(_round(2, "listed"), now=_DAY, reads=1, posts=[(2, 1, _OK)], cost="4")
    return device


def _lifetime() -> Device:
    device = Device("the lifetime budget is exact", epsilon="1/3", lifetime="1")
    for number in (1, 2, 3):
        posts = [(number, number - 1, _OK)]
        device.take_part(_round(number, "listed", "1/3"), reads=1, posts=posts, cost="1/3")
    device.take_part(_round(4, "listed", "1/3"), reads=1, error=_USED)
    device.upload(_round(5, "open", "1/3"), reads=1, error=_USED)
    device.take_part(_round(3, "listed", "1/3"), result="sent")
    return device


def _almost_enough() -> Device:
    device = Device(
        "a budget that is too small by little", epsilon="7/3", lifetime="699999999999999999999/100000000000000000000"
    )
    device.take_part(_round(1, "listed", "7/3"), reads=1, posts=[(1, 0, _OK)], cost="7/3")
    device.upload(_round(2, "open", "7/3"), reads=1, posts=[(2, 1, _CREATED, 0)], cost="7/3")
    device.take_part(_round(3, "listed", "7/3"), reads=1, error=_USED)
    return device


def _larger_limit() -> Device:
    device = Device("a larger lifetime ε counts only after its user has agreed", lifetime="8")
    device.take_part(_round(1, "listed"), reads=1, posts=[(1, 0, _OK)], cost="4")
    device.lifetime = "40"
    device.take_part(_round(2, "listed"), reads=1, posts=[(2, 1, _OK)], cost="4")
    device.take_part(_round(3, "listed"), reads=1, error=_USED)
    device.upload(_round(3, "open"), reads=1, error=_USED)
    device.agree()
    device.take_part(_round(3, "listed"), reads=1, posts=[(3, 2, _OK)], cost="4")
    device.lifetime = "16"
    device.upload(_round(4, "open"), reads=1, posts=[(4, 3, _CREATED, 0)], cost="4")
    device.lifetime = "40"
    device.take_part(_round(5, "listed"), reads=1, error=_USED)
    return device


def _minimum_time() -> Device:
    device = Device("the minimum time between rounds", seconds=_DAY)
    device.take_part(_round(1, "listed"), now=1_000, reads=1, posts=[(1, 0, _OK)], cost="4")
    device.take_part(_round(2, "listed"), now=1_000 + _DAY - 1, reads=1, error=_SOON)
    device.upload(_round(2, "open"), now=1_000 + _DAY - 1, reads=1, error=_SOON)
    device.take_part(_round(2, "listed"), now=1_000 + _DAY, reads=1, posts=[(2, 1, _OK)], cost="4")
    return device


def _clock_set_back() -> Device:
    device = Device("a clock that is set back starts the wait again", seconds=_DAY)
    device.take_part(_round(1, "listed"), now=10 * _DAY, reads=1, posts=[(1, 0, _OK)], cost="4")
    device.take_part(_round(2, "listed"), now=500, reads=1, error=_SOON)
    device.take_part(_round(2, "listed"), now=500 + _DAY - 1, reads=1, error=_SOON)
    device.take_part(_round(2, "listed"), now=500 + _DAY, reads=1, posts=[(2, 1, _OK)], cost="4")
    return device


def _clock_set_back_before_a_refusal() -> Device:
    device = Device("a clock that is set back is noted before a round is refused", seconds=_DAY)
    device.take_part(_round(5, "listed"), now=10 * _DAY, reads=1, posts=[(5, 0, _OK)], cost="4")
    device.upload(_round(4, "open"), now=500, reads=1, error=_CHARGED)
    device.take_part(_round(6, "listed"), now=500 + _DAY, reads=1, posts=[(6, 1, _OK)], cost="4")
    return device


def _several_undelivered() -> Device:
    device, third = Device("several reports that have not arrived"), _round(3, "listed")
    device.take_part(_round(1, "listed"), reads=1, posts=[(1, 0, _LOST)], cost="4", error="no response")
    device.take_part(_round(2, "listed"), reads=1, posts=[(1, 0, _LOST), (2, 1, _LOST)], cost="4", error="no response")
    device.take_part(_round(2, "closed"), posts=[(1, 0, _LOST)], result="nothing")
    device.take_part(third, reads=1, posts=[(1, 0, _BUSY), (2, 1, 404), (3, 2, _OK)], cost="4")
    device.take_part(third, posts=[(1, 0, _GONE)])
    device.take_part(third, result="sent")
    return device


def _over() -> Device:
    device, first = Device("a round that seems to be over, but is not"), _round(1, "listed")
    device.take_part(first, reads=1, posts=[(1, 0, _GONE)], cost="4", error="status 409")
    device.take_part(first, posts=[(1, 0, 404)], error="status 404")
    device.take_part(_round(2, "open"), posts=[(1, 0, _GONE)], result="nothing")
    device.take_part(_round(2, "open"))
    device.take_part(first, posts=[(1, 0, _OK)])
    device.take_part(first, result="sent")
    return device


def _rollback() -> Device:
    device = Device("a round that is not newer is refused, whatever its id is")
    device.take_part(_round(7, "listed"), reads=1, posts=[(7, 0, _OK)], cost="4")
    device.take_part(_round(6, "listed"), reads=1, error=_SEEN)
    device.take_part(_round(8, "listed", of=7), reads=1, error=_SEEN)
    device.upload(_round(6, "open"), reads=1, error=_CHARGED)
    device.upload(_round(7, "open"), reads=1, error=_CHARGED)
    device.take_part(_round(8, "listed"), reads=1, posts=[(8, 1, _OK)], cost="4")
    return device


def _both_groups() -> Device:
    device = Device("an upload that was started prevents a report in that round")
    device.upload(_round(1, "open"), reads=1, posts=[(1, 0, _LOST, 0)], cost="4", error="no response")
    device.take_part(_round(1, "listed"))
    device.upload(_round(2, "open"), reads=1, posts=[(2, 1, _GONE, 1)], cost="4", error="status 409")
    device.take_part(_round(2, "listed"))
    device.take_part(_round(3, "listed"), reads=1, posts=[(3, 2, _OK)], cost="4")
    return device


def _uploads() -> Device:
    device, first = Device("all uploads of a round share a receipt and a charge", seconds=_DAY), _round(1, "open")
    device.upload(first, reads=1, posts=[(1, 0, _CREATED, 0)], cost="4")
    device.upload(first, now=1, reads=1, posts=[(1, 0, _CREATED, 0)])
    device.upload(first, now=2, query="maps", reads=1, posts=[(1, 1, _CREATED, 0)])
    device.upload(first, now=3, query="joe@example.org", reads=1, posts=[(1, 2, _CREATED, 0)])
    number = "gives this round a different number than before"
    device.upload(_round(1, "open", of=2), now=4, reads=1, error=number)
    device.upload(_round(1, "listed"), now=5)
    device.upload(None, now=6)
    return device


def _withdrawals() -> Device:
    device, first = Device("after a withdrawal nothing is uploaded in that round"), _round(1, "open")
    device.upload(first, reads=1, posts=[(1, 0, _CREATED, 0)], cost="4")
    device.withdraw((0, _GONE), result=0)
    device.withdraw((0, _LOST), result=0, error="no response")
    device.withdraw((0, _DELETED), result=1)
    device.upload(first, reads=1)
    device.withdraw(result=0)
    device.take_part(_round(1, "listed"))
    device.upload(_round(2, "open"), reads=1, posts=[(2, 1, _CREATED, 1)], cost="4")
    device.withdraw((1, 404), result=0)
    return device


def _unconfirmed_withdrawals() -> Device:
    device, first = Device("after a withdrawal that may not have arrived nothing is uploaded either"), _round(1, "open")
    device.upload(first, reads=1, posts=[(1, 0, _LOST, 0)], cost="4", error="no response")
    device.withdraw((0, _LOST), result=0, error="no response")
    device.upload(first, reads=1)
    device.withdraw((0, 404), result=0)
    device.upload(first, query="maps", reads=1)
    device.withdraw((0, _DELETED), result=1)
    device.upload(_round(2, "open"), reads=1, posts=[(2, 1, _CREATED, 1)], cost="4")
    return device


def _several_withdrawals() -> Device:
    device = Device("withdrawals of several uploads")
    for number in (1, 2, 3):
        posts = [(number, number - 1, _CREATED, number - 1)]
        device.upload(_round(number, "open"), reads=1, posts=posts, cost="4")
    device.withdraw((0, _GONE), (1, _LOST), result=0, error="no response")
    device.withdraw((0, 500), result=0, error="status 500")
    device.withdraw((0, 404), (1, _DELETED), (2, _BUSY), result=0, error="status 503")
    device.withdraw((0, _GONE), (2, _DELETED), result=1)
    return device


def _opt_out() -> Device:
    device = Device("after an opt-out nothing leaves but withdrawals")
    device.take_part(_round(1, "listed"), reads=1, posts=[(1, 0, _LOST)], cost="4", error="no response")
    device.upload(_round(2, "open"), reads=1, posts=[(2, 1, _CREATED, 0)], cost="4")
    device.opt_out()
    record = {"query": "google", "url": "https://www.google.com/"}
    device.silent("take-part", current=_round(3, "listed"), **record)
    device.silent("upload", current=_round(4, "open"), token="t" * 64, **record)
    device.withdraw((0, _DELETED), result=1)
    return device


_SEQUENCES = (
    _one_report_per_round, _the_same_bytes, _arrives_late, _lifetime, _almost_enough, _larger_limit, _minimum_time,
    _clock_set_back, _clock_set_back_before_a_refusal, _several_undelivered, _over, _rollback, _both_groups, _uploads,
    _withdrawals, _unconfirmed_withdrawals, _several_withdrawals, _opt_out,
)  # fmt: skip
