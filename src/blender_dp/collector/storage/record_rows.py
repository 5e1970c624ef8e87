"""Rows of raw records, which are encrypted, and of withdrawals. Receipts are stored as digests."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import sqlalchemy as sa

from blender_dp.collector.storage.schema import records, withdrawals
from blender_dp.collector.storage.transactions import Transaction
from blender_dp.collector.storage.upsert import put as put_row

_FETCHED = 10_000  # rows per fetch
_DELETED = 10_000  # rows per statement
_OWNER = sa.union_all(
    *(
        sa.select(table.c.round, table.c.owner).where(table.c.receipt == sa.bindparam("one"))
        for table in (records, withdrawals)
    )
)
_WITHDRAWN = (
    sa.select(withdrawals.c.receipt)
    .where(
        sa.or_(
            sa.and_(withdrawals.c.round == sa.bindparam("in_round"), withdrawals.c.owner == sa.bindparam("by")),
            withdrawals.c.receipt == sa.bindparam("one"),
        )
    )
    .limit(1)
)


@dataclass(frozen=True)
class SealedRecord:
    """An encrypted record."""

    receipt: str
    round: str
    owner: str
    sealed: bytes


def put(transaction: Transaction, record: SealedRecord) -> None:
    """Store a record in place of its owner's earlier one in the same round."""
    put_row(transaction, records, asdict(record), unique=("round", "owner"))


def count(transaction: Transaction, round_id: str) -> int:
    """The number of records of a round."""
    return transaction.scalar(sa.select(sa.func.count()).where(records.c.round == round_id)) or 0


def all_sealed(transaction: Transaction, round_id: str) -> list[tuple[str, bytes]]:
    """The owner and the encrypted record of everyone in a round, ordered by owner."""
    chosen = sa.select(records.c.owner, records.c.sealed).where(records.c.round == round_id).order_by(records.c.owner)
    rows = transaction.execution_options(yield_per=_FETCHED).execute(chosen)
    return [(row.owner, row.sealed) for row in rows]


def round_and_owner(transaction: Transaction, receipt: str) -> tuple[str, str] | None:
    """The round and the owner of the record, stored or withdrawn, that a receipt belongs to."""
    row = transaction.execute(_OWNER, {"one": receipt}).first()
    return (row.round, row.owner) if row else None


def withdraw(transaction: Transaction, round_id: str, owner: str, receipt: str) -> bool:
    """Delete the record with this receipt and note that its owner has withdrawn; False if it is not stored."""
    if not transaction.execute(records.delete().where(records.c.receipt == receipt)).rowcount:
        return False
    transaction.execute(withdrawals.insert(), {"receipt": receipt, "round": round_id, "owner": owner})
    return True


def is_withdrawn(transaction: Transaction, round_id: str, owner: str, receipt: str) -> bool:
    """Whether this user has withdrawn from this round, or this receipt was used to withdraw."""
    return transaction.scalar(_WITHDRAWN, {"in_round": round_id, "by": owner, "one": receipt}) is not None


def delete_all(transaction: Transaction, round_id: str) -> None:
    """Delete a round's records and withdrawals, in statements that stay short however many rows there are."""
    for table in (records, withdrawals):
        some = sa.select(table.c.receipt).where(table.c.round == round_id).limit(_DELETED).scalar_subquery()
        delete = table.delete().where(table.c.round == round_id, table.c.receipt.in_(some))
        while transaction.execute(delete).rowcount == _DELETED:
            pass
