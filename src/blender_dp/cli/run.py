"""blender-dp run"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from blender_dp.cli.output import (
    AsJson,
    ClientRecords,
    Delta,
    Discovery,
    Engine,
    Epsilon,
    Estimator,
    Force,
    ForceWeakPrivacy,
    Memory,
    OtherRandomiser,
    Profile,
    QueryBudget,
    Steps,
    SubsetSize,
    print_files,
    print_json,
    print_tally,
    privacy_warnings,
    say,
)
from blender_dp.errors import LogError, ParameterError
from blender_dp_device.arithmetic import exact

EXACT = "The numbers under 'log' are exact, not private. Do not publish them."


def run(
    log: Annotated[list[str], typer.Argument(help="The log: files, folders or patterns such as 'logs/*.csv.gz'; or URIs.")],
    epsilon: Epsilon,
    delta: Delta,
    opt_in: Annotated[str, typer.Option(metavar="SHARE|FILE", help="Share of opt-in users, or a file with their ids.")],
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the files.")],
    max_queries: Annotated[int, typer.Option(metavar="N", help="How many queries to list at most (M).")] = 50,
    profile: Profile = "tight",
    user: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the user.")] = "user",
    query: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the query.")] = "query",
    url: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the clicked URL.")] = "url",
    no_url: Annotated[bool, typer.Option("--no-url", help="The log has no URLs: queries are single items.")] = False,
    f_o: Annotated[str, typer.Option("--f-o", metavar="NUMBER", help="Share of opt-in users who discover (f_O).")] = "0.95",
    f_c: QueryBudget = None,
    subset_size: SubsetSize = None,
    m_c: ClientRecords = 1,
    project: Annotated[bool, typer.Option(help="Average: make the estimates a probability distribution.")] = True,
    robust: Annotated[bool, typer.Option(help="Likelihood: doubt opt-in users where clients contradict them.")] = True,
    discovery: Discovery = None,
    randomiser: OtherRandomiser = None,
    estimator: Estimator = None,
    candidates: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A public head list: its records need no threshold.")
    ] = None,
    log_format: Annotated[
        str | None, typer.Option("--format", help="csv, tsv, jsonl, parquet, aol or yandex, if it cannot be told.")
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(metavar="CHARACTER", help="What separates the fields of a CSV file, such as ';' or tab.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of text files, such as latin-1 or utf-16, if not UTF-8.")
    ] = None,
    max_bad: Annotated[str, typer.Option(metavar="SHARE", help="Stop if more than this share of the rows is bad.")] = "0.01",
    bad_rows: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the bad rows here, as JSON lines.")] = None,
    engine: Engine = "duckdb",
    memory: Memory = None,
    simulation: Annotated[
        str, typer.Option(metavar="users|cells", help="Make every client's report, or draw them by cell.")
    ] = "users",
    key: Annotated[str, typer.Option(metavar="HEX", help="Key of the record choice and the groups, to repeat them.")] = "",
    force: Force = False,
    force_weak_privacy: ForceWeakPrivacy = False,
    as_json: AsJson = False,
) -> None:
    """Make a private release from a log.

    Whoever runs this has everybody's records: the clients' reports are made here, from the log, as their devices would.

    \b
    Examples:
      blender-dp run log.csv --epsilon 4 --delta 1e-6 --opt-in 0.05 --out release
      blender-dp run log.tsv --epsilon 2 --delta 1e-7 --opt-in volunteers.txt --user who --url link --out release
      blender-dp run crashes.csv --epsilon 4 --delta 1e-6 --opt-in 0.1 --query error_code --no-url --out release
      blender-dp run export.csv --delimiter ';' --encoding latin-1 --epsilon 4 --delta 1e-6 --opt-in 0.05 --out release
      blender-dp run AOL-user-ct-collection --epsilon 4 --delta 1e-5 --opt-in 0.05 --memory 2GB --out release
      blender-dp run hdfs://host/logs --format csv --engine spark --epsilon 4 --delta 1e-5 --opt-in 0.05 --out release
      blender-dp trends release
    """
    from blender_dp.cli.engine import counted, watched, write_bad_rows
    from blender_dp.cli.files import output_folder, write_folder
    from blender_dp.engines import Columns, Tally
    from blender_dp.engines.choice import chosen_engine
    from blender_dp.logs import find
    from blender_dp.pipeline.blender import Blender
    from blender_dp.privacy.limits import exposure_statement
    from blender_dp.release.explanation import why_empty
    from blender_dp_device.records.head_list import HeadList

    blender = Blender(
        epsilon=epsilon,
        delta=delta,
        f_o=f_o,
        f_c=f_c,
        subset_size=subset_size,
        m_c=m_c,
        max_queries=max_queries,
        project=project,
        robust=robust,
        profile=profile,
        discovery=discovery,
        randomiser=randomiser,
        estimator=estimator,
        candidates=HeadList.load(candidates) if candidates else None,
        allow_weak_privacy=force_weak_privacy,
    )
    users, key_bytes = _opt_in(opt_in), _key(key)
    columns = Columns(user, query, None if no_url else url)
    source = find(log, log_format, columns, delimiter=delimiter, encoding=encoding)
    counting, tallies, started = chosen_engine(engine, memory), list[Tally](), time.monotonic()
    unknown = list[int]()

    def tell(tally: Tally) -> None:
        tallies.append(tally)
        step.remark(counted(tally, time.monotonic() - started))

    with output_folder(out_folder, replace=force), Steps(quiet=as_json).shown() as step, watched(counting, step):
        try:
            with privacy_warnings() as warned:
                release = blender.run_log(
                    source,
                    users,
                    key=key_bytes,
                    engine=counting,
                    max_bad=max_bad,
                    simulation=simulation,
                    progress=step,
                    on_tally=tell,
                    on_unknown=unknown.append,
                )
        finally:
            if bad_rows is not None and tallies:
                write_bad_rows(bad_rows, counting, source)
        step("writing the files")
        files = write_folder(out_folder, release)
    if as_json:
        print_json(
            {
                "listed": len(release.head_list),
                **({} if len(release.head_list) else {"why_empty": why_empty(release.manifest)}),
                "log": {
                    "warning": EXACT,
                    **tallies[0].to_document(),
                    **({"unknown_opt_in_ids": unknown[0]} if unknown else {}),
                },
                "manifest": release.manifest.to_document(),
                "privacy_warnings": warned,
                "files": {k: str(v) for k, v in files.items()},
            }
        )
        return
    print_tally(tallies[0], "Rows of the log (these numbers are exact: do not publish them)")
    say(exposure_statement(release.manifest.settings.delta, release.manifest.discovery_users))
    if unknown:
        say(f"{unknown[0]:,} of the opt-in ids are not in the log (exact as well: do not publish this number).")
        say()
    if len(release.head_list):
        say(f"{len(release.head_list)} queries listed. See them with: blender-dp trends {out_folder}")
    else:
        say(f"0 queries listed. {why_empty(release.manifest)}")
    say()
    print_files(files)


def _opt_in(text: str) -> str | list[str]:
    """A share such as 0.05, or the lines of a file."""
    from blender_dp.logs.sources import reading

    path = Path(text)
    if not path.is_file():
        try:
            exact(text, "opt_in")
        except ParameterError:
            raise LogError(text, "is neither a share nor a file", "Give a number such as 0.05, or a file of ids") from None
        return text
    with reading(path):
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise LogError(text, "is not UTF-8 text", "Save the ids as UTF-8, one per line") from None
    return [line.strip() for line in lines if line.strip()]


def _key(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text) or None
    except ValueError:
        raise ParameterError("key", f"{text!r} is not hexadecimal", "Give digits such as 8f01c2, or leave it out") from None
