"""Groups as expressions, for every engine that can run expressions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, Self

import ibis.expr.types as ir  # noqa: TID251 (this is where it belongs)
import pyarrow as pa

from blender_dp.engines import expressions
from blender_dp.engines.base import Work


class Runner(Protocol):
    """What a group needs from its engine."""

    def over(self, expression: ir.Table, order: tuple[str, ...], work: Work) -> list[pa.Table]:
        """Apply `work` to an expression's rows; in this order if the engine is ordered."""
        ...

    def number(self, expression: ir.IntegerScalar) -> int:
        """Run an expression whose result is one number."""
        ...

    def users(self, names: pa.Array) -> ir.Table:
        """The named users as a table with the column user, without nulls."""
        ...


@dataclass(frozen=True)
class TableGroup:
    """The records of one group: some rows of a table in the engine, selected each time they are needed."""

    engine: Runner
    table: ir.Table
    slots: int = 1
    held: object = None
    """A reference to whatever must live as long as any part of the group."""

    @property
    def users(self) -> int:
        """The number of users in the group; a user without a usable record counts."""
        return self.engine.number(self.table.count()) // self.slots

    def over_records(self, work: Work) -> list[pa.Table]:
        """Apply `work` to every user's record(s), null where a user has no record."""
        return self.engine.over(self.table, ("user", "query", "url"), work)

    def over_record_counts(self, work: Work) -> list[pa.Table]:
        """Apply `work` to every distinct record with the number of users who have it."""
        return self.engine.over(expressions.record_counts(self.table), ("query", "url"), work)

    def split(self, share: Fraction, key: str, purpose: str) -> tuple[Self, Self]:
        """Split the users in two by keyed hash: about this share, and the rest."""
        drawn = expressions.drawn_users(self.table, share, key, purpose)
        return replace(self, table=self.table.filter(drawn)), replace(self, table=self.table.filter(~drawn))

    def part(self, users: pa.Array) -> tuple[Self, Self]:
        """Split the users in two: the named ones, and the rest."""
        named = self.engine.users(users)
        inside, outside = self.table.semi_join(named, "user"), self.table.anti_join(named, "user")
        return replace(self, table=inside), replace(self, table=outside)

    def shared_users(self, other: Self) -> int:
        """The number of users who are in both groups."""
        return self.engine.number(self.table.semi_join(other.table, "user").user.nunique())
