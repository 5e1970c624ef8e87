"""The tables. Unique constraints prevent whatever must never happen twice, even in a race."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)

campaigns = Table(
    "campaigns",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("settings", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
)

rounds = Table(
    "rounds",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("campaign", ForeignKey("campaigns.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("lists_at", BigInteger),
    Column("closes_at", BigInteger),
    Column("noise", LargeBinary),  # the secret that fixes the noise, encrypted with the key of the raw records
    Column("listing", Text),  # the results of the opt-in half, already differentially private
    Column("head_list", String(64)),
    Column("release", String(64)),
    Column("bundle", String(64)),
    Column("problem", Text),  # why it does not advance
    Column("created", BigInteger, nullable=False),
    Column("opening", String(64)),  # null for rounds that were opened before openings existed
    Column("refused_at", BigInteger),  # the hour in which its next scheduled step was last refused
    UniqueConstraint("campaign", "number"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("digest", String(64), primary_key=True),  # of the token, which is not stored
    Column("role", String(16), nullable=False),
    Column("campaign", ForeignKey("campaigns.id")),
    Column("created", BigInteger, nullable=False),
)

records = Table(
    "records",
    metadata,
    Column("receipt", String(64), primary_key=True),  # a digest of the receipt
    Column("round", ForeignKey("rounds.id"), nullable=False),
    Column("owner", String(64), nullable=False),  # a digest of the enrolment token with the round
    Column("sealed", LargeBinary, nullable=False),
    UniqueConstraint("round", "owner"),
)

withdrawals = Table(
    "withdrawals",
    metadata,
    Column("receipt", String(64), primary_key=True),  # a digest of the receipt
    Column("round", ForeignKey("rounds.id"), nullable=False),
    Column("owner", String(64), nullable=False),
    UniqueConstraint("round", "owner"),
)

reports = Table(
    "reports",
    metadata,
    Column("round", ForeignKey("rounds.id"), primary_key=True),
    Column("id", LargeBinary(16), primary_key=True),
    Column("cells", LargeBinary, nullable=False),  # four bytes each, little-endian
    sqlite_with_rowid=False,
)

objects = Table(
    "objects",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("body", LargeBinary, nullable=False),
)

ledger = Table(
    "ledger",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("campaign", String(32), nullable=False),  # no foreign keys: a restored backup may lack campaign and round
    Column("round", String(32), nullable=False),
    Column("user_group", String(16), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("entry", Text, nullable=False),  # canonical JSON
    Column("digest", String(64), nullable=False, unique=True),
    UniqueConstraint("round", "user_group"),  # a round spends once
)

events = Table(
    "events",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("round", String(32)),
    Column("what", Text, nullable=False),
)

answers = Table(
    "answers",
    metadata,
    Column("key", String(64), primary_key=True),  # a digest of the path and the Idempotency-Key
    Column("request", String(64), nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
)

identity = Table(
    "identity",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("value", Text, nullable=False),  # identifies the files that belong to this database
)

leases = Table(
    "leases",
    metadata,
    Column("name", String(64), primary_key=True),  # of the work that one collector at a time does
    Column("holder", String(32), nullable=False),
    Column("until", BigInteger, nullable=False),  # milliseconds, by the database's clock
)

Index("ix_rounds_state", rounds.c.state)
