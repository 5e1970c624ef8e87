"""Routes for everyone: the current round, published documents, trends, search, campaigns and the ledger."""

from __future__ import annotations

from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError

from blender_dp.collector.http.budget_view import budgets_shown
from blender_dp.collector.http.campaign_facts import MAX_POPULAR
from blender_dp.collector.http.campaign_trends import MAX_SERIES
from blender_dp.collector.http.content_types import JsonRoute
from blender_dp.collector.http.dependencies import CampaignPath, CampaignQuery, DocumentPath
from blender_dp.collector.http.document_response import FOR_EVER, document_response
from blender_dp.collector.http.messages import (
    CampaignBudget,
    LedgerEntry,
    TrendAnswer,
    TrendsAnswer,
    public_round,
)
from blender_dp.collector.http.openapi import may, queries
from blender_dp.collector.http.service import Service, service_of
from blender_dp_device.wire.messages import Pointer, SignedDocument
from blender_dp_device.wire.suggestions import Suggester

router = APIRouter(prefix="/v1", route_class=JsonRoute)

_POINTER_SECONDS = 300
_BUDGET_SECONDS = 60
_NOT_FOUND = may(HTTPStatus.NOT_FOUND)
_SUGGESTIONS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/x-suggestions+json": {"schema": {"type": "array", "minItems": 4, "maxItems": 4}}}}
}
_DOCUMENT: dict[int | str, dict[str, Any]] = {304: {"description": "The client has it already."}, **_NOT_FOUND}


class Suggestions(Response):
    """OpenSearch's suggestions: the input, and lists of queries, descriptions and URLs."""

    media_type = "application/x-suggestions+json"


@router.get("/rounds/current", response_model=Pointer, responses=_NOT_FOUND)
async def current(request: Request, campaign: CampaignQuery = None) -> Response:
    """Where the newest round is, and what it has published."""
    service = service_of(request)
    body = await service.recent.get(_pointer, service, campaign)
    return Response(body, media_type="application/json", headers={"Cache-Control": f"public, max-age={_POINTER_SECONDS}"})


@router.get("/openings/{digest}", response_model=SignedDocument, responses=_DOCUMENT)
async def opening(request: Request, digest: DocumentPath) -> Response:
    """The signed opening of a round: its campaign, number, ε, δ and expiry."""
    return await document_response(request, digest, "opening")


@router.get("/head-lists/{digest}", response_model=SignedDocument, responses=_DOCUMENT)
async def head_list(request: Request, digest: DocumentPath) -> Response:
    """A signed head list."""
    return await document_response(request, digest, "head-list")


@router.get("/bundles/{digest}", response_model=SignedDocument, responses=_DOCUMENT)
async def bundle(request: Request, digest: DocumentPath) -> Response:
    """A signed bundle for local search."""
    return await document_response(request, digest, "bundle")


@router.get("/releases/{digest}", response_model=SignedDocument, responses=_DOCUMENT)
async def release(request: Request, digest: DocumentPath) -> Response:
    """A signed release."""
    return await document_response(request, digest, "release")


@router.get("/releases/{digest}/trends", response_model=list[TrendAnswer], responses=_NOT_FOUND)
async def trends(request: Request, digest: DocumentPath, n: Annotated[int, Query(ge=1, le=MAX_POPULAR)] = 10) -> Response:
    """The most popular queries of a release, with their errors."""
    rows = await service_of(request).facts.popular(digest)
    body = b"[" + b",".join(rows[:n]) + b"]"
    return Response(body, media_type="application/json", headers={"Cache-Control": FOR_EVER})


class SearchQuery(BaseModel):
    """The query string of a search. It is read here and not by FastAPI, which takes 40 µs for three parameters."""

    q: Annotated[str, Field(max_length=200)]
    n: Annotated[int, Field(ge=1, le=100)] = 10
    campaign: CampaignQuery = None


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
async def campaigns(request: Request, response: Response, campaign: CampaignQuery = None) -> list[CampaignBudget]:
    """Every campaign's promise and limits, and what is left of its budget. All of it follows from public numbers."""
    response.headers["Cache-Control"] = f"public, max-age={_BUDGET_SECONDS}"
    service = service_of(request)
    return await service.recent.get(_budgets, service, campaign)


@router.get("/campaigns/{campaign}/trends", response_model=TrendsAnswer, responses=_NOT_FOUND)
async def campaign_trends(
    request: Request, campaign: CampaignPath, n: Annotated[int, Query(ge=1, le=MAX_SERIES)] = 10
) -> Response:
    """The most popular queries over the campaign's latest 52 releases, smoothed. Computed from public numbers alone."""
    body = msgspec.json.encode(await service_of(request).trends.of(campaign, n))
    return Response(body, media_type="application/json", headers={"Cache-Control": f"public, max-age={_POINTER_SECONDS}"})


@router.get("/ledger", response_model=list[LedgerEntry])
async def ledger(request: Request) -> Response:
    """What each group has spent in each round, in a chain that can be verified."""
    service = service_of(request)
    return Response(await service.recent.get(_ledger, service), media_type="application/json")


def _pointer(service: Service, campaign: str | None) -> bytes:
    newest, released = service.rounds.lookup.current(campaign), service.rounds.lookup.newest_release(campaign)
    pointer = Pointer(
        key=service.signer.public,
        round=public_round(newest) if newest else None,
        released=public_round(released) if released else None,
    )
    return msgspec.json.encode(pointer)


def _ledger(service: Service) -> bytes:
    entries = service.rounds.budgets.ledger()
    shown = [LedgerEntry.model_validate({**asdict(one), "digest": one.digest}) for one in entries]
    return msgspec.json.encode([one.model_dump(mode="json") for one in shown])


def _budgets(service: Service, campaign: str | None) -> list[CampaignBudget]:
    return budgets_shown(service.rounds.budgets.of(campaign))


def _suggester(service: Service, campaign: str | None) -> Suggester:
    """Suggestions from the newest release."""
    newest = service.rounds.lookup.newest_release(campaign)
    return Suggester(service.documents.content(newest.bundle, "bundle")["queries"] if newest and newest.bundle else [])
