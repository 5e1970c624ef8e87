"""Routes for contributors: reports from clients, records from opt-in users, and withdrawals."""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus

import anyio.to_thread
import msgspec
from fastapi import APIRouter, Request, Response

from blender_dp.collector.http.content_types import JsonRoute, check_media
from blender_dp.collector.http.dependencies import BearerToken, DigestPath, RoundId
from blender_dp.collector.http.openapi import may, takes
from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.report_body import read_reports
from blender_dp.collector.http.report_check import ReportCheck
from blender_dp.collector.http.service import Service, service_of
from blender_dp_device.records.reporting_list import ReportingList
from blender_dp_device.wire.messages import RecordAnswer, RecordMessage, ReportsAnswer, ReportsMessage

router = APIRouter(prefix="/v1", route_class=JsonRoute)

_REMEMBERED = 64  # rounds that accept reports
_ALL_ACCEPTED = msgspec.json.encode(ReportsAnswer(refused=[]))
_BYTES_PER_REPORT = 4_096  # a source pays for at least one report per this many bytes, whatever they are


@router.post(
    "/rounds/{round_id}/reports",
    response_model=ReportsAnswer,
    responses=may(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.INSUFFICIENT_STORAGE),
    openapi_extra=takes(ReportsMessage),
)
async def reports(request: Request, round_id: RoundId) -> Response:
    """Store reports. They are on disk before the response is sent; the response lists the refused ones, in order."""
    service = service_of(request)
    check_media(request.headers)
    body = await request.body()
    service.charge(request, max(1, body.count(b"{") - 1), len(body) // _BYTES_PER_REPORT)  # before it is parsed
    messages = await service.work(len(body), read_reports, body, service.settings.max_reports)
    service.check_room()
    check = service.report_checks.get(round_id)
    if check is None:
        check = await anyio.to_thread.run_sync(_report_check, service, round_id)
    accepted, refused = await service.work(len(body), check.sort_out, messages)
    await service.report_writer.add(round_id, accepted)
    service.metrics.reports.inc(len(accepted))
    for reason, count in Counter(reason for _, reason in refused).items():
        service.metrics.refused.labels(reason).inc(count)
    if not refused:
        return Response(_ALL_ACCEPTED, media_type="application/json")
    refusals = [{"index": index, "reason": reason} for index, reason in refused]
    return Response(msgspec.json.encode({"refused": refusals}), media_type="application/json")


@router.post(
    "/rounds/{round_id}/records",
    status_code=HTTPStatus.CREATED,
    responses=may(HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT, HTTPStatus.INSUFFICIENT_STORAGE),
)
def record(request: Request, round_id: RoundId, message: RecordMessage, token: BearerToken) -> RecordAnswer:
    """Store an enrolled user's raw record, encrypted, until the head list is made."""
    service = service_of(request)
    service.charge(request, 1)
    service.check_room()
    receipt = service.rounds.contributions.upload_record(round_id, token, message.query, message.url, message.receipt)
    return RecordAnswer(receipt=receipt)


@router.delete("/records/{receipt}", status_code=HTTPStatus.NO_CONTENT, responses=may(HTTPStatus.NOT_FOUND))
def withdraw(request: Request, receipt: DigestPath) -> None:
    """Withdraw a raw record before its head list is made. Anyone who has the receipt may do so."""
    service = service_of(request)
    service.charge(request, 1)
    if not service.rounds.contributions.withdraw(receipt):
        raise ProblemError(HTTPStatus.NOT_FOUND, "missing", "unknown record, or its head list has already been made")


def _report_check(service: Service, round_id: str) -> ReportCheck:
    one = service.rounds.lookup.round(round_id)
    if one.state != "listed" or one.head_list is None:
        raise ProblemError(HTTPStatus.CONFLICT, "conflict", f"the round is {one.state}; it accepts no reports")
    content = service.documents.content(one.head_list, "head-list")
    check = ReportCheck(one.head_list, ReportingList.from_document(content["head_list"]))
    if len(service.report_checks) >= _REMEMBERED:
        service.report_checks.clear()
    service.report_checks[round_id] = check  # a list never changes; whether it is closed is checked when reports are stored
    return check
