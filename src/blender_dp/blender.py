"""BLENDER, end to end: opt-in users and clients go in, a private release comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from blender_dp.arithmetic import Number
from blender_dp.client.subset import AnyChannel
from blender_dp.engines import PLAIN_COLUMNS, Columns, DuckDBEngine, Engine, Group, Source, Tally
from blender_dp.entropy import system_bytes
from blender_dp.errors import GroupError, ParameterError
from blender_dp.logs.intake import check_tally, most_bad
from blender_dp.logs.sources import find
from blender_dp.logs.tables import TableLike, as_table
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.privacy.loss import Loss, Model, Promise
from blender_dp.profiles import DISCOVERIES, ESTIMATORS, RANDOMISERS
from blender_dp.records.canonical import canonical_query, canonical_url
from blender_dp.records.head_list import HeadList
from blender_dp.records.parameters import Parameters, open_unit
from blender_dp.release import Release
from blender_dp.release.assemble import assemble
from blender_dp.release.manifest import Sizes, manifest_of
from blender_dp.sampling import Entropy
from blender_dp.stages.discovery import Discovery, listed, survivors, with_candidates
from blender_dp.stages.estimator import Context
from blender_dp.stages.layout import Integers
from blender_dp.stages.likelihood import fit
from blender_dp.stages.likelihood.choice import likely_best
from blender_dp.stages.likelihood.estimator import discovery_evidence, scale_of
from blender_dp.stages.randomiser import Design
from blender_dp.stages.reporting import counted_cells, counted_reports, simulate, total
from blender_dp.stages.response import Response

Progress = Callable[[str], None]
G = TypeVar("G", bound=Group)


def _silent(_: str) -> None:
    """Tell nobody."""


def _ignored(_: Tally) -> None:
    """Tell nobody."""


class Blender:
    """One collection: parameters that are checked at once, and a run over two groups of users.

    >>> Blender(epsilon=4, delta=1e-5, max_queries=50)
    Blender(epsilon=4, delta=1/100000, f_o=19/20, m_o=1, m_c=1, max_queries=50, project=True, robust=True, profile='tight')
    """

    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        f_o: Number = "0.95",
        f_c: Number | None = None,
        subset_size: int | None = None,
        m_o: int = 1,
        m_c: int = 1,
        max_queries: int = 50,
        project: bool = True,
        robust: bool = True,
        profile: str = "tight",
        discovery: str | None = None,
        randomiser: str | None = None,
        estimator: str | None = None,
        candidates: HeadList | None = None,
    ) -> None:
        """Check the parameters. There is no default for ε and δ: they are a promise to people.

        A `profile` is a choice of a part of each kind; `discovery`, `randomiser` and `estimator` replace single ones.
        `candidates` are records that are public already, such as an earlier list: they are listed without a threshold.
        """
        self.parameters = p = Parameters.of(
            epsilon=epsilon, delta=delta, f_o=f_o, f_c=f_c, subset_size=subset_size, m_o=m_o, m_c=m_c,
            max_queries=max_queries, project=project, robust=robust,
            profile=profile, discovery=discovery, randomiser=randomiser, estimator=estimator,
        )  # fmt: skip
        self.discovery = DISCOVERIES[p.discovery].of(p.epsilon, p.delta, p.m_o)
        self.calibration = LaplaceHistogram.of(p.epsilon, p.m_o)
        self.randomiser = RANDOMISERS[p.randomiser]
        self.estimator = ESTIMATORS[p.estimator]
        if not isinstance(candidates, HeadList | None):
            raise ParameterError(
                "candidates", f"{type(candidates).__name__} is no head list", "Give a HeadList, or load one"
            )
        if candidates and any(_not_canonical(record) for record in candidates.records()):
            problem = "some records are not in canonical form, so that nobody's can be one of them"
            raise ParameterError("candidates", problem, "Make the list of canonical_query and canonical_url texts")
        self.candidates = candidates
        self.channel(HeadList.of([]))  # a budget too small to be split is refused now, not when the list is there
        if p.estimator == "likelihood" and p.m_c != p.m_o:
            problem = f"{p.m_c} records per client beside {p.m_o} per opt-in user are shares of different things"
            raise ParameterError("m_c", problem, "Take as many of both, or the estimator 'average'")

    def __repr__(self) -> str:
        usual = vars(Parameters.of(epsilon=1, delta="0.5", profile=self.parameters.profile))
        parts = ("discovery", "randomiser", "estimator")
        shown = {k: v for k, v in vars(self.parameters).items() if v is not None and (k not in parts or v != usual[k])}
        return f"Blender({', '.join(f'{k}={v!r}' if isinstance(v, str) else f'{k}={v}' for k, v in shown.items())})"

    def channel(self, head_list: HeadList, design: Design | None = None) -> AnyChannel:
        """The clients' channel for a head list: of the given design, or of the first one that comes into question."""
        chosen = design or self.randomiser.designs(self.parameters, head_list)[0]
        return self.randomiser.channel(self.parameters, head_list, chosen)

    def promises(self) -> tuple[Promise, Promise]:
        """What opt-in users and clients are promised. An opt-in user is in one of S and T, never in both."""
        opt_in = Loss(self.parameters.epsilon, self.parameters.delta)
        clients = self.randomiser.loss(self.parameters)
        return Promise("opt-in users", Model.CENTRAL, opt_in), Promise("clients", Model.LOCAL, clients)

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
        """Run on two tables, of opt-in users and of clients (see `logs.as_table` for what is a table).

        `key` fixes which of a user's records are used and who discovers or calibrates; give the same one to get the same
        choice again. `entropy` is for tests and simulations only.
        """
        source, text_key = entropy or Entropy.system(), _key_text(key)
        engine = DuckDBEngine(ordered=source.is_seeded)
        progress("one record per user")
        tables = [as_table(data, name, levels=columns.levels) for data, name in ((opt_in, "opt_in"), (clients, "clients"))]
        logs = [engine.load(table, columns, name) for table, name in zip(tables, ("opt_in", "clients"), strict=True)]
        chosen, _ = engine.bound(logs[0], self.parameters.m_o, text_key)
        others, _ = engine.bound(logs[1], self.parameters.m_c, text_key)
        if shared := chosen.shared_users(others):
            raise GroupError("opt-in users", f"{shared} of them are clients as well", "Give every user one role")
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
    ) -> Release:
        """Run on one log, a table or files (`logs.find` takes folders, patterns and formats), whose users are parted here.

        `opt_in` is the share of the users who opt in (drawn by keyed hash) or the names of those who do. Bad rows are left
        out and counted, and `on_tally` is told; if more than the share `max_bad` of the rows is bad, the run stops before
        anything is released. `simulation` is "users" or "cells", see `collect`. A seeded `entropy` needs an engine that
        is `ordered`, as the one is that is taken if none is given.
        """
        source, text_key, rule = entropy or Entropy.system(), _key_text(key), _opt_in_rule(opt_in)
        _check_simulation(simulation)
        most = most_bad(max_bad)
        counting = engine or DuckDBEngine(ordered=source.is_seeded)
        _check_order(counting, source)
        progress("one record per user")
        rows = _opened(counting, log, columns)
        group, tally = counting.bound(rows, self.parameters.m_o, text_key)
        on_tally(tally)
        check_tally(tally, most, "log")
        chosen, others = rule(group, text_key)
        if self.parameters.m_c != self.parameters.m_o:
            _, others = rule(counting.bound(rows, self.parameters.m_c, text_key)[0], text_key)
        return self._run_groups(chosen, others, text_key, source, progress, simulation)

    def _run_groups(
        self, opt_in: Group, clients: Group, key: str, entropy: Entropy, progress: Progress, simulation: str = "users"
    ) -> Release:
        p = self.parameters
        discovering, calibrating = opt_in.split(p.f_o, key, "discovery")
        sizes = Sizes(discovering.users, calibrating.users, clients.users)
        _check_sizes(sizes)
        progress(f"discovery: {sizes.discovery:,} opt-in users make the head list")
        found = self.estimator.shortlist(self._discover(discovering, entropy), p.max_queries)
        progress(f"calibration: {sizes.calibration:,} opt-in users estimate its {len(found.head_list):,} queries")
        cells = total(calibrating.over_records(partial(counted_cells, head_list=found.head_list)))
        calibrated = self.estimator.calibrate(cells, found, self.calibration, p.max_queries, entropy)
        head_list: HeadList = calibrated.head_list
        context = self.context(found.restrict(head_list.queries), sizes)
        design = self.design(context, sizes.clients)
        channel = self.channel(head_list, design)
        progress(f"reporting: {sizes.clients:,} clients randomise against {len(head_list):,} queries")
        reports = self.collect(clients, head_list, channel, entropy, simulation)
        progress("blending")
        result = self.estimator.combine(calibrated, reports, channel, context)
        manifest = manifest_of(
            p,
            self.promises(),
            sizes,
            design=design,
            threshold=self.discovery.tau,
            reports=result.client.reports,
            head_list=head_list,
            seeded=entropy.is_seeded,
        )
        return assemble(manifest, result)

    def _discover(self, users: Group, entropy: Entropy) -> Discovery:
        parts = users.over_record_counts(partial(survivors, mechanism=self.discovery, entropy=entropy))
        found = listed(parts)
        if self.candidates is None:
            return found
        counts = total(users.over_records(partial(counted_cells, head_list=self.candidates)))
        return with_candidates(found, self.candidates, counts, self.calibration, entropy)

    def context(self, found: Discovery, sizes: Sizes) -> Context:
        """What is public about the collection once the list is final."""
        noise = self.discovery.noise
        return Context(
            discovery=found,
            discovery_users=sizes.discovery,
            discovery_noise=(noise.mean, noise.variance),
            candidate_variance=self.calibration.noise.variance,
            threshold=self.discovery.tau,
            calibration_users=sizes.calibration,
            calibration_variance=self.calibration.noise.variance,
            project=self.parameters.project,
            robust=self.parameters.robust,
        )

    def design(self, context: Context, clients: int) -> Design:
        """The design of the clients' channel with the least predicted error, where there is a choice."""
        head_list = context.discovery.head_list
        designs = self.randomiser.designs(self.parameters, head_list)
        if len(designs) == 1 or not len(head_list):
            return designs[0]
        known = discovery_evidence(context)
        responses = [Response.of(self.channel(head_list, design)) for design in designs]
        return designs[likely_best(known, fit(known, scale_of(context)), clients, responses)]

    def collect(
        self, clients: Group, head_list: HeadList, channel: AnyChannel, entropy: Entropy, simulation: str = "users"
    ) -> Integers:
        """Let every client report against the list; only the counts of the reported cells are kept.

        With the simulation "users" every client's report is really made, from its own record, where the records are.
        With "cells" the clients are counted by cell first: the same in distribution, and cheaper to repeat.
        """
        if simulation == "cells":
            return simulate(total(clients.over_records(partial(counted_cells, head_list=head_list))), channel, entropy)
        work = partial(counted_reports, head_list=head_list, channel=channel, entropy=entropy)
        return total(clients.over_records(work))


def _opened(engine: Engine, log: TableLike | Source | Path | str, columns: Columns) -> Any:  # noqa: ANN401 (the engine's)
    if isinstance(log, Path | str):
        log = find(log, columns=columns)
    return (
        engine.read(log)
        if isinstance(log, Source)
        else engine.load(as_table(log, "log", levels=columns.levels), columns, "log")
    )


def _check_order(engine: Engine, entropy: Entropy) -> None:
    if entropy.is_seeded and not engine.ordered:
        problem = "rows come in any order, so a run with a seeded entropy does not repeat itself"
        raise ParameterError("engine", problem, "Make the engine with ordered=True, or leave the seed out")


def _not_canonical(record: tuple[str, str | None]) -> bool:
    query, url = record
    return canonical_query(query) != query or (url is not None and canonical_url(url) != url)


def _check_simulation(simulation: str) -> None:
    if simulation not in {"users", "cells"}:
        raise ParameterError("simulation", f"{simulation!r} is unknown", "Use users or cells")


def _opt_in_rule(opt_in: Number | Iterable[str]) -> Callable[[G, str], tuple[G, G]]:
    """How to part a log's users in opt-in users and clients: by share or by name."""
    if isinstance(opt_in, Iterable) and not isinstance(opt_in, str):
        names = pa.array([str(user) for user in opt_in], pa.string())  # read once: it may be a generator
        return lambda group, _: group.part(names)
    share = open_unit(opt_in, "opt_in", "Give the share of the users who opt in, such as 0.05")
    return lambda group, key: group.split(share, key, "opt-in")


def _check_sizes(sizes: Sizes) -> None:
    for group, users, fix in (
        ("discovery users", sizes.discovery, "Bring more opt-in users; if they are named, check that the log has them"),
        ("calibration users", sizes.calibration, "Bring more opt-in users, or lower f_o"),
        ("clients", sizes.clients, "Bring more users who do not opt in"),
    ):
        if users < 2:
            raise GroupError(group, f"there are {users}, and 2 is the least", fix)


def _key_text(key: bytes | None) -> str:
    if not isinstance(key, bytes | None):
        raise ParameterError("key", f"{type(key).__name__} is not bytes", "Give bytes, or leave it out")
    return (system_bytes(16) if key is None else key).hex()
