"""Which promises multi-freq-ldpy keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numba
import numpy as np
from evidence import Finding, Setting, cited, ratio, repeated, separate_workers, shared_after_fork, unpredictable
from local_reports import DRAWS, drawn, happened
from multi_freq_ldpy.pure_frequency_oracles import GRR, SS, UE
from oracles_multi_freq_ldpy import CLIENTS

TRIALS = 200_000
ONE, OTHER = 3, 4  # two values that a user may have

SOURCES = {
    "GRR": cited(GRR, "np.random.binomial"),
    "OUE": cited(UE, "np.random.random()"),
    "subset selection": cited(SS, "np.random.random()"),
}
"""Where each of the methods with a row draws."""

EVENTS: dict[str, dict[str, Callable]] = {
    "GRR": {"": lambda report: report == ONE},
    "OUE": {"": lambda bits: bits[ONE] == 1 and bits[OTHER] == 0},
    "subset selection": {
        "as a set, ": lambda chosen: ONE in chosen and OTHER not in chosen,
        "in the order in which the library returns it, ": lambda chosen: chosen[0] == ONE,
    },
}


@numba.njit
def seed() -> None:
    """Seed the generator that compiled code uses."""
    np.random.seed(7)


def findings(settings: Sequence[Setting]) -> list[Finding]:
    """The findings of every method."""
    return [finding for name in SOURCES for finding in (*_losses(name, settings), *_noise(name, settings[0]))]


def _losses(name: str, settings: Sequence[Setting]) -> list[Finding]:
    found = []
    for setting in settings:
        client = partial(_report, name, setting)
        for note, event in EVENTS[name].items():
            events = happened(client, (ONE, OTHER), event, TRIALS)
            found.append(ratio(f"multi-freq-ldpy: {name}", events, TRIALS, setting, "reports", note, _source(name, note)))
    return found


def _source(name: str, note: str) -> str:
    return cited(SS, "sub_set[0] =") if name == "subset selection" and "order" in note else ""


def _report(name: str, setting: Setting, value: int) -> object:
    return CLIENTS[name](value, setting.max_queries + 1, setting.epsilon)


def _noise(name: str, setting: Setting) -> list[Finding]:
    what, draw = f"multi-freq-ldpy: {name}", drawn(partial(_report, name, setting, ONE))
    return [
        unpredictable(what, repeated(seed, draw), DRAWS, SOURCES[name], generator="the generator of numba"),
        separate_workers(what, shared_after_fork(draw), DRAWS),
    ]
