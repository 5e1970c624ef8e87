"""The counting as Ibis expressions, the same for every engine.

A log has the columns user, query and url, all text, and problem: the number of a row's problem, or null. A bad row has a
user if the user is known. A group has the first three columns. A slot without a record has null in both query and url
(a single item has no url): under substitution the number of users is public, so a user whose rows are unusable must not
disappear.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import ibis  # noqa: TID251 (this is where it belongs)
import ibis.expr.datatypes as dt  # noqa: TID251 (this is where it belongs)
import ibis.expr.operations as ops  # noqa: TID251 (this is where it belongs)
import ibis.expr.types as ir  # noqa: TID251 (this is where it belongs)

from blender_dp.logs.tally import Problem
from blender_dp_device.digests import ListDigest

Hash = Callable[[ir.Table, str], ir.Value]
"""A hash of a key and a row's user, query and url, as a comparable column."""

_SEPARATOR = "\x1f"
_HEX_DIGITS = 32
_RECORD = dt.Struct({"query": str, "url": str})


@ibis.udf.agg.builtin  # type: ignore[untyped-decorator]
def min_by(text, ticket) -> str:  # type: ignore[no-untyped-def,empty-body]  # noqa: ANN001 (any type that compares)
    """The text with the smallest ticket; null tickets are ignored. Ibis' own `argmin` sorts on some engines."""


@ibis.udf.agg.builtin(name="min_by")  # type: ignore[untyped-decorator]
def min_record_by(record, ticket) -> _RECORD:  # type: ignore[no-untyped-def,valid-type]  # noqa: ANN001
    """The record with the smallest ticket. This costs half as much as `min_by` for each field, but needs structs."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def md5(text: str) -> str:  # type: ignore[empty-body]
    """The digest in lower-case hexadecimal digits. Few engines support Ibis' own `hexdigest`; most have this function."""


def log(name: str) -> ir.Table:
    """A log that the engine knows by this name."""
    return ibis.table({"user": "string", "query": "string", "url": "string", "problem": "int8"}, name=name)


def group(name: str) -> ir.Table:
    """A group that the engine knows by this name."""
    return ibis.table({"user": "string", "query": "string", "url": "string"}, name=name)


def portable_hash(rows: ir.Table, key: str) -> ir.Value:
    """The same hash on every engine, but several times slower than an engine's own."""
    return md5(_joined(key, rows.user, rows.query, rows.url))


def drawn(rows: ir.Table, key: str, record_hash: Hash, *, structs: bool = False) -> ir.Table:
    """One record of every user, the one with the smallest hash, and counts of the user's rows.

    The hash of (key, user, record) depends neither on the order of the rows nor on repeated rows. Not every engine supports
    `structs`; those that do are faster with them. The result has a separate row for each problem of a user's rows: a user
    who has only such rows counts, without a record.
    """
    tickets = rows.mutate(ticket=ibis.cases((_whole(rows), record_hash(rows, key))))
    # This is cheaper than counting every problem for every user.
    grouped, counts = tickets.group_by(["user", "problem"]), {"rows": tickets.count(), "records": tickets.ticket.count()}
    if not structs:
        chosen = {name: min_by(tickets[name], tickets.ticket) for name in ("query", "url")}
        return grouped.agg(**chosen, **counts)
    record = ibis.struct({"query": tickets.query, "url": tickets.url})
    chosen_rows = grouped.agg(record=min_record_by(record, tickets.ticket), **counts)
    fields = chosen_rows.record
    return chosen_rows.select("user", "problem", "rows", "records", query=fields["query"], url=fields["url"])


def drawn_many(rows: ir.Table, m: int, key: str, record_hash: Hash) -> ir.Table:
    """Exactly m slots per user: up to m of the user's distinct records, chosen by keyed hash; the other slots are empty."""
    whole = rows.filter(_whole(rows))
    distinct = whole.mutate(ticket=record_hash(whole, key)).drop("problem").distinct()
    ranked = distinct.mutate(slot=ibis.row_number().over(group_by="user", order_by=["ticket", "query", "url"]))
    # A reader that reads only the user's column would not notice that the rest of a line is not text. So the rest is used.
    known = rows.filter(rows.user.notnull())
    users = known.group_by("user").agg(records=known.count(where=_whole(known)))
    slots = users.filter(users.records.coalesce(0) >= 0).select("user").mutate(slot=ibis.range(m).unnest().cast("int64"))
    return slots.left_join(ranked, ["user", "slot"]).select("user", "query", "url")


def tally(rows: ir.Table) -> ir.Table:
    """The number of rows with each problem, or none, and the number of records among them."""
    return rows.group_by("problem").agg(rows=rows.count(), records=rows.count(where=_whole(rows)))


def reports(name: str) -> ir.Table:
    """Clients' reports that the engine knows by this name."""
    return ibis.table({"head_list": "string", "cell": "int64", "problem": "int8"}, name=name)


def cell_counts(reports: ir.Table, digest: ListDigest, cells: int) -> ir.Table:
    """The number of reports of each cell of a head list (cell, null problem), and of each problem (null cell, problem)."""
    problem = ibis.cases(
        (reports.problem.notnull(), reports.problem),
        (ibis.coalesce(reports.head_list, "") != digest, Problem.ANOTHER_HEAD_LIST.value),
        (~ibis.coalesce(reports.cell, -1).between(0, cells - 1), Problem.NO_SUCH_CELL.value),
    )
    checked = reports.select(cell=reports.cell, problem=problem)
    counted = checked.select(cell=ibis.cases((checked.problem.isnull(), checked.cell)), problem=checked.problem)
    return counted.group_by(["cell", "problem"]).agg(count=counted.count())


def drawn_users(table: ir.Table, share: Fraction, key: str, purpose: str) -> ir.BooleanValue:
    """Whether a user belongs to a share of all users, by a portable keyed hash: always the same for the same user.

    Hexadecimal digests of equal length sort like the numbers they represent, so comparing strings is enough.
    """
    threshold = f"{int(share * 16**_HEX_DIGITS):0{_HEX_DIGITS}x}"
    return md5(_joined(key, ibis.literal(purpose), table.user)) < threshold


def record_counts(table: ir.Table) -> ir.Table:
    """The number of users who have each record."""
    records = table.filter(table.query != "")
    return records.group_by(["query", "url"]).agg(count=records.count())


def sql(expression: ir.Expr, dialect: str) -> str:
    """The expression as SQL in a dialect."""
    return _sql(expression.op(), dialect)


@lru_cache(maxsize=64)  # Ibis takes 10 ms for a statement, and every list that a collector makes needs the same ones
def _sql(operation: ops.Node, dialect: str) -> str:
    return str(ibis.to_sql(operation.to_expr(), dialect=dialect))


def _whole(rows: ir.Table) -> ir.BooleanValue:
    """Whether a row has a record: it has no problem, and neither part is empty or null (no comparison with null is true)."""
    return (rows.url != "") & (rows.query != "") & rows.problem.isnull()


def _joined(key: str, *parts: ir.StringValue) -> ir.StringValue:
    text = ibis.literal(key)
    for part in parts:
        text = text + _SEPARATOR + part
    return text
