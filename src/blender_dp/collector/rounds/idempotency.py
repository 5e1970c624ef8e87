"""Work that is done once per Idempotency-Key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.storage import idempotency_rows, locks
from blender_dp.collector.storage.idempotency_rows import StoredResponse
from blender_dp.collector.storage.store import Store

T = TypeVar("T")


@dataclass(eq=False)
class Idempotency(Generic[T]):
    """Stores responses together with the work that produced them."""

    store: Store
    clock: Clock
    inside: Callable[[Store], T]
    """The parts that the work uses, on a store that joins the transaction."""

    def once(self, key: str, request: str, status: int, work: Callable[[T], str]) -> StoredResponse:
        """Do some work once per key; return the response to the first request with this key.

        The work is done in the transaction that stores its response: after a crash both exist, or neither.
        """
        with self.store.write("answer") as transaction:
            locks.hold(transaction, f"answer/{key}")
            known = idempotency_rows.find(transaction, key)
            if known is not None:
                return known
            response = StoredResponse(request, status, work(self.inside(self.store.joined(transaction))))
            idempotency_rows.insert(transaction, key, response, self.clock.hour())
        return response
