"""Random questions to `blender-dp plan`: how long the slowest take, and which kinds of question they are."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np

from benchmarks.result import Cell, Result, Verdict

FALLING = ("aol", "yandex", *(f"zipf:{exponent}" for exponent in (0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.5, 1.8, 2.0, 3.0)))
NEARLY_FLAT = tuple(f"zipf:{exponent}" for exponent in (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
USUAL, LONG = (10, 50, 100, 500, 1000), (5000, 10_000)
UNKNOWN = ("opt-in", "epsilon", "users", "max-queries")
GOALS = ("queries={}", "queries={},ndcg=0.9", "queries={},ndcg=0.95,error=0.1", "queries={},error=0.2")
TARGET = 2.0
_SET = 7  # another one whenever the planner was made faster with the questions of this one
_STARTS = 9


@dataclass(frozen=True)
class Kind:
    """Some questions that are alike."""

    name: str
    shapes: tuple[str, ...]
    lengths: tuple[int, ...]
    profiles: tuple[str, ...]
    questions: int


KINDS = (
    Kind("popularity falls, M up to 1,000", FALLING, USUAL, ("tight", "tight", "paper"), 300),
    Kind("popularity falls, M 5,000 or 10,000, tight", FALLING, LONG, ("tight",), 60),
    Kind("popularity falls, M 5,000 or 10,000, paper", FALLING, LONG, ("paper",), 40),
    Kind("nearly flat, M up to 1,000, tight", NEARLY_FLAT, USUAL, ("tight",), 100),
    Kind("nearly flat, M up to 1,000, paper", NEARLY_FLAT, USUAL, ("paper",), 40),
    Kind("nearly flat, M 5,000 or 10,000", NEARLY_FLAT, LONG, ("tight", "paper"), 60),
)


def measure() -> Result:
    """Ask every question in a new process."""
    rows: list[dict[str, Cell]] = []
    verdicts = []
    for kind in KINDS:
        asked = list(_questions(kind))
        seconds = np.array([_seconds(f"plan {question}") for question in _shown(kind.name, asked)])
        slowest = int(seconds.argmax())
        inverse = np.array(["--solve" in question for question in asked])
        rows.append(
            {
                "questions": f"{kind.questions}: {kind.name}",
                "median": float(np.median(seconds)),
                "95 %": float(np.quantile(seconds, 0.95)),
                "slowest plan or trade-off": float(seconds[~inverse].max()),
                "slowest inverse": float(seconds[inverse].max()),
                "over 2 s": int((seconds > TARGET).sum()),
                "the slowest": asked[slowest],
            }
        )
        verdicts.append(
            Verdict(f"the slowest of {kind.questions} ({kind.name})", float(seconds.max()), TARGET, "at most", " s")
        )
    method = (
        "Seconds of a new process per question (elapsed or processor time, whichever is less). A question is a whole plan, "
        f"a trade-off over one of {', '.join(UNKNOWN)}, or the value of one of these that reaches a goal. Shapes: "
        f"{', '.join(FALLING)} (popularity falls), or {', '.join(NEARLY_FLAT)} (nearly flat, a million queries); 3,000 to "
        "a billion users, 0.1 to 50 % opt-in, ε 1 to 8, δ 1e-5 to 1e-11. To compare machines: in this run, "
        f"`blender-dp --help` took {_help_seconds():.2f} s."
    )
    return Result("questions", "random questions to the planner", method, rows, verdicts)


def _questions(kind: Kind) -> Iterator[str]:
    choose = Random(f"{kind.name} ({_SET})")  # noqa: S311 (it chooses questions, nothing private)
    for _ in range(kind.questions):
        length = choose.choice(kind.lengths)
        words = [
            choose.choice(kind.shapes),
            f"--users {round(10 ** choose.uniform(3.5, 9))} --opt-in {choose.choice((0.001, 0.01, 0.05, 0.2, 0.5))}",
            f"--epsilon {choose.choice((1, 2, 4, 6, 8))} --delta 1e-{choose.randint(5, 11)}",
            f"--max-queries {length} --profile {choose.choice(kind.profiles)}",
            choose.choice(_WAYS)(choose, length),
        ]
        yield " ".join(words)


def _whole(_: Random, __: int) -> str:
    return ""


def _over(choose: Random, _: int) -> str:
    return f"--over {choose.choice(UNKNOWN)}"


def _inverse(choose: Random, length: int) -> str:
    return f"--want {choose.choice(GOALS).format(min(20, length))} --solve {choose.choice(UNKNOWN)}"


_WAYS: tuple[Callable[[Random, int], str], ...] = (_whole, _over, _inverse)


def _shown(name: str, questions: list[str]) -> Iterator[str]:
    for number, question in enumerate(questions, 1):
        if number % 20 == 0:
            print(f"questions ({name}): {number} of {len(questions)}", file=sys.stderr)
        yield question


def _help_seconds() -> float:
    return float(np.median([_seconds("--help") for _ in range(_STARTS)]))


def _seconds(arguments: str) -> float:
    """Elapsed or processor time, whichever is less: neighbours may be busy, and long lists use both cores.

    A question that the planner refuses, because a group would be too small, counts as answered.
    """
    command = [sys.executable, "-c", "from blender_dp.cli import main; main()", *arguments.split()]
    start, before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
    done = subprocess.run(command, check=False, capture_output=True)
    if done.returncode not in (0, 2):
        raise RuntimeError(f"{arguments}: {done.stderr.decode()}")
    elapsed, after = time.perf_counter() - start, getrusage(RUSAGE_CHILDREN)
    return min(elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
