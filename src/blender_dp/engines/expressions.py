"""The counting as Ibis expressions, the same for every engine.

Tables have the columns user, query and url, all text. A slot without a record has null in both query and url: under
substitution the number of users is public, so a user whose rows are unusable must not disappear.
"""

from __future__ import annotations

from fractions import Fraction

import ibis  # noqa: TID251 (this is where it belongs)
import ibis.expr.types as ir  # noqa: TID251 (this is where it belongs)

_SEPARATOR = "\x1f"
_HEX_DIGITS = 32


def stored(name: str) -> ir.Table:
    """A table that the engine knows by this name."""
    return ibis.table({"user": "string", "query": "string", "url": "string"}, name=name)


def bounded(table: ir.Table, m: int, key: str) -> ir.Table:
    """Exactly m slots per user: m of the user's distinct records by keyed hash, the rest empty.

    The hash of (key, user, record) is blind to the order of the rows and to how often one is repeated. It is the
    engine's own, for its speed: the same key gives the same choice again on the same engine and version.
    """
    known = table.filter(table.user != "")
    usable = _whole(known)
    lottery = (ibis.literal(key + _SEPARATOR) + known.user + _SEPARATOR + known.query + _SEPARATOR + known.url).hash()
    if m == 1:
        return known.group_by("user").agg(
            query=known.query.argmin(lottery, where=usable), url=known.url.argmin(lottery, where=usable)
        )
    distinct = known.mutate(lottery=lottery).filter(usable).distinct()
    ranked = distinct.mutate(slot=ibis.row_number().over(group_by="user", order_by=["lottery", "query", "url"]))
    slots = known.select("user").distinct().mutate(slot=ibis.range(m).unnest().cast("int64"))
    return slots.left_join(ranked, ["user", "slot"]).select("user", "query", "url")


def drawn_users(table: ir.Table, share: Fraction, key: str, purpose: str) -> ir.BooleanValue:
    """Whether a user is among the given share, by a portable keyed hash: the same user, always the same answer.

    Hexadecimal digests of one length sort like the numbers they write, so one comparison of texts decides.
    """
    threshold = f"{int(share * 16**_HEX_DIGITS):0{_HEX_DIGITS}x}"
    return (ibis.literal(f"{key}{_SEPARATOR}{purpose}{_SEPARATOR}") + table.user).hexdigest("md5") < threshold


def record_counts(table: ir.Table) -> ir.Table:
    """How many users hold each record."""
    held = table.filter(_whole(table))
    return held.group_by(["query", "url"]).agg(count=held.count())


def _whole(table: ir.Table) -> ir.BooleanValue:
    """Whether a row has both parts of a record: no part is null, which no comparison is true of, and none is empty."""
    return (table.query != "") & (table.url != "")


def sql(expression: ir.Expr, dialect: str) -> str:
    """The expression in an engine's own words."""
    return str(ibis.to_sql(expression, dialect=dialect))
