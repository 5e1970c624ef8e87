"""Routes for the operator, who authenticates with a token.

Requests that create something may carry an Idempotency-Key; repeating a step of a round, or its abort, does nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic_core import to_json

from blender_dp.collector.http.budget_view import budgets_shown
from blender_dp.collector.http.content_types import JsonRoute
from blender_dp.collector.http.dependencies import BearerToken, CampaignPath, CampaignQuery, RoundId
from blender_dp.collector.http.gone_clients import unless_gone
from blender_dp.collector.http.invitations import LifetimeEpsilon, PublicUrl, invitation_shown
from blender_dp.collector.http.messages import (
    AbortMessage,
    CampaignAnswer,
    CampaignBudget,
    CampaignMessage,
    CampaignShown,
    EnrolAnswer,
    EnrolMessage,
    ListedRound,
    RoundAnswer,
    RoundMessage,
)
from blender_dp.collector.http.openapi import may
from blender_dp.collector.http.overview import overview
from blender_dp.collector.http.planner import PlanAnswer, PlanQuery
from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.service import Service, service_of
from blender_dp.collector.http.view_messages import InvitationShown, Overview
from blender_dp.collector.round_states import State, states_after
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets import vault
from blender_dp.errors import StateError
from blender_dp_device.wire.messages import Identifier

Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]


def _campaign(request: Request, campaign: CampaignPath) -> str:
    return service_of(request).rounds.campaigns.id_of(campaign)


CampaignId = Annotated[str, Depends(_campaign)]
"""The id of the campaign that the path names."""


class Parquet(StreamingResponse):
    """A Parquet file, streamed while it is written."""

    media_type = "application/vnd.apache.parquet"


_STATE = may(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)


def is_operator(service: Service, token: str) -> bool:
    """Whether this is the operator's token."""
    digest, known = vault.token_digest(token), [service.settings.operator_token]
    if known == [""]:  # a configured token replaces the stored one, which may have been stolen
        known = service.rounds.tokens.operator_digests()
    return any([vault.same(digest, one) for one in known])  # noqa: C419 (compares all: the time reveals nothing)


def _operator(request: Request, token: BearerToken) -> None:
    if not is_operator(service_of(request), token):
        raise ProblemError(HTTPStatus.FORBIDDEN, "forbidden", "this token is not the operator's")


router = APIRouter(
    prefix="/v1/operator",
    route_class=JsonRoute,
    dependencies=[Depends(_operator)],
    responses=may(HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN),
)


@router.post(
    "/campaigns",
    status_code=HTTPStatus.CREATED,
    response_model=CampaignAnswer,
    responses=may(HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY),
)
def create_campaign(request: Request, message: CampaignMessage, key: Key = None) -> Response:
    """Create a campaign."""
    settings = message.settings()

    def work(rounds: Rounds) -> object:
        weak = [str(one) for one in settings.weaknesses(settings.min_opt_in)]
        return CampaignAnswer(id=rounds.campaigns.create(settings), exposure=settings.exposure(), warnings=weak)

    return _once(request, key, "campaigns", settings.model_dump_json(), work)


@router.get("/overview")
async def watch(request: Request) -> Overview:
    """Rounds, reports, budgets and health, for an operator who polls: concurrent requests share one response."""
    service = service_of(request)
    return await service.recent.get(overview, service)


@router.get("/plan", response_model=PlanAnswer, responses=may(HTTPStatus.NOT_FOUND))
async def plan(request: Request, query: Annotated[PlanQuery, Query()]) -> object:
    """What one round would find, before anyone's data are collected: the list's length, errors and NDCG."""
    return await unless_gone(request, service_of(request).planner.forecast(query))


@router.get("/campaigns")
def all_campaigns(request: Request) -> list[CampaignShown]:
    """All campaigns with their settings."""
    return [CampaignShown(id=name, settings=settings) for name, settings in service_of(request).rounds.campaigns.all()]


@router.post("/campaigns/{campaign}/rounds", status_code=HTTPStatus.CREATED, response_model=RoundAnswer, responses=_STATE)
def open_round(request: Request, campaign: CampaignId, message: RoundMessage, key: Key = None) -> Response:
    """Open the next round."""

    def work(rounds: Rounds) -> object:
        return RoundAnswer.of(rounds.lifecycle.open(campaign, lists_at=message.lists_at, closes_at=message.closes_at))

    return _once(request, key, f"campaigns/{campaign}/rounds", message.model_dump_json(), work)


@router.get("/campaigns/{campaign}/rounds/current", responses=may(HTTPStatus.NOT_FOUND))
def current_round(request: Request, campaign: CampaignId) -> RoundAnswer:
    """A campaign's newest round, up to date; the public response may come from a cache and be minutes old."""
    newest = service_of(request).rounds.lookup.current(campaign)
    if newest is None:
        raise StateError("round", "the campaign has none yet", "Open one", kind="missing")
    return RoundAnswer.of(newest)


@router.get("/campaigns/{campaign}/budget", responses=may(HTTPStatus.NOT_FOUND))
def budget(request: Request, campaign: CampaignId) -> CampaignBudget:
    """What a campaign has spent and what one more round would spend; the public response may come from a cache."""
    return budgets_shown(service_of(request).rounds.budgets.of(campaign))[0]


@router.post(
    "/campaigns/{campaign}/enrolments",
    status_code=HTTPStatus.CREATED,
    responses=may(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def enrol(request: Request, campaign: CampaignId, message: EnrolMessage, token: BearerToken, key: Key = None) -> EnrolAnswer:
    """Create tokens for opt-in users. They are not stored; a repeated request with an Idempotency-Key gets the same ones."""
    if key is None:
        return EnrolAnswer(tokens=service_of(request).rounds.tokens.enrol(campaign, message.count))
    tokens = [vault.repeated_token(token, campaign, key, str(number)) for number in range(message.count)]

    def work(rounds: Rounds) -> object:
        rounds.tokens.enrol(campaign, message.count, tokens)
        return EnrolAnswer(tokens=[])  # the response is stored, and tokens are not

    # Another operator's token yields other tokens, which would not be enrolled: that is another request.
    _once(request, key, f"campaigns/{campaign}/enrolments", "".join(tokens), work)
    return EnrolAnswer(tokens=tokens)


@router.get("/campaigns/{campaign}/invitation", responses=may(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY))
def invite(
    request: Request, campaign: CampaignId, public_url: PublicUrl, lifetime_epsilon: LifetimeEpsilon = None
) -> InvitationShown:
    """The invitation to a campaign, for its operator to publish: everything that a device pins, as a link and a QR code."""
    service = service_of(request)
    settings = service.rounds.campaigns.settings_of(campaign)
    return invitation_shown(settings, campaign, service.signer.public, public_url, lifetime_epsilon)


@router.get("/rounds", responses=may(HTTPStatus.NOT_FOUND))
def list_rounds(
    request: Request,
    campaign: CampaignQuery = None,
    before: Annotated[Identifier | None, Query(description="Only rounds that were opened before this one.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[ListedRound]:
    """All rounds, newest first. For the next page, pass the last round's id as `before`."""
    return [ListedRound.of(one) for one in service_of(request).rounds.lookup.opened(campaign, before, limit)]


@router.get("/rounds/{round_id}", responses=may(HTTPStatus.NOT_FOUND))
def show_round(request: Request, round_id: RoundId) -> RoundAnswer:
    """A round, up to date, with the reason if it does not advance."""
    return RoundAnswer.of(service_of(request).rounds.lookup.round(round_id))


@router.get("/rounds/{round_id}/reports", response_class=Parquet, responses=_STATE)
def export(request: Request, round_id: RoundId) -> Response:
    """All reports of a closed or released round as Parquet: one row per reported cell, with the digest of its list."""
    return Parquet(service_of(request).rounds.published.reports(round_id))


@router.post("/rounds/{round_id}/list", status_code=HTTPStatus.ACCEPTED, responses=_STATE)
def make_list(request: Request, response: Response, round_id: RoundId) -> RoundAnswer:
    """Stop accepting records and make the head list; poll the round until it is done."""
    return _start(request, response, round_id, "open", service_of(request).rounds.lifecycle.freeze)


@router.post("/rounds/{round_id}/close", status_code=HTTPStatus.ACCEPTED, responses=_STATE)
def close(request: Request, response: Response, round_id: RoundId) -> RoundAnswer:
    """Stop accepting reports and make the release; poll the round until it is done."""
    return _start(request, response, round_id, "listed", service_of(request).rounds.lifecycle.close)


@router.post("/rounds/{round_id}/abort", responses=_STATE)
def abort(request: Request, round_id: RoundId, message: AbortMessage) -> RoundAnswer:
    """End a round without a release. What was spent stays spent; the reason becomes public."""
    rounds = service_of(request).rounds
    if rounds.lookup.round(round_id).state != "aborted":  # otherwise this is a repeated request
        rounds.lifecycle.abort(round_id, message.reason)
    return RoundAnswer.of(rounds.lookup.round(round_id))


def _start(request: Request, response: Response, round_id: str, state: State, step: Callable[[str], None]) -> RoundAnswer:
    """Take the step that leads out of a state; the response says where to poll for its result."""
    service, later = service_of(request), states_after(state)
    before = service.rounds.lookup.round(round_id)
    response.headers.update({"Location": f"{router.prefix}/rounds/{round_id}", "Retry-After": "1"})
    if before.state in later:
        return RoundAnswer.of(before)  # a repeated request
    if before.state != state:
        raise ProblemError(HTTPStatus.CONFLICT, "conflict", f"the round is {before.state}")
    step(round_id)
    after = service.rounds.lookup.round(round_id)
    if after.state == state:
        raise ProblemError(HTTPStatus.CONFLICT, "not-ready", after.problem or "the round does not advance")
    if after.state not in later:  # it was aborted in the meantime
        raise ProblemError(HTTPStatus.CONFLICT, "conflict", f"the round is {after.state}")
    service.worker.wake()
    return RoundAnswer.of(after)


def _once(request: Request, key: str | None, what: str, message: str, work: Callable[[Rounds], object]) -> Response:
    """Create something once per Idempotency-Key; repeated requests get the same response.

    `what` names what is created, under the campaign's id: a request that names the campaign by its name and one that names
    it by its id are the same request.

    The key, the work and the response are one transaction: a crash leaves all of them or none. A second request with the
    same key is asked to retry while this process works on the first one; in another process it waits for the first one.
    """
    service = service_of(request)
    if key is None:
        return Response(to_json(work(service.rounds)), HTTPStatus.CREATED, media_type="application/json")
    name = hashlib.sha256(f"{router.prefix}/{what}\x1f{key}".encode()).hexdigest()
    digest = hashlib.sha256(message.encode()).hexdigest()
    with service.keys_in_flight.alone(name):
        first = service.rounds.idempotency.once(
            name, digest, int(HTTPStatus.CREATED), lambda rounds: to_json(work(rounds)).decode()
        )
    if first.request != digest:
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY, "key-reused", "this Idempotency-Key was used for another request"
        )
    return Response(first.body, first.status, media_type="application/json")
