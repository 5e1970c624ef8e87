"""blender-dp evaluate"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blender_dp.cli.bars import progress_bar, resumable
from blender_dp.cli.folders import check_folder
from blender_dp.cli.options import AsJson, listed, parameter_options
from blender_dp.cli.output import note, print_json, print_table
from blender_dp.cli.reading_options import given_reading, reading_options, refuse_unused
from blender_dp.parameters import PARTS
from blender_dp.parameters.grid_axes import AXES

if TYPE_CHECKING:
    import pyarrow as pa

_MEASURES = {"listed": "listed", "query_l1": "query L1", "record_l1": "record L1", "ndcg": "NDCG"}


@reading_options
@parameter_options(*AXES, lists=True)
def evaluate(
    source: Annotated[
        list[str] | None, typer.Argument(help="Shapes (aol, yandex, zipf:1.1), releases or logs; by default aol.")
    ] = None,
    opt_in: Annotated[str | None, typer.Option(metavar="SHARE,…", help="Shares of opt-in users; by default 0.05.")] = None,
    users: Annotated[int | None, typer.Option(min=1, help="Number of users; by default that of the source.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Repetitions of every setting; by default 5.")] = None,
    grid: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read the axes from a TOML file; options override it.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the table to this .csv, .parquet or .json file; an interrupted run resumes."
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per core.")] = None,
    as_json: AsJson = False,
    **axes: Any,  # noqa: ANN401 (an option for each parameter that can be an axis, and for reading logs)
) -> None:
    """Measure the error of a grid of collections: shapes or logs × ε × δ × opt-in shares × any parameters × seeds.

    Every parameter may have several values, separated by commas. The results of a log depend on the exact records of its
    users: do not publish them.

    \b
    Examples:
      blender-dp evaluate aol --epsilon 1,2,4 --delta 1e-5 --profile paper,tight
      blender-dp evaluate aol yandex --epsilon 4 --delta 1e-7 --opt-in 0.01,0.05 --max-queries 10,50 --out grid.csv
      blender-dp evaluate log.csv --epsilon 4 --delta 1e-6 --randomiser subset,two-stage --seeds 20
      blender-dp evaluate log.csv --user who --delimiter ';' --epsilon 4 --delta 1e-6
      blender-dp evaluate --grid grid.toml --json
    """
    from blender_dp.evaluation.grid import Grid, read_grid
    from blender_dp.evaluation.runs import cores, run_settings
    from blender_dp.evaluation.summary import summarise
    from blender_dp.evaluation.tables import cells_folder, check_suffix, write_table

    if out is not None:
        check_suffix(out)
    own = {"source": source, "opt_in": opt_in and opt_in.split(","), "users": users, "seeds": seeds}
    reading = given_reading(axes)
    given = {name: value for name, value in own.items() if value} | reading
    checked = Grid.of({**(read_grid(grid) if grid else {}), **given, **listed(axes)})
    refuse_unused(reading, {setting.source.name for setting in checked.settings})
    if out is not None:
        check_folder(out.parent)
    with progress_bar("collections", quiet=as_json) as show, cells_folder(out) as folder, resumable(out is not None):
        rows = run_settings(checked.settings, checked.seeds, folder=folder, workers=workers or cores(), progress=show)
        table = summarise(rows)
        if out is not None:
            write_table(table, out)
    if as_json:
        print_json(table.to_pylist())
        return
    _show(table)
    if out is not None:
        note(f"Every measure with its standard error: {out}")


def _show(table: pa.Table) -> None:
    """One line per setting and group; of the axes, only those that vary."""
    rows = table.to_pylist()
    names = [name for name in table.column_names if name not in {"measure", "mean", "standard_error", "seeds"}]
    hidden = set() if any(row["profile"] == "mixed" for row in rows) else set(PARTS)  # otherwise the profile says it all
    axes = [name for name in names if name == "group" or (name not in hidden and len({row[name] for row in rows}) > 1)]
    lines: dict[tuple[Any, ...], dict[str, str]] = {}
    empty = {_setting(row, names) for row in rows if row["measure"] == "listed" and not row["mean"]}
    for row in rows:
        key = tuple(row[name] for name in names)
        line = lines.setdefault(key, {name: _text(row[name]) for name in axes})
        has_no_errors = row["measure"] != "listed" and _setting(row, names) in empty  # 0 would look like a perfect result
        line[row["measure"]] = "-" if has_no_errors else _with_error(row)
    shown = [[*(line[name] for name in axes), *(line.get(measure, "") for measure in _MEASURES)] for line in lines.values()]
    columns = {name.replace("_", "-"): name not in {"source", "profile", "group", *PARTS} for name in axes}
    print_table(
        f"Mean ± standard error over {rows[0]['seeds']} seeds (L1: 0 is best; NDCG: 1 is best)",
        columns | dict.fromkeys(_MEASURES.values(), True),
        shown,
        fold=False,
    )


def _setting(row: dict[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names if name != "group")


def _with_error(row: dict[str, Any]) -> str:
    digits = 1 if row["measure"] == "listed" else 4
    if row["mean"] is None:
        return "-"
    error = "" if row["standard_error"] is None else f" ± {row['standard_error']:.{digits}f}"
    return f"{row['mean']:.{digits}f}{error}"


def _text(value: object) -> str:
    return "auto" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
