"""What everybody may ask: the current round, published documents, reports, records of enrolled users."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
import msgspec
import numpy as np
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field, ValidationError

from blender_dp.collector.campaign import CampaignName
from blender_dp.collector.http.budget_view import budgets_shown
from blender_dp.collector.http.content_types import JsonRoute, check_media
from blender_dp.collector.http.messages import (
    CampaignBudget,
    Digest,
    Identifier,
    LedgerEntry,
    Pointer,
    PublicRound,
    Reason,
    RecordAnswer,
    RecordMessage,
    ReportsAnswer,
    ReportsMessage,
    SignedDocument,
    TrendAnswer,
)
from blender_dp.collector.http.openapi import may, queries, takes
from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.report_body import Report as Message
from blender_dp.collector.http.report_body import read_reports
from blender_dp.collector.rounds.report_writer import Report
from blender_dp.collector.secrets.signing import canonical
from blender_dp_device.records.reporting_list import ReportingList
from blender_dp_device.wire.suggestions import Suggester

if TYPE_CHECKING:
    from blender_dp.collector.http.app import Service

router = APIRouter(prefix="/v1", route_class=JsonRoute)

_NEVER = re.compile(r"q\s*=\s*0(\.0*)?")
_POINTER_SECONDS = 300
_BUDGET_SECONDS = 60
_REMEMBERED = 64  # rounds that are reported to
_ALL_TAKEN = ReportsAnswer(refused=[]).model_dump_json()
_BYTES_PER_REPORT = 4_096  # a source pays for at least one report per so many bytes, whatever they are
_FOR_EVER = "public, max-age=31536000, immutable"
_NOT_FOUND = may(HTTPStatus.NOT_FOUND)
_SUGGESTIONS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/x-suggestions+json": {"schema": {"type": "array", "minItems": 4, "maxItems": 4}}}}
}
_DOCUMENT: dict[int | str, dict[str, Any]] = {304: {"description": "You have it already."}, **_NOT_FOUND}

_SCHEME = HTTPBearer(scheme_name="token", description="An operator's or an opt-in user's token.", auto_error=False)
RoundId = Annotated[Identifier, Path()]
Campaign = Annotated[
    CampaignName | None, Query(description="Only of this campaign, by its name or its id; by default of all campaigns.")
]
DigestPath = Annotated[Digest, Path()]


class Suggestions(Response):
    """OpenSearch's suggestions: what was typed, and lists of queries, descriptions and URLs."""

    media_type = "application/x-suggestions+json"


def service_of(request: Request) -> Service:
    """What the routes share."""
    service: Service = request.app.state.service
    return service


def bearer(given: Annotated[HTTPAuthorizationCredentials | None, Depends(_SCHEME)]) -> str:
    """The token of a request; without one it is refused."""
    if given is None or not given.credentials:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, "token", "a token is needed", {"WWW-Authenticate": "Bearer"})
    return given.credentials


@router.get("/rounds/current", response_model=Pointer, responses=_NOT_FOUND)
async def current(request: Request, campaign: Campaign = None) -> Response:
    """Where the newest round is, and what it has published."""
    service = service_of(request)
    body = await service.recent.get(_pointer, service, campaign)
    return Response(body, media_type="application/json", headers={"Cache-Control": f"public, max-age={_POINTER_SECONDS}"})


@router.get("/openings/{digest}", response_model=SignedDocument, responses=_DOCUMENT)
async def opening(request: Request, digest: DigestPath) -> Response:
    """What opened a round, signed: its campaign, number, ε, δ and expiry."""
    return await _document(request, digest, "opening")


@router.get("/head-lists/{digest}", response_model=SignedDocument, responses=_DOCUMENT)
async def head_list(request: Request, digest: DigestPath) -> Response:
    """A signed head list."""
    return await _document(request, digest, "head-list")


@router.get("/bundles/{digest}", response_model=SignedDocument, responses=_DOCUMENT)
async def bundle(request: Request, digest: DigestPath) -> Response:
    """A signed bundle for local search."""
    return await _document(request, digest, "bundle")


@router.get("/releases/{digest}", response_model=SignedDocument, responses=_DOCUMENT)
async def release(request: Request, digest: DigestPath) -> Response:
    """A signed release."""
    return await _document(request, digest, "release")


@router.get("/releases/{digest}/trends", response_model=list[TrendAnswer], responses=_NOT_FOUND)
def trends(request: Request, digest: DigestPath, n: Annotated[int, Query(ge=1, le=1000)] = 10) -> Response:
    """The most popular queries of a release, with their errors."""
    rows = service_of(request).content(digest, "release")["release"]["queries"]
    listed = sorted((row for row in rows if row["query"] is not None), key=lambda row: -row["share"])
    return Response(canonical(listed[:n]), media_type="application/json", headers={"Cache-Control": _FOR_EVER})


class SearchQuery(BaseModel):
    """The query string of a search. It is read here and not by FastAPI, which takes 40 µs for three parameters."""

    q: Annotated[str, Field(max_length=200)]
    n: Annotated[int, Field(ge=1, le=100)] = 10
    campaign: Campaign = None


@router.get("/search", response_class=Suggestions, responses=_SUGGESTIONS | _NOT_FOUND, openapi_extra=queries(SearchQuery))
async def search(request: Request) -> Response:
    """Suggestions from the newest release, in OpenSearch's form."""
    service = service_of(request)
    try:
        query = SearchQuery.model_validate(dict(request.query_params))
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([{**one, "loc": ("query", *one["loc"])} for one in errors]) from None
    suggester = await service.recent.get(_suggester, service, query.campaign)
    return Suggestions(msgspec.json.encode(suggester.opensearch(query.q, query.n)))


@router.get("/campaigns", responses=_NOT_FOUND)
async def campaigns(request: Request, response: Response, campaign: Campaign = None) -> list[CampaignBudget]:
    """Every campaign's promise and limits, and what is left of its budget. All of it follows from public numbers."""
    response.headers["Cache-Control"] = f"public, max-age={_BUDGET_SECONDS}"
    service = service_of(request)
    return await service.recent.get(_budgets, service, campaign)


@router.get("/ledger")
def ledger(request: Request) -> list[LedgerEntry]:
    """What was spent, by whom, in a chain that can be checked."""
    entries = service_of(request).rounds.ledger_entries()
    return [LedgerEntry.model_validate({**asdict(entry), "digest": entry.digest}) for entry in entries]


@router.post(
    "/rounds/{round_id}/reports",
    response_model=ReportsAnswer,
    responses=may(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.INSUFFICIENT_STORAGE),
    openapi_extra=takes(ReportsMessage),
)
async def reports(request: Request, round_id: RoundId) -> Response:
    """Store reports. They are on the disk before the answer is sent; refused ones are named, in order."""
    service = service_of(request)
    check_media(request.headers)
    body = await request.body()
    service.charge(request, max(1, body.count(b"{") - 1), len(body) // _BYTES_PER_REPORT)  # before it is read
    found = await service.work(len(body), read_reports, body, service.settings.max_reports)
    service.check_room()
    listed = service.listed.get(round_id)
    if listed is None:
        listed = await anyio.to_thread.run_sync(_listed, service, round_id)
    taken, refused = await service.work(len(body), listed.sorted_out, found)
    await service.intake.add(round_id, taken)
    service.metrics.reports.inc(len(taken))
    for reason, count in Counter(reason for _, reason in refused).items():
        service.metrics.refused.labels(reason).inc(count)
    if not refused:
        return Response(_ALL_TAKEN, media_type="application/json")
    told = [{"index": index, "reason": reason} for index, reason in refused]
    return Response(msgspec.json.encode({"refused": told}), media_type="application/json")


@router.post(
    "/rounds/{round_id}/records",
    status_code=HTTPStatus.CREATED,
    responses=may(HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT, HTTPStatus.INSUFFICIENT_STORAGE),
)
def record(
    request: Request, round_id: RoundId, message: RecordMessage, token: Annotated[str, Depends(bearer)]
) -> RecordAnswer:
    """Store an enrolled user's raw record, encrypted, until the head list is made."""
    service = service_of(request)
    service.charge(request, 1)
    service.check_room()
    made = service.rounds.upload_record(round_id, token, message.query, message.url, message.receipt)
    return RecordAnswer(receipt=made)


@router.delete("/records/{receipt}", status_code=HTTPStatus.NO_CONTENT, responses=_NOT_FOUND)
def withdraw(request: Request, receipt: DigestPath) -> None:
    """Take a raw record back, until the head list is being made. Whoever has the receipt may."""
    service_of(request).charge(request, 1)
    if not service_of(request).rounds.withdraw(receipt):
        raise ProblemError(HTTPStatus.NOT_FOUND, "missing", "there is no such record, or its list is made")


class Listed:
    """What reports of one round must look like.

    They name the signed document, not the list in it: two rounds may have equal lists, and not ask in the same way.
    """

    def __init__(self, document: str, published: ReportingList) -> None:
        head_list = published.head_list
        self._document = document
        self._size = published.report_size
        self._cells = head_list.cell_count
        self._query_of = np.repeat(np.arange(len(head_list) + 1), head_list.url_counts).tolist()

    def sorted_out(self, found: list[Message | None]) -> tuple[list[Report], list[tuple[int, Reason]]]:
        """The reports to store, and those that are refused: their places and why."""
        reasons = [self.problem(one) if one else "malformed" for one in found]
        taken = [self.packed(one) for one, reason in zip(found, reasons, strict=True) if one and reason is None]
        return taken, [(index, reason) for index, reason in enumerate(reasons) if reason]

    def problem(self, report: Message) -> Reason | None:
        """Why a report is refused."""
        if report.head_list != self._document:
            return "another head list"
        if len(report.cells) != self._size:
            return "wrong number of cells"
        if max(report.cells) >= self._cells:
            return "no such cell"
        if report.cells != sorted(report.cells):
            return "not sorted"  # their order could tell the true one
        if self._size > 1 and len({self._query_of[cell] for cell in report.cells}) < self._size:
            return "a query twice"
        return None

    def packed(self, report: Message) -> Report:
        """The report as it is stored."""
        return bytes.fromhex(report.id), b"".join(cell.to_bytes(4, "little") for cell in report.cells)


def _pointer(service: Service, campaign: str | None) -> bytes:
    newest, released = service.rounds.current(campaign), service.rounds.newest_release(campaign)
    pointer = Pointer(
        key=service.signer.public,
        round=PublicRound.of(newest) if newest else None,
        released=PublicRound.of(released) if released else None,
    )
    return pointer.model_dump_json().encode()


def _budgets(service: Service, campaign: str | None) -> list[CampaignBudget]:
    return budgets_shown(service.rounds.budgets(campaign))


def _suggester(service: Service, campaign: str | None) -> Suggester:
    """Suggestions from the newest release."""
    newest = service.rounds.newest_release(campaign)
    return Suggester(service.content(newest.bundle, "bundle")["queries"] if newest and newest.bundle else [])


def _listed(service: Service, round_id: str) -> Listed:
    found = service.rounds.round(round_id)
    if found.state != "listed" or found.head_list is None:
        raise ProblemError(HTTPStatus.CONFLICT, "conflict", f"the round is {found.state}; it takes no reports")
    content = service.content(found.head_list, "head-list")
    made = Listed(found.head_list, ReportingList.from_document(content["head_list"]))
    if len(service.listed) >= _REMEMBERED:
        service.listed.clear()
    service.listed[round_id] = made  # a round's list never changes; whether it is closed is asked when reports are stored
    return made


async def _document(request: Request, digest: str, kind: str) -> Response:
    """An immutable document, packed for whoever takes it so; whoever has it already is told so, without a look at it."""
    service = service_of(request)
    coding = _coding(request.headers.get("accept-encoding", ""))
    tag = f'"{digest}-{coding}"' if coding else f'"{digest}"'  # a strong tag names the very bytes
    headers = {"Cache-Control": _FOR_EVER, "ETag": tag, "Vary": "Accept-Encoding"}
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    body = None
    if not (known & {tag, "*"} and service.is_published(digest, kind)):
        make, *more = (service.packed, coding) if coding else (service.document,)
        body = await anyio.to_thread.run_sync(make, digest, kind, *more)
    if known & {tag, "*"}:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, media_type="application/json", headers=headers | ({"Content-Encoding": coding} if coding else {}))


def _coding(accepted: str) -> str | None:
    """What an Accept-Encoding header allows: Brotli if it is named, or else gzip, or nothing.

    What is said of gzip itself counts before what is said of all.
    """
    allowed: dict[str, bool] = {}
    for one in accepted.lower().split(","):
        name, *parameters = (part.strip() for part in one.split(";"))
        allowed[name] = not any(_NEVER.fullmatch(part) for part in parameters)
    if allowed.get("br"):
        return "br"
    return "gzip" if allowed.get("gzip", allowed.get("*", False)) else None
