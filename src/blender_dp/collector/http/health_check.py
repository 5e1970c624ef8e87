"""A health check that responds in time even when what it checks does not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import Generic, TypeVar

from blender_dp.collector.http.problems import RETRY_SECONDS, ProblemError

T = TypeVar("T")

LIMIT_SECONDS = 5.0


class HealthCheck(Generic[T]):
    """Runs a check in its own thread, because all request threads may be waiting for the database.

    Requests that arrive during a check share its result, so that a hanging database occupies one thread however
    often its health is requested.
    """

    def __init__(self, check: Callable[[], T], seconds: float = LIMIT_SECONDS) -> None:
        self._check = check
        self._seconds = seconds
        self._under_way: asyncio.Future[T] | None = None

    async def __call__(self) -> T:
        """The result of a check that starts now or is under way; raises a problem if it takes too long."""
        if self._under_way is None or self._under_way.done():
            self._under_way = asyncio.get_running_loop().create_future()
            threading.Thread(target=self._run, args=(self._under_way,), name="health", daemon=True).start()
        done, _ = await asyncio.wait([self._under_way], timeout=self._seconds)
        if not done:
            detail = f"the storage did not respond within {self._seconds:g} seconds"
            raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "storage", detail, {"Retry-After": str(RETRY_SECONDS)})
        return self._under_way.result()

    def _run(self, future: asyncio.Future[T]) -> None:
        try:
            result = self._check()
        except Exception as error:  # noqa: BLE001 (raised again in the request that waits)
            _settle(future, future.set_exception, error)
        else:
            _settle(future, future.set_result, result)


def _settle(future: asyncio.Future[T], how: Callable[..., None], value: object) -> None:
    def settle() -> None:
        if not future.done():
            how(value)
            future.exception()  # marks it as retrieved, in case the client has gone away

    try:
        future.get_loop().call_soon_threadsafe(settle)
    except RuntimeError:  # the loop is closed: nobody is waiting any more
        return
