"""Every verb that reads a log has the same options for it."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields

import pytest
from typer.testing import CliRunner

from blender_dp.cli.app import app
from blender_dp.cli.evaluate import evaluate
from blender_dp.cli.plan import plan
from blender_dp.cli.reading_options import reading_of
from blender_dp.cli.reproduce import reproduce
from blender_dp.cli.run import run
from blender_dp.logs import Reading

FIELDS = [one.name for one in fields(Reading)]
RUN = CliRunner()


@pytest.mark.parametrize("verb", [run, plan, evaluate, reproduce])
def test_a_verb_that_reads_a_log_has_an_option_for_every_field(verb):
    assert set(FIELDS) <= set(inspect.signature(verb).parameters)


def test_options_that_are_not_on_the_command_line_have_the_defaults():
    values = {**dict.fromkeys(FIELDS), "no_url": False, "user": "who", "epsilon": "4"}
    assert reading_of(values) == Reading(user="who")
    assert values == {"epsilon": "4"}


@pytest.mark.slow
def test_a_plan_reads_a_log_with_other_columns(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("who;what\n" + "".join(f"{user};query {user % 7}\n" for user in range(700)))
    options = ["--user", "who", "--query", "what", "--no-url", "--delimiter", ";", "--opt-in", "0.3"]
    done = RUN.invoke(app, ["plan", str(log), *options, "--epsilon", "4", "--delta", "1e-4", "--max-queries", "5", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["users"] == 700
