"""A parameter is defined once, and every surface shows it: the command, campaigns, the manifest, `repr` and `Blender`."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from blender_dp import Blender
from blender_dp.cli.app import app
from blender_dp.cli.options import flag_of, parameter_options
from blender_dp.collector.campaign import CampaignSettings
from blender_dp.parameters import Parameter, Parameters, definitions
from blender_dp.parameters.campaign import CAMPAIGN_PARAMETERS
from blender_dp.parameters.checks import one_of
from blender_dp.release.document import json_schema
from tests.conftest import ROOT

DEFINITIONS = definitions()
NAMES = list(DEFINITIONS)
REQUIRED = {"epsilon": "4", "delta": "1e-6"}


def help_of(verb: str, command: typer.Typer = app) -> str:
    shown = CliRunner().invoke(command, [*verb.split(), "--help"], env={"COLUMNS": "300", "TERM": "dumb"})
    assert shown.exit_code == 0, shown.output
    return " ".join(shown.output.split())


@dataclass(frozen=True, kw_only=True, repr=False)
class Wider(Parameters):
    """The parameters with one more: its definition is all that is added."""

    colour: Parameter[str, str] = Parameter(  # noqa: RUF009
        one_of(("red", "blue")), "Colour of the report.", kind=str, default="red", metavar="red|blue"
    )


def test_a_new_parameter_needs_one_definition_only():
    assert Wider(**REQUIRED).colour == "red"
    with pytest.raises(ValueError, match="colour: 'green' is unknown"):
        Wider(**REQUIRED, colour="green")
    assert "colour=blue" in repr(Wider(**REQUIRED, colour="blue")).replace("'", "")
    command, seen = typer.Typer(), {}

    @command.command()
    @parameter_options(source=Wider)
    def paint(**parameters: Any) -> None:
        seen.update(parameters)

    assert "--colour red|blue Colour of the report. [default: red]" in help_of("", command)
    CliRunner().invoke(command, ["--epsilon", "4", "--delta", "1e-6", "--colour", "blue"], catch_exceptions=False)
    assert Wider(**seen) == Wider(**REQUIRED, colour="blue")


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_an_option_of_run(name):
    one, shown = DEFINITIONS[name], help_of("run")
    assert flag_of(name) in shown
    assert one.description in shown
    assert one.is_required or one.default in {None, True, False} or f"[default: {one.default}]" in shown


@pytest.mark.parametrize("name", CAMPAIGN_PARAMETERS)
def test_every_parameter_of_a_campaign_is_a_setting_and_an_option(name):
    one, setting = DEFINITIONS[name], CampaignSettings.model_fields[name]
    assert setting.is_required() == one.is_required
    assert one.is_required or setting.default == one.default
    assert flag_of(name) in help_of("campaign create")


def test_a_campaign_sets_no_other_parameter():
    assert set(CampaignSettings.model_fields) & set(NAMES) == set(CAMPAIGN_PARAMETERS)


def test_a_campaign_passes_its_parameters_on():
    settings = CampaignSettings(name="c", epsilon="2", delta="1e-7", max_queries=7, f_o="0.9", max_epsilon="unlimited")
    expected = Parameters(epsilon=2, delta="1e-7", max_queries=7, f_o="0.9")
    assert settings.collection().parameters == expected


def test_the_manifest_has_every_parameter():
    written = [name for name, one in DEFINITIONS.items() if one.in_manifest]
    assert list(json_schema()["$defs"]["Settings"]["properties"]) == written
    assert set(NAMES) - set(written) == {"candidates", "allow_weak_privacy"}  # fields of the manifest itself


def test_blender_accepts_and_shows_every_parameter():
    signature = inspect.signature(Blender)
    assert list(signature.parameters) == NAMES
    for name, one in DEFINITIONS.items():
        default = signature.parameters[name].default
        assert default is inspect.Parameter.empty if one.is_required else default == one.default
    every = Parameters(**REQUIRED, f_c="0.9", subset_size=2, discovery="laplace", estimator="average", m_c=2)
    shown = repr(every)
    hidden = {"randomiser", "candidates", "allow_weak_privacy"}  # implied by the profile, or not set
    assert {name for name in NAMES if f"{name}=" in shown} == set(NAMES) - hidden


def literal_defaults(tree: ast.AST) -> list[str]:
    """The names of parameters that get a default in code that is not the definition: of an argument or of a field."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            ordered = [*node.args.posonlyargs, *node.args.args]
            pairs = [*zip(reversed(ordered), reversed(node.args.defaults), strict=False)]
            pairs += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            found += [one.arg for one, value in pairs if isinstance(value, ast.Constant) and value.value is not None]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant) and node.value.value is not None:
            found += [getattr(node.target, "id", "")]
    return [name for name in found if name in DEFINITIONS]


@pytest.mark.slow
def test_every_default_appears_once():
    """Nothing in the package repeats the default of a parameter."""
    repeated = {
        str(path.relative_to(ROOT)): names
        for path in (ROOT / "src").rglob("*.py")
        if (names := literal_defaults(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert repeated == {}
    assert literal_defaults(ast.parse("def f(a, m_c: int = 1, *, f_o: str = '0.95'): ...")) == ["m_c", "f_o"]
    assert literal_defaults(ast.parse("class A:\n max_queries: int = 50")) == ["max_queries"]
