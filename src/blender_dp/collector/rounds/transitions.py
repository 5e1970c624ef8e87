"""Applying a transition of the state table to a stored round."""

from __future__ import annotations

from typing import Any

from blender_dp.collector.round_states import Event, transition
from blender_dp.collector.storage import event_rows, object_rows, round_rows
from blender_dp.collector.storage.round_rows import Round
from blender_dp.collector.storage.transactions import Transaction
from blender_dp_device.digests import document_digest


def apply(
    transaction: Transaction, one: Round, event: Event, hour: int, values: dict[str, Any], *, detail: str = ""
) -> bool:
    """Move a round to its next state and record the event, if the round is still in the same state."""
    step = transition(one.state, event)
    if step is None or not round_rows.advance(transaction, one.id, one.state, {"state": step.after, **values}):
        return False
    event_rows.insert(transaction, one.id, f"{step.recorded_as}: {detail}" if detail else step.recorded_as, hour)
    return True


def publish(transaction: Transaction, kind: str, body: bytes) -> None:
    """Publish a signed document."""
    object_rows.insert(transaction, document_digest(body), kind, body)


def spending_time(transaction: Transaction, round_id: str, hour: int) -> int:
    """This hour, or that of the round's last event if later: a clock that is set back must not make an expense look old."""
    return max(hour, event_rows.last_time(transaction, round_id))
