"""The rules that decide what happens to a round. They are pure functions: no database, no files, no clock.

A rule that can refuse a step returns the problem in words, or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from blender_dp.collector.campaign import DAY_SECONDS
from blender_dp.collector.round_states import NEEDS_KEY, OVER, Event, State
from blender_dp.collector.secrets.round_endings import Ending
from blender_dp.collector.storage.report_rows import EndedRound
from blender_dp.collector.storage.round_rows import Round

LEAST_SECONDS = 600
"""A list accepts reports for at least this long: devices learn about it up to five minutes late."""


def too_few(what: str, count: int, minimum: int) -> str | None:
    """Whether a group is too small for the next step."""
    return f"too few {what}: {count}, and the minimum is {minimum}" if count < minimum else None


def closes_too_early(lists_at: int | None, closes_at: int | None, now: float) -> str | None:
    """Whether a new round would close before devices can report."""
    if closes_at is None or closes_at >= max(lists_at or 0, now) + LEAST_SECONDS:
        return None
    return f"less than {LEAST_SECONDS} seconds after the list can be made"


def too_late_to_list(closes_at: int | None, now: float) -> str | None:
    """Whether a list would expire before devices learn about it: its budget would be spent for nothing."""
    if closes_at is None or closes_at >= now + LEAST_SECONDS:
        return None
    return f"closes_at has passed, or is less than {LEAST_SECONDS} seconds away: abort the round, and open another one"


def lost_key(*, has_key: bool) -> str | None:
    """Whether the raw records of an open round can no longer be read."""
    if has_key:
        return None
    return (
        "the key of the raw records is gone: the list was made before the database was restored, or the folder of keys"
        " was lost: abort the round"
    )


def list_expiry(closes_at: int | None, frozen_at: int, list_days: int) -> int:
    """When devices stop reporting. This depends on nothing that changes while the list is made."""
    return closes_at if closes_at is not None else frozen_at + list_days * DAY_SECONDS


def opening_expiry(lists_at: int | None, closes_at: int | None, hour: int, list_days: int) -> int:
    """When devices stop uploading. This is not `lists_at`: a round that has too few users at that time waits for more."""
    return closes_at or max(hour, lists_at or 0) + list_days * DAY_SECONDS


def due_event(one: Round, now: float, hour: int) -> Event | None:
    """The scheduled step that is due now.

    A refused step waits for the next hour: the time at which it succeeds must not reveal when the last user came.
    """
    if one.refused_at == hour:
        return None
    if one.state == "open" and one.lists_at is not None and one.lists_at <= now:
        return "freeze"
    if one.state == "listed" and one.closes_at is not None and one.closes_at <= now:
        return "close"
    return None


def has_ended_before(ending: Ending | None, state: State) -> bool:
    """Whether a round that is under way had already ended: its database was restored, or an abort was interrupted.

    A release that was interrupted is completed instead, from the same reports: its round is closed.
    """
    return ending is not None and state not in OVER and (ending.end, state) != ("released", "closed")


def may_delete_reports(one: EndedRound, now: float) -> bool:
    """Whether the reports of a round that is over are no longer needed."""
    if one.state == "aborted" or one.keep_days == 0:  # without looking at the clock, which may have been wrong
        return one.state in OVER
    return one.released_at is not None and one.released_at + one.keep_days * DAY_SECONDS <= now


def keys_without_round(
    names: Iterable[str], states: Mapping[str, State], known_since: Mapping[str, float], now: float
) -> dict[str, float]:
    """The keys that belong to no round, and since when that is known. A database without any round proves nothing."""
    orphans = [name for name in names if name not in states]
    return {name: known_since.get(name, now) for name in orphans if states or name in known_since}


def unneeded_keys(
    names: Iterable[str], states: Mapping[str, State], without_round: Mapping[str, float], now: float
) -> list[str]:
    """The keys to destroy: those whose rounds no longer need them, and those that had no round for a day.

    The round of such a key may just be being opened, or an old database may have been restored by mistake.
    """
    return [
        name
        for name in names
        if (name in states and states[name] not in NEEDS_KEY)
        or (bool(states) and name in without_round and without_round[name] + DAY_SECONDS <= now)
    ]
