"""Rows of reports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import sqlalchemy as sa

from blender_dp.collector.round_states import OVER, State
from blender_dp.collector.storage.campaign_rows import parsed
from blender_dp.collector.storage.schema import campaigns, events, reports, rounds
from blender_dp.collector.storage.transactions import Transaction

Report = tuple[bytes, bytes]
"""A report's id, and its cells as bytes."""

_INSERT_SQLITE = """
    WITH RECURSIVE places (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM places WHERE n + 1 < :rows)
    INSERT INTO reports (round, id, cells)
    SELECT :round, substr(:ids, n * :id_bytes + 1, :id_bytes), substr(:cells, n * :cell_bytes + 1, :cell_bytes)
    FROM places WHERE true ON CONFLICT DO NOTHING
    """
_INSERT_POSTGRESQL = """
    WITH given (round, ids, id_bytes, cells, cell_bytes, rows)
    AS (VALUES (
        %(round)b::text, %(ids)b::bytea, %(id_bytes)b::int4, %(cells)b::bytea, %(cell_bytes)b::int4, %(rows)b::int4
    ))
    INSERT INTO reports (round, id, cells)
    SELECT round, substr(ids, n * id_bytes + 1, id_bytes), substr(cells, n * cell_bytes + 1, cell_bytes)
    FROM given, generate_series(0, rows - 1) AS n ORDER BY n ON CONFLICT DO NOTHING
    """
_DELETE_SQLITE = """
    DELETE FROM reports WHERE round = :round AND id IN (
        SELECT id FROM reports WHERE round = :round AND id > :after ORDER BY id LIMIT :maximum
    ) RETURNING id
    """
# By their place on disk: PostgreSQL would look for a list of ids by reading the whole table, for every batch.
_DELETE_POSTGRESQL = """
    DELETE FROM reports WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM reports WHERE round = :round AND id > :after ORDER BY id LIMIT :maximum
    )) RETURNING id
    """
_HAS_REPORTS = sa.exists().where(reports.c.round == rounds.c.id)


def insert(transaction: Transaction, round_id: str, rows: Iterable[Report]) -> None:
    """Insert a round's reports whose ids do not exist yet, as fast as the database can.

    All ids are one value and all cells another, which the database splits itself: otherwise the writing thread would wait
    for the responding thread after every row. They are sorted: neighbours go to the same page, and two transactions with
    the same reports cannot deadlock.
    """
    statement = _INSERT_SQLITE if transaction.dialect.name == "sqlite" else _INSERT_POSTGRESQL
    for (id_bytes, cell_bytes), group in groupby(sorted(rows, key=_by_width), lambda row: (len(row[0]), len(row[1]))):
        ids, cells = (b"".join(column) for column in zip(*group, strict=True))
        sizes = {"id_bytes": id_bytes, "cell_bytes": cell_bytes, "rows": len(ids) // id_bytes}
        transaction.exec_driver_sql(statement, {"round": round_id, "ids": ids, "cells": cells, **sizes})


def count(transaction: Transaction, round_id: str, maximum: int | None = None) -> int:
    """The number of a round's reports, counted up to `maximum`: counting millions is slow."""
    some = sa.select(reports.c.id).where(reports.c.round == round_id).limit(maximum).subquery()
    return transaction.scalar(sa.select(sa.func.count()).select_from(some)) or 0


def count_and_bytes(transaction: Transaction, round_id: str) -> tuple[int, int]:
    """The number of a round's reports, and the bytes of their cells."""
    chosen = sa.select(sa.func.count(), sa.func.sum(sa.func.length(reports.c.cells))).where(reports.c.round == round_id)
    number, size = transaction.execute(chosen).one()
    return number, size or 0


def cells_in_batches(transaction: Transaction, round_id: str, batch: int, *, ordered: bool = False) -> Iterator[list[bytes]]:
    """The cells of a round's reports, in batches of reports; `ordered` by their random ids."""
    chosen = sa.select(reports.c.cells).where(reports.c.round == round_id).order_by(*[reports.c.id] * ordered)
    with transaction.execution_options(yield_per=batch).execute(chosen) as rows:
        yield from (list(some) for some in rows.scalars().partitions())


def delete_some(transaction: Transaction, round_id: str, maximum: int, after: bytes = b"") -> list[bytes]:
    """Delete at most this many of a round's reports, those with the lowest ids above `after`; return their ids.

    A call that goes on where the last one ended does not read again what PostgreSQL has deleted but not removed yet.
    """
    statement = _DELETE_SQLITE if transaction.dialect.name == "sqlite" else _DELETE_POSTGRESQL
    return list(transaction.scalars(sa.text(statement), {"round": round_id, "maximum": maximum, "after": after}))


@dataclass(frozen=True)
class EndedRound:
    """A round that is over and still has reports."""

    id: str
    state: State
    released_at: int | None
    keep_days: int


def have_reports(transaction: Transaction, round_ids: Collection[str]) -> set[str]:
    """Those of these rounds that have reports."""
    return set(transaction.scalars(sa.select(rounds.c.id).where(rounds.c.id.in_(round_ids), _HAS_REPORTS)))


def ended_rounds_with_reports(transaction: Transaction) -> list[EndedRound]:
    """All rounds that are over and still have reports."""
    released = sa.and_(events.c.round == rounds.c.id, events.c.what == "released")
    chosen = (
        sa.select(rounds.c.id, rounds.c.state, events.c.at, campaigns.c.settings)
        .join(campaigns, campaigns.c.id == rounds.c.campaign)
        .outerjoin(events, released)
        .where(rounds.c.state.in_(sorted(OVER)), _HAS_REPORTS)
    )
    return [
        EndedRound(row.id, row.state, row.at, parsed(row.settings).keep_reports_days) for row in transaction.execute(chosen)
    ]


def _by_width(row: Report) -> tuple[int, int, bytes, bytes]:
    return len(row[0]), len(row[1]), *row
