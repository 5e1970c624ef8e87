"""The states of a round, and everything that can happen in them: the one table that code, API and documentation share.

Every transition is one transaction. Repeating a transition changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from blender_dp_device.wire import messages

State = messages.State
Event = Literal["open", "freeze", "list", "close", "release", "abort"]
Actor = Literal["operator", "schedule", "worker"]
Group = Literal["opt-in", "client"]

STATES: tuple[State, ...] = get_args(State)
GROUPS: tuple[Group, ...] = get_args(Group)
"""The groups that spend privacy budget, in the order of a collection's promises."""

MEANINGS: dict[State, str] = {
    "open": "opt-in users contribute records",
    "listing": "the head list is being made",
    "listed": "clients report",
    "closed": "the release is being made",
    "released": "released",
    "aborted": "ended without a release",
}


@dataclass(frozen=True)
class Transition:
    """One row of the table."""

    before: State | None
    """None: the round does not exist yet."""
    event: Event
    after: State
    recorded_as: str
    """The text that the table of events stores."""
    actors: tuple[Actor, ...]
    spends: Group | None = None
    """The group whose budget is spent in the same transaction."""
    publishes: tuple[str, ...] = ()
    """The kinds of signed documents."""
    destroys: str = ""
    """What is deleted with the transition or right after it."""


_ABORTERS: tuple[Actor, ...] = ("operator", "worker")

TRANSITIONS: tuple[Transition, ...] = (
    Transition(None, "open", "open", "opened", ("operator",), publishes=("opening",)),
    Transition("open", "freeze", "listing", "frozen", ("operator", "schedule"), spends="opt-in"),
    Transition("listing", "list", "listed", "listed", ("worker",), spends="client", publishes=("head-list",),
               destroys="raw records, withdrawals, their key and the noise secret"),
    Transition("listed", "close", "closed", "closed", ("operator", "schedule")),
    Transition("closed", "release", "released", "released", ("worker",), publishes=("release", "bundle"),
               destroys="reports, after `keep_reports_days`"),
    Transition("open", "abort", "aborted", "aborted", _ABORTERS, destroys="raw records, withdrawals and their key"),
    Transition("listing", "abort", "aborted", "aborted", _ABORTERS,
               destroys="raw records, withdrawals, their key and the noise secret"),
    Transition("listed", "abort", "aborted", "aborted", _ABORTERS, destroys="reports"),
    Transition("closed", "abort", "aborted", "aborted", _ABORTERS, destroys="reports"),
)  # fmt: skip

_MEMBERS: dict[Group, str] = {"opt-in": "opt-in users", "client": "clients"}
_DOES: dict[Event, str] = {
    "open": "Opens a round: opt-in users can contribute records.",
    "freeze": "Stops accepting records and makes the head list.",
    "close": "Stops accepting reports and makes the release.",
    "abort": "Ends the round without a release. What was spent stays spent, and your reason becomes public.",
}

_BY_STATE_AND_EVENT = {(one.before, one.event): one for one in TRANSITIONS}


def transition(state: State | None, event: Event) -> Transition | None:
    """The transition that an event causes in a state; None if the event does not apply to it."""
    return _BY_STATE_AND_EVENT.get((state, event))


def transitions_of(recorded: Iterable[str]) -> list[Transition]:
    """The transitions behind the stored texts of a round's events; the detail after a colon does not matter."""
    state: State | None = None
    taken: list[Transition] = []
    for text in recorded:
        name = text.partition(":")[0]
        if step := next((one for one in TRANSITIONS if (one.before, one.recorded_as) == (state, name)), None):
            taken.append(step)
            state = step.after
    return taken


def steps_from(state: State | None) -> tuple[Transition, ...]:
    """What an operator can do in a state; in one that nothing leads out of, and before the first round: open a round."""
    start = None if state is None or state in OVER else state
    return tuple(one for one in TRANSITIONS if one.before == start and "operator" in one.actors)


def in_words(step: Transition, cost: str) -> str:
    """What a step does, together with the work that follows by itself, and what cannot be undone.

    `cost` is what a round costs one person, such as "ε = 4".
    """
    chain = [step, *(one for one in TRANSITIONS if one.before == step.after and one.actors == ("worker",))]
    spenders = [_MEMBERS[one.spends] for one in chain if one.spends]
    destroyed = [one.destroys for one in chain if one.destroys]
    spends = f" It spends {cost} of the budget of {' and of '.join(spenders)}." if spenders else " It spends nothing."
    destroys = f" It destroys {'; '.join(destroyed)}." if destroyed else ""
    return _DOES[step.event] + spends + destroys + ("" if step.event == "open" else " This cannot be undone.")


def states_after(state: State) -> frozenset[State]:
    """All states that a round can reach from this one without being aborted."""
    following = {one.after for one in TRANSITIONS if one.before == state and one.event != "abort"}
    return frozenset(following.union(*(states_after(one) for one in following)))


OVER: frozenset[State] = frozenset(STATES) - {one.before for one in TRANSITIONS if one.before}
"""The states that no event leads out of."""
UNDER_WAY: tuple[State, ...] = tuple(state for state in STATES if state not in OVER)
WORKED_ON: frozenset[State] = frozenset(
    one.before for one in TRANSITIONS if one.before and one.event != "abort" and one.actors == ("worker",)
)
"""The states in which the collector itself has work to do and waits for no one."""
NEEDS_KEY: frozenset[State] = frozenset(state for state in STATES if "listed" in states_after(state))
"""The states in which a round has raw records, and needs their key."""
EXPORTABLE: frozenset[State] = frozenset({"closed", "released"})
"""The states in which a round accepts no more reports, so that they can be exported."""


def as_markdown() -> str:
    """The table for the documentation."""
    head = "| State | Event | Next state | Triggered by | Spends the budget of | Publishes | Destroys |"
    rows = [
        f"| {one.before or '–'} | {one.event} | {one.after} | {', '.join(one.actors)} "
        f"| {_MEMBERS[one.spends] if one.spends else '–'} | {', '.join(one.publishes) or '–'} | {one.destroys or '–'} |"
        for one in TRANSITIONS
    ]
    return "\n".join([head, "|---|---|---|---|---|---|---|", *rows])
