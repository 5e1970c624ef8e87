"""The Idempotency-Keys whose requests this process is working on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from blender_dp.collector.http.problems import ProblemError


class KeysInFlight:
    """Allows one request per key at a time; a concurrent one gets 409 and Retry-After."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """Hold a key during a block, or raise a problem if another request holds it."""
        with self._lock:
            if key in self._keys:
                detail, headers = "a request with this Idempotency-Key is under way", {"Retry-After": "1"}
                raise ProblemError(HTTPStatus.CONFLICT, "in-flight", detail, headers)
            self._keys.add(key)
        try:
            yield
        finally:
            with self._lock:
                self._keys.discard(key)
