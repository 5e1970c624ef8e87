"""A progress bar on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from blender_dp.cli.output import err, note


@contextmanager
def progress_bar(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A function that shows how many of all steps are done; on a terminal also the time that is left."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=err, disable=quiet, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def resumable(is_kept: bool = True) -> Iterator[None]:
    """Say after Ctrl-C that nothing is lost, if the results so far are kept."""
    try:
        yield
    except KeyboardInterrupt:
        note("Interrupted. The same command continues where it stopped." if is_kept else "Interrupted.")
        raise
