"""blender-dp trends"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blender_dp.brief import brief
from blender_dp.cli.operate import Name
from blender_dp.cli.options import AsJson
from blender_dp.cli.output import check_writable, err, note, print_json, print_table, say
from blender_dp.errors import ParameterError

if TYPE_CHECKING:
    from blender_dp.cli.release_series import Collected
    from blender_dp.release import Release
    from blender_dp.release.series import Series, Trends

_PLOTS = (".svg", ".png", ".html")


def trends(
    releases: Annotated[
        list[str],
        typer.Argument(
            help="Releases, oldest first; or a folder of releases; or the URL of a collector, for at most the latest 52 "
            "releases that can be compared."
        ),
    ],
    name: Name = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of queries to show.")] = 10,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the trends: .svg, .png or .html.")] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="With a collector: its public key, which must have signed every release."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the most popular queries of a release, or their trends over several. This spends no privacy budget.

    With --json, one release is a list of its queries; several, or a folder of releases, are one object with their series.

    \b
    Examples:
      blender-dp trends blender-demo -n 50 --json
      blender-dp trends june july august
      blender-dp trends releases/ --plot trends.html
      blender-dp trends https://collector.example --campaign searches --key KEY
    """
    from blender_dp.cli.release_series import is_one_release, read_series
    from blender_dp.privacy.statement import seeded_warning
    from blender_dp.release.series import trends_over

    _check_plot(plot)
    with err.status("reading the releases"):
        collected = read_series(releases, name, key)
    loaded = [release for _, release in collected.releases]
    is_one = is_one_release(releases)
    if seeded := sum(release.manifest.is_seeded for release in loaded):
        note(seeded_warning() if is_one else f"{seeded} of {len(loaded)} releases: {seeded_warning()}")
    over = None
    if plot is not None or not is_one:
        with err.status(f"smoothing the queries of {len(loaded)} releases"):
            over = trends_over(loaded, [label for label, _ in collected.releases])
    if plot is not None and over is not None:
        with err.status("drawing"):
            _draw(loaded, over, n, plot)
    if is_one or over is None:
        _show_release(loaded[0], n, as_json=as_json)
    else:
        _show_series(collected, over, n, as_json=as_json)
    if plot is not None and not as_json:
        say(f"Drawn: {plot}")


def _show_series(collected: Collected, over: Trends, n: int, *, as_json: bool) -> None:
    from blender_dp.release.explanation import why_empty

    if not over.series:
        note(f"No release lists a query. {why_empty(collected.releases[-1][1].manifest)}")
    if as_json:
        signed = {} if collected.key is None else {"key": collected.key, "key_is_pinned": collected.is_pinned}
        print_json({**signed, "releases": over.names, "series": [asdict(one) for one in over.series[:n]]})
        return
    if over.series:
        print_table(_title(over), _COLUMNS, [_row(one) for one in over.series[:n]], fold=False)
    if collected.note:
        note(collected.note)


def _show_release(release: Release, n: int, *, as_json: bool) -> None:
    from blender_dp.release.explanation import why_empty

    top = release.trends(n)
    if not top:
        note(why_empty(release.manifest))
    if as_json:
        print_json([asdict(row) for row in top])
        return
    columns = {"": True, "query": False, "share": True, "95 % interval": True, "opt-in weight": True}
    rows = [
        [str(rank), row.query or "", f"{row.share:z.4f}", f"{row.low:z.4f} to {row.high:z.4f}", f"{row.opt_in_weight:.2f}"]
        for rank, row in enumerate(top, 1)
    ]
    print_table("", columns, rows)


_COLUMNS = {"query": False, "trend": False, "share": True, "95 % interval": True, "change": True, "95 % interval ": True}


def _title(over: Trends) -> str:
    if len(over.names) == 1:
        return f"Smoothed shares of {brief(over.names[0])}"
    return f"Smoothed shares over {len(over.names)} releases, {brief(over.names[0])} to {brief(over.names[-1])}"


def _row(one: Series) -> list[str]:
    from blender_dp.cli.sparkline import sparkline

    last = one.points[-1]
    return [
        one.query,
        sparkline([point.smoothed for point in one.points]),
        f"{last.smoothed:.4f}",
        f"{last.smoothed_low:.4f} to {last.smoothed_high:.4f}",
        f"{one.change:+z.4f}",
        f"{one.change_low:+z.4f} to {one.change_high:+z.4f}",
    ]


def _check_plot(plot: Path | None) -> None:
    if plot is None:
        return
    if plot.suffix.lower() not in _PLOTS:
        raise ParameterError("plot", f"{plot.name!r} has an unknown format", f"Use a name that ends in {', '.join(_PLOTS)}")
    check_writable(plot)


def _draw(releases: list[Release], over: Trends, n: int, path: Path) -> None:
    from blender_dp.release.files import write_atomically
    from blender_dp.report import render_trends
    from blender_dp.report.lines import png, svg
    from blender_dp.report.trend_charts import trend_chart

    suffix = path.suffix.lower()
    if suffix == ".png":
        content = png(trend_chart(over, n))
    else:
        content = (svg(trend_chart(over, n)) if suffix == ".svg" else render_trends(releases, over, n)).encode()
    write_atomically(path, lambda partial: _write(partial, content))


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
