"""The counting as Ibis expressions, the same for every engine.

Tables have the columns user, query and url, all text. A slot without a record has null in both query and url: under
substitution the number of users is public, so a user whose rows are unusable must not disappear.
"""

from __future__ import annotations

from fractions import Fraction

import ibis
import ibis.expr.types as ir

from blender_dp.engines.base import Columns

_SEPARATOR = "\x1f"
_HEX_DIGITS = 32


def renamed(table: ir.Table, columns: Columns) -> ir.Table:
    """The three columns under their plain names, as text; an empty text is no text."""
    return table.select(
        user=table[columns.user].cast("string"),
        query=table[columns.query].cast("string").nullif(""),
        url=table[columns.url].cast("string").nullif(""),
    )


def bounded(table: ir.Table, m: int, key: str) -> ir.Table:
    """Exactly m slots per user: m of the user's distinct records by keyed hash, the rest empty.

    The hash of (key, user, record) is blind to the order of the rows and to how often one is repeated.
    """
    usable = table.query.notnull() & table.url.notnull()
    lottery = (ibis.literal(key + _SEPARATOR) + table.user + _SEPARATOR + table.query + _SEPARATOR + table.url).hash()
    if m == 1:
        drawn = table.group_by("user").agg(
            query=table.query.argmin(lottery, where=usable), url=table.url.argmin(lottery, where=usable)
        )
        return drawn.filter(drawn.user.notnull())
    distinct = table.mutate(lottery=lottery).filter(usable).distinct()
    ranked = distinct.mutate(slot=ibis.row_number().over(group_by="user", order_by=["lottery", "query", "url"]))
    slots = table.filter(table.user.notnull()).select("user").distinct().mutate(slot=ibis.range(m).unnest())
    return slots.left_join(ranked, ["user", "slot"]).select("user", "query", "url")


def drawn_users(table: ir.Table, share: Fraction, key: str, purpose: str) -> ir.BooleanValue:
    """Whether a user is among the given share, by a portable keyed hash: the same user, always the same answer.

    Hexadecimal digests of one length sort like the numbers they write, so one comparison of texts decides.
    """
    threshold = f"{int(share * 16**_HEX_DIGITS):0{_HEX_DIGITS}x}"
    return (ibis.literal(f"{key}{_SEPARATOR}{purpose}{_SEPARATOR}") + table.user).hexdigest("md5") < threshold


def record_counts(table: ir.Table) -> ir.Table:
    """How many users hold each record."""
    held = table.filter(table.query.notnull())
    return held.group_by(["query", "url"]).agg(count=held.count())
