"""What a figure is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from blender_dp.evaluation.grid import Setting
from blender_dp.evaluation.reproduction.data import Populations
from blender_dp.evaluation.reproduction.results import Results

JOURNAL, USENIX = "the journal paper", "the USENIX Security 2017 paper"

X_TITLES = {"opt_in": "share of users who opt in", "epsilon": "ε", "f_c": "clients' budget for the query (f_C)"}
TITLES = {"query_l1": "query L1 (0 is best)", "record_l1": "record L1 (0 is best)", "ndcg": "NDCG (1 is best)"}


@dataclass(frozen=True)
class Line:
    """Measured values of one group over the settings at each x, or values that a paper prints, or a rival's."""

    label: str
    settings: Mapping[float, Setting] = field(default_factory=dict)
    group: str = "blended"
    printed: Mapping[float, float] = field(default_factory=dict)
    rival: str | None = None
    """The number of candidates that the oracle gives to local hashing."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    measure: str
    x: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Verdict:
    """Whether the results agree with a claim, what they are, and if they do not agree, what the reason may be."""

    agrees: bool
    measured: str
    why: str = ""


@dataclass(frozen=True)
class Claim:
    """What a paper says about a figure in words or numbers, and how to check it."""

    text: str
    source: str
    check: Callable[[Results], Verdict]


@dataclass(frozen=True)
class Figure:
    """A figure of a paper."""

    name: str
    title: str
    source: str
    panels: Sequence[Panel]
    claims: Sequence[Claim]
    columns: int = 3
    log_l1: bool = True
    """Whether the axes of L1 are logarithmic."""
    remark: Callable[[Results], str] = lambda _: ""
    """What else a reader should know, computed from the results."""

    @property
    def settings(self) -> list[Setting]:
        """Everything that has to be run, without repeats."""
        lines = (line for panel in self.panels for line in panel.lines)
        return list(dict.fromkeys(setting for line in lines for setting in line.settings.values()))


Checked = tuple[str, str, Verdict]
"""A claim, its source, and whether it holds."""


@dataclass(frozen=True)
class Tabulated:
    """The values of a table, its claims, checked, and what else a reader should know."""

    table: pa.Table
    checked: list[Checked]
    remark: str = ""


@dataclass(frozen=True)
class TableFigure:
    """A table of a paper, and how to reproduce it from the populations of some seeds."""

    name: str
    title: str
    source: str
    make: Callable[[Populations, int], Tabulated]
