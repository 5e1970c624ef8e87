"""How claims about privacy are checked; the same for every library. Runs in every environment.

A test of numbers accuses a library that keeps its promise with probability 1e-6 at most. What it can miss is stated with its
result: the largest count that would pass, or the smallest ε that would explain the counts.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from scipy.stats import beta

Finding = dict[str, object]
Draw = Callable[[], Sequence[object]]
Release = Callable[[Sequence[str], float, float], Mapping[str, float]]

SUSPICIOUS = 1e-6  # the probability, at most, with which one test accuses a library that keeps its promise
_FORKS = 5

LOSS = "loss"
"""The promise that probabilities keep ε and δ."""
NOISE = "noise"
"""The promise that nobody can predict the noise."""
OTHER = "other"
"""What a user of the library should know, but no row of the page depends on."""


@dataclass(frozen=True)
class Setting:
    """The ε and δ that everyone promises on one of the page's populations, and the length of the list."""

    epsilon: float
    delta: float
    max_queries: int

    @classmethod
    def read(cls) -> list[Setting]:
        """The settings on the command line, as JSON."""
        return [cls(**values) for values in json.loads(sys.argv[1])]


@dataclass(frozen=True)
class Claim:
    """What is claimed, about "TOOL" or "TOOL: METHOD; METHOD". Without a setting, it is about all settings."""

    what: str
    promise: str
    text: str
    setting: Setting | None = None

    def found(self, holds: bool, evidence: str, source: str = "") -> Finding:
        """The claim, whether it holds, and why we say so."""
        tool, _, methods = self.what.partition(": ")
        return {
            "tool": tool, "methods": methods.split("; ") if methods else [tool], "promise": self.promise, "claim": self.text,
            "setting": asdict(self.setting) if self.setting else None,
            "holds": bool(holds), "evidence": evidence, "source": source,
        }  # fmt: skip


def show(findings: Sequence[Finding]) -> None:
    """Print the findings as JSON."""
    print(json.dumps(findings, ensure_ascii=False))


def cited(module: object, text: str, after: str = "") -> str:
    """The first line of a module's source that contains this text, with its place; `after` is an earlier line's text."""
    path = Path(module.__file__)
    passed = not after
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        passed = passed or after in line
        if passed and text in line:
            return f"{path.parent.name}/{path.name}:{number}: `{line.partition('#')[0].strip()}`"
    return ""


def repeated(seed: Callable[[], None], draw: Draw) -> int:
    """How many values are the same again once the public generators are seeded again."""
    seed()
    first = draw()
    seed()
    return _in_common(first, draw())


def shared_after_fork(draw: Draw, use: Draw | None = None) -> int:
    """How many values, at most, two worker processes have in common if both are forked from this process.

    `use` is what this process has drawn before, by default the same: how much of a buffer is left depends on it.
    """
    most = 0
    for _ in range(_FORKS):
        (use or draw)()
        most = max(most, _in_common(_in_child(draw), _in_child(draw)))
    return most


def _in_common(first: Sequence[object], second: Sequence[object]) -> int:
    if len(set(first)) < len(first):
        raise ValueError("values that repeat by chance prove nothing: draw them from a wider range")
    return sum(a == b for a, b in zip(first, second, strict=True))


def _in_child(draw: Draw) -> list[object]:
    reading, writing = os.pipe()
    if not (child := os.fork()):
        try:
            with os.fdopen(writing, "w") as pipe:
                json.dump(list(draw()), pipe)
        finally:
            os._exit(0)  # an error must not run the parent's code a second time
    os.close(writing)
    with os.fdopen(reading) as pipe:
        values = json.load(pipe)
    os.waitpid(child, 0)
    return values


def unpredictable(
    what: str,
    same: int,
    drawn: int,
    source: str = "",
    *,
    generator: str = "Python's and numpy's generators",
    unit: str = "values",
) -> Finding:
    """Whether noise depends on a generator that anyone can seed."""
    evidence = f"seeding {generator} again repeats {same:,} of {drawn:,} {unit}"
    return Claim(what, NOISE, "its noise cannot be reproduced").found(same == 0, evidence, source)


def separate_workers(what: str, same: int, drawn: int, source: str = "", *, unit: str = "values") -> Finding:
    """Whether worker processes draw noise of their own."""
    evidence = f"two workers forked from one process have {same:,} of {drawn:,} {unit} in common"
    return Claim(what, NOISE, "two worker processes draw different noise").found(same == 0, evidence, source)


def singletons(what: str, released: int, people: int, setting: Setting, source: str = "") -> Finding:
    """Whether queries that only one person has are released with at most the promised probability δ."""
    expected = people * setting.delta
    evidence = (
        f"{released:,} of {people:,} such queries were released; at most {expected:.1f} are expected, and "
        f"{fewest_suspicious(expected)} would be too many"
    )
    text = "a query that only one person has is released with probability δ at most"
    return Claim(what, LOSS, text, setting).found(released < fewest_suspicious(expected), evidence, source)


def fewest_suspicious(mean: float) -> int:
    """The smallest number of rare events that is too large to be chance."""
    return next(number for number in count(1) if poisson_tail(number, mean) < SUSPICIOUS)


def poisson_tail(number: int, mean: float) -> float:
    """The probability of at least this many rare events."""
    below = sum(math.exp(i * math.log(mean) - mean - math.lgamma(i + 1)) for i in range(number))
    return max(1 - below, 0.0)


def ratio(
    what: str, events: tuple[int, int], trials: int, setting: Setting, unit: str, note: str = "", source: str = ""
) -> Finding:
    """Whether one of two neighbours causes an event at most e^ε times as often as the other, apart from δ.

    The event should be one that reveals as much as possible; the smallest ε that explains the counts shows how sharp it was.
    """
    one, other = events
    shown = least_epsilon(one, other, trials, setting.delta)
    likely = f"{math.log(one / other):.2f}" if one and other else "any"
    evidence = (
        f"{note}an event that separates two neighbours happened in {one:,} and {other:,} of {trials:,} {unit}: "
        f"that suggests ε = {likely}, and shows ε ≥ {max(shown, 0.0):.2f}"
    )
    text = f"neighbours' probabilities differ by a factor of e^{setting.epsilon:g} at most"
    return Claim(what, LOSS, text, setting).found(shown <= setting.epsilon, evidence, source)


def least_epsilon(one: int, other: int, trials: int, delta: float) -> float:
    """The smallest ε that explains both counts: from the ends of two confidence intervals that err together by 1e-6."""
    error = SUSPICIOUS / 2
    low = beta.ppf(error, one, trials - one + 1) if one else 0.0
    high = beta.isf(error, other + 1, trials - other) if other < trials else 1.0
    return math.log((low - delta) / high) if low > delta else -math.inf


def released_pairs(release: Release, setting: Setting, pairs: int, users: int) -> tuple[int, int]:
    """How often a release tells whose side a person is on, for pairs of queries that one person's change makes neighbours.

    The person has the first query in half of the pairs and the second one in the other half. All other users are many
    enough for both queries to be released.
    """
    rows = [f"{side} {pair} {query}" for side in (0, 1) for pair in range(pairs) for query in _queries(side, users)]
    counts = release(rows, setting.epsilon, setting.delta)
    return tuple(sum(_first_has_more(counts, f"{side} {pair}", users) for pair in range(pairs)) for side in (0, 1))


def _queries(side: int, users: int) -> list[str]:
    """The users of both queries of a pair, with the person on this side."""
    return ["a", "b"] * users + ["ab"[side]]


def _first_has_more(counts: Mapping[str, float], pair: str, users: int) -> bool:
    """The event that is most likely if the person has the first query, and e^ε times less likely otherwise."""
    return counts.get(f"{pair} a", 0) >= users + 1 and users >= counts.get(f"{pair} b", math.inf)
