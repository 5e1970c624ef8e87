"""Options that several verbs share. Those for parameters of a collection are generated from their definitions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from blender_dp.errors import ParameterError
from blender_dp.parameters import Parameter, Parameters, definitions
from blender_dp_device.arithmetic import exact
from blender_dp_device.records.head_list import HeadList

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing release.")]
Engine = Annotated[str, typer.Option(metavar="duckdb|spark[:MASTER]", help="Count on this machine, or on a Spark cluster.")]
Memory = Annotated[
    str | None, typer.Option(metavar="SIZE", help="Memory limit for counting, such as 2GB; more goes to disk.")
]
MaxBad = Annotated[str, typer.Option(metavar="SHARE", help="Stop if more than this share of the rows is bad.")]

Verb = TypeVar("Verb", bound=Callable[..., None])

_TYPES = {Fraction: str, HeadList: Path}  # fractions are read exactly, from text


def parameter_options(
    *names: str, given_only: bool = False, lists: bool = False, source: type[Parameters] = Parameters
) -> Callable[[Verb], Verb]:
    """Replace a verb's `**values` by an option for each of these parameters; by default for all of them.

    With `given_only` no option is required, and one that is not on the command line is None. With `lists`, which implies
    it, every option is text that `listed` splits into values.
    """
    known = definitions(source)
    chosen = [known[name] for name in names or known]

    def decorate(verb: Verb) -> Verb:
        signature = inspect.signature(verb, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        options = [_list_option(one) if lists else _option(one, given_only=given_only) for one in chosen]
        verb.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
        return verb

    return decorate


def given(values: dict[str, Any]) -> dict[str, Any]:
    """The values of the options that were on the command line."""
    return {name: value for name, value in values.items() if value is not None}


def listed(values: dict[str, Any]) -> dict[str, list[Any]]:
    """The values of the options that were on the command line: texts such as "1,2,4", split at the commas."""
    kinds = {name: one.kind for name, one in definitions().items()}
    return {name: [_value(part, kinds[name], name) for part in text.split(",")] for name, text in given(values).items()}


def _value(text: str, kind: type, name: str) -> Any:  # noqa: ANN401 (the parameter checks it)
    """Whole numbers and switches are not checked as text, but by their own type."""
    if kind is bool:
        switches = {"true": True, "false": False}
        if text.strip().lower() not in switches:
            raise ParameterError(name, f"{text!r} is not a boolean", "Use true, false or true,false")
        return switches[text.strip().lower()]
    if kind is int:
        number = exact(text.strip(), name)
        return int(number) if number.denominator == 1 else number
    return text.strip()


def flag_of(name: str) -> str:
    """The command-line flag of a parameter."""
    one = definitions().get(name)
    return (one.flag if one else None) or f"--{name.replace('_', '-')}"


def _list_option(one: Parameter[Any, Any]) -> inspect.Parameter:
    """An option for an axis of a grid."""
    metavar = one.metavar or "true|false"
    option = typer.Option(
        f"--{one.name.replace('_', '-')}",
        help=one.description,
        metavar=f"{metavar},…",
        show_default=False,
        rich_help_panel="Parameters of the collections",
    )
    return inspect.Parameter(
        one.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option]
    )


def _option(one: Parameter[Any, Any], *, given_only: bool) -> inspect.Parameter:
    kind = _TYPES.get(one.kind, one.kind)
    optional, empty = given_only or one.default is None, inspect.Parameter.empty
    default = None if optional else empty if one.is_required else one.default
    option = typer.Option(
        *([one.flag] if one.flag else []),
        help=one.description,
        metavar=one.metavar,
        show_default=str(one.default) if given_only and not (one.is_required or one.default is None) else True,
        rich_help_panel="Parameters of the collection",
    )
    annotation = Annotated[kind | None if optional else kind, option]  # type: ignore[valid-type]
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
