"""blender-dp demo"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blender_dp.cli.options import AsJson, Force, given, parameter_options
from blender_dp.cli.output import Steps, print_files, print_json, print_table, privacy_warnings, say
from blender_dp.cli.promise import print_promise
from blender_dp.parameters.grid_axes import AXES

if TYPE_CHECKING:
    from blender_dp.evaluation import Scores, Truth
    from blender_dp.release import QueryEstimate, Release

_TOP = 10
_LOG = "log.parquet"
_PAPERS: dict[str, Any] = {"epsilon": "4", "delta": "1e-5", "max_queries": 50}


@parameter_options(*AXES, given_only=True)
def demo(
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the files.")] = Path("blender-demo"),
    users: Annotated[int, typer.Option(min=2000, help="Number of synthetic users.")] = 519_371,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic population and of the noise.")] = 1,
    opt_in: Annotated[str, typer.Option(metavar="SHARE", help="Share of the users who opt in.")] = "0.05",
    force: Force = False,
    as_json: AsJson = False,
    **parameters: Any,  # noqa: ANN401 (an option for each parameter of the collection)
) -> None:
    """Run the whole system on a synthetic population shaped like the papers' AOL log.

    The defaults are the papers' parameters for this log: ε 4, δ 1e-5, at most 50 queries.

    \b
    Examples:
      blender-dp demo
      blender-dp demo --profile paper --epsilon 2 --opt-in 0.1
      blender-dp demo --seed 7 --out seven
      blender-dp demo --json | jq .scores
    """
    import pyarrow.parquet as pq

    from blender_dp.cli.files import output_folder, write_folder
    from blender_dp.evaluation import Truth, score
    from blender_dp.logs import aol_like
    from blender_dp.pipeline.blender import Blender
    from blender_dp.release.files import write_atomically
    from blender_dp.sampling import Entropy

    blender = Blender(**_PAPERS | given(parameters))  # checks the parameters before anything is written
    with output_folder(out_folder, replace=force), Steps(quiet=as_json).shown() as step:
        step(f"population: {users:,} synthetic users")
        population = aol_like(seed, users=users)
        truth = Truth.of(population)
        with privacy_warnings() as warned:
            release = blender.run_log(
                population, opt_in, key=f"demo {seed}".encode(), entropy=Entropy.seeded(seed), progress=step
            )
        step("writing the files")
        scores = score(release, truth)
        log = write_atomically(out_folder / _LOG, lambda path: pq.write_table(population, path))
        files = {**write_folder(out_folder, release, truth, scores), "synthetic log": log}
    if as_json:
        print_json({**_summary(release, truth, scores, files), "privacy_warnings": warned})
    else:
        _show(release, truth, scores, files)


def _show(release: Release, truth: Truth, scores: Mapping[str, Scores], files: Mapping[str, Path]) -> None:
    columns = {"query": False, "true": True, "blended ± 95 %": True, "opt-in": True, "client": True}
    rows = [
        [
            row.query or "",
            f"{truth.query_share(row.query or ''):.4f}",
            f"{row.share:.4f} ± {row.margin:.4f}",
            f"{row.opt_in_share:.4f}",
            f"{row.client_share:.4f}",
        ]
        for row in _top(release, truth)
    ]
    print_table(f"Top {len(rows)} of {len(release.head_list)} listed queries, share of all users", columns, rows)
    say()
    columns = {"estimates of": False, "query L1": True, "record L1": True, "NDCG": True}
    is_empty = not len(release.head_list)  # errors of 0 would look like a perfect result
    rows = [
        [name, *("-" if is_empty else f"{value:.4f}" for value in (s.query_l1, s.record_l1, s.ndcg))]
        for name, s in scores.items()
    ]
    print_table("Distance from the truth (L1: lower is better; NDCG: 1 is best)", columns, rows)
    say()
    print_promise(release.manifest)
    say()
    print_files(files)


def _summary(release: Release, truth: Truth, scores: Mapping[str, Scores], files: Mapping[str, Path]) -> dict[str, object]:
    return {
        "listed": len(release.head_list),
        "top": [{**asdict(row), "true_share": truth.query_share(row.query or "")} for row in _top(release, truth)],
        "scores": {name: asdict(s) for name, s in scores.items()},
        "manifest": release.manifest.to_document(),
        "files": {what: str(path) for what, path in files.items()},
    }


def _top(release: Release, truth: Truth) -> list[QueryEstimate]:
    """The listed queries with the largest true shares."""
    listed = release.trends(len(release.queries))
    return sorted(listed, key=lambda row: -truth.query_share(row.query or ""))[:_TOP]
