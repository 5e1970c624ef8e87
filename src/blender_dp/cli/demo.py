"""blender-dp demo"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blender_dp.cli.output import AsJson, Steps, out, print_files, print_json, print_table

if TYPE_CHECKING:
    from blender_dp.evaluation import Scores, Truth
    from blender_dp.release import Release

_TOP = 10
_Z = 1.959963984540054


def demo(
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the files.")] = Path("blender-demo"),
    users: Annotated[int, typer.Option(min=2000, help="How many made-up users.")] = 519_371,
    seed: Annotated[int, typer.Option(help="Seed of the made-up population and of the noise.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Run the whole system on a made-up population shaped like the papers' AOL log.

    \b
    Examples:
      blender-dp demo
      blender-dp demo --seed 7 --out seven
      blender-dp demo --json | jq .scores
    """
    from blender_dp.blender import Blender
    from blender_dp.cli.files import check_folder, write_folder
    from blender_dp.evaluation import Truth, score
    from blender_dp.logs import aol_like
    from blender_dp.sampling import Entropy

    check_folder(out_folder, replace=True)
    with Steps(quiet=as_json).shown() as step:
        step(f"population: {users:,} made-up users")
        population = aol_like(seed, users=users)
        truth = Truth.of(population)
        blender = Blender(epsilon=4, delta="1e-5", f_o="0.95", f_c="0.85", max_queries=50)
        release = blender.run_log(
            population, "0.05", key=f"demo {seed}".encode(), entropy=Entropy.seeded(seed), progress=step
        )
        step("writing the report")
        scores = score(release, truth)
        files = write_folder(out_folder, release, truth, scores)
    if as_json:
        print_json(_summary(release, truth, scores, files))
    else:
        _show(release, truth, scores, files)


def _show(release: Release, truth: Truth, scores: Mapping[str, Scores], files: Mapping[str, Path]) -> None:
    from blender_dp.privacy.statement import seeded_warning, statement

    columns = {"query": False, "true": True, "blended ± 95 %": True, "opt-in": True, "client": True}
    rows = [
        [
            row.query or "",
            f"{truth.query_share(row.query or ''):.4f}",
            f"{row.share:.4f} ± {_Z * row.variance**0.5:.4f}",
            f"{row.opt_in_share:.4f}",
            f"{row.client_share:.4f}",
        ]
        for row in sorted(release.trends(len(release.queries)), key=lambda r: -truth.query_share(r.query or ""))[:_TOP]
    ]
    print_table(f"Top {_TOP} of {len(release.head_list)} listed queries, share of all users", columns, rows)
    out.print()
    columns = {"estimates of": False, "query L1": True, "record L1": True, "NDCG": True}
    rows = [[name, f"{s.query_l1:.4f}", f"{s.record_l1:.4f}", f"{s.ndcg:.4f}"] for name, s in scores.items()]
    print_table("Distance from the truth (L1: less is better; NDCG: 1 is best)", columns, rows)
    out.print()
    out.print("[bold]What is promised[/]")
    for group in release.manifest.groups:
        out.print(statement(group.group, group.users, group.model, group.epsilon, group.delta))
    out.print(seeded_warning())
    out.print()
    print_files(files)


def _summary(release: Release, truth: Truth, scores: Mapping[str, Scores], files: Mapping[str, Path]) -> dict[str, object]:
    return {
        "listed": len(release.head_list),
        "trends": [{**asdict(row), "true_share": truth.query_share(row.query or "")} for row in release.trends(_TOP)],
        "scores": {name: asdict(s) for name, s in scores.items()},
        "manifest": asdict(release.manifest),
        "files": {what: str(path) for what, path in files.items()},
    }
