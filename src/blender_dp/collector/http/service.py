"""What the routes share."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar, TypeVarTuple

import anyio.to_thread
from fastapi import Request

from blender_dp.collector.http.campaign_facts import CampaignFacts
from blender_dp.collector.http.campaign_trends import CampaignTrends
from blender_dp.collector.http.document_cache import DocumentCache
from blender_dp.collector.http.idempotency_keys import KeysInFlight
from blender_dp.collector.http.planner import Planner
from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.rate_limit import Sources
from blender_dp.collector.http.report_check import ReportCheck
from blender_dp.collector.http.report_count import ReportCount
from blender_dp.collector.http.response_cache import ResponseCache
from blender_dp.collector.http.round_watch import Watch
from blender_dp.collector.monitoring.log_lines import LOG, about
from blender_dp.collector.monitoring.metrics import Metrics
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.rounds.report_writer import ReportWriter
from blender_dp.collector.secrets.identity import own_signer
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.settings.settings import Settings
from blender_dp.collector.storage.store import Store
from blender_dp.collector.storage.transactions import TransactionName
from blender_dp.collector.worker import Worker

SMALL_BYTES = 64_000
"""A record of the longest strings, with every character escaped, has 50,000 bytes."""

_HISTORIES = 64  # pages of rounds: apart from the other responses, which must not make room for them

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")
_CONTRIBUTIONS: set[TransactionName] = {"record", "withdrawal", "reports", "forget"}  # they change no round or campaign


class Service:
    """The parts of one process: rounds, caches, limits, metrics and the worker."""

    def __init__(self, settings: Settings) -> None:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.settings = settings
        store, keys = Store.open(settings.database_url), KeyFolder(settings.key_folder)
        try:
            self.signer = own_signer(store, settings.signing_key, keys)
        except Exception:
            store.close()
            raise
        self.rounds = Rounds(store, keys, self.signer, counting=settings.counting)
        self.report_writer = ReportWriter(self.rounds.contributions)
        self.documents = DocumentCache(self.rounds.published)
        self.recent = ResponseCache()
        self.histories = ResponseCache(most=_HISTORIES)
        self.trends = CampaignTrends(self.rounds.lookup, self.rounds.published, self.recent)
        self.facts = CampaignFacts(self.rounds.lookup, self.rounds.campaigns, self.documents, self.recent)
        store.on_commit.append(self._changed)
        self.watch = Watch(settings.stuck_seconds)
        self.worker = Worker(self.rounds, done=self._done, failed=self._failed)
        self.sources = Sources(settings.reports_per_minute) if settings.reports_per_minute else None
        self.metrics = Metrics()
        self.record_count = ReportCount(self.rounds.contributions.count_records)
        self.report_count = ReportCount(self.rounds.contributions.count_reports)
        self.planner = Planner(self.facts.release)
        self.under_way = 0
        self.bytes_under_way = 0
        self.keys_in_flight = KeysInFlight()
        self.report_checks: dict[str, ReportCheck] = {}
        self._one_at_a_time = anyio.CapacityLimiter(1)

    def free_bytes(self) -> int:
        """Free space on the disk of the data folder."""
        return shutil.disk_usage(self.settings.data).free

    def check_room(self) -> None:
        """Refuse to store anything when the disk is nearly full."""
        if self.free_bytes() < self.settings.min_free_bytes:
            raise ProblemError(HTTPStatus.INSUFFICIENT_STORAGE, "full", "the disk is nearly full; nothing was stored")

    def charge(self, request: Request, cost: int, at_least: int = 0) -> None:
        """Refuse a request from a source that has sent too much.

        `at_least` raises the cost, but never above a minute's worth: no source could ever pay more.
        """
        if self.sources is None:
            return
        maximum = self.settings.reports_per_minute
        if cost > maximum:
            detail = f"the maximum is {maximum} reports per minute from one source"
            raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many", detail)
        cost = max(cost, min(at_least, maximum))
        seconds = self.sources.wait(request.client.host if request.client else "", cost)
        if seconds:
            headers = {"Retry-After": str(math.ceil(seconds))}
            raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, "limited", "this source has sent too much", headers)

    async def work(self, size: int, function: Callable[[*_Arguments], _Result], *arguments: *_Arguments) -> _Result:
        """Call a function on a body of `size` bytes: a long one in another thread, and one at a time to save memory."""
        if size <= SMALL_BYTES:
            return function(*arguments)
        return await anyio.to_thread.run_sync(function, *arguments, limiter=self._one_at_a_time)

    def measure(self) -> None:
        """Update the gauges."""
        metrics = self.metrics
        metrics.see_process()
        metrics.waiting.set(self.under_way)
        metrics.free.set(self.free_bytes())
        for use, count in self.rounds.store.pool_usage().items():
            metrics.connections.labels(use).set(count)
        for state, (count, seconds) in self.watch.numbers().items():
            metrics.rounds.labels(state).set(count)
            metrics.in_state.labels(state).set(seconds)

    def see_rounds(self) -> None:
        """Note the states of all rounds that are not over."""
        for round_id, state in self.watch.see(self.rounds.lookup.under_way()):
            with about(round_id):
                LOG.info("the round is %s", state)

    def _done(self) -> None:
        """The worker has finished what was due."""
        self.watch.failures = 0
        self.see_rounds()
        self.measure()

    def _failed(self) -> None:
        self.watch.failures += 1
        self.metrics.failures.inc()

    def _changed(self, transaction: TransactionName) -> None:
        if transaction not in _CONTRIBUTIONS:
            self.recent.forget()
            self.histories.forget()


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    service: Service = request.app.state.service
    return service
