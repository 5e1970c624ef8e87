"""The result of a benchmark, and how it is printed."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

Cell = str | int | float

_OUT = Console(highlight=False, width=None if sys.stdout.isatty() else 120)


@dataclass(frozen=True)
class Verdict:
    """One measured figure, a ratio by default, and its target."""

    claim: str
    measured: float
    target: float
    bound: str  # "at least" or "at most"
    unit: str = "×"
    met: bool = field(init=False)

    def __post_init__(self) -> None:
        met = self.measured >= self.target if self.bound == "at least" else self.measured <= self.target
        object.__setattr__(self, "met", bool(met))  # numpy's cannot be written as JSON


@dataclass(frozen=True)
class Result:
    """A benchmark's figures in rows, the method, and the verdicts."""

    name: str
    title: str
    method: str
    rows: list[dict[str, Cell]]
    verdicts: list[Verdict]


def show_machine(description: dict[str, str | int]) -> None:
    """Print a description of the machine."""
    _OUT.print(", ".join(f"{name} {value}" for name, value in description.items()), style="dim")


def show(result: Result) -> None:
    """Print the figures as a table, and below it which targets are met."""
    _OUT.print(f"\n[bold]{result.name}: {result.title}[/]")
    _OUT.print(f"[dim]{result.method}[/]")
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, first in result.rows[0].items():
        table.add_column(name, justify="left" if isinstance(first, str) else "right")
    for row in result.rows:
        table.add_row(*(_text(value) for value in row.values()))
    _OUT.print(table)
    for verdict in result.verdicts:
        word = "[green]met    [/]" if verdict.met else "[bold red]NOT MET[/]"
        _OUT.print(
            f"{word} {verdict.claim}: {_figure(verdict)} [dim](target: {verdict.bound} {verdict.target:g}{verdict.unit})[/]",
            soft_wrap=True,
        )


def _figure(verdict: Verdict) -> str:
    return f"{verdict.measured:.2f}×" if verdict.unit == "×" else f"{verdict.measured:.4g}{verdict.unit}"


def _text(value: Cell) -> str:
    match value:
        case float():
            return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
        case int():
            return f"{value:,}"
    return value
