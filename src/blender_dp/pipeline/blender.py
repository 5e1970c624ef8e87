"""BLENDER, end to end: opt-in users and clients go in, a private release comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from blender_dp.engines import DuckDBEngine, Engine, Group
from blender_dp.errors import GroupError, ParameterError
from blender_dp.logs import PLAIN_COLUMNS, Columns, Source, Tally
from blender_dp.logs.bad_rows import check_tally, largest_bad_share
from blender_dp.logs.locate import find
from blender_dp.logs.tables import TableLike, as_table
from blender_dp.parameters import Parameters
from blender_dp.parameters.signature import takes
from blender_dp.pipeline.collection import Collection, Progress
from blender_dp.privacy.limits import LARGEST_EPSILON, check_privacy
from blender_dp.release import Release
from blender_dp.release.manifest import Sizes
from blender_dp.sampling import Entropy
from blender_dp.stages import Integers, counted_cells, counted_reports, simulate, sum_counts
from blender_dp_device.arithmetic import Number
from blender_dp_device.channel.subset import AnyChannel
from blender_dp_device.entropy import system_bytes
from blender_dp_device.records.checks import open_unit
from blender_dp_device.records.head_list import HeadList

G = TypeVar("G", bound=Group)


def _silent(_: str) -> None:
    """Ignore progress."""


def _ignored(_: Tally | Sizes | int) -> None:
    """Ignore the tally, the sizes of the groups and the number of unknown users."""


class Blender:
    """Runs one collection over two groups of users.

    Examples:
        >>> Blender(epsilon=4, delta=1e-5, max_queries=50).parameters.epsilon
        Fraction(4, 1)
    """

    @takes(Parameters)
    def __init__(self, **values: Any) -> None:  # noqa: ANN401 (the arguments of `Parameters`, with their types)
        """Check the parameters: `blender_dp.parameters.Parameters` describes each one."""
        self.parameters = Parameters(**values)
        self.collection = Collection(self.parameters)

    def __repr__(self) -> str:
        return f"Blender({self.parameters.described()})"

    def run(
        self,
        opt_in: TableLike,
        clients: TableLike,
        *,
        columns: Columns = PLAIN_COLUMNS,
        key: bytes | None = None,
        entropy: Entropy | None = None,
        progress: Progress = _silent,
    ) -> Release:
        """Run on two tables, one of opt-in users and one of clients (`logs.as_table` lists the accepted types).

        `key` determines which of a user's records are used, and which opt-in users discover or calibrate; the same key
        repeats the selection. `entropy` is for tests and simulations only.
        """
        source, text_key = entropy or Entropy.system(), _key_text(key)
        self._check_epsilon()
        self.collection.check_levels(columns.levels)
        engine = DuckDBEngine(ordered=source.repeats)
        progress("one record per user")
        tables = [as_table(data, name, levels=columns.levels) for data, name in ((opt_in, "opt_in"), (clients, "clients"))]
        logs = [engine.load(table, columns, name) for table, name in zip(tables, ("opt_in", "clients"), strict=True)]
        chosen, _ = engine.bound(logs[0], self.parameters.m_o, text_key)
        others, _ = engine.bound(logs[1], self.parameters.m_c, text_key)
        if shared := chosen.shared_users(others):
            raise GroupError("opt-in users", f"{shared} of them are also clients", "Put every user in one group")
        return self._run_groups(chosen, others, text_key, source, progress)

    def run_log(
        self,
        log: TableLike | Source | Path | str,
        opt_in: Number | Iterable[str],
        *,
        columns: Columns = PLAIN_COLUMNS,
        key: bytes | None = None,
        entropy: Entropy | None = None,
        engine: Engine | None = None,
        max_bad: Number = "0.01",
        simulation: str = "users",
        progress: Progress = _silent,
        on_tally: Callable[[Tally], None] = _ignored,
        on_unknown: Callable[[int], None] = _ignored,
        on_sizes: Callable[[Sizes], None] = _ignored,
    ) -> Release:
        """Run on one log, a table or files (`logs.find` accepts folders, patterns and formats), and split its users.

        `opt_in` is the share of the users who opt in (chosen by a keyed hash), or their names. Bad rows are skipped, counted
        and passed to `on_tally`; if their share exceeds `max_bad`, the run stops before anything is released. `simulation`
        is "users" or "cells", see `collect`. A seeded `entropy` needs an `ordered` engine; the default engine is ordered.

        If opt-in users are named, `on_unknown` receives the number of names that are not in the log. Like the tally, this
        number is exact and must not be published. `on_sizes` receives the sizes of the groups, which are public, before
        anything is spent; if it raises an error, the run stops there.
        """
        source, text_key, (rule, named) = entropy or Entropy.system(), _key_text(key), _opt_in_rule(opt_in)
        _check_simulation(simulation)
        self._check_epsilon()
        max_share = largest_bad_share(max_bad)
        counting = engine or DuckDBEngine(ordered=source.repeats)
        _check_order(counting, source)
        if isinstance(log, Path | str):
            log = find(log, columns=columns)
        self.collection.check_levels((log.columns if isinstance(log, Source) else columns).levels)
        progress("one record per user")
        rows = _opened(counting, log, columns)
        group, tally = counting.bound(rows, self.parameters.m_o, text_key)
        on_tally(tally)
        check_tally(tally, max_share, "log")
        chosen, others = rule(group, text_key)
        if named is not None:
            on_unknown(named - chosen.users)
        if self.parameters.m_c != self.parameters.m_o:
            _, others = rule(counting.bound(rows, self.parameters.m_c, text_key)[0], text_key)
        return self._run_groups(chosen, others, text_key, source, progress, simulation, on_sizes)

    def _run_groups(
        self,
        opt_in: Group,
        clients: Group,
        key: str,
        entropy: Entropy,
        progress: Progress,
        simulation: str = "users",
        on_sizes: Callable[[Sizes], None] = _ignored,
    ) -> Release:
        discovering, calibrating = opt_in.split(self.parameters.f_o, key, "discovery")
        sizes = Sizes(discovering.users, calibrating.users, clients.users)
        _check_sizes(sizes)
        p = self.parameters  # before anything is released; group sizes are public
        check_privacy(p.epsilon, p.delta, sizes.discovery + sizes.calibration, allowed=p.allow_weak_privacy)
        on_sizes(sizes)
        listing = self.collection.make_list(discovering, calibrating, sizes.clients, entropy, progress)
        progress(f"reporting: {sizes.clients:,} clients randomise their records over {len(listing.head_list):,} queries")
        channel = self.collection.channel(listing.head_list, listing.design)
        reports = self.collect(clients, listing.head_list, channel, entropy, simulation)
        progress("blending")
        return self.collection.make_release(listing, reports, sizes.clients, seeded=entropy.is_seeded)

    def _check_epsilon(self) -> None:
        """Refuse a meaningless ε before anything is read; δ can only be judged once the opt-in users are counted."""
        if not self.parameters.allow_weak_privacy and self.parameters.epsilon > LARGEST_EPSILON:
            check_privacy(self.parameters.epsilon)

    def collect(
        self, clients: Group, head_list: HeadList, channel: AnyChannel, entropy: Entropy, simulation: str = "users"
    ) -> Integers:
        """Simulate every client's report on the list, and return how often each cell was reported.

        "users" randomises every client's record, in the engine that holds the records. "cells" first counts the clients in
        every cell: the result has the same distribution and is cheaper to repeat.
        """
        if simulation == "cells":
            return simulate(sum_counts(clients.over_records(partial(counted_cells, head_list=head_list))), channel, entropy)
        work = partial(counted_reports, head_list=head_list, channel=channel, entropy=entropy)
        return sum_counts(clients.over_records(work))


def _opened(engine: Engine, log: TableLike | Source, columns: Columns) -> Any:  # noqa: ANN401 (the engine's)
    return (
        engine.read(log)
        if isinstance(log, Source)
        else engine.load(as_table(log, "log", levels=columns.levels), columns, "log")
    )


def _check_order(engine: Engine, entropy: Entropy) -> None:
    if entropy.repeats and not engine.ordered:
        problem = "rows come in any order, so a run with a seeded entropy is not repeatable"
        raise ParameterError("engine", problem, "Create the engine with ordered=True, or leave the seed out")


def _check_simulation(simulation: str) -> None:
    if simulation not in {"users", "cells"}:
        raise ParameterError("simulation", f"{simulation!r} is unknown", "Use users or cells")


def _opt_in_rule(opt_in: Number | Iterable[str]) -> tuple[Callable[[G, str], tuple[G, G]], int | None]:
    """The rule that splits users into opt-in users and clients, and the number of names if they are named."""
    if isinstance(opt_in, Iterable) and not isinstance(opt_in, str):
        names = pa.array([*dict.fromkeys(str(user) for user in opt_in)], pa.string())  # read once: it may be a generator
        return lambda group, _: group.part(names), len(names)
    share = open_unit(opt_in, "opt_in", "Pass the share of the users who opt in, such as 0.05")
    return lambda group, key: group.split(share, key, "opt-in"), None


def _check_sizes(sizes: Sizes) -> None:
    for group, users, fix in (
        ("discovery users", sizes.discovery, "Add opt-in users; if they are named, check that the log contains them"),
        ("calibration users", sizes.calibration, "Add opt-in users, or lower f_o"),
        ("clients", sizes.clients, "Add users who do not opt in"),
    ):
        if users < 2:
            raise GroupError(group, f"there are {users}, but at least 2 are needed", fix)


def _key_text(key: bytes | None) -> str:
    if not isinstance(key, bytes | None):
        raise ParameterError("key", f"{type(key).__name__} is not bytes", "Pass bytes, or leave it out")
    return (system_bytes(16) if key is None else key).hex()
