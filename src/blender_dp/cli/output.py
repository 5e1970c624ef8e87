"""The output of verbs: tables for people, JSON for programs, progress on standard error."""

from __future__ import annotations

import io
import json
import math
import re
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape as without_markup
from rich.table import Table

from blender_dp.brief import LONGEST, brief
from blender_dp.errors import DocumentError, PrivacyWarning

if TYPE_CHECKING:
    from blender_dp.logs import Tally

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that control a terminal, or change the order of the text around them."""
_WIDEST = 1000  # characters in a line of a table that is not folded
_LONGEST = {"query": LONGEST, "record": 2 * LONGEST, "URL": 200}
"""Characters in a cell of the columns that show text from people; a URL is worth copying."""

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def print_anything() -> None:
    """Let every text be printed: a character that the console's encoding lacks is replaced, instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def can_print(text: str) -> bool:
    """Whether the encoding of standard output has every character of the text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def check_writable(path: Path, created: Path | None = None) -> None:
    """Refuse a file that cannot be written, before any work is done; the folder `created` will exist by then."""
    exists = path.parent.is_dir() or (created is not None and path.parent.resolve() == created.resolve())
    if path.is_dir() or not exists:
        problem = "is a folder" if path.is_dir() else "its folder does not exist"
        raise DocumentError(str(path), problem, "Use a file in an existing folder")


def escape(text: str) -> str:
    """Text as it is, without markup, and without commands to the terminal: a file may come from anyone."""
    return without_markup(_HIDDEN.sub("\ufffd", text))


def fail(message: str) -> NoReturn:
    """Print an error and exit with code 2."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
    sys.exit(2)


def note(message: str) -> None:
    """Print a note on standard error."""
    err.print(f"[dim]{escape(message)}[/]", soft_wrap=True)


def ask(question: str) -> bool:
    """Ask for confirmation on standard error, because standard output may be JSON."""
    err.print(f"{escape(question)} \\[y/N] ", end="")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


@contextmanager
def privacy_warnings() -> Iterator[list[str]]:
    """Show warnings about weak privacy as one line each, on standard error, and collect them for --json."""
    shown: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", PrivacyWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:  # noqa: ANN401
            if not issubclass(category, PrivacyWarning):
                usual(message, category, *place, **more)
            elif str(message) not in shown:
                shown.append(str(message))
                warn(str(message))

        warnings.showwarning = show
        yield shown


def warn(message: str) -> None:
    """Print a warning on standard error, also with --json."""
    err.print(f"[bold yellow]warning:[/] {escape(message)}", soft_wrap=True)


def say(message: str = "") -> None:
    """Print a line of the result."""
    out.print(escape(message))


def print_json(value: Any) -> None:  # noqa: ANN401 (any JSON value)
    """Print one JSON document. Infinities and NaN, which JSON lacks, are null; control characters are escaped."""
    text = json.dumps(_finite(value), ensure_ascii=False, indent=2, allow_nan=False)
    if not can_print(text):
        text = json.dumps(_finite(value), indent=2, allow_nan=False)  # the same values, without a loss
    typer.echo(_HIDDEN.sub(lambda hidden: f"\\u{ord(hidden[0]):04x}", text))


def _finite(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value


def print_table(
    title: str, columns: dict[str, bool], rows: list[list[str]], console: Console = out, *, fold: bool = True
) -> None:
    """Print a table for people; `columns` maps each name to whether it is numeric. Without `fold`, every row is one line.

    Long queries and URLs are shortened.
    """
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, is_number in columns.items():
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(name, text) for name, text in zip(columns, row, strict=True)))
    if title:
        console.print(f"[bold]{escape(title)}[/]")
    if not fold:
        console = Console(width=_WIDEST, highlight=False)
        console.width = console.measure(table).maximum
    console.print(table)


def _cell(column: str, text: str) -> str:
    line = text.replace("\n", "\\n")  # a line break would look like another row
    return escape(brief(line, _LONGEST[column]) if column in _LONGEST else line)


def print_tally(tally: Tally, title: str) -> None:
    """Print how many rows were used, and how many were bad for which reason."""
    used: dict[str, int] = {"used": tally.records, "without a record": tally.without_record}
    bad = {f"bad: {problem}": rows for problem, rows in tally.problems.items()}
    shown = [[what, f"{rows:,}"] for what, rows in (used | bad).items() if rows]
    print_table(title, {"what": False, "rows": True}, [*shown, ["all", f"{tally.rows:,}"]])
    say()


def print_files(files: Mapping[str, Path]) -> None:
    """Print the paths of the files."""
    print_table("Files", {"what": False, "where": False}, [[what, str(path)] for what, path in files.items()])


class Steps:
    """Shows the current step, and the time that each finished step took."""

    def __init__(self, quiet: bool) -> None:
        self._console = Console(stderr=True, highlight=False, quiet=quiet)
        self._status = self._console.status("starting")
        self._current = ""
        self._since = time.monotonic()

    def __call__(self, step: str) -> None:
        """Start the next step."""
        self._finish()
        self._current = step
        self._status.update(escape(step))

    def update(self, percent: float) -> None:
        """Show the progress of the current step."""
        self._status.update(f"{escape(self._current)} [dim]{percent:.0f} %[/]")

    def remark(self, message: str) -> None:
        """Add a remark to the current step, shown when it is finished."""
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
