"""The counting as Ibis expressions, the same for every engine.

A log has the columns user, query and url, all text, and problem: what is wrong with a row, or null. A bad row has a user
if it is known whose it is. A group has the first three columns. A slot without a record has null in both query and url
(a single item has no url): under substitution the number of users is public, so a user whose rows are unusable must not
disappear.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import ibis  # noqa: TID251 (this is where it belongs)
import ibis.expr.datatypes as dt  # noqa: TID251 (this is where it belongs)
import ibis.expr.types as ir  # noqa: TID251 (this is where it belongs)

from blender_dp.logs.tally import Problem
from blender_dp_device.digests import ListDigest

Hash = Callable[[ir.Table, str], ir.Value]
"""A hash of a key and a row's user, query and url, as a column that can be compared."""

_SEPARATOR = "\x1f"
_HEX_DIGITS = 32
_RECORD = dt.Struct({"query": str, "url": str})


@ibis.udf.agg.builtin  # type: ignore[untyped-decorator]
def min_by(text, ticket) -> str:  # type: ignore[no-untyped-def,empty-body]  # noqa: ANN001 (any type that compares)
    """The text with the least ticket; a null ticket takes no part. Ibis' own `argmin` sorts on some engines."""


@ibis.udf.agg.builtin(name="min_by")  # type: ignore[untyped-decorator]
def min_record_by(record, ticket) -> _RECORD:  # type: ignore[no-untyped-def,valid-type]  # noqa: ANN001
    """Likewise of whole records, which costs half as much where there are structs."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def md5(text: str) -> str:  # type: ignore[empty-body]
    """The digest in small hexadecimal digits. Ibis' own `hexdigest` is known to few engines, this function to most."""


def log(name: str) -> ir.Table:
    """A log that the engine knows by this name."""
    return ibis.table({"user": "string", "query": "string", "url": "string", "problem": "int8"}, name=name)


def group(name: str) -> ir.Table:
    """A group that the engine knows by this name."""
    return ibis.table({"user": "string", "query": "string", "url": "string"}, name=name)


def portable_hash(rows: ir.Table, key: str) -> ir.Value:
    """The same on every engine, and several times as slow as an engine's own."""
    return md5(_joined(key, rows.user, rows.query, rows.url))


def drawn(rows: ir.Table, key: str, lottery: Hash, *, structs: bool = False) -> ir.Table:
    """One record of every user, that of the least hash, and what became of the user's rows.

    The hash of (key, user, record) is blind to the order of the rows and to how often one is repeated. Not every engine
    knows `structs`; those that do are faster with them. A user's bad rows of a kind are a row of their own in the result,
    with its problem: a user who has no other one counts, without a record.
    """
    tickets = rows.mutate(ticket=ibis.cases((_whole(rows), lottery(rows, key))))
    # Cheaper than to count every problem for every user.
    grouped, told = tickets.group_by(["user", "problem"]), {"rows": tickets.count(), "records": tickets.ticket.count()}
    if not structs:
        chosen = {name: min_by(tickets[name], tickets.ticket) for name in ("query", "url")}
        return grouped.agg(**chosen, **told)
    record = ibis.struct({"query": tickets.query, "url": tickets.url})
    found = grouped.agg(record=min_record_by(record, tickets.ticket), **told)
    return found.select("user", "problem", "rows", "records", query=found.record["query"], url=found.record["url"])


def drawn_many(rows: ir.Table, m: int, key: str, lottery: Hash) -> ir.Table:
    """Exactly m slots per user: m of the user's distinct records by keyed hash, the rest empty."""
    whole = rows.filter(_whole(rows))
    distinct = whole.mutate(ticket=lottery(whole, key)).drop("problem").distinct()
    ranked = distinct.mutate(slot=ibis.row_number().over(group_by="user", order_by=["ticket", "query", "url"]))
    # A reader that sees only the user would not notice that the rest of a line is no text. So the rest is asked for.
    known = rows.filter(rows.user.notnull())
    users = known.group_by("user").agg(records=known.count(where=_whole(known)))
    slots = users.filter(users.records.coalesce(0) >= 0).select("user").mutate(slot=ibis.range(m).unnest().cast("int64"))
    return slots.left_join(ranked, ["user", "slot"]).select("user", "query", "url")


def tally(rows: ir.Table) -> ir.Table:
    """What became of the rows: how many have each problem or none, and how many records are among them."""
    return rows.group_by("problem").agg(rows=rows.count(), records=rows.count(where=_whole(rows)))


def reports(name: str) -> ir.Table:
    """Clients' reports that the engine knows by this name."""
    return ibis.table({"head_list": "string", "cell": "int64", "problem": "int8"}, name=name)


def cell_counts(reports: ir.Table, digest: ListDigest, cells: int) -> ir.Table:
    """How often each cell of a head list was reported (cell, null problem), and each problem met (null cell, problem)."""
    problem = ibis.cases(
        (reports.problem.notnull(), reports.problem),
        (ibis.coalesce(reports.head_list, "") != digest, Problem.ANOTHER_HEAD_LIST.value),
        (~ibis.coalesce(reports.cell, -1).between(0, cells - 1), Problem.NO_SUCH_CELL.value),
    )
    checked = reports.select(cell=reports.cell, problem=problem)
    counted = checked.select(cell=ibis.cases((checked.problem.isnull(), checked.cell)), problem=checked.problem)
    return counted.group_by(["cell", "problem"]).agg(count=counted.count())


def drawn_users(table: ir.Table, share: Fraction, key: str, purpose: str) -> ir.BooleanValue:
    """Whether a user is among the given share, by a portable keyed hash: the same user, always the same answer.

    Hexadecimal digests of one length sort like the numbers they write, so one comparison of texts decides.
    """
    threshold = f"{int(share * 16**_HEX_DIGITS):0{_HEX_DIGITS}x}"
    return md5(_joined(key, ibis.literal(purpose), table.user)) < threshold


def record_counts(table: ir.Table) -> ir.Table:
    """How many users hold each record."""
    held = table.filter(table.query != "")
    return held.group_by(["query", "url"]).agg(count=held.count())


def sql(expression: ir.Expr, dialect: str) -> str:
    """The expression in an engine's own words."""
    return str(ibis.to_sql(expression, dialect=dialect))


def _whole(rows: ir.Table) -> ir.BooleanValue:
    """Whether a row has a record: nothing is wrong, and neither part is empty (or null, of which nothing is true)."""
    return (rows.url != "") & (rows.query != "") & rows.problem.isnull()


def _joined(key: str, *parts: ir.StringValue) -> ir.StringValue:
    text = ibis.literal(key)
    for part in parts:
        text = text + _SEPARATOR + part
    return text
