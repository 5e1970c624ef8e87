"""Plans for operators: what a campaign would find, before it exists. Computed in a thread, one at a time, and remembered."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from pydantic import BaseModel, ConfigDict, Field

from blender_dp.collector.campaign import CampaignSettings, Decimal
from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.response_cache import ResponseCache
from blender_dp_device.digests import DocumentDigest
from blender_dp_device.wire.messages import DIGEST_PATTERN

if TYPE_CHECKING:
    from blender_dp.release import Release

_SHAPE = rf"^(aol|yandex|zipf:[0-9](\.[0-9]{{1,3}})?|{DIGEST_PATTERN[1:-1]})$"
_DIGEST_LENGTH = 64
_REMEMBERED = 256
_MOST_WAITING = 4
_DEFAULTS = CampaignSettings.model_fields


class PlanQuery(BaseModel):
    """What to plan. The shape is a built-in one, or the digest of a release: never a path."""

    model_config = ConfigDict(frozen=True)

    epsilon: Decimal
    delta: Decimal
    users: Annotated[int, Field(ge=100, le=10**9, description="All users, opt-in users included.")]
    opt_in: Annotated[Decimal, Field(description="The share of the users who opt in, such as 0.05.")]
    max_queries: Annotated[int, Field(ge=1, le=10_000)] = _DEFAULTS["max_queries"].default
    f_o: Decimal = _DEFAULTS["f_o"].default
    shape: Annotated[str, Field(pattern=_SHAPE, description="aol, yandex, zipf:1.1, or the digest of a release.")] = "aol"


class ExpectedShown(BaseModel):
    """An expected value, and the range that contains 95 % of all collections."""

    mean: float
    low: float
    high: float


class RankShown(BaseModel):
    """One query of the true ranking: its share, how probably it is listed, and its error if it is."""

    rank: int
    share: float
    listed: float
    error: ExpectedShown | None


class PlanAnswer(BaseModel):
    """What one round would find, and what it would cost a person."""

    queries: Annotated[ExpectedShown, Field(description="How many queries are listed.")]
    query_l1: ExpectedShown
    record_l1: ExpectedShown
    ndcg: ExpectedShown
    ranks: list[RankShown]
    needed_count: Annotated[
        int, Field(description="A record is probably listed if at least this many discovery users have it.")
    ]
    opt_in_users: int
    runs: Annotated[int, Field(description="How many collections were simulated.")]
    warnings: list[str]


class _UnwantedError(Exception):
    """When its turn came, nobody waited for a plan any more."""


class Planner:
    """Answers what a round would find."""

    def __init__(self, release_of: Callable[[DocumentDigest], Release]) -> None:
        self._release_of = release_of
        self._wanted: Counter[PlanQuery] = Counter()
        self._known = ResponseCache(math.inf, most=_REMEMBERED, threads=anyio.CapacityLimiter(1))

    async def forecast(self, query: PlanQuery) -> dict[str, Any]:
        """The forecast for one round. If too many are waiting, the operator is asked to wait, too."""
        if self._wanted.total() >= _MOST_WAITING:
            raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, "busy", "other plans are being computed", {"Retry-After": "2"})
        self._wanted[query] += 1
        try:
            return await self._shared(query)
        finally:
            self._wanted -= Counter([query])

    async def _shared(self, query: PlanQuery) -> dict[str, Any]:
        while True:
            try:
                return await self._known.get(self._forecast, query)
            except _UnwantedError:
                continue  # those who waited for it hung up just before this request arrived

    def _forecast(self, query: PlanQuery) -> dict[str, Any]:
        if query not in self._wanted:
            raise _UnwantedError
        from blender_dp.parameters import Parameters  # noqa: PLC0415 (slow to import, as are those below)
        from blender_dp.planning import forecasts, listing, setting_of, simulation  # noqa: PLC0415
        from blender_dp.privacy.limits import weaknesses  # noqa: PLC0415

        named = query.shape
        shape = self._release_of(DocumentDigest(named)) if len(named) == _DIGEST_LENGTH else named
        parameters = Parameters(
            epsilon=query.epsilon, delta=query.delta, max_queries=query.max_queries, f_o=query.f_o, allow_weak_privacy=True
        )
        setting = setting_of(shape, query.opt_in, query.users, parameters)
        simulated = simulation.simulated(setting, forecasts.usual_runs(setting))
        opt_in_users = setting.sizes.discovery + setting.sizes.calibration
        return {
            **asdict(forecasts.forecast(setting, simulated)),
            "needed_count": listing.needed_count(setting.of_count),
            "opt_in_users": opt_in_users,
            "warnings": [str(one) for one in weaknesses(parameters.epsilon, parameters.delta, opt_in_users)],
        }
