"""How verbs talk: tables for people, JSON for programs, progress on standard error."""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from blender_dp.errors import PrivacyWarning

if TYPE_CHECKING:
    from blender_dp.engines import Tally

ForceWeakPrivacy = Annotated[
    bool, typer.Option("--force-weak-privacy", help="Allow ε above 20, or δ of 1 / opt-in users or more; it is recorded.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a release that is already there.")]
Epsilon = Annotated[str, typer.Option(metavar="NUMBER", help="Privacy loss ε of every user; smaller is more private.")]
Delta = Annotated[str, typer.Option(metavar="NUMBER", help="Probability δ outside the ε bound; far below 1 / users.")]
QueryBudget = Annotated[
    str | None, typer.Option("--f-c", metavar="NUMBER", help="Share of a client's budget for the query (f_C).")
]
SubsetSize = Annotated[int | None, typer.Option(metavar="N", min=1, help="Queries told by a report, of the subset one.")]
Profile = Annotated[str, typer.Option(metavar="tight|paper", help="How the stages are made.")]
Discovery = Annotated[str | None, typer.Option(metavar="geometric|laplace", help="Another discovery than the profile's.")]
Randomiser = Annotated[str, typer.Option(metavar="subset|two-stage", help="How clients randomise.")]
OtherRandomiser = Annotated[str | None, typer.Option("--randomiser", metavar="subset|two-stage", help="Another randomiser.")]
Estimator = Annotated[str | None, typer.Option(metavar="likelihood|average", help="Another estimator than the profile's.")]
ClientRecords = Annotated[int, typer.Option("--m-c", metavar="N", help="Records used per client (m_C).")]
Engine = Annotated[str, typer.Option(metavar="duckdb|spark[:MASTER]", help="What counts: this machine, or a cluster.")]
Memory = Annotated[str | None, typer.Option(metavar="SIZE", help="Memory for counting, such as 2GB; more goes to disk.")]

_WIDEST = 1000  # characters in a line of a table that is not folded

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def fail(message: str) -> NoReturn:
    """Say what is wrong and stop with exit code 2."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
    sys.exit(2)


def note(message: str) -> None:
    """Say something that is not the answer."""
    err.print(f"[dim]{escape(message)}[/]", soft_wrap=True)


def ask(question: str) -> bool:
    """Ask a person for a yes. Standard output is left alone: it may be somebody's JSON."""
    err.print(f"{escape(question)} \\[y/N] ", end="")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


@contextmanager
def privacy_warnings() -> Iterator[list[str]]:
    """Show warnings about weak privacy as one line each, on standard error, and collect them for --json."""
    told: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", PrivacyWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:  # noqa: ANN401
            if not issubclass(category, PrivacyWarning):
                usual(message, category, *place, **more)
            elif str(message) not in told:
                told.append(str(message))
                warn(str(message))

        warnings.showwarning = show
        yield told


def warn(message: str) -> None:
    """Warn on standard error, also beside JSON."""
    err.print(f"[bold yellow]warning:[/] {escape(message)}", soft_wrap=True)


def say(message: str = "") -> None:
    """Say a line of the answer."""
    out.print(escape(message))


def print_json(value: Any) -> None:  # noqa: ANN401 (whatever JSON can hold)
    """Print one JSON document. Numbers that JSON does not have (infinities, NaN) are null."""
    typer.echo(json.dumps(_finite(value), ensure_ascii=False, indent=2, allow_nan=False))


def _finite(value: Any) -> Any:  # noqa: ANN401 (whatever JSON can hold)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value


def print_table(
    title: str, columns: dict[str, bool], rows: list[list[str]], console: Console = out, *, fold: bool = True
) -> None:
    """Print a table for people; columns map to whether they hold numbers. Unless it may `fold`, every row is one line."""
    made = Table(box=None, pad_edge=False, header_style="dim")
    for name, is_number in columns.items():
        made.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        made.add_row(*(escape(cell) for cell in row))
    if title:
        console.print(f"[bold]{escape(title)}[/]")
    if not fold:
        console = Console(width=_WIDEST, highlight=False)
        console.width = console.measure(made).maximum
    console.print(made)


def print_tally(tally: Tally, title: str) -> None:
    """Print what became of rows."""
    used: dict[str, int] = {"used": tally.records, "without a record": tally.without_record}
    bad = {f"bad: {problem}": rows for problem, rows in tally.problems.items()}
    shown = [[what, f"{rows:,}"] for what, rows in (used | bad).items() if rows]
    print_table(title, {"what": False, "rows": True}, [*shown, ["all", f"{tally.rows:,}"]])
    say()


def print_files(files: Mapping[str, Path]) -> None:
    """Print where the files are."""
    print_table("Files", {"what": False, "where": False}, [[what, str(path)] for what, path in files.items()])


class Steps:
    """Tells what is going on, step by step, with the time each one took."""

    def __init__(self, quiet: bool) -> None:
        self._console = Console(stderr=True, highlight=False, quiet=quiet)
        self._status = self._console.status("starting")
        self._current = ""
        self._since = time.monotonic()

    def __call__(self, step: str) -> None:
        """Begin the next step."""
        self._finish()
        self._current = step
        self._status.update(escape(step))

    def update(self, percent: float) -> None:
        """Say how much of the current step is done."""
        self._status.update(f"{escape(self._current)} [dim]{percent:.0f} %[/]")

    def remark(self, message: str) -> None:
        """Say something about the current step when it is over."""
        self._current = f"{self._current}: {message}"

    def _finish(self) -> None:
        now = time.monotonic()
        if self._current:
            self._console.print(f"[green]✓[/] {escape(self._current)} [dim]{now - self._since:.1f} s[/]")
        self._since = now

    @contextmanager
    def shown(self) -> Iterator[Steps]:
        """Show the steps while the block runs."""
        with self._status:
            yield self
            self("")
