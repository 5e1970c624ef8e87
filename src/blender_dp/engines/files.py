"""Log files as SQL for DuckDB: a row each of user, query, url, and what is wrong with it.

Nothing is guessed from the rows, and a row is a line: no quote reaches beyond its line. If it did, or if the dialect was
guessed, one user's row could change how everybody else's rows are read.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping
from types import MappingProxyType

from blender_dp.engines.source import LONGEST_ROW, Columns, Format, Problem, Source

_TAB = "\t"
_NEVER, _NULL = "\x01", "\x02"  # what separates the columns of a log of lines, and what stands for null: no text has them
_UNSPLIT = {"rest IS NOT NULL": Problem.CONTROL_CHARACTER}
_CELL = "CASE WHEN TRY_CAST({0} AS BIGINT) = TRY_CAST({0} AS DOUBLE) THEN TRY_CAST({0} AS BIGINT) END AS cell"
_NONE: Mapping[str, Problem] = MappingProxyType({})
_FIELD = r"""("(?:[^"]|"")*"|[^,"]*)"""


NO_URL = "'-'"
"""What stands in for the URL in a log that has none: the rows of all logs look alike."""

YANDEX_FIELDS = 16
"""Of a results page, which has the most: six, and ten results."""


def rows_sql(source: Source, rejects: str) -> str:
    """A query for the rows of a log. Lines that DuckDB itself refuses are kept in the table called `rejects`."""
    _files(source)  # refuses URIs, whose first lines nobody has read
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
    """A query for clients' reports: the head list they answer, the cell they report, and what is wrong with them."""
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
    """A query for the rows of a table that has a schema."""
    roles = {role: f"{quoted(name)}::VARCHAR" for role, name in columns.named.items()}
    length = " + ".join(f"strlen({value})" for value in roles.values())
    return _checked(table, roles, {f"{length} > {LONGEST_ROW}": Problem.TOO_LONG})


def text(value: str) -> str:
    """A text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _tab_separated(source: Source, rejects: str) -> str:
    """Columns, of which there is one more than there should be: whoever fills it has too many."""
    names = [f"c{i}" for i in range(len(source.header) + 1)]
    roles = {role: names[source.header.index(name)] for role, name in source.columns.named.items()}
    wrong = f"{names[-1]} IS NOT NULL OR {names[-2]} IS NULL"  # what is missing is padded with nulls
    return _checked(_read(source, names, _TAB, rejects), roles, {wrong: Problem.WRONG_NUMBER_OF_COLUMNS})


def _comma_separated(source: Source, rejects: str) -> str:
    whole = f"{_FIELD}(?:,{_FIELD})*"
    unquoted = """lambda f: CASE WHEN f[1] = '"' THEN replace(f[2:-2], '""', '"') ELSE f END"""
    fields = (
        "CASE WHEN NOT contains(line, '\"') THEN string_split(line, ',') "
        f"WHEN regexp_full_match(line, {text(whole)}) "
        f"THEN list_transform(regexp_extract_all(line || ',', {text(_FIELD + ',')}, 1), {unquoted}) END"
    )
    problems = {
        "fields IS NULL": Problem.BROKEN_QUOTES,
        f"len(fields) <> {len(source.header)}": Problem.WRONG_NUMBER_OF_COLUMNS,
    }
    return _checked(
        f"(SELECT {fields} AS fields, rest FROM {_lines(source, rejects, header=True)})",
        {role: f"fields[{source.header.index(name) + 1}]" for role, name in source.columns.named.items()},
        _UNSPLIT | problems,
    )


def _json_lines(source: Source, rejects: str) -> str:
    return _checked(
        f"(SELECT line, rest, json_valid(line) AS valid FROM {_lines(source, rejects)})",
        {
            role: f"CASE WHEN valid THEN json_extract_string(line, {text(f'$.{quoted(name)}')}) END"
            for role, name in source.columns.named.items()
        },
        _UNSPLIT | {"NOT valid": Problem.NOT_JSON},
    )


def _yandex(source: Source, rejects: str) -> str:
    """The clicks, with the user of their session, and the query and domain that their results page has.

    A session has a row without a record besides: the user of one without a click must not disappear.

    The file is read twice. Results pages are most of it, and are not kept: they pass by the clicks. Those whose name is
    another's too, which should not happen, are made one, in a third reading that ends at once if there are none.
    """
    names = [f"c{i}" for i in range(YANDEX_FIELDS + 1)]
    read = _read(source, names, _TAB, rejects, header=False)
    results, too_many = names[6:-1], f"{names[-1]} IS NOT NULL"
    page, item = "coalesce(c3, '')", "coalesce(c4, '')"

    def pages(columns: str, which: str) -> str:
        return f"""SELECT c0 AS session, {page} AS page, {item} AS query, {columns} FROM {read}
            WHERE NOT {too_many} AND c1 <> 'M' AND c2 IN ('Q', 'T') AND hash(c0, {page}) {which} (FROM shared)"""

    # Numbers compare faster than texts: what a line is, or, above 0, what is wrong with it.
    session, click, results_page = -1, -2, -3
    kind = f"""CASE WHEN {too_many} THEN {Problem.WRONG_NUMBER_OF_COLUMNS:d}
        WHEN c1 = 'M' THEN {session} WHEN c2 = 'C' THEN {click} WHEN c2 IN ('Q', 'T') THEN {results_page}
        WHEN contains(concat_ws({text(_TAB)}, c0, c1, c2), {text(_NEVER)}) THEN {Problem.CONTROL_CHARACTER:d}
        ELSE {Problem.WRONG_NUMBER_OF_COLUMNS:d} END::TINYINT"""
    rows = f"""
        WITH lines AS MATERIALIZED (SELECT c0 AS session, {page} AS page, {item} AS id, {kind} AS kind FROM {read}),
        sessions AS (SELECT session, min(page) AS visitor FROM lines WHERE kind = {session} GROUP BY session),
        shared AS (
            SELECT hash(session, page) AS name FROM lines WHERE kind = {results_page} GROUP BY name HAVING count(*) > 1
        ),
        clicks AS (
            SELECT session, page, visitor, id FROM lines LEFT JOIN sessions USING (session) WHERE kind = {click}
        ),
        merged AS (
            SELECT session, page, min(query) AS query, string_split(min(results), {text(_TAB)}) AS results
            FROM ({pages(f"concat_ws({text(_TAB)}, {', '.join(results)}) AS results", "IN")}) GROUP BY session, page
        ),
        pages AS (
            {pages(", ".join(results), "NOT IN")}
            UNION ALL SELECT session, page, query, {", ".join(f"results[{i + 1}]" for i in range(len(results)))} FROM merged
        )
        SELECT visitor, query, id, {click} AS kind, CASE
            {" ".join(f"WHEN starts_with({result}, start) THEN {result}" for result in results)} END AS result
        FROM (SELECT *, id || ',' AS start FROM pages RIGHT JOIN clicks USING (session, page))
        UNION ALL SELECT visitor, NULL, NULL, {session}, NULL FROM sessions
        UNION ALL SELECT NULL, NULL, NULL, kind, NULL FROM lines WHERE kind > 0
        """
    site = "'https://domain' || substr(result, length(id) + 2) || '.example/' || id"
    problems = {f"kind = {problem:d}": problem for problem in (Problem.CONTROL_CHARACTER, Problem.WRONG_NUMBER_OF_COLUMNS)}
    problems[f"kind = {click} AND visitor IS NOT NULL AND result IS NULL"] = Problem.CLICK_WITHOUT_RESULTS_PAGE
    return _checked(f"({rows})", {"user": "visitor", "query": "query", "url": site}, problems)


def _lines(source: Source, rejects: str, *, header: bool = False) -> str:
    """Whole lines. A character that no text has, found in one, makes a second column. Blank lines are no rows."""
    read = _read(source, ["line", "rest"], _NEVER, rejects, header=header)
    return f"(SELECT line, rest FROM {read} WHERE line <> '' OR rest IS NOT NULL)"


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
        "strict_mode": "false",  # a carriage return ends a line as well
        "columns": f"{{{columns}}}",
        "store_rejects": "true",
        "rejects_table": text(rejects),
        "rejects_scan": text(f"{rejects}_scan"),
    }
    return f"read_csv({_files(source)}, {', '.join(f'{name} = {value}' for name, value in options.items())})"


def _checked(table: str, roles: Mapping[str, str], problems: Mapping[str, Problem] = _NONE) -> str:
    """Choose the columns, and add what is wrong with a row: first what the format knows, then what any row can have."""
    roles = {**roles, "url": roles.get("url", NO_URL)}
    user = roles["user"]
    every = {**problems, f"{user} IS NULL OR {user} = ''": Problem.NO_USER}
    cases = " ".join(f"WHEN {condition} THEN {problem:d}" for condition, problem in every.items())
    columns = ", ".join(f"{value} AS {quoted(role)}" for role, value in roles.items())
    return f"SELECT {columns}, CASE {cases} END::TINYINT AS problem FROM {table}"


def _files(source: Source) -> str:
    return f"[{', '.join(text(glob.escape(str(path))) for path in source.local)}]"
