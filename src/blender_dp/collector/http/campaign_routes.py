"""Routes for readers and reviewers: a campaign's rounds, changes, promise and audit, and releases as files."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from blender_dp.collector.http.content_types import JsonRoute
from blender_dp.collector.http.dependencies import CampaignPath, DocumentPath
from blender_dp.collector.http.document_response import FOR_EVER
from blender_dp.collector.http.openapi import may
from blender_dp.collector.http.release_files import MEDIA_TYPES, FileName
from blender_dp.collector.http.round_history import history_shown
from blender_dp.collector.http.service import Service, service_of
from blender_dp.collector.http.view_messages import AuditAnswer, ChangesAnswer, PromiseAnswer, RoundHistory
from blender_dp_device.wire.messages import Identifier

router = APIRouter(prefix="/v1", route_class=JsonRoute)

_NOT_FOUND = may(HTTPStatus.NOT_FOUND)
_FILE: dict[int | str, dict[str, Any]] = {304: {"description": "The client has it already."}, **_NOT_FOUND}
_SECONDS = 60
_PAGE = 20  # rounds


@router.get("/campaigns/{campaign}/rounds", responses=_NOT_FOUND)
async def rounds(
    request: Request,
    response: Response,
    campaign: CampaignPath,
    before: Annotated[Identifier | None, Query(description="Only rounds that were opened before this one.")] = None,
) -> list[RoundHistory]:
    """The latest 20 rounds of a campaign, newest first, with what happened to them and what was destroyed."""
    _cacheable(response)
    service = service_of(request)
    return await service.histories.get(_histories, service, campaign, before)


@router.get("/campaigns/{campaign}/changes", response_model=ChangesAnswer, responses=_NOT_FOUND)
async def changes(request: Request, response: Response, campaign: CampaignPath) -> object:
    """What changed between the last two releases; at most 5 % of the reported changes are expected to be false."""
    _cacheable(response)
    return await service_of(request).facts.changes(campaign)


@router.get("/campaigns/{campaign}/promise", response_model=PromiseAnswer, responses=_NOT_FOUND)
async def promise(request: Request, response: Response, campaign: CampaignPath) -> object:
    """What every round of the campaign promises to each group, in words, with the odds, and as exact text."""
    _cacheable(response)
    return await service_of(request).facts.promise(campaign)


@router.get("/campaigns/{campaign}/audit", response_model=AuditAnswer, responses=_NOT_FOUND)
async def audit(request: Request, response: Response, campaign: CampaignPath) -> object:
    """The exact privacy loss of every mechanism, computed from the integers in use."""
    _cacheable(response)
    return await service_of(request).facts.audit(campaign)


@router.get("/releases/{digest}/files/{name}", response_class=Response, responses=_FILE)
async def file(request: Request, digest: DocumentPath, name: FileName) -> Response:
    """A release as a file: all estimates as CSV or Parquet, or the release as JSON, as `blender-dp` reads it."""
    tag = f'"{digest}-{name}"'
    headers = {"Cache-Control": FOR_EVER, "Content-Disposition": f'attachment; filename="{name}"', "ETag": tag}
    body = await service_of(request).facts.file(digest, name)
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, media_type=MEDIA_TYPES[name], headers=headers)


def _cacheable(response: Response) -> None:
    response.headers["Cache-Control"] = f"public, max-age={_SECONDS}"


def _histories(service: Service, campaign: str, before: str | None) -> list[RoundHistory]:
    now = service.rounds.clock.now()
    return [history_shown(one, now) for one in service.rounds.lookup.history(campaign, before, _PAGE)]
