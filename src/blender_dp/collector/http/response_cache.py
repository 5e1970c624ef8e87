"""Answers that many ask for and that seldom change, kept in memory for a moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

import anyio.to_thread

SECONDS = 1.0
"""What another process has changed is seen after this time at the latest; what this process has changed, at once."""
_MOST = 1_000  # kinds of answers; more than campaigns, by far

_Made = TypeVar("_Made")


class ResponseCache:
    """Makes every answer once in a while, in another thread; all who ask meanwhile wait for the same one."""

    def __init__(self, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._kept: dict[tuple[object, ...], tuple[float, Any]] = {}
        self._making: dict[tuple[object, ...], asyncio.Future[Any]] = {}
        self._changes = 0

    async def get(self, make: Callable[..., _Made], *given: object) -> _Made:
        """`make(*given)`, at most as old as it may be. Failures are not kept."""
        name = make, *given
        until, made = self._kept.get(name, (0.0, None))
        if self._clock() < until:
            return made  # type: ignore[no-any-return]
        making = self._making.get(name)
        if making is None:
            making = self._making[name] = asyncio.ensure_future(self._make(name, make, given))
            making.add_done_callback(lambda done: self._made(name, done))
        return await asyncio.shield(making)  # who goes away does not end it for the others

    def forget(self) -> None:
        """Make everything anew: something has changed. May be called from any thread."""
        self._changes += 1
        self._kept = {}

    def _made(self, name: tuple[object, ...], done: asyncio.Future[Any]) -> None:
        del self._making[name]
        if not done.cancelled():
            done.exception()  # if all who asked have gone away, asyncio would log it with its text

    async def _make(self, name: tuple[object, ...], make: Callable[..., _Made], given: tuple[object, ...]) -> _Made:
        while True:
            changes, now = self._changes, self._clock()
            made = await anyio.to_thread.run_sync(make, *given)
            if changes == self._changes:
                break  # or else it may have been made before the change, for somebody who asks after it
        if len(self._kept) >= _MOST:
            self._kept = {}
        self._kept[name] = now + self._seconds, made
        return made
