"""What the operator may do, with the operator's token.

What makes something may carry an Idempotency-Key; moving a round on, or aborting it, does nothing the second time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from blender_dp.collector.campaign import CampaignName
from blender_dp.collector.http.budget_view import budgets_shown
from blender_dp.collector.http.content_types import JsonRoute
from blender_dp.collector.http.messages import (
    AbortMessage,
    CampaignAnswer,
    CampaignBudget,
    CampaignMessage,
    CampaignShown,
    EnrolAnswer,
    EnrolMessage,
    Identifier,
    ListedRound,
    RoundAnswer,
    RoundMessage,
)
from blender_dp.collector.http.openapi import may
from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.public_routes import Campaign, bearer, service_of
from blender_dp.collector.rounds.lifecycle import Rounds
from blender_dp.collector.secrets import vault
from blender_dp.collector.storage.round_rows import Round
from blender_dp.collector.storage.schema import tokens
from blender_dp.errors import StateError

if TYPE_CHECKING:
    from blender_dp.collector.http.app import Service

Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]
RoundId = Annotated[Identifier, Path()]


def _campaign(request: Request, campaign: Annotated[CampaignName, Path(description="Its name, or its id.")]) -> str:
    return service_of(request).rounds.campaign_id(campaign)


CampaignId = Annotated[str, Depends(_campaign)]
"""The id of the campaign that the path names."""


class Parquet(StreamingResponse):
    """A table, sent while it is made."""

    media_type = "application/vnd.apache.parquet"


_STATE = may(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)


def is_operator(service: Service, token: str) -> bool:
    """Whether this is the operator's token."""
    given, known = vault.token_digest(token), [service.settings.operator_token]
    if known == [""]:  # or else the one that was made is worth nothing any more: it may have been stolen
        with service.rounds.store.read() as connection:
            known = list(connection.scalars(sa.select(tokens.c.digest).where(tokens.c.role == "operator")))
    return any([vault.same(given, one) for one in known])  # noqa: C419 (all are compared: the time tells nothing)


def _operator(request: Request, token: Annotated[str, Depends(bearer)]) -> None:
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
    """Begin a campaign."""
    settings = message.settings()

    def work(rounds: Rounds) -> BaseModel:
        weak = [str(one) for one in settings.weaknesses(settings.min_opt_in)]
        return CampaignAnswer(id=rounds.create_campaign(settings), exposure=settings.exposure(), warnings=weak)

    return _once(request, key, "campaigns", settings.model_dump_json(), work)


@router.get("/campaigns")
def all_campaigns(request: Request) -> list[CampaignShown]:
    """All campaigns with their settings."""
    return [CampaignShown(id=name, settings=settings) for name, settings in service_of(request).rounds.campaigns()]


@router.post("/campaigns/{campaign}/rounds", status_code=HTTPStatus.CREATED, response_model=RoundAnswer, responses=_STATE)
def open_round(request: Request, campaign: CampaignId, message: RoundMessage, key: Key = None) -> Response:
    """Open the next round."""

    def work(rounds: Rounds) -> BaseModel:
        return _answer(rounds.open_round(campaign, lists_at=message.lists_at, closes_at=message.closes_at))

    return _once(request, key, f"campaigns/{campaign}/rounds", message.model_dump_json(), work)


@router.get("/campaigns/{campaign}/rounds/current", responses=may(HTTPStatus.NOT_FOUND))
def current_round(request: Request, campaign: CampaignId) -> RoundAnswer:
    """A campaign's newest round as it is now; what everybody may ask for can come from a cache, and be minutes old."""
    found = service_of(request).rounds.current(campaign)
    if found is None:
        raise StateError("round", "there is none", "Open one", kind="missing")
    return _answer(found)


@router.get("/campaigns/{campaign}/budget", responses=may(HTTPStatus.NOT_FOUND))
def budget(request: Request, campaign: CampaignId) -> CampaignBudget:
    """What a campaign has spent, and what another round would spend, as it is now; the public answer can be from a cache."""
    return budgets_shown(service_of(request).rounds.budgets(campaign))[0]


@router.post(
    "/campaigns/{campaign}/enrolments",
    status_code=HTTPStatus.CREATED,
    responses=may(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def enrol(
    request: Request, campaign: CampaignId, message: EnrolMessage, token: Annotated[str, Depends(bearer)], key: Key = None
) -> EnrolAnswer:
    """Make tokens for opt-in users. They are not kept; with an Idempotency-Key they can be made again, and are the same."""
    if key is None:
        return EnrolAnswer(tokens=service_of(request).rounds.enrol(campaign, message.count))
    made = [vault.repeated_token(token, campaign, key, str(number)) for number in range(message.count)]

    def work(rounds: Rounds) -> BaseModel:
        rounds.enrol(campaign, message.count, made)
        return EnrolAnswer(tokens=[])  # what is answered is kept, and tokens are not

    # With another operator's token other ones would be made, and nobody would have enrolled them: that is another request.
    _once(request, key, f"campaigns/{campaign}/enrolments", "".join(made), work)
    return EnrolAnswer(tokens=made)


@router.get("/rounds", responses=may(HTTPStatus.NOT_FOUND))
def list_rounds(
    request: Request,
    campaign: Campaign = None,
    before: Annotated[Identifier | None, Query(description="Only rounds that were opened before this one.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[ListedRound]:
    """All rounds, the newest first. For the next page, give the last round's id as `before`."""
    found = service_of(request).rounds.rounds_opened(campaign, before, limit)
    return [ListedRound.of(one) for one in found]


@router.get("/rounds/{round_id}", responses=may(HTTPStatus.NOT_FOUND))
def show_round(request: Request, round_id: RoundId) -> RoundAnswer:
    """How a round is now, and why it does not advance, if it does not."""
    return _answer(service_of(request).rounds.round(round_id))


@router.get("/rounds/{round_id}/reports", response_class=Parquet, responses=_STATE)
def export(request: Request, round_id: RoundId) -> Response:
    """All reports of a closed or released round as Parquet: a row for every cell that is told, with the list it answers."""
    return Parquet(service_of(request).rounds.exported(round_id))


@router.post("/rounds/{round_id}/list", status_code=HTTPStatus.ACCEPTED, responses=_STATE)
def make_list(request: Request, response: Response, round_id: RoundId) -> RoundAnswer:
    """Take no more records, and make the head list; poll the round for it."""
    return _begin(request, response, round_id, "open", service_of(request).rounds.freeze)


@router.post("/rounds/{round_id}/close", status_code=HTTPStatus.ACCEPTED, responses=_STATE)
def close(request: Request, response: Response, round_id: RoundId) -> RoundAnswer:
    """Take no more reports, and make the release; poll the round for it."""
    return _begin(request, response, round_id, "listed", service_of(request).rounds.close)


@router.post("/rounds/{round_id}/abort", responses=_STATE)
def abort(request: Request, round_id: RoundId, message: AbortMessage) -> RoundAnswer:
    """End a round without a release. What was spent stays spent; the reason becomes public."""
    rounds = service_of(request).rounds
    if rounds.round(round_id).state != "aborted":  # it was asked for already
        rounds.abort(round_id, message.reason)
    return _answer(rounds.round(round_id))


_LATER = {"open": {"listing", "listed", "closed", "released"}, "listed": {"closed", "released"}}


def _begin(request: Request, response: Response, name: str, state: str, step: Callable[[str], None]) -> RoundAnswer:
    """Take the step that leads out of a state, and say where to look for what comes of it."""
    service = service_of(request)
    before = service.rounds.round(name)
    response.headers.update({"Location": f"{router.prefix}/rounds/{name}", "Retry-After": "1"})
    if before.state in _LATER[state]:
        return _answer(before)  # it was asked for already
    if before.state != state:
        raise ProblemError(HTTPStatus.CONFLICT, "conflict", f"the round is {before.state}")
    step(name)
    after = service.rounds.round(name)
    if after.state == state:
        raise ProblemError(HTTPStatus.CONFLICT, "not-ready", after.problem or "the round does not advance")
    if after.state not in _LATER[state]:  # somebody has aborted it meanwhile
        raise ProblemError(HTTPStatus.CONFLICT, "conflict", f"the round is {after.state}")
    service.worker.wake()
    return _answer(after)


def _answer(found: Round) -> RoundAnswer:
    return RoundAnswer.of(found)


def _once(request: Request, key: str | None, what: str, message: str, work: Callable[[Rounds], BaseModel]) -> Response:
    """Create something once for every Idempotency-Key, and give the same answer again after that.

    `what` is what is created, under the campaign's id: whoever names the campaign by its name the first time and by its id
    the second time has sent the same request twice.

    The key, the work and the answer are one transaction: a crash leaves all of them or none. A second request with the
    same key is told to ask again while this process is at the first one; in another process it waits for it at the key.
    """
    service = service_of(request)
    if key is None:
        return Response(work(service.rounds).model_dump_json(), HTTPStatus.CREATED, media_type="application/json")
    name = hashlib.sha256(f"{router.prefix}/{what}\x1f{key}".encode()).hexdigest()
    asked = hashlib.sha256(message.encode()).hexdigest()
    with _alone(service, name):
        done = service.rounds.once(name, asked, int(HTTPStatus.CREATED), lambda rounds: work(rounds).model_dump_json())
    first, code, body = done
    if first != asked:
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY, "key-reused", "this Idempotency-Key was used for another request"
        )
    return Response(body, code, media_type="application/json")


@contextmanager
def _alone(service: Service, name: str) -> Iterator[None]:
    with service.keys_lock:
        if name in service.keys_in_flight:
            detail, headers = "a request with this Idempotency-Key is under way", {"Retry-After": "1"}
            raise ProblemError(HTTPStatus.CONFLICT, "in-flight", detail, headers)
        service.keys_in_flight.add(name)
    try:
        yield
    finally:
        with service.keys_lock:
            service.keys_in_flight.discard(name)
