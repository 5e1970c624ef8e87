"""What a device verifies before it uses a document that the pinned key has signed.

Documents are compared with the device's own settings. Unsigned responses of the collector are only used to find the
current round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from blender_dp_device.errors import DocumentError
from blender_dp_device.records.reporting_list import ReportingList
from blender_dp_device.wire.cells import MAX_CELLS
from blender_dp_device.wire.shapes import MAX_ROUNDS, MAX_TIME, as_document, identifier, number, text, whole
from blender_dp_device.wire.suggestions import Row, bundle_rows

MAX_QUERIES = 20_000
"""A longer list is refused: every alternative reduces the weight of this device's report."""


@dataclass(frozen=True)
class Opening:
    """A verified opening of a round."""

    campaign: str
    round: int
    round_id: str
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Published:
    """A verified list of a round."""

    campaign: str
    round: int
    round_id: str
    reporting_list: ReportingList


def verified_opening(
    content: dict[str, Any], *, campaign: str, round_id: str, epsilon: Fraction, max_delta: Fraction, now: float
) -> Opening:
    """Return the opening if it belongs to this round, has exactly this ε and at most this δ, and has not expired."""
    with as_document("opening"):
        opening = Opening(
            text(content["campaign"]),
            whole(content["round"], 1, MAX_ROUNDS),
            identifier(content["round_id"]),
            number(content["epsilon"]),
            number(content["delta"]),
        )
        expires = whole(content["expires"], 0, MAX_TIME)
    checks = (
        (opening.campaign == campaign, "belongs to another campaign"),
        (opening.round_id == round_id, "belongs to another round"),
        (opening.epsilon == epsilon, "has a different ε from this device's"),
        (opening.delta <= max_delta, "has a larger δ than this device allows"),
        (expires >= now, "has expired"),
    )
    _refuse_if("opening", checks, "Nothing is uploaded")
    return opening


def verified_list(
    content: dict[str, Any], *, campaign: str, round_id: str, epsilon: Fraction, newest: int, now: float
) -> Published:
    """Return the list if it belongs to this round, is newer than any before, is not too long and has exactly this ε."""
    with as_document("head list"):
        published = ReportingList.from_document(content["head_list"])
        whole(published.channel.subset_size, 1, MAX_CELLS)
        queries, expires = len(published.head_list), content["expires"]
        checks = (
            (content["campaign"] == campaign, "belongs to another campaign"),
            (content["round_id"] == round_id, "is not the list of this round"),
            (published.digest == content["list_digest"], "is not the list of this round"),
            (whole(content["round"], 1, MAX_ROUNDS) > newest, "belongs to a round seen before, or to an older round"),
            (expires is not None, "does not say when it expires"),
            (expires is None or whole(expires, 0, MAX_TIME) >= now, "has expired"),
            (queries > 0, "has no queries, so a report would cost ε and say nothing"),
            (queries <= MAX_QUERIES, f"has more than {MAX_QUERIES} queries"),
            (published.channel.epsilon == epsilon, "was made for a different ε from this device's"),
        )
        _refuse_if("head list", checks, "Nothing is reported")
        return Published(content["campaign"], content["round"], content["round_id"], published)


def verified_bundle(content: dict[str, Any], *, campaign: str) -> tuple[int, list[Row]]:
    """Return the number of a bundle's round and its rows, if it belongs to this campaign."""
    with as_document("bundle"):
        owner, newest = content["campaign"], whole(content["round"], 1, MAX_ROUNDS)
        rows = bundle_rows(content)
    _refuse_if("bundle", [(owner == campaign, "belongs to another campaign")], "Ask the collector's operator")
    return newest, rows


def _refuse_if(source: str, checks: Iterable[tuple[bool, str]], fix: str) -> None:
    for holds, problem in checks:
        if not holds:
            raise DocumentError(source, problem, fix)
