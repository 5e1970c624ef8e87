"""blender-dp run"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from blender_dp.arithmetic import exact
from blender_dp.cli.output import (
    AsJson,
    ClientRecords,
    Delta,
    Epsilon,
    Force,
    QueryBudget,
    Steps,
    print_files,
    print_json,
    say,
)
from blender_dp.errors import LogError, ParameterError


def run(
    log: Annotated[Path, typer.Argument(help="The log: a .csv, .tsv or .parquet file with a header.", metavar="LOG")],
    epsilon: Epsilon,
    delta: Delta,
    opt_in: Annotated[str, typer.Option(metavar="SHARE|FILE", help="Share of opt-in users, or a file with their ids.")],
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the files.")],
    max_queries: Annotated[int, typer.Option(metavar="N", help="How many queries to list at most (M).")] = 50,
    profile: Annotated[str, typer.Option(help="How the stages are made: paper.")] = "paper",
    user: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the user.")] = "user",
    query: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the query.")] = "query",
    url: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the clicked URL.")] = "url",
    f_o: Annotated[str, typer.Option("--f-o", metavar="NUMBER", help="Share of opt-in users who discover (f_O).")] = "0.95",
    f_c: QueryBudget = "0.85",
    m_c: ClientRecords = 1,
    project: Annotated[bool, typer.Option(help="Make the estimates a probability distribution.")] = True,
    key: Annotated[str, typer.Option(metavar="HEX", help="Key of the record choice and the groups, to repeat them.")] = "",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a private release from a log.

    Whoever runs this has everybody's records: the clients' reports are made here, from the log, as their devices would.

    \b
    Examples:
      blender-dp run log.csv --epsilon 4 --delta 1e-6 --opt-in 0.05 --out release
      blender-dp run log.tsv --epsilon 2 --delta 1e-7 --opt-in volunteers.txt --user AnonID --url ClickURL --out release
      blender-dp trends release
    """
    from blender_dp.blender import Blender
    from blender_dp.cli.files import output_folder, write_folder
    from blender_dp.engines import Columns

    blender = Blender(
        epsilon=epsilon, delta=delta, f_o=f_o, f_c=f_c, m_c=m_c, max_queries=max_queries, project=project, profile=profile
    )
    columns, users, key_bytes = Columns(user, query, url), _opt_in(opt_in), _key(key)
    with output_folder(out_folder, replace=force), Steps(quiet=as_json).shown() as step:
        release = blender.run_log(log, users, columns=columns, key=key_bytes, progress=step)
        step("writing the files")
        files = write_folder(out_folder, release)
    if as_json:
        manifest = asdict(release.manifest)
        print_json({"listed": len(release.head_list), "manifest": manifest, "files": {k: str(v) for k, v in files.items()}})
        return
    say(f"{len(release.head_list)} queries listed. See them with: blender-dp trends {out_folder}")
    say()
    print_files(files)


def _opt_in(text: str) -> str | list[str]:
    """A share such as 0.05, or the lines of a file."""
    path = Path(text)
    if not path.is_file():
        try:
            exact(text, "opt_in")
        except ParameterError:
            raise LogError(text, "is neither a share nor a file", "Give a number such as 0.05, or a file of ids") from None
        return text
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise LogError(text, "is no UTF-8 text", "Save the ids as UTF-8, one per line") from None
    return [line.strip() for line in lines if line.strip()]


def _key(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text) or None
    except ValueError:
        raise ParameterError("key", f"{text!r} is not hexadecimal", "Give digits such as 8f01c2, or leave it out") from None
