"""Log files as SQL for Spark: the same rows, and the same problems, as `readers.duckdb`.

A text file is a view with a column `value`: one line per row, with its bytes unchanged. Lines end where DuckDB ends them.
Headers have been removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import duckdb
import pyarrow as pa

from blender_dp.logs.readers import known_users
from blender_dp.logs.readers.duckdb import NO_URL, YANDEX_FIELDS
from blender_dp.logs.source import Columns, Format, Source
from blender_dp.logs.tally import LONGEST_ROW, Problem

LOG_ROWS = "user string, query string, url string, valid boolean, unread tinyint"
"""The schema of the rows that `json_rows` reads from a log."""

REPORT_ROWS = "head_list string, cell bigint, valid boolean, unread tinyint"
"""The schema of the rows that `json_rows` reads from clients' reports."""

FIRST = f"(_metadata.file_block_start = 0 AND monotonically_increasing_id() % {1 << 33} = 0)"
"""Whether a line is the first of its file: the first line of a piece that starts where the file starts.

The function numbers the rows of every task from 0 in the order in which they are read (the task's number is above the
lowest 33 bits). So no task may read two pieces, which is why the cost of opening a file is set to that of a whole piece.
"""

_TAB = "\t"
_CONTROL = "\x01"  # refused here as well as with DuckDB
_NONE: Mapping[str, Problem] = MappingProxyType({})
_AS_NAMED: Mapping[str, str] = MappingProxyType({role: role for role in ("user", "query", "url")})

# As for DuckDB, but possessive: there is no backtracking, so no line takes long or overflows Java's stack.
_FIELD = r"""(?:"(?:[^"]++|"")*+"|[^{0}"]*+)"""
_RESULTS = r"(?s)\A(?:[^\t]*+\t){5}[^\t]*+(.*)\z"  # everything after the six fields of a Yandex query
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"  # Spark's replacement for bytes that are not UTF-8


def below(line: str) -> str:
    """A condition for lines that are not `first`; a file with another first line is an error."""
    return f"CASE WHEN NOT first THEN true WHEN value = {text(line)} THEN false ELSE raise_error('first lines differ') END"


def rows_sql(source: Source, view: str) -> str:
    """A query for the rows of a log, given a view of its lines; for JSON, a view of the rows from `json_rows`."""
    match source.format:
        case Format.TSV | Format.AOL:
            place = source.user_place
            leading = f"CASE WHEN size(fields) > {place + 1} THEN get(fields, {place}) END"
            return _separated(source, f"({lines_sql(view, in_columns=True)})", f"split(line, {text(_TAB)}, -1)", leading)
        case Format.CSV:
            return _separated(source, f"({lines_sql(view)})", _csv_fields(source.delimiter), _csv_leading(source))
        case Format.JSONL:
            return _checked(view, _AS_NAMED, {"NOT valid": Problem.NOT_JSON})
        case Format.YANDEX:
            return _yandex(view)
        case Format.PARQUET:
            return table_sql(view, source.columns)


def lines_sql(view: str, *, in_columns: bool = False) -> str:
    """The lines that are not blank, and the reason if one cannot be read."""
    unread = {
        "NOT is_valid_utf8(value)": Problem.NOT_UTF8,
        f"octet_length(value) > {LONGEST_ROW}": Problem.TOO_LONG,
    }
    if not in_columns:
        unread[f"contains(value, {text(_CONTROL)})"] = Problem.CONTROL_CHARACTER
    checked = f"SELECT value, CAST({_first(unread)} AS TINYINT) AS unread FROM {view} WHERE value <> ''"
    return f"SELECT CASE WHEN unread IS NULL THEN value ELSE make_valid_utf8(value) END AS line, unread FROM ({checked})"


def table_sql(view: str, columns: Columns) -> str:
    """A query for the rows of a table that has a schema. NaN in a numeric column is a missing value."""
    texts = {"url": NO_URL} | {
        role: f"CASE WHEN typeof({quoted(name)}) IN ('float', 'double') THEN nullif(CAST({quoted(name)} AS STRING), 'NaN') "
        f"ELSE CAST({quoted(name)} AS STRING) END"
        for role, name in columns.named.items()
    }
    named = ", ".join(f"{value} AS {role}" for role, value in texts.items())
    valid = " AND ".join(f"coalesce(is_valid_utf8({role}), true)" for role in _AS_NAMED)
    unread = f"CASE WHEN NOT ({valid}) THEN {Problem.NOT_UTF8:d} END"
    length = " + ".join(f"octet_length({role})" for role in columns.named)
    return _checked(
        f"(SELECT *, {unread} AS unread FROM (SELECT {named} FROM {view}))",
        {**_AS_NAMED, "user": "CASE WHEN is_valid_utf8(user) THEN user END"},
        {f"{length} > {LONGEST_ROW}": Problem.TOO_LONG},
    )


def reports_sql(source: Source, view: str) -> str:
    """A query for clients' reports, given a view of Parquet files or of the rows from `json_rows`."""
    if source.format is Format.PARQUET:
        columns = (
            "CAST(head_list AS STRING) AS head_list, try_cast(cell AS BIGINT) AS cell, CAST(NULL AS TINYINT) AS problem"
        )
        return f"SELECT {columns} FROM {view}"
    problem = f"CAST(coalesce(unread, {_first({'NOT valid': Problem.NOT_JSON})}) AS TINYINT)"
    return f"SELECT head_list, cell, {problem} AS problem FROM {view}"


def json_log(columns: Columns) -> str:
    """A query for a worker's DuckDB: the fields of the JSON `lines` of a log."""
    fields = known_users.json_fields(columns, "line")
    roles = {"url": NO_URL} | known_users.json_roles(columns, "line", "fields")
    texts = ", ".join(f"{roles[role]} AS {known_users.quoted(role)}" for role in _AS_NAMED)
    return f"SELECT {texts}, fields IS NOT NULL AS valid, unread FROM (SELECT *, {fields} AS fields FROM lines)"


def json_rows(batches: Iterator[pa.RecordBatch], query: str) -> Iterator[pa.RecordBatch]:
    """Parse JSON lines on a worker, with DuckDB as well, because no two JSON parsers agree on every line."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")  # Spark already has a worker for every core
        for batch in batches:
            connection.register("lines", pa.Table.from_batches([batch]))
            yield from connection.sql(query).to_arrow_table().to_batches()


def path(file: str) -> str:
    """A file's path for Spark, escaped because Spark treats paths as patterns."""
    return "file://" + re.sub(r"([\\\[\]{}*?])", r"\\\1", file)


def text(value: str) -> str:
    """A string as an SQL literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def quoted(name: str) -> str:
    """A quoted SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def _json(name: str) -> str:
    return f"CASE WHEN valid THEN json_extract_string(line, {known_users.text(f'$.{known_users.quoted(name)}')}) END"


JSON_REPORTS = f"""SELECT {_json("head_list")} AS head_list, TRY_CAST({_json("cell")} AS BIGINT) AS cell, valid, unread
    FROM (SELECT *, json_valid(line) AS valid FROM lines)"""
"""A query for a worker's DuckDB: the fields of the JSON `lines` of clients' reports."""


def _separated(source: Source, lines: str, fields: str, leading: str) -> str:
    count, otherwise = len(source.header), leading if source.user_leads else "NULL"
    problems = {
        "fields IS NULL": Problem.BROKEN_QUOTES,
        f"size(fields) <> {count}": Problem.WRONG_NUMBER_OF_COLUMNS,
    }
    roles = {role: f"get(fields, {source.header.index(name)})" for role, name in source.columns.named.items()}
    return _checked(
        f"(SELECT {fields} AS fields, line, unread FROM {lines})",
        {**roles, "user": f"CASE WHEN size(fields) = {count} THEN {roles['user']} ELSE {otherwise} END"},
        problems,
    )


def _csv_fields(delimiter: str) -> str:
    field, between = _field(delimiter), re.escape(delimiter)
    whole = rf"\A(?:{field}{between})*+{field}\z"
    return (
        f"CASE WHEN NOT contains(line, '\"') THEN split(line, {text(between)}, -1) "
        f"WHEN line RLIKE {text(whole)} THEN "
        + _unquoted(f"regexp_extract_all(line || {text(delimiter)}, {text(f'({field}){between}')}, 1)")
        + " END"
    )


def _csv_leading(source: Source) -> str:
    field, between = _field(source.delimiter), re.escape(source.delimiter)
    pattern = rf"\A(?:{field}{between}){{{source.user_place}}}({field}){between}"
    return f"get({_unquoted(f'array(regexp_extract(line, {text(pattern)}, 1))')}, 0)"


def _field(delimiter: str) -> str:
    return _FIELD.format(re.escape(delimiter))


def _unquoted(fields: str) -> str:
    whole = """f -> CASE WHEN startswith(f, '"') THEN replace(substring(f, 2, length(f) - 2), '""', '"') ELSE f END"""
    return f"transform({fields}, {whole})"


def _yandex(view: str) -> str:
    """The clicks with their session's user and their results page's query and domain, and a row for every session.

    A session is a window, and so is a results page: the file is read once, and its lines are exchanged and sorted once.
    """
    first, second, third, fourth, fifth = (f"split_part(line, {text(_TAB)}, {n})" for n in range(1, 6))
    results = f"regexp_extract(line, {text(_RESULTS)}, 1)"
    entry = f"{text(_TAB)} || id || ','"
    rows = f"""
        WITH lines AS (
            SELECT line, unread, {first} AS session, {fourth} AS fourth, {fifth} AS id, CASE
                WHEN {second} = 'M' THEN 'M'
                WHEN unread IS NOT NULL OR size(split(line, {text(_TAB)}, -1)) > {YANDEX_FIELDS} THEN ''
                WHEN {third} IN ('Q', 'T', 'C') THEN {third}
                WHEN contains(substring_index(line, {text(_TAB)}, 3), {text(_CONTROL)}) THEN {text(_CONTROL)} ELSE ''
                END AS kind
            FROM ({lines_sql(view, in_columns=True)})
        ),
        fields AS (
            SELECT unread, session, id, kind, kind = 'M' AND unread IS NULL AS named,
                CASE WHEN kind = 'M' AND (unread IS NULL OR NOT contains(fourth, {text(_UNKNOWN)})) THEN fourth END AS user,
                CASE WHEN kind IN ('Q', 'T', 'C') THEN fourth END AS page,
                CASE WHEN kind IN ('Q', 'T') THEN id END AS query, CASE WHEN kind IN ('Q', 'T') THEN {results} END AS results
            FROM lines
        ),
        joined AS (
            SELECT unread, id, kind, named, user, min(query) OVER page AS query, min(results) OVER page AS results,
                min(CASE WHEN named THEN nullif(user, '') END) OVER session AS visitor,
                max(CASE WHEN named THEN user END) OVER session AS other,
                row_number() OVER (PARTITION BY session, page, user ORDER BY unread) AS copy
            FROM fields
            WINDOW session AS (PARTITION BY session), page AS (PARTITION BY session, page)
        )
        SELECT CASE WHEN kind <> 'C' THEN user WHEN visitor = other THEN visitor END AS visitor, query, id, unread,
            CASE WHEN contains(results, {entry}) THEN split_part(split_part(results, {entry}, 2), {text(_TAB)}, 1) END
                AS domain,
            CASE WHEN kind = 'C' AND visitor <> other THEN 'CC' ELSE kind END AS kind
        FROM joined
        WHERE kind NOT IN ('Q', 'T') AND (NOT named OR copy = 1 AND (user <> '' OR visitor IS NULL))
        """
    site = "'https://domain' || domain || '.example/' || id"
    problems = {
        f"kind = {text(_CONTROL)}": Problem.CONTROL_CHARACTER,
        "kind = ''": Problem.WRONG_NUMBER_OF_COLUMNS,
        "kind = 'CC'": Problem.SESSION_OF_SEVERAL_USERS,
        "kind = 'C' AND visitor IS NOT NULL AND domain IS NULL": Problem.CLICK_WITHOUT_RESULTS_PAGE,
    }
    return _checked(f"({rows})", {"user": "visitor", "query": "query", "url": site}, problems)


def _checked(table: str, roles: Mapping[str, str], problems: Mapping[str, Problem] = _NONE) -> str:
    """Select the columns, and add the problem of a row: first why it could not be read, then as for DuckDB."""
    known = f"nullif({roles['user']}, '')"
    certain = f"CASE WHEN unread = {Problem.NOT_UTF8:d} AND contains({known}, {text(_UNKNOWN)}) THEN NULL ELSE {known} END"
    roles = {**roles, "user": certain, "url": roles.get("url", NO_URL)}
    every = {**problems, f"{known} IS NULL": Problem.NO_USER}
    columns = ", ".join(f"{value} AS {quoted(role)}" for role, value in roles.items())
    return f"SELECT {columns}, CAST(coalesce(unread, {_first(every)}) AS TINYINT) AS problem FROM {table}"


def _first(problems: Mapping[str, Problem]) -> str:
    cases = " ".join(f"WHEN {condition} THEN {problem:d}" for condition, problem in problems.items())
    return f"CASE {cases} END"
