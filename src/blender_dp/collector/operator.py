"""What the operator may do. Every verb needs the operator's token, and may carry an Idempotency-Key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Header, Path, Request, Response
from pydantic import BaseModel

from blender_dp.collector import vault
from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.messages import (
    AbortMessage,
    CampaignAnswer,
    EnrolAnswer,
    EnrolMessage,
    Identifier,
    RoundAnswer,
    RoundMessage,
)
from blender_dp.collector.problems import ProblemError
from blender_dp.collector.public import bearer, service_of
from blender_dp.collector.rounds import Round
from blender_dp.collector.schema import answers, tokens

Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)]
Name = Annotated[Identifier, Path()]


def _operator(request: Request, authorization: Annotated[str | None, Header()] = None) -> None:
    service = service_of(request)
    given = vault.token_digest(bearer(authorization))
    if service.settings.operator_token and vault.same(given, service.settings.operator_token):
        return
    with service.rounds.store.read() as connection:
        known = connection.scalars(sa.select(tokens.c.digest).where(tokens.c.role == "operator")).all()
    if not any([vault.same(given, one) for one in known]):  # noqa: C419 (all are compared: the time tells nothing)
        raise ProblemError(HTTPStatus.FORBIDDEN, "forbidden", "this token is not the operator's")


router = APIRouter(prefix="/v1/operator", dependencies=[Depends(_operator)])


@router.post("/campaigns", status_code=HTTPStatus.CREATED)
def create_campaign(request: Request, settings: CampaignSettings, key: Key = None) -> Response:
    """Begin a campaign."""

    def work() -> BaseModel:
        return CampaignAnswer(id=service_of(request).rounds.create_campaign(settings))

    return _once(request, key, settings, HTTPStatus.CREATED, work)


@router.get("/campaigns")
def all_campaigns(request: Request) -> list[dict[str, Any]]:
    """All campaigns with their settings."""
    return [{"id": name, "settings": settings.model_dump()} for name, settings in service_of(request).rounds.campaigns()]


@router.post("/campaigns/{campaign}/rounds", status_code=HTTPStatus.CREATED)
def open_round(request: Request, campaign: Name, message: RoundMessage, key: Key = None) -> Response:
    """Open the next round."""

    def work() -> BaseModel:
        rounds = service_of(request).rounds
        return _answer(rounds.open_round(campaign, lists_at=message.lists_at, closes_at=message.closes_at))

    return _once(request, key, message, HTTPStatus.CREATED, work)


@router.post("/campaigns/{campaign}/enrolments", status_code=HTTPStatus.CREATED)
def enrol(request: Request, campaign: Name, message: EnrolMessage) -> EnrolAnswer:
    """Make tokens for opt-in users. They are not kept, so this cannot be repeated with the same answer."""
    return EnrolAnswer(tokens=service_of(request).rounds.enrol(campaign, message.count))


@router.get("/rounds/{round_id}")
def show_round(request: Request, round_id: Name) -> RoundAnswer:
    """How a round is now, and why it does not advance, if it does not."""
    return _answer(service_of(request).rounds.round(round_id))


@router.post("/rounds/{round_id}/list", status_code=HTTPStatus.ACCEPTED)
def make_list(request: Request, round_id: Name) -> RoundAnswer:
    """Take no more records, and make the head list; poll the round for it."""
    return _begin(request, round_id, "open", service_of(request).rounds.freeze)


@router.post("/rounds/{round_id}/close", status_code=HTTPStatus.ACCEPTED)
def close(request: Request, round_id: Name) -> RoundAnswer:
    """Take no more reports, and make the release; poll the round for it."""
    return _begin(request, round_id, "listed", service_of(request).rounds.close)


@router.post("/rounds/{round_id}/abort")
def abort(request: Request, round_id: Name, message: AbortMessage) -> RoundAnswer:
    """End a round without a release. What was spent stays spent."""
    rounds = service_of(request).rounds
    rounds.abort(round_id, message.reason)
    return _answer(rounds.round(round_id))


def _begin(request: Request, name: str, state: str, step: Callable[[str], None]) -> RoundAnswer:
    service = service_of(request)
    before = service.rounds.round(name)
    if before.state != state and state == "open" and before.state in {"listing", "listed"}:
        return _answer(before)  # it was asked for already
    if before.state != state and not (state == "listed" and before.state in {"closed", "released"}):
        raise ProblemError(HTTPStatus.CONFLICT, "conflict", f"the round is {before.state}")
    step(name)
    after = service.rounds.round(name)
    if after.state == state:
        raise ProblemError(HTTPStatus.CONFLICT, "not-ready", after.problem or "the round does not advance")
    service.worker.wake()
    return _answer(after)


def _answer(found: Round) -> RoundAnswer:
    return RoundAnswer(**asdict(found))


def _once(
    request: Request, key: str | None, message: BaseModel, status: HTTPStatus, work: Callable[[], BaseModel]
) -> Response:
    """Do some work once for every Idempotency-Key, and give the same answer again after that."""
    if key is None:
        return Response(work().model_dump_json(), status, media_type="application/json")
    service = service_of(request)
    name = hashlib.sha256(f"{request.url.path}\x1f{key}".encode()).hexdigest()
    asked = hashlib.sha256(message.model_dump_json().encode()).hexdigest()
    with service.rounds.store.read() as connection:
        known = connection.execute(sa.select(answers).where(answers.c.key == name)).one_or_none()
    if known is None:
        body = work().model_dump_json()
        row = {"key": name, "request": asked, "status": int(status), "body": body, "created": 0}
        with service.rounds.store.write() as connection:
            service.rounds.store.insert_new(connection, answers, [row])
            known = connection.execute(sa.select(answers).where(answers.c.key == name)).one()
    if known.request != asked:
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY, "key-reused", "this Idempotency-Key was used for another request"
        )
    return Response(known.body, known.status, media_type="application/json")
