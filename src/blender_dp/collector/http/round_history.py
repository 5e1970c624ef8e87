"""The history of a round as everyone may see it: what happened, what was published, and what was destroyed."""

from __future__ import annotations

from blender_dp.collector.campaign import DAY_SECONDS
from blender_dp.collector.http.messages import public_round
from blender_dp.collector.http.view_messages import Destroyed, Happened, RoundHistory
from blender_dp.collector.round_states import OVER, transitions_of
from blender_dp.collector.rounds.lookup import History

_REPORTS = "reports"


def history_shown(one: History, now: float) -> RoundHistory:
    """A round with its events. Times are rounded down to the hour, as they are stored."""
    steps = transitions_of(event.what for event in one.events)
    times = [event.at for event in one.events]
    happened = [Happened(event=step.event, state=step.after, at=at) for step, at in zip(steps, times, strict=False)]
    destroyed = [
        Destroyed(what=step.destroys, at=at)
        for step, at in zip(steps, times, strict=False)
        if step.destroys and not step.destroys.startswith(_REPORTS)
    ]
    was_listed = any(step.after == "listed" for step in steps)
    # Days later: how long the deletion took would reveal how many reports an aborted round had.
    if was_listed and one.round.state in OVER and not one.has_reports and times[-1] + 2 * DAY_SECONDS <= now:
        destroyed.append(Destroyed(what=_REPORTS, at=None))
    return RoundHistory(round=public_round(one.round), opened=one.round.opened, events=happened, destroyed=destroyed)
