"""blender-dp run"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blender_dp.cli.drawing_process import drawing_process
from blender_dp.cli.loading import loading
from blender_dp.cli.options import AsJson, Engine, Force, MaxBad, Memory, parameter_options
from blender_dp.cli.output import Steps, print_files, print_json, print_tally, privacy_warnings, say
from blender_dp.cli.promise import print_promise
from blender_dp.cli.reading_options import reading_of, reading_options
from blender_dp.errors import LogError, ParameterError
from blender_dp_device.arithmetic import exact

if TYPE_CHECKING:
    from blender_dp.logs import Tally
    from blender_dp.release import Release

EXACT = "The numbers under 'log' are exact, not private. Do not publish them."


@reading_options
@parameter_options()
def run(
    log: Annotated[list[str], typer.Argument(help="The log: files, folders, patterns such as 'logs/*.csv.gz', or URIs.")],
    opt_in: Annotated[str, typer.Option(metavar="SHARE|FILE", help="Share of opt-in users, or a file with their ids.")],
    out_folder: Annotated[Path, typer.Option("--out", help="Folder for the files.")],
    users: Annotated[
        int | None, typer.Option(min=1, help="Expected number of users in the log, for checks before it is read.")
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the estimates to this file, as CSV. Queries are unchanged: import them as text, because a "
            "spreadsheet may take one for a formula.",
        ),
    ] = None,
    max_bad: MaxBad = "0.01",
    bad_rows: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the bad rows to this file, as JSON Lines.")
    ] = None,
    engine: Engine = "duckdb",
    memory: Memory = None,
    simulation: Annotated[
        str, typer.Option(metavar="users|cells", help="Simulate the reports client by client, or by count per cell.")
    ] = "users",
    key: Annotated[
        str, typer.Option(metavar="HEX", help="Key that selects records and groups; the same key repeats the selection.")
    ] = "",
    force: Force = False,
    as_json: AsJson = False,
    **parameters: Any,  # noqa: ANN401 (an option for each parameter of a collection, and for reading the log)
) -> None:
    """Make a private release from a log.

    This command sees everyone's records: it simulates the clients' reports from the log, as their devices would make them.

    \b
    Examples:
      blender-dp run log.csv --epsilon 4 --delta 1e-6 --opt-in 0.05 --out release --csv estimates.csv
      blender-dp run log.tsv --epsilon 2 --delta 1e-7 --opt-in volunteers.txt --user who --url link --out release
      blender-dp run crashes.csv --epsilon 4 --delta 1e-6 --opt-in 0.1 --query error_code --no-url --out release
      blender-dp run export.csv --delimiter ';' --encoding latin-1 --epsilon 4 --delta 1e-6 --opt-in 0.05 --out release
      blender-dp run AOL-user-ct-collection --epsilon 4 --delta 1e-5 --opt-in 0.05 --memory 2GB --out release
      blender-dp run hdfs://host/logs --format csv --engine spark --epsilon 4 --delta 1e-5 --opt-in 0.05 --out release
      blender-dp trends release
    """
    with drawing_process() as draw:  # before everything else is loaded
        with loading():
            from blender_dp.cli.engine import counted, watched, write_bad_rows
            from blender_dp.cli.files import check_more_files, output_folder, write_folder
            from blender_dp.cli.outlook import Outlook
            from blender_dp.engines.choice import chosen_engine
            from blender_dp.pipeline.blender import Blender

        reading, blender = reading_of(parameters), Blender(**parameters)
        opted_in, key_bytes = _opt_in(opt_in), _key(key)
        counting, outlook = chosen_engine(engine, memory), Outlook(blender.collection)
        outlook.before(opted_in, users, quiet=as_json)
        source = reading.find(log)
        check_more_files(
            [path for path in (csv, bad_rows) if path is not None], out_folder, [*map(Path, source.files), Path(opt_in)]
        )
        started = time.monotonic()
        with output_folder(out_folder, replace=force), Steps(quiet=as_json).shown() as step, watched(counting, step):
            outcome = _Outcome(lambda tally: step.remark(counted(tally, time.monotonic() - started)))
            try:
                with privacy_warnings() as outcome.warnings:
                    release = blender.run_log(
                        source, opted_in, key=key_bytes, engine=counting, max_bad=max_bad, simulation=simulation,
                        progress=step, on_tally=outcome.add_tally, on_unknown=outcome.add_unknown_ids,
                        on_sizes=outlook.add_sizes,
                    )  # fmt: skip
            finally:
                if bad_rows is not None and outcome.tally is not None:
                    write_bad_rows(bad_rows, counting, source)
            step("writing the files")
            files = write_folder(out_folder, release, draw=draw)
            if csv is not None:
                release.to_csv(csv)
                files["CSV"] = csv
    if as_json:
        print_json({**outcome.to_document(release, files), "outlook": outlook.to_document()})
    else:
        outcome.show(release, files, out_folder)


@dataclass
class _Outcome:
    """What a run reports besides its release."""

    on_tally: Callable[[Tally], None]
    tally: Tally | None = None
    unknown_ids: int | None = None
    warnings: list[str] | None = None

    def add_tally(self, tally: Tally) -> None:
        self.tally = tally
        self.on_tally(tally)

    def add_unknown_ids(self, number: int) -> None:
        self.unknown_ids = number

    def to_document(self, release: Release, files: dict[str, Path]) -> dict[str, Any]:
        """Everything as JSON values."""
        from blender_dp.release.explanation import why_empty

        ids = {} if self.unknown_ids is None else {"unknown_opt_in_ids": self.unknown_ids}
        return {
            "listed": len(release.head_list),
            **({} if len(release.head_list) else {"why_empty": why_empty(release.manifest)}),
            "log": {"warning": EXACT, **(self.tally.to_document() if self.tally else {}), **ids},
            "manifest": release.manifest.to_document(),
            "privacy_warnings": self.warnings,
            "files": {what: str(path) for what, path in files.items()},
        }

    def show(self, release: Release, files: dict[str, Path], folder: Path) -> None:
        """Print everything for people."""
        from blender_dp.release.explanation import why_empty

        if self.tally:
            print_tally(self.tally, "Rows of the log (these numbers are exact: do not publish them)")
        print_promise(release.manifest)
        say()
        if self.unknown_ids is not None:
            say(f"{self.unknown_ids:,} of the opt-in ids are not in the log (an exact number too: do not publish it).")
            say()
        if len(release.head_list):
            say(f"{len(release.head_list)} queries listed. See them with: blender-dp trends {folder}")
        else:
            say(f"0 queries listed. {why_empty(release.manifest)}")
        say()
        print_files(files)


def _opt_in(text: str) -> str | list[str]:
    """A share such as 0.05, or the lines of a file."""
    from blender_dp.logs.locate import reading

    path = Path(text)
    if not path.is_file():
        try:
            exact(text, "opt_in")
        except ParameterError:
            raise LogError(text, "is neither a share nor a file", "Pass a number such as 0.05, or a file of ids") from None
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
        raise ParameterError("key", f"{text!r} is not hexadecimal", "Pass digits such as 8f01c2, or leave it out") from None
