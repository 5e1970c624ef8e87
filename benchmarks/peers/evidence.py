"""How claims about privacy are checked; the same for every library. Runs in every environment, so standard library only."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path

Finding = dict[str, object]
Draw = Callable[[], Sequence[object]]

SUSPICIOUS = 1e-6  # the probability with which a library that keeps its promise may be accused
_FORKS = 5


def finding(what: str, claim: str, holds: bool, evidence: str, source: str = "") -> Finding:
    """One claim, whether it holds, and why we say so. `what` is "TOOL" or "TOOL: METHOD, METHOD"."""
    tool, _, methods = what.partition(": ")
    named = methods.split(", ") if methods else []
    return {"tool": tool, "methods": named, "claim": claim, "holds": holds, "evidence": evidence, "source": source}


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


def singletons(what: str, released: int, total: int, delta: float, source: str = "") -> Finding:
    """Whether queries that only one person has are released with at most the promised probability δ."""
    expected = f"at δ = {delta:.2g}, {total * delta:.1f} are expected at most"
    evidence = f"{released:,} of {total:,} such queries were released; {expected}"
    likely = poisson_tail(released, total * delta) >= SUSPICIOUS
    return finding(what, "a query that only one person has is released with probability δ at most", likely, evidence, source)


def poisson_tail(count: int, mean: float) -> float:
    """The probability of at least this many rare events."""
    below = sum(math.exp(i * math.log(mean) - mean - math.lgamma(i + 1)) for i in range(count))
    return max(1 - below, 0.0)


def repeated(seed: Callable[[], None], draw: Draw) -> int:
    """How many values are the same again once the public generators are seeded again."""
    seed()
    first = draw()
    seed()
    return _in_common(first, draw())


def shared_after_fork(draw: Draw) -> int:
    """How many values, at most, two worker processes have in common if both are forked from this process."""
    most = 0
    for _ in range(_FORKS):
        draw()  # a server has drawn before; how much of a buffer is left depends on it
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
    what: str, same: int, drawn: int, source: str = "", generator: str = "Python's and numpy's generators"
) -> Finding:
    """Whether noise depends on a generator that anyone can seed."""
    evidence = f"seeding {generator} again repeats {same:,} of {drawn:,} values"
    return finding(what, "its noise cannot be reproduced", same == 0, evidence, source)


def separate_workers(what: str, same: int, drawn: int, source: str = "") -> Finding:
    """Whether worker processes draw noise of their own."""
    evidence = f"two workers forked from one process have {same:,} of {drawn:,} values in common"
    return finding(what, "two worker processes draw different noise", same == 0, evidence, source)
