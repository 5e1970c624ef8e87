"""blender-dp plan"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from blender_dp.cli.drawing_process import drawing_process, png_of
from blender_dp.cli.loading import loading
from blender_dp.cli.options import AsJson, given, parameter_options
from blender_dp.cli.output import check_writable, err, note, print_json
from blender_dp.cli.reading_options import reading_of, reading_options
from blender_dp.errors import ParameterError
from blender_dp.extras import needs

if TYPE_CHECKING:
    from blender_dp.evaluation.sources import PopulationSource
    from blender_dp.planning import Plan, Setting, Solution, Tradeoff, Want
    from blender_dp.report.figure import Draw

_PARAMETERS = (
    "profile", "discovery", "randomiser", "estimator",
    "epsilon", "delta", "f_o", "f_c", "subset_size", "max_queries", "robust",
)  # fmt: skip
_ANY = "4"  # the ε of a plan that solves for ε
_PICTURES = (".svg", ".png")
_MOST_WANTED = 10**9


@reading_options
@parameter_options(*_PARAMETERS, given_only=True)
def plan(
    shape: Annotated[
        str, typer.Argument(help="What the users are like: aol, yandex, zipf:1.1, a release or a log.")
    ] = "aol",
    opt_in: Annotated[str, typer.Option(metavar="SHARE", help="Share of opt-in users.")] = "0.05",
    users: Annotated[int | None, typer.Option(min=1, help="Number of users; by default that of the shape.")] = None,
    over: Annotated[
        str | None,
        typer.Option(
            metavar="opt-in|epsilon|users|max-queries", help="Show the result for several values of this quantity."
        ),
    ] = None,
    want: Annotated[
        str | None,
        typer.Option(metavar="GOALS", help="With --solve: the goal, such as queries=100,ndcg=0.95,error=0.1."),
    ] = None,
    solve: Annotated[
        str | None,
        typer.Option(
            metavar="opt-in|epsilon|users|max-queries", help="Find the value of this quantity that reaches the goal."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds a year in which the same people participate.")] = 12,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the results of --over (or --solve) as .svg or .png.")
    ] = None,
    as_json: AsJson = False,
    **parameters: Any,  # noqa: ANN401 (an option for each parameter of a collection, and for reading a log)
) -> None:
    """Predict what a collection would find and what it would cost its users, before anyone's data are collected.

    List lengths come from closed forms; L1, NDCG and errors from a few simulated collections. Nothing is spent.

    \b
    Examples:
      blender-dp plan aol --epsilon 4 --delta 1e-5 --opt-in 0.05 --max-queries 50
      blender-dp plan zipf:1.1 --users 2000000 --epsilon 2 --delta 1e-7 --opt-in 0.01
      blender-dp plan aol --epsilon 4 --delta 1e-6 --over opt-in --plot opt-in.svg
      blender-dp plan aol --epsilon 4 --delta 1e-6 --want queries=100,ndcg=0.95 --solve opt-in
      blender-dp plan log.csv --user who --delimiter ';' --epsilon 4 --delta 1e-6
      blender-dp plan release --epsilon 4 --delta 1e-7 --users 1000000 --json
    """
    _check_picture(plot)
    kind: Literal["svg", "png"] = "png" if plot and plot.suffix == ".png" else "svg"
    with drawing_process(kind) if plot else nullcontext() as draw:  # loads meanwhile
        with err.status("Simulating collections"):
            with loading():
                from blender_dp.cli.plan_output import print_plan, print_solution, print_tradeoff
                from blender_dp.evaluation.sources import PopulationSource
                from blender_dp.planning import plan_of, tradeoff
                from blender_dp.planning import solve as solved

            wanted = _want(want, solve)
            source = PopulationSource(shape, reading=reading_of(parameters))
            setting = _setting(source, opt_in, users, wanted, solve, given(parameters))
            curve = tradeoff(setting, over or solve or "opt-in") if over or plot else None
            shown = curve if over else None
            whole = None if wanted or shown else plan_of(setting, rounds=rounds)
            solution = solved(setting, wanted, solve) if wanted and solve else None
        if as_json:
            print_json({**_document(whole), **_document(solution), **({"tradeoff": _document(shown)} if shown else {})})
        else:
            if whole:
                print_plan(whole)
            if solution:
                print_solution(solution)
            if shown:
                print_tradeoff(shown, setting)
        if curve and plot and draw:  # `_check_picture` has found the library
            _draw(curve, plot, draw)
            if not as_json:
                note(f"Written: {plot}")


def _document(result: Plan | Solution | Tradeoff | None) -> dict[str, Any]:
    return result.to_document() if result else {}


def _setting(
    source: PopulationSource, opt_in: str, users: int | None, want: Want | None, solve: str | None, values: dict[str, Any]
) -> Setting:
    from blender_dp.parameters import Parameters
    from blender_dp.planning import setting_of

    if solve == "epsilon":
        values.setdefault("epsilon", _ANY)
    if missing := [name for name in ("epsilon", "delta") if name not in values]:
        raise ParameterError(
            missing[0], "a plan needs --epsilon and --delta", "Pass both; --solve epsilon needs only --delta"
        )
    if want and want.queries:
        values.setdefault("max_queries", want.queries)
    return setting_of(source, opt_in, users, Parameters(**values))


def _want(text: str | None, solve: str | None) -> Want | None:
    from blender_dp.planning import Want
    from blender_dp_device.arithmetic import exact

    if (text is None) != (solve is None):
        raise ParameterError(
            "want", "--want and --solve need each other", "Pass both, such as --want queries=100 --solve opt-in"
        )
    if text is None:
        return None
    if not text.strip():
        return Want()  # says that a goal is missing
    wishes: dict[str, Any] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        problem = f"{name.strip()} is set twice" if name.strip() in wishes else f"{part!r} is unknown"
        if name.strip() not in {"queries", "ndcg", "error"} - wishes.keys() or not value:
            raise ParameterError("want", problem, "Use queries=100, ndcg=0.95 and error=0.1, separated by commas")
        number = exact(value.strip(), "want")
        if name.strip() == "queries" and number.denominator > 1:
            raise ParameterError("want", f"queries={value.strip()} is not a whole number", "Use queries=100, for example")
        if abs(number) > _MOST_WANTED:
            raise ParameterError("want", f"{part!r} is out of range", "Use queries=100, ndcg=0.95 or error=0.1, for example")
        wishes[name.strip()] = int(number) if name.strip() == "queries" else float(number)
    return Want(**wishes)


def _check_picture(path: Path | None) -> None:
    if path is None:
        return
    needs("plots")
    if path.suffix not in _PICTURES:
        raise ParameterError("plot", f"{path.name!r} is neither .svg nor .png", "Use a name such as plan.svg")
    check_writable(path)


def _draw(curve: Tradeoff, path: Path, draw: Draw) -> None:
    from blender_dp.report.plan_charts import tradeoff_chart

    drawn = draw(tradeoff_chart(curve))
    path.write_bytes(png_of(drawn) if path.suffix == ".png" else drawn.encode())
