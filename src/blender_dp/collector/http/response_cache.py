"""A short-lived cache for responses that are requested often and seldom change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import anyio.to_thread

SECONDS = 1.0
"""Changes by another process are visible after this time at the latest; changes by this process, at once."""
_MOST = 1_000  # entries; far more than there are campaigns

_Made = TypeVar("_Made")


class ResponseCache:
    """Creates each response at most once per period, in another thread; concurrent requests share it."""

    def __init__(
        self,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
        *,
        most: int = _MOST,
        threads: anyio.CapacityLimiter | None = None,
    ) -> None:
        """Keep at most so many responses. `threads` limits how many are created at once; by default, all threads may."""
        self._seconds = seconds
        self._clock = clock
        self._most = most
        self._threads = threads
        self._cached: dict[tuple[object, ...], tuple[float, Any]] = {}
        self._making: dict[tuple[object, ...], asyncio.Future[Any]] = {}
        self._changes = 0

    async def get(self, make: Callable[..., _Made], *arguments: object) -> _Made:
        """`make(*arguments)`, no older than allowed. Failures are not cached."""
        name = make, *arguments
        until, value = self._cached.get(name, (0.0, None))
        if self._clock() < until:
            return value  # type: ignore[no-any-return]
        making = self._making.get(name)
        if making is None:
            making = self._making[name] = asyncio.ensure_future(self._make(name, make, arguments))
            making.add_done_callback(lambda done: self._finish(name, done))
        return await asyncio.shield(making)  # a client that goes away does not cancel it for the others

    def forget(self) -> None:
        """Drop everything, because something has changed. May be called from any thread."""
        self._changes += 1
        self._cached = {}

    def _finish(self, name: tuple[object, ...], done: asyncio.Future[Any]) -> None:
        del self._making[name]
        if not done.cancelled():
            done.exception()  # if all clients have gone away, asyncio would log it with its text

    async def _make(self, name: tuple[object, ...], make: Callable[..., _Made], arguments: tuple[object, ...]) -> _Made:
        while True:
            changes, now = self._changes, self._clock()
            value = await anyio.to_thread.run_sync(make, *arguments, limiter=self._threads)
            if changes == self._changes:
                break  # otherwise a request that came after the change might get a response from before it
        if len(self._cached) >= self._most:
            self._cached = {}
        self._cached[name] = now + self._seconds, value
        return value
