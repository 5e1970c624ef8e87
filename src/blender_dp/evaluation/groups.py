"""Split a population at random into opt-in users, who discover or calibrate, and clients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blender_dp.errors import GroupError
from blender_dp.evaluation.population import Name, Population
from blender_dp.release.manifest import Sizes
from blender_dp.sampling import Entropy
from blender_dp.sampling.discrete import distinct
from blender_dp.stages import Integers
from blender_dp_device.records.head_list import HeadList


@dataclass(frozen=True, eq=False)
class Members:
    """The users of one group: how many there are, and the records that they have, sorted."""

    users: int
    records: Integers
    counts: Integers
    queries: Integers
    query_counts: Integers

    @classmethod
    def of(cls, population: Population, users: int, held: Integers) -> Members:
        """Count the records that this number of users have; it is smaller if some have none."""
        records, counts = np.unique(held, return_counts=True)
        queries, query_counts = np.unique(population.query_of[held], return_counts=True)
        return cls(users, records, counts, queries, query_counts)

    def on(self, listed: Listed) -> Integers:
        """The number of these users in every cell of a list."""
        return listed.cells(
            self.users,
            _looked_up(self.records, self.counts, listed.records),
            _looked_up(self.queries, self.query_counts, listed.queries),
        )


@dataclass(frozen=True, eq=False)
class Groups:
    """A population and its opt-in users; everyone else is a client."""

    population: Population
    discovery: Members
    calibration: Members

    @classmethod
    def of(cls, population: Population, opt_in: float, f_o: float, seed: int | str) -> Groups:
        """Draw the opt-in users: for one split. `Split` shares the work between several."""
        return Split(population, seed).groups(opt_in, f_o)

    @cached_property
    def sizes(self) -> Sizes:
        """The number of users in each group."""
        opt_in = self.discovery.users + self.calibration.users
        return Sizes(self.discovery.users, self.calibration.users, self.population.users - opt_in)

    def everyone_on(self, listed: Listed) -> Integers:
        """The number of all users in every cell of a list."""
        population = self.population
        of_records, of_queries = population.counts[listed.records], population.query_counts[listed.queries]
        return listed.cells(population.users, of_records, of_queries)

    def clients_on(self, listed: Listed) -> Integers:
        """The number of clients in every cell of a list."""
        return self.everyone_on(listed) - self.discovery.on(listed) - self.calibration.on(listed)


class Split:
    """The order in which the users of a population opt in, at random. Those of a small share are among those of a
    larger one.

    Users are numbered in the order of their records, and distinct numbers are drawn: without replacement, as in reality.
    """

    def __init__(self, population: Population, seed: int | str) -> None:
        self._population = population
        self._seed = seed
        self._records = np.empty(0, np.int64)

    def groups(self, opt_in: float, f_o: float) -> Groups:
        """The groups if this share opts in, and `f_o` of them discover."""
        first = round(self._population.users * opt_in)
        second = round(first * f_o)
        for group, users in (("discovery users", second), ("calibration users", first - second)):
            if users < 2:
                raise GroupError(group, f"there are {users}, but at least 2 are needed", "Use more users or another share")
        drawn = self._drawn(first)
        parts = (drawn[:second], drawn[second:])
        discovery, calibration = (Members.of(self._population, part.size, part[part >= 0]) for part in parts)
        return Groups(self._population, discovery, calibration)

    def _drawn(self, users: int) -> Integers:
        """The records of the first users; -1 for those who have none."""
        if users > self._records.size:
            drawn = distinct(self._population.users, users, Entropy.seeded(f"groups {self._seed}"))
            self._records = self._population.record_of(drawn)
        return self._records[:users]


class Listed:
    """A head list whose records and queries have the numbers of a population."""

    def __init__(self, head_list: HeadList, records: Integers, population: Population) -> None:
        """`records` has the numbers of the list's records, in its order."""
        self.head_list = head_list
        self.records = records
        url_counts = np.array(head_list.url_counts, np.int64)
        self._stars = np.cumsum(url_counts) - 1
        self.url_counts = url_counts[:-1] - (head_list.levels == 2)
        self.starts: Integers = np.cumsum(self.url_counts) - self.url_counts
        self.queries = population.query_of[self.records[self.starts]] if len(head_list) else np.empty(0, np.int64)
        self.record_cells = np.delete(np.arange(head_list.cell_count), self._stars if head_list.levels == 2 else [-1])

    @classmethod
    def of(cls, head_list: HeadList, numbers: Mapping[Name, int], population: Population) -> Listed:
        """Look up the number of every record."""
        return cls(head_list, np.array([numbers[name] for name in head_list.records()], np.int64), population)

    def cells(self, users: int, of_records: Integers, of_queries: Integers) -> Integers:
        """Counts of the cells, from those of the listed records and of all records of their queries."""
        counts = np.zeros(self.head_list.cell_count, np.int64)
        if len(self.head_list):
            if self.head_list.levels == 2:
                counts[self._stars[:-1]] = of_queries - np.add.reduceat(of_records, self.starts)
            counts[self.record_cells] = of_records
        counts[-1] = users - counts[:-1].sum()
        return counts


def _looked_up(keys: Integers, counts: Integers, wanted: Integers) -> Integers:
    if not keys.size:
        return np.zeros(wanted.size, np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return np.where(keys[place] == wanted, counts[place], 0)
