"""The names of all transactions that write, and the handle that stands for a transaction."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from sqlalchemy.engine import Connection

TransactionName = Literal[
    "migration", "identity", "operator",
    "answer", "campaign", "enrolment", "record", "withdrawal", "reports",
    "open", "freeze", "list", "close", "release", "abort", "stuck", "forget", "redate",
]  # fmt: skip
"""`Store.write` takes one of these names, so that every commit has its two crash points."""

TRANSACTIONS: tuple[TransactionName, ...] = get_args(TransactionName)

Transaction: TypeAlias = Connection
"""A transaction of `Store.read` or `Store.write`. Only this package runs statements on it; others pass it on."""
