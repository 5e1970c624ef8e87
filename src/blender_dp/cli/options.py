"""Options that several verbs share. Those for parameters of a collection are generated from their definitions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from blender_dp.parameters import Parameter, Parameters, definitions
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
    *names: str, given_only: bool = False, source: type[Parameters] = Parameters
) -> Callable[[Verb], Verb]:
    """Replace a verb's `**values` by an option for each of these parameters; by default for all of them.

    With `given_only` no option is required, and one that is not on the command line is None.
    """
    known = definitions(source)
    chosen = [known[name] for name in names or known]

    def decorate(verb: Verb) -> Verb:
        signature = inspect.signature(verb, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        options = [_option(one, given_only=given_only) for one in chosen]
        verb.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
        return verb

    return decorate


def given(values: dict[str, Any]) -> dict[str, Any]:
    """The values of the options that were on the command line."""
    return {name: value for name, value in values.items() if value is not None}


def flag_of(name: str) -> str:
    """The command-line flag of a parameter."""
    one = definitions().get(name)
    return (one.flag if one else None) or f"--{name.replace('_', '-')}"


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
