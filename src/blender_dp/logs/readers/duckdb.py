"""Log files as SQL for DuckDB: rows of user, query, url and problem.

Nothing is guessed from the rows, and a row is a line: no quoted field spans lines. If it did, or if the dialect were
guessed, one user's row could change how everyone else's rows are read.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping
from types import MappingProxyType

from blender_dp.logs.readers.known_users import csv_fields, csv_user, json_fields, json_roles, quoted, text
from blender_dp.logs.source import Columns, Format, Source
from blender_dp.logs.tally import LONGEST_ROW, Problem

_TAB = "\t"
_CONTROL = "\x01"  # it does not occur in text
_UNSPLIT, _NULL = "\n", "\r"  # a separator and a null that no line can contain, so that it stays whole and means itself
_HAS_CONTROL = {f"contains(line, '{_CONTROL}')": Problem.CONTROL_CHARACTER}
_CELL = "CASE WHEN TRY_CAST({0} AS BIGINT) = TRY_CAST({0} AS DOUBLE) THEN TRY_CAST({0} AS BIGINT) END AS cell"
_NONE: Mapping[str, Problem] = MappingProxyType({})
_YANDEX_PROBLEMS = (Problem.CONTROL_CHARACTER, Problem.WRONG_NUMBER_OF_COLUMNS, Problem.SESSION_OF_SEVERAL_USERS)

NO_URL = "'-'"
"""The URL in logs without URLs, so that the rows of all logs have the same form."""

YANDEX_FIELDS = 16
"""The number of fields of a results page, the longest line: six, and ten results."""


def rows_sql(source: Source, rejects: str) -> str:
    """A query for the rows of a log. Lines that DuckDB itself rejects are stored in the table `rejects`."""
    _files(source)  # refuses URIs, whose first lines are unknown
    match source.format:
        case Format.TSV | Format.AOL:
            return _tab_separated(source, rejects)
        case Format.CSV:
            return _comma_separated(source, rejects)
        case Format.JSONL:
            return _json_lines(source, rejects)
        case Format.YANDEX:
            return _yandex(source, rejects)
        case Format.PARQUET:
            return table_sql(parquet_sql(source), source.columns)


def reports_sql(source: Source, rejects: str) -> str:
    """A query for clients' reports: the head list, the reported cell, and the problem."""
    if source.format is Format.PARQUET:
        columns = f"head_list::VARCHAR AS head_list, {_CELL.format('cell')}, NULL::TINYINT AS problem"
        return f"SELECT {columns} FROM {parquet_sql(source)}"
    head_list, cell = (f"CASE WHEN valid THEN json_extract_string(line, '$.{name}') END" for name in ("head_list", "cell"))
    return (
        f"SELECT {head_list} AS head_list, {_CELL.format(cell)}, "
        f"CASE WHEN NOT valid THEN {Problem.NOT_JSON:d} END::TINYINT AS problem "
        f"FROM (SELECT line, json_valid(line) AS valid FROM {_lines(source, rejects)})"
    )


def parquet_sql(source: Source) -> str:
    """Parquet files as a table."""
    return f"read_parquet({_files(source)})"


def table_sql(table: str, columns: Columns) -> str:
    """A query for the rows of a table that has a schema. NaN in a numeric column is a missing value."""
    roles = {
        role: f"CASE WHEN typeof({quoted(name)}) IN ('FLOAT', 'DOUBLE') AND {quoted(name)}::VARCHAR IN ('nan', '-nan') "
        f"THEN NULL ELSE {quoted(name)}::VARCHAR END"
        for role, name in columns.named.items()
    }
    length = " + ".join(f"strlen({value})" for value in roles.values())
    return _checked(table, roles, {f"{length} > {LONGEST_ROW}": Problem.TOO_LONG})


def _tab_separated(source: Source, rejects: str) -> str:
    """Read one column more than the header has: a line that fills it has too many fields."""
    names = [f"c{i}" for i in range(len(source.header) + 1)]
    roles = {role: names[source.header.index(name)] for role, name in source.columns.named.items()}
    wrong = f"({names[-1]} IS NOT NULL OR {names[-2]} IS NULL)"  # missing fields are padded with nulls
    known = f"{names[source.user_place + 1]} IS NOT NULL" if source.user_leads else f"NOT {wrong}"
    roles["user"] = f"CASE WHEN {known} THEN {roles['user']} END"
    return _checked(_read(source, names, _TAB, rejects), roles, {wrong: Problem.WRONG_NUMBER_OF_COLUMNS})


def _comma_separated(source: Source, rejects: str) -> str:
    problems = {
        "fields IS NULL": Problem.BROKEN_QUOTES,
        f"len(fields) <> {len(source.header)}": Problem.WRONG_NUMBER_OF_COLUMNS,
    }
    roles = {role: f"fields[{source.header.index(name) + 1}]" for role, name in source.columns.named.items()}
    return _checked(
        f"(SELECT {csv_fields(source, 'line')} AS fields, line FROM {_lines(source, rejects, header=True)})",
        {**roles, "user": csv_user(source, "fields", "line")},
        _HAS_CONTROL | problems,
    )


def _json_lines(source: Source, rejects: str) -> str:
    return _checked(
        f"(SELECT line, {json_fields(source.columns, 'line')} AS fields FROM {_lines(source, rejects)})",
        json_roles(source.columns, "line", "fields"),
        _HAS_CONTROL | {"fields IS NULL": Problem.NOT_JSON},
    )


def _yandex(source: Source, rejects: str) -> str:
    """The clicks, with the user of their session, and the query and domain that their results page has.

    Each session also has a row without a record, so that a user without clicks does not disappear. If the lines of a
    session name several users, its clicks cannot be attributed: they are bad, and each of the users has such a row.

    The file is read twice. Results pages are most of it, and are not stored: they are streamed past the clicks. Pages that
    share a name, which should not happen, are merged in a third pass, which ends at once if there are none.
    """
    names = [f"c{i}" for i in range(YANDEX_FIELDS + 1)]
    read = _read(source, names, _TAB, rejects, header=False)
    results, too_many = names[6:-1], f"{names[-1]} IS NOT NULL"
    own, page, item = "coalesce(c0, '')", "coalesce(c3, '')", "coalesce(c4, '')"  # nulls are not equal to each other

    def pages(columns: str, which: str) -> str:
        return f"""SELECT {own} AS session, {page} AS page, {item} AS query, {columns} FROM {read}
            WHERE NOT {too_many} AND c1 <> 'M' AND c2 IN ('Q', 'T') AND hash({own}, {page}) {which} (FROM shared)"""

    # Numbers compare faster than strings: the kind of a line or, above 0, its problem.
    session, click, results_page, contested_click = -1, -2, -3, Problem.SESSION_OF_SEVERAL_USERS.value
    kind = f"""CASE WHEN c1 = 'M' THEN {session} WHEN {too_many} THEN {Problem.WRONG_NUMBER_OF_COLUMNS:d}
        WHEN c2 = 'C' THEN {click} WHEN c2 IN ('Q', 'T') THEN {results_page}
        WHEN contains(concat_ws({text(_TAB)}, c0, c1, c2), {text(_CONTROL)}) THEN {Problem.CONTROL_CHARACTER:d}
        ELSE {Problem.WRONG_NUMBER_OF_COLUMNS:d} END::TINYINT"""
    rows = f"""
        WITH lines AS MATERIALIZED (SELECT {own} AS session, {page} AS page, {item} AS id, {kind} AS kind FROM {read}),
        sessions AS (
            SELECT session, min(nullif(page, '')) AS visitor, visitor <> max(page) AS contested
            FROM lines WHERE kind = {session} GROUP BY session
        ),
        shared AS (
            SELECT hash(session, page) AS name FROM lines WHERE kind = {results_page} GROUP BY name HAVING count(*) > 1
        ),
        clicks AS (
            SELECT session, page, CASE WHEN NOT contested THEN visitor END AS visitor, id,
                CASE WHEN contested THEN {contested_click} ELSE {click} END AS kind
            FROM lines LEFT JOIN sessions USING (session) WHERE lines.kind = {click}
        ),
        merged AS (
            SELECT session, page, min(query) AS query, string_split(min(results), {text(_TAB)}) AS results
            FROM ({pages(f"concat_ws({text(_TAB)}, {', '.join(results)}) AS results", "IN")}) GROUP BY session, page
        ),
        pages AS (
            {pages(", ".join(results), "NOT IN")}
            UNION ALL SELECT session, page, query, {", ".join(f"results[{i + 1}]" for i in range(len(results)))} FROM merged
        )
        SELECT visitor, query, id, kind, CASE
            {" ".join(f"WHEN starts_with({result}, start) THEN {result}" for result in results)} END AS result
        FROM (SELECT *, id || ',' AS start FROM pages RIGHT JOIN clicks USING (session, page))
        UNION ALL SELECT visitor, NULL, NULL, {session}, NULL FROM sessions WHERE contested IS NOT true
        UNION ALL SELECT DISTINCT page, NULL, NULL, {session}, session FROM lines
            WHERE kind = {session} AND page <> '' AND session IN (SELECT session FROM sessions WHERE contested)
        UNION ALL SELECT NULL, NULL, NULL, kind, NULL FROM lines WHERE kind > 0
        """
    site = "'https://domain' || substr(result, length(id) + 2) || '.example/' || id"
    problems = {f"kind = {problem:d}": problem for problem in _YANDEX_PROBLEMS}
    problems[f"kind = {click} AND visitor IS NOT NULL AND result IS NULL"] = Problem.CLICK_WITHOUT_RESULTS_PAGE
    return _checked(f"({rows})", {"user": "visitor", "query": "query", "url": site}, problems)


def _lines(source: Source, rejects: str, *, header: bool = False) -> str:
    """Whole lines, without the blank ones."""
    return f"(SELECT line FROM {_read(source, ['line'], _UNSPLIT, rejects, header=header)} WHERE line <> '')"


def _read(source: Source, names: list[str], delimiter: str, rejects: str, *, header: bool = True) -> str:
    columns = ", ".join(f"{name}: 'VARCHAR'" for name in names)
    options = {
        "auto_detect": "false",
        "header": str(header).lower(),
        "delim": text(delimiter),
        "quote": "''",
        "escape": "''",
        "comment": "''",
        "nullstr": text(_NULL),
        "null_padding": "true",
        "strict_mode": "false",  # a carriage return also ends a line
        "columns": f"{{{columns}}}",
        "store_rejects": "true",
        "rejects_table": text(rejects),
        "rejects_scan": text(f"{rejects}_scan"),
    }
    return f"read_csv({_files(source)}, {', '.join(f'{name} = {value}' for name, value in options.items())})"


def _checked(table: str, roles: Mapping[str, str], problems: Mapping[str, Problem] = _NONE) -> str:
    """Select the columns, and add the problem of a row: first those of the format, then those that any row can have.

    The user of a bad row is null unless it is known; see `known_users`.
    """
    roles = {**roles, "user": f"nullif({roles['user']}, '')", "url": roles.get("url", NO_URL)}
    every = {**problems, f"{roles['user']} IS NULL": Problem.NO_USER}
    cases = " ".join(f"WHEN {condition} THEN {problem:d}" for condition, problem in every.items())
    columns = ", ".join(f"{value} AS {quoted(role)}" for role, value in roles.items())
    return f"SELECT {columns}, CASE {cases} END::TINYINT AS problem FROM {table}"


def _files(source: Source) -> str:
    return f"[{', '.join(text(glob.escape(str(path))) for path in source.local)}]"
