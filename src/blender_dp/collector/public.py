"""What everybody may ask: the current round, published documents, reports, records of enrolled users."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio.to_thread
import numpy as np
from fastapi import APIRouter, Header, Path, Query, Request, Response

from blender_dp.collector.documents import canonical
from blender_dp.collector.intake import Report
from blender_dp.collector.messages import (
    Digest,
    Identifier,
    Pointer,
    RecordAnswer,
    RecordMessage,
    Refusal,
    ReportMessage,
    ReportsAnswer,
    ReportsMessage,
    RoundAnswer,
)
from blender_dp.collector.problems import ProblemError
from blender_dp.records.canonical import canonical_query
from blender_dp.records.head_list import HeadList

if TYPE_CHECKING:
    from blender_dp.collector.app import Service

router = APIRouter(prefix="/v1")

_POINTER_SECONDS = 300
_FOR_EVER = "public, max-age=31536000, immutable"
_MISSING = ProblemError(HTTPStatus.NOT_FOUND, "missing", "there is no such document")

RoundId = Annotated[Identifier, Path()]
DigestPath = Annotated[Digest, Path()]


def service_of(request: Request) -> Service:
    """What the routes share."""
    service: Service = request.app.state.service
    return service


def bearer(authorization: str | None) -> str:
    """The token of a request; without one it is refused."""
    kind, _, token = (authorization or "").partition(" ")
    if kind.lower() != "bearer" or not token:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, "token", "a token is needed", {"WWW-Authenticate": "Bearer"})
    return token


@router.get("/rounds/current")
def current(request: Request, response: Response) -> Pointer:
    """Where the newest round is, and what it has published."""
    service = service_of(request)
    found = service.rounds.current()
    response.headers["Cache-Control"] = f"public, max-age={_POINTER_SECONDS}"
    return Pointer(key=service.signer.public, round=RoundAnswer(**asdict(found)) if found else None)


@router.get("/head-lists/{digest}")
def head_list(request: Request, digest: DigestPath) -> Response:
    """A signed head list."""
    return _document(request, digest, "head-list")


@router.get("/bundles/{digest}")
def bundle(request: Request, digest: DigestPath) -> Response:
    """A signed bundle for local search."""
    return _document(request, digest, "bundle")


@router.get("/releases/{digest}")
def release(request: Request, digest: DigestPath) -> Response:
    """A signed release."""
    return _document(request, digest, "release")


@router.get("/releases/{digest}/trends")
def trends(request: Request, digest: DigestPath, n: Annotated[int, Query(ge=1, le=1000)] = 10) -> Response:
    """The most popular queries of a release, with their errors."""
    rows = _content(service_of(request), digest, "release")["release"]["queries"]
    listed = sorted((row for row in rows if row["query"] is not None), key=lambda row: -row["share"])
    return Response(canonical(listed[:n]), media_type="application/json", headers={"Cache-Control": _FOR_EVER})


@router.get("/search")
def search(
    request: Request, q: Annotated[str, Query(max_length=200)], n: Annotated[int, Query(ge=1, le=100)] = 10
) -> Response:
    """Suggestions from the newest release, in OpenSearch's form."""
    service = service_of(request)
    newest = service.rounds.newest_release()
    queries = _content(service, newest.bundle, "bundle")["queries"] if newest and newest.bundle else []
    prefix = canonical_query(q)
    found = [row for row in queries if row["query"].startswith(prefix)][:n]
    urls = [row["urls"][0][0] if row["urls"] else "" for row in found]
    shares = [f"{row['share']:.2%}" for row in found]
    body = canonical([q, [row["query"] for row in found], shares, urls])
    return Response(body, media_type="application/x-suggestions+json")


@router.get("/ledger")
def ledger(request: Request) -> list[dict[str, Any]]:
    """What was spent, by whom, in a chain that can be checked."""
    return [{**asdict(entry), "digest": entry.digest} for entry in service_of(request).rounds.ledger_entries()]


@router.post("/rounds/{round_id}/reports")
async def reports(request: Request, round_id: RoundId, message: ReportsMessage) -> ReportsAnswer:
    """Store reports. They are on the disk before the answer is sent; refused ones are named, in order."""
    service = service_of(request)
    if len(message.reports) > service.settings.max_reports:
        detail = f"{service.settings.max_reports} reports at a time are the most"
        raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many", detail)
    service.check_room()
    listed = await anyio.to_thread.run_sync(_listed, service, round_id)
    refused, taken = [], []
    for index, report in enumerate(message.reports):
        reason = listed.problem(report)
        if reason is None:
            taken.append(listed.packed(report))
        else:
            refused.append(Refusal(index=index, reason=reason))
            service.refused.labels(reason).inc()
    await service.intake.add(round_id, taken)
    service.taken.inc(len(taken))
    return ReportsAnswer(refused=refused)


@router.post("/rounds/{round_id}/records", status_code=HTTPStatus.CREATED)
def record(
    request: Request, round_id: RoundId, message: RecordMessage, authorization: Annotated[str | None, Header()] = None
) -> RecordAnswer:
    """Store an enrolled user's raw record, encrypted, until the head list is made."""
    service = service_of(request)
    token = bearer(authorization)
    service.check_room()
    return RecordAnswer(receipt=service.rounds.upload_record(round_id, token, message.query, message.url))


@router.delete("/records/{receipt}", status_code=HTTPStatus.NO_CONTENT)
def withdraw(request: Request, receipt: DigestPath) -> None:
    """Take a raw record back, until the head list is being made."""
    if not service_of(request).rounds.withdraw(receipt):
        raise ProblemError(HTTPStatus.NOT_FOUND, "missing", "there is no such record, or its list is made")


class Listed:
    """What reports of one round must look like."""

    def __init__(self, head_list: HeadList, size: int) -> None:
        self._digest = head_list.digest
        self._size = size
        self._cells = head_list.cell_count
        self._query_of = np.repeat(np.arange(len(head_list) + 1), head_list.url_counts).tolist()

    def problem(
        self, report: ReportMessage
    ) -> Literal["another head list", "wrong number of cells", "no such cell", "a query twice"] | None:
        """Why a report is refused."""
        if report.head_list != self._digest:
            return "another head list"
        if len(report.cells) != self._size:
            return "wrong number of cells"
        if max(report.cells) >= self._cells:
            return "no such cell"
        if self._size > 1 and len({self._query_of[cell] for cell in report.cells}) < self._size:
            return "a query twice"
        return None

    def packed(self, report: ReportMessage) -> Report:
        """The report as it is stored."""
        return bytes.fromhex(report.id), b"".join(cell.to_bytes(4, "little") for cell in report.cells)


def _listed(service: Service, round_id: str) -> Listed:
    found = service.rounds.round(round_id)
    if found.state != "listed" or found.head_list is None:
        raise ProblemError(HTTPStatus.CONFLICT, "conflict", f"the round is {found.state}; it takes no reports")
    return _listed_by(service, found.head_list)


@lru_cache(maxsize=64)
def _listed_by(service: Service, digest: str) -> Listed:
    content = _content(service, digest, "head-list")
    return Listed(HeadList.from_document(content["head_list"]), content["subset_size"])


def _content(service: Service, digest: str, kind: str) -> dict[str, Any]:
    body = service.rounds.object(digest, kind)
    if body is None:
        raise _MISSING
    content: dict[str, Any] = json.loads(body)["content"]
    return content


def _document(request: Request, digest: str, kind: str) -> Response:
    """An immutable document; whoever has it already is told so without looking."""
    tag = f'"{digest}"'
    headers = {"Cache-Control": _FOR_EVER, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    body = service_of(request).rounds.object(digest, kind)
    if body is None:
        raise _MISSING
    return Response(body, media_type="application/json", headers=headers)
