"""The messages between devices and collectors, and the contents of signed documents, defined once for both sides.

They are plain dataclasses. `Rule` has the hooks that pydantic looks for, without importing it: the collector's validation,
its OpenAPI document and the JSON schemas in `spec/` all derive from these definitions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, dataclass_transform

from blender_dp_device.digests import DocumentDigest, ListDigest
from blender_dp_device.wire.cells import CELL_LIMIT, MAX_CELLS

IDENTIFIER_PATTERN = r"^[0-9a-f]{32}$"
DIGEST_PATTERN = r"^[0-9a-f]{64}$"
NUMBER_PATTERN = r"^[0-9]{1,40}(/[0-9]{1,40}|(\.[0-9]{1,40})?(e-?[0-9]{1,2})?)$"

_Schema = dict[str, Any]
_Class = TypeVar("_Class")


@dataclass(frozen=True)
class Rule:
    """What a value must be: pydantic's own names for constraints, and a description."""

    constraints: tuple[tuple[str, Any], ...] = ()
    description: str = ""

    def __get_pydantic_core_schema__(self, source: object, handler: Callable[[object], _Schema]) -> _Schema:
        """Add the constraints; a value that has some is not converted from another type."""
        return {**handler(source), **({"strict": True, **dict(self.constraints)} if self.constraints else {})}

    def __get_pydantic_json_schema__(self, core: _Schema, handler: Callable[[_Schema], _Schema]) -> _Schema:
        """Add the description."""
        return {**handler(core), **({"description": self.description} if self.description else {})}


class _AnyText:
    """Strings may have unpaired surrogates, which JSON can write and the canonical form drops."""

    def __get_pydantic_core_schema__(self, source: object, handler: Callable[[object], _Schema]) -> _Schema:
        function = {"type": "no-info", "function": _without_surrogates}
        return {"type": "function-before", "function": function, "schema": {**handler(source), "strict": True}}


class _WholeNumber:
    """`true` and `1.0` are equal to 1, but are not versions."""

    def __get_pydantic_core_schema__(self, source: object, handler: Callable[[object], _Schema]) -> _Schema:
        return {"type": "chain", "steps": [{"type": "int", "strict": True}, handler(source)]}

    def __get_pydantic_json_schema__(self, core: _Schema, handler: Callable[[_Schema], _Schema]) -> _Schema:
        return handler(core["steps"][1])


def _without_surrogates(value: object) -> object:
    return value.encode(errors="ignore").decode() if isinstance(value, str) else value


def rule(description: str = "", **constraints: Any) -> Rule:  # noqa: ANN401 (as pydantic has them)
    """Make a rule."""
    return Rule(tuple(constraints.items()), description)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def message(cls: type[_Class]) -> type[_Class]:
    """Turn a class into a message with its fields, by name, and no others."""
    schema = {"description": inspect.cleandoc(cls.__doc__ or "")}
    cls.__pydantic_config__ = {"extra": "forbid", "json_schema_extra": schema}  # type: ignore[attr-defined]
    return dataclass(frozen=True, kw_only=True)(cls)


Identifier = Annotated[str, rule(pattern=IDENTIFIER_PATTERN)]
Receipt = Annotated[str, rule(pattern=DIGEST_PATTERN)]
Document = Annotated[DocumentDigest, rule(pattern=DIGEST_PATTERN)]
LedgerDigest = Annotated[str, rule(pattern=DIGEST_PATTERN)]
Number = Annotated[str, rule("An exact number: a decimal or a fraction.", pattern=NUMBER_PATTERN)]
Time = Annotated[int, rule("Seconds since 1970.", ge=0)]
RoundNumber = Annotated[int, rule(ge=1)]
Text = Annotated[str, _AnyText()]
"""Any string that JSON can contain. The response must not depend on it."""
Cell = Annotated[int, rule(ge=0, lt=CELL_LIMIT)]
Version = Annotated[Literal[1], _WholeNumber()]
Reason = Literal["malformed", "another head list", "wrong number of cells", "no such cell", "not sorted", "a query twice"]
State = Literal["open", "listing", "listed", "closed", "released", "aborted"]
Kind = Literal["opening", "head-list", "bundle", "release"]


@message
class ReportMessage:
    """One report: 16 random bytes as its id, the list it refers to, and its cells, one per reported query, sorted."""

    id: Identifier
    head_list: Annotated[Document, rule("The digest of the signed list that it refers to.")]
    cells: Annotated[list[Cell], rule(min_length=1, max_length=MAX_CELLS)]


@message
class ReportsMessage:
    """One or more reports."""

    reports: Annotated[list[ReportMessage], rule(min_length=1, max_length=100_000)]
    version: Version = 1


@message
class Refusal:
    """A refused report: its index in the request, and the reason."""

    index: int
    reason: Reason


@message
class ReportsAnswer:
    """All reports that are not refused are stored durably; a duplicate is not stored again."""

    refused: list[Refusal]


@message
class RecordMessage:
    """An opt-in user's record. If it is missing, looks personal or is too long, only the user is counted.

    The response is the same for every text. A device sends messages of one length, padded with spaces at the end.
    """

    query: Text | None = None
    url: Text | None = None
    receipt: Annotated[
        Receipt | None, rule("32 random bytes that withdraw the record; by default the collector draws them.")
    ] = None
    version: Version = 1


@message
class RecordAnswer:
    """The receipt that withdraws the record: the one that was sent, or a new one."""

    receipt: Receipt


@message
class PublicRound:
    """A round as everyone may see it: its state, and the digests of what it has published."""

    id: Identifier
    campaign: Identifier
    number: int
    state: State
    lists_at: int | None
    closes_at: int | None
    opening: Document | None
    head_list: Document | None
    release: Document | None
    bundle: Document | None
    problem: Annotated[
        str | None, rule("`waiting` if the round cannot take its next step yet; if it was aborted, the operator's reason.")
    ]


@message
class Pointer:
    """Where the newest documents are: those of the newest round, and of the newest one with a release.

    `key` is the collector's public key (Ed25519, base64). What the pointer names never changes.
    """

    key: str
    round: PublicRound | None
    released: PublicRound | None


@message
class SignedDocument:
    """A published document: canonical JSON (RFC 8785), with an Ed25519 signature of `kind` and `content`."""

    kind: Kind
    content: dict[str, Any]
    key: str
    signature: str


@message
class OpeningContent:
    """The content of a signed `opening`: what a round promises to opt-in users before they upload."""

    campaign: Identifier
    round: RoundNumber
    round_id: Identifier
    epsilon: Number
    delta: Number
    expires: Time


@message
class HeadListContent:
    """The content of a signed `head-list`; the list in it follows `head-list.json`."""

    campaign: Identifier
    round: RoundNumber
    round_id: Identifier
    head_list: dict[str, Any]
    list_digest: Annotated[ListDigest, rule("The digest of the list with its channel.", pattern=DIGEST_PATTERN)]
    expires: Time


@message
class BundleRow:
    """A query with its share, and its URLs with theirs, most popular first."""

    query: str
    share: float
    urls: list[tuple[str, float]]


@message
class BundleContent:
    """The content of a signed `bundle`: everything that offline search needs."""

    campaign: Identifier
    round: RoundNumber
    queries: list[BundleRow]


@message
class ReleaseContent:
    """The content of a signed `release`; the release in it follows `release.json`."""

    campaign: Identifier
    round: RoundNumber
    ledger: Annotated[LedgerDigest | None, rule("The last entry of this round in the ledger.")]
    release: dict[str, Any]
    poisoning: Annotated[dict[str, Any], rule("How many forged reports would change the top.")]
