"""The command's verbs and its handling of errors."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

from blender_dp.cli.aggregate import aggregate
from blender_dp.cli.audit import audit
from blender_dp.cli.compare import compare
from blender_dp.cli.demo import demo
from blender_dp.cli.demo_live import demo_live
from blender_dp.cli.disagreement import disagreement
from blender_dp.cli.evaluate import evaluate
from blender_dp.cli.help_text import help_text
from blender_dp.cli.invite import invite
from blender_dp.cli.ledger import ledger
from blender_dp.cli.operate import campaign
from blender_dp.cli.output import fail, print_anything
from blender_dp.cli.pandas_import import avoid_pandas
from blender_dp.cli.plan import plan
from blender_dp.cli.quick_exit import quick_exit
from blender_dp.cli.registry import registry
from blender_dp.cli.reproduce import reproduce
from blender_dp.cli.round import round_
from blender_dp.cli.run import run
from blender_dp.cli.search import search
from blender_dp.cli.serve import WithSettings, serve
from blender_dp.cli.simulate import simulate
from blender_dp.cli.trends import trends
from blender_dp.errors import BlenderError

EXIT_CODES = "Exit codes: 0 success · 1 an audited claim is violated · 2 invalid input · 130 interrupted"

app = typer.Typer(
    name="blender-dp",
    help="Learn the most popular ⟨query, URL⟩ records of a log with differential privacy.",
    epilog=f"Start with: blender-dp demo  —  {EXIT_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (
    demo,
    demo_live,
    run,
    search,
    trends,
    compare,
    disagreement,
    evaluate,
    reproduce,
    plan,
    aggregate,
    audit,
    registry,
    serve,
    simulate,
    ledger,
):
    app.command(cls=WithSettings if verb is serve else None)(verb)
campaign.command()(invite)
for one in (*app.registered_commands, *campaign.registered_commands, *round_.registered_commands):
    one.help = help_text(one.callback) if one.callback else None
app.add_typer(campaign, name="campaign")
app.add_typer(round_, name="round")


@app.callback(invoke_without_command=True)
def _options(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if show_version:
        from importlib.metadata import version

        typer.echo(f"blender-dp {version('blender-dp')}")
        raise typer.Exit


def main() -> None:
    """Run the command and end the process. Invalid input gives one line on standard error and exit code 2, no traceback."""
    try:
        run_command()
    except SystemExit as end:
        quick_exit(end)
        raise


def run_command() -> NoReturn:
    """Run the command and raise `SystemExit` with its exit code."""
    avoid_pandas(sys.argv[1:])
    print_anything()
    # numpy's threads wait for each other longer than they work on arrays of this size; it reads this when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        app()
    except BlenderError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or 'file'}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)
