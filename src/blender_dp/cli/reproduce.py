"""blender-dp reproduce"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blender_dp.cli.bars import progress_bar, resumable
from blender_dp.cli.folders import check_folder
from blender_dp.cli.options import AsJson
from blender_dp.cli.output import note, print_files, print_json, print_table, say
from blender_dp.cli.reading_options import reading_of, reading_options, refuse_unused

if TYPE_CHECKING:
    from blender_dp.evaluation.reproduction.finished import Finished


@reading_options
def reproduce(
    figures: Annotated[list[str], typer.Argument(help="Figures such as figure-13; 'all'; or 'list' to show their names.")],
    log: Annotated[
        str | None, typer.Option(metavar="FILE", help="Your own AOL, Yandex or other log instead of the built-in shapes.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Repetitions of every setting.")] = 20,
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the files.")] = Path("reproduction"),
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per core.")] = None,
    as_json: AsJson = False,
    **reading: Any,  # noqa: ANN401 (the options for reading the log)
) -> None:
    """Reproduce the papers' tables and figures as data, pictures, and a page that says what agrees.

    An interrupted run continues where it stopped. The page shows every figure in the folder. The figures of a log contain
    exact numbers about its users: do not publish them.

    \b
    Examples:
      blender-dp reproduce list
      blender-dp reproduce figure-12 figure-13 --seeds 5
      blender-dp reproduce all
      blender-dp reproduce all --log AOL-user-ct-collection --out aol
      blender-dp reproduce figure-13 --log log.csv --user who --delimiter ';'
    """
    from blender_dp.evaluation.reproduction.run import catalogue, chosen, reproduce
    from blender_dp.evaluation.runs import cores
    from blender_dp.evaluation.sources import PopulationSource
    from blender_dp.report.figure_files import write_figures

    if figures == ["list"]:
        rows = [[one.name, one.title, one.source] for one in catalogue().values()]
        if as_json:
            print_json([dict(zip(("name", "title", "source"), row, strict=True)) for row in rows])
        else:
            print_table("", {"name": False, "title": False, "source": False}, rows)
        return
    refuse_unused(reading, [log] if log else [])
    own = None if log is None else PopulationSource(log, reading=reading_of(reading))
    wanted = chosen(figures, own)
    check_folder(out_folder)
    cells = out_folder / ".cells"
    with progress_bar("collections", quiet=as_json) as show, resumable():
        run = reproduce(wanted, seeds, log=own, folder=cells, workers=workers or cores(), progress=show, step=_step(as_json))
        finished = list(run)
    files = write_figures(finished, out_folder)
    if as_json:
        print_json(
            {
                "figures": [{**one.to_document(), "rows": one.table.to_pylist()} for one in finished],
                "files": {name: str(path) for name, path in files.items()},
            }
        )
        return
    _show(finished)
    print_files(files)
    if own:
        note("The figures contain exact numbers about the users of the log: do not publish them.")


def _step(quiet: bool) -> Callable[[str], None]:
    """Say what follows the collections, because the bar is then full."""
    return (lambda _: None) if quiet else (lambda what: note(f"The collections are finished. Next: {what}."))


def _show(finished: list[Finished]) -> None:
    rows = [
        [one.figure.name, text, "agrees" if verdict.agrees else "differs", verdict.measured]
        for one in finished
        for text, _, verdict in one.checked
    ]
    if rows:
        columns = {"figure": False, "what the papers say": False, "": False, "here": False}
        print_table("", columns, rows)
        say()
    else:
        note("The papers print nothing that could be compared.")
