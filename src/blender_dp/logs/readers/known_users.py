"""The user of a bad line, as SQL for DuckDB: a bad line has no record, but the user it names still counts.

A user is known if the user's field is complete and its place is certain. In a line with the right number of columns the
place is certain. In any other line a stray separator may have moved the fields, so it is certain only if the user's
column comes before the query and the URL, which contain what people type. In a broken JSON line it is certain up to the
point where the line stops being an object.
"""

from __future__ import annotations

import re

from blender_dp.logs.source import Columns, Format, Source

_TAB = "\t"
_STRING = r'"(?:[^"\\]|\\.)*"'
_SCALAR = r'[^\s,\[\]{}"]+'
_DEPTH = 6  # how deeply arrays and objects before the user's field may be nested


def line_user(source: Source, line: str) -> str:
    """The user of a whole line, or null or an empty string if it is unknown."""
    match source.format:
        case Format.CSV:
            return csv_user(source, csv_fields(source, line), line)
        case Format.JSONL:
            return json_roles(source.columns, line, f"({json_fields(source.columns, line)})")["user"]
        case Format.YANDEX:
            return f"CASE WHEN split_part({line}, {text(_TAB)}, 2) = 'M' THEN split_part({line}, {text(_TAB)}, 4) END"
        case _:
            fields = f"string_split({line}, {text(_TAB)})"
            leading = f"CASE WHEN len({fields}) > {source.user_place + 1} THEN {fields}[{source.user_place + 1}] END"
            return _in_place(source, fields, leading)


def csv_field(delimiter: str) -> str:
    """A regular expression for a field of a CSV line."""
    return rf"""(?:"(?:[^"]|"")*"|[^{re.escape(delimiter)}"]*)"""


def csv_fields(source: Source, line: str) -> str:
    """The fields of a CSV line, or null if its quotes are broken."""
    field, delimiter = csv_field(source.delimiter), re.escape(source.delimiter)
    return (
        f"CASE WHEN NOT contains({line}, '\"') THEN string_split({line}, {text(source.delimiter)}) "
        f"WHEN regexp_full_match({line}, {text(f'{field}(?:{delimiter}{field})*')}) THEN "
        + _unquoted(f"regexp_extract_all({line} || {text(source.delimiter)}, {text(f'({field}){delimiter}')}, 1)")
        + " END"
    )


def csv_user(source: Source, fields: str, line: str) -> str:
    """The user of a CSV line with these fields."""
    field, delimiter = csv_field(source.delimiter), re.escape(source.delimiter)
    before = f"^(?:{field}{delimiter}){{{source.user_place}}}" if source.user_place else "^"
    field_of_user = f"regexp_extract({line}, {text(f'{before}({field}){delimiter}')}, 1)"
    return _in_place(source, fields, f"{_unquoted(f'[{field_of_user}]')}[1]")


def json_fields(columns: Columns, line: str) -> str:
    """The values of a JSON line as strings, in the order of the columns; null if the line is invalid."""
    paths = ", ".join(_path(name) for name in columns.named.values())
    return f"CASE WHEN json_valid({line}) THEN json_extract_string({line}, [{paths}]) END"


def json_roles(columns: Columns, line: str, fields: str) -> dict[str, str]:
    """The values of the columns, given the line and its fields; the user even if the line is invalid."""
    roles = {
        role: _without_nan(f"{fields}[{place}]", line, _path(name))
        for place, (role, name) in enumerate(columns.named.items(), 1)
    }
    return {**roles, "user": f"CASE WHEN {fields} IS NULL THEN {_broken_json_user(columns, line)} ELSE {roles['user']} END"}


def _broken_json_user(columns: Columns, line: str) -> str:
    """The user of an invalid JSON line, read from its beginning up to the user's field."""
    nested = rf'[\[{{](?:[^"\[\]{{}}]|{_STRING})*[\]}}]'
    for _ in range(_DEPTH):
        nested = rf'[\[{{](?:[^"\[\]{{}}]|{_STRING}|{nested})*[\]}}]'
    value = f"(?:{_STRING}|{_SCALAR}|{nested})"
    members = rf"(?:\s*{_STRING}\s*:\s*{value}\s*,)*?"
    pattern = rf'(?s)^\s*\{{{members}\s*"{re.escape(columns.user)}"\s*:\s*({value})\s*[,}}]'
    only, path = f"'{{\"user\":' || regexp_extract({line}, {text(pattern)}, 1) || '}}'", _path("user")
    return f"CASE WHEN json_valid({only}) THEN {_without_nan(f'json_extract_string({only}, {path})', only, path)} END"


def _without_nan(value: str, line: str, path: str) -> str:
    """Replace NaN, which DuckDB reads as a number, by null."""
    is_spelled_nan = f"strlen({value}) < 5 AND lower({value}) IN ('nan', '-nan')"
    return f"CASE WHEN {is_spelled_nan} AND json_type({line}, {path}) = 'DOUBLE' THEN NULL ELSE {value} END"


def _path(name: str) -> str:
    return text(f"$.{quoted(name)}")


def text(value: str) -> str:
    """A string as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """A quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _in_place(source: Source, fields: str, leading: str) -> str:
    """The user of a line with the right number of fields; of any other line only if the user's column comes first."""
    otherwise = leading if source.user_leads else "NULL"
    return f"CASE WHEN len({fields}) = {len(source.header)} THEN {fields}[{source.user_place + 1}] ELSE {otherwise} END"


def _unquoted(fields: str) -> str:
    return f"""list_transform({fields}, lambda f: CASE WHEN f[1] = '"' THEN replace(f[2:-2], '""', '"') ELSE f END)"""
