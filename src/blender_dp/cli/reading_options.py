"""The options that say how a log is to be read, for every verb that reads one."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blender_dp.cli.options import Verb
from blender_dp.errors import ParameterError

if TYPE_CHECKING:
    from blender_dp.logs.reading import Reading


def _option(flag: str, text: str, metavar: str | None = None) -> Any:  # noqa: ANN401 (typer's own type)
    return typer.Option(flag, help=text, metavar=metavar, show_default=False, rich_help_panel="How to read the log")


_OPTIONS: dict[str, tuple[Any, Any]] = {  # the fields of `Reading`; None and False stand for its defaults
    "user": (str | None, _option("--user", "Column with the user; by default user.", "COLUMN")),
    "query": (str | None, _option("--query", "Column with the query; by default query.", "COLUMN")),
    "url": (str | None, _option("--url", "Column with the clicked URL; by default url.", "COLUMN")),
    "no_url": (bool, _option("--no-url", "The log has no URLs: queries are single items.")),
    "format": (
        str | None,
        _option("--format", "csv, tsv, jsonl, parquet, aol or yandex; by default detected from the files.", "NAME"),
    ),
    "delimiter": (str | None, _option("--delimiter", "Field separator of a CSV file, such as ';' or tab.", "CHARACTER")),
    "encoding": (
        str | None, _option("--encoding", "Encoding of text files, such as latin-1; UTF-8 by default.", "NAME"),
    ),
}  # fmt: skip


def reading_options(verb: Verb) -> Verb:
    """Add the options to a verb, which gets their values in its `**values`."""
    signature = inspect.signature(verb, eval_str=True)
    own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=False if kind is bool else None, annotation=Annotated[kind, option]
        )
        for name, (kind, option) in _OPTIONS.items()
    ]
    verb.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return verb


def given_reading(values: dict[str, Any]) -> dict[str, Any]:
    """Take the values of these options that were on the command line out of a verb's values."""
    given = {name: values.pop(name) for name in _OPTIONS}
    return {name: value for name, value in given.items() if value}


def refuse_unused(values: dict[str, Any], sources: Iterable[str]) -> None:
    """Refuse options for reading a log if there is none, instead of ignoring them: --user may be a typo for --users."""
    from blender_dp.evaluation.shapes import is_shape

    given = [name for name in _OPTIONS if values.get(name)]
    if given and all(map(is_shape, sources)):
        flag = f"--{given[0].replace('_', '-')}"
        raise ParameterError(
            given[0], f"{flag} says how to read a log, but there is none", f"Pass a log, or leave out {flag}"
        )


def reading_of(values: dict[str, Any]) -> Reading:
    """Take the values of these options out of a verb's values, and combine them."""
    from blender_dp.logs.reading import Reading

    return Reading(**given_reading(values))
