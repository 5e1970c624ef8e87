from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import asdict
from fractions import Fraction
from itertools import product

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp import (
    Blender,
    Columns,
    Entropy,
    GroupError,
    HeadList,
    LogError,
    OutsideTheoremError,
    ParameterError,
    PrivacyWarning,
    Release,
    aol_like,
)
from blender_dp.engines import DuckDBEngine
from blender_dp.parameters import PARTS
from blender_dp.pipeline.collection import Collection
from blender_dp.release.manifest import statements

DELTA = Fraction(1, 100_000)

POPULATION = aol_like(2, users=60_000)
OPT_IN, CLIENTS = POPULATION.slice(0, 20_000), POPULATION.slice(20_000)


def blender(**changes) -> Blender:
    return Blender(**{"epsilon": 4, "delta": 1e-5, "max_queries": 10, **changes})


def run(opt_in=OPT_IN, clients=CLIENTS, seed: int = 1, **changes):
    return blender(**changes).run(opt_in, clients, key=b"k", entropy=Entropy.seeded(seed))


def test_a_run_finds_the_head():
    release = run()
    assert len(release.head_list) == 10
    assert release.trends(1)[0].query == "google"
    assert abs(release.trends(1)[0].share - 0.0211) < 0.006
    assert release.queries[-1].query is None
    assert sum(row.share for row in release.queries) == pytest.approx(1)
    assert sum(row.share for row in release.records) == pytest.approx(1)


@pytest.mark.parametrize("estimator", ["likelihood", "average"])
@pytest.mark.parametrize("project", [True, False])
def test_no_estimate_lies_outside_of_its_own_interval(estimator, project):
    """With little budget, so that many unbiased shares are below 0."""
    release = run(estimator=estimator, project=project, epsilon=1, max_queries=50)
    rows = (*release.queries, *release.records)
    assert all(row.low <= row.share <= row.high for row in rows)
    assert any(row.share < 0 for row in rows) == (estimator == "average" and not project)


def test_the_manifest_says_how_it_was_made():
    manifest = run().manifest
    opt_in, clients = manifest.groups
    assert (opt_in.users, clients.users, manifest.reports) == (20_000, 40_000, 40_000)
    assert manifest.discovery_users + manifest.calibration_users == 20_000
    assert abs(manifest.discovery_users / 20_000 - 0.95) < 0.01
    assert (opt_in.model, clients.model) == ("central", "local")
    assert (opt_in.epsilon, opt_in.delta, clients.epsilon, clients.delta) == (4, DELTA, 4, 0)
    assert "substitution" in opt_in.neighbours
    assert manifest.randomness == "insecure: seeded"
    assert manifest.is_seeded
    assert manifest.settings.profile == "tight"
    assert manifest.canonical_version == 1
    assert manifest.reports_from == "log"
    assert {"blender-dp", "python", "numpy", "duckdb"} <= set(manifest.versions)


def test_the_papers_manifest_says_so():
    manifest = run(profile="paper").manifest
    opt_in, clients = manifest.groups
    assert (opt_in.epsilon, opt_in.delta, clients.epsilon, clients.delta) == (4, DELTA, 4, DELTA)
    settings = manifest.settings
    assert (settings.profile, settings.f_c, settings.subset_size) == ("paper", Fraction(85, 100), 1)
    assert (settings.discovery, settings.randomiser, settings.estimator) == ("laplace", "two-stage", "average")


def test_the_manifest_says_what_was_chosen():
    """With few opt-in users and a small ε reports of several queries are better; and what is given is not chosen."""
    chosen = run(OPT_IN.slice(0, 1000), epsilon=1, delta="0.05", max_queries=200, allow_weak_privacy=True).manifest
    assert chosen.settings.subset_size > 1
    assert chosen.reports == 40_000
    settings = run().manifest.settings
    assert settings.subset_size == 1
    assert settings.f_c in [Fraction(percent, 100) for percent in (98, 95, 92, 90, 88, 85)]
    assert run(randomiser="two-stage").manifest.settings.f_c > 0.85
    assert run(randomiser="two-stage", f_c="0.7").manifest.settings.f_c == Fraction(7, 10)
    given = run(f_c="0.7", subset_size=3).manifest
    assert (given.settings.f_c, given.settings.subset_size, given.reports) == (Fraction(7, 10), 3, 40_000)


def test_no_more_queries_are_told_than_there_are_and_the_manifest_knows():
    release = run(subset_size=500)
    assert (len(release.head_list), release.manifest.settings.subset_size, release.manifest.reports) == (10, 10, 40_000)
    rows = [(str(i), f"q{i}", "https://u.example/") for i in range(600)]
    assert run(rows[:300], rows[300:], subset_size=500).manifest.settings.subset_size == 1  # on an empty list


@pytest.mark.parametrize("parts", list(product(*PARTS.values())), ids="-".join)
def test_parts_mix(parts):
    """All eight mixtures find the head, state what they are made of, and promise what their parts promise."""
    discovery, randomiser, estimator = parts
    release = run(discovery=discovery, randomiser=randomiser, estimator=estimator)
    settings = release.manifest.settings
    assert (settings.discovery, settings.randomiser, settings.estimator) == parts
    assert release.trends(1)[0].query == "google"
    assert abs(release.trends(1)[0].share - 0.0211) < 0.006
    assert sum(row.share for row in release.queries) == pytest.approx(1)
    assert [group.delta for group in release.manifest.groups] == [DELTA, 0 if randomiser == "subset" else DELTA]
    assert "tight" in repr(blender(discovery=discovery, randomiser=randomiser, estimator=estimator))


def test_a_part_is_shown_where_it_is_not_the_profiles():
    assert "estimator='average'" in repr(blender(estimator="average"))
    assert "estimator" not in repr(blender(estimator="likelihood"))
    assert "estimator='likelihood'" in repr(blender(profile="paper", estimator="likelihood"))


def test_a_small_epsilon_works_end_to_end():
    """Where the papers' discovery has no theorem at all."""
    release = run(epsilon="0.1", delta="1e-3", allow_weak_privacy=True)
    assert "google" in release.head_list.queries
    assert sum(row.share for row in release.records) == pytest.approx(1)
    assert abs(release.trends(1)[0].share - 0.0211) < 0.02
    with pytest.raises(OutsideTheoremError, match="epsilon") as caught:
        blender(epsilon="0.1", discovery="laplace")
    assert caught.value.subject == "epsilon"


def digest(release: Release) -> str:
    """Of every number of a release, to the last bit, and of what was promised for it."""
    rows = [asdict(row) for row in (*release.queries, *release.records)]
    m = release.manifest
    facts = [release.head_list.digest, m.reports, m.threshold, m.discovery_users, [asdict(g) for g in m.groups]]
    return hashlib.sha256(json.dumps([rows, facts], default=float).encode()).hexdigest()


@pytest.mark.parametrize(
    ("changes", "simulation", "columns", "expected"),
    [
        ({}, "users", Columns(), "a57a577e9177e0cbd7be106424aa0f9cfcdd0004bd066b5ae531250b3f537d3f"),
        (
            {"max_queries": 50, "project": False},
            "users",
            Columns(),
            "c6443d3a2dca37e817f725a448f6d5719797654529afcca043b6ca29aaa4f1b8",
        ),
        (
            {"f_c": "0.7", "m_c": 2, "epsilon": 1},
            "users",
            Columns(),
            "ddc2793b181603505465f04b3c8fde911f6f08983ba59466c8edf8f19f11b7d6",
        ),
        ({}, "cells", Columns(), "ad203dc71cdcb93227ac129757903e014e195062421d22e21bf82361e7fa0b9e"),
        ({}, "users", Columns(url=None), "482a00be51fda2262422c29daaf9ae53c4397d4c30ea5a11ff5e3b16835c7b26"),
    ],
)
def test_the_papers_profile_gives_what_it_gave_before_there_was_another(changes, simulation, columns, expected):
    """Digests of commit 420a063, the last one with one profile: a seeded run says the same to the last bit.

    Except that an interval now includes its own share where that is below 0 (without projection).
    """
    log = POPULATION if columns.levels == 2 else POPULATION.drop_columns(["url"])
    release = blender(profile="paper", **changes).run_log(
        log, 0.3, columns=columns, key=b"k", entropy=Entropy.seeded(1), simulation=simulation
    )
    assert digest(release) == expected


def test_public_candidates_need_no_threshold():
    """A record that two opt-in users hold, and one that nobody does, are listed and estimated; what is found stays."""
    rare = [("u1", "rare thing", "https://rare.example/"), ("u2", "rare thing", "https://rare.example/")]
    opt_in = pa.concat_tables([OPT_IN, pa.table(dict(zip(OPT_IN.column_names, zip(*rare, strict=True), strict=True)))])
    public = HeadList.of([("rare thing", "https://rare.example/"), ("nobody's", "https://none.example/")])
    plain = run(opt_in, max_queries=10_000)
    release = run(opt_in, max_queries=10_000, candidates=public)
    assert (plain.manifest.candidates, release.manifest.candidates) == (None, public.digest)
    assert not set(public.queries) & set(plain.head_list.queries)
    assert set(public.records()) <= set(release.head_list.records())
    assert set(plain.head_list.queries) - set(release.head_list.queries) == set()
    for row in release.queries:
        if row.query in public.queries:
            assert row.share < 0.001
    for estimator in PARTS["estimator"]:
        shares = run(opt_in, candidates=release.head_list, estimator=estimator).queries
        assert sum(row.share for row in shares) == pytest.approx(1)


def test_candidates_of_another_kind_are_refused():
    items = blender(candidates=HeadList.of([("google", None)]))
    with pytest.raises(ParameterError, match="they are single items, but the records are queries with URLs"):
        items.run(OPT_IN, CLIENTS)
    with pytest.raises(ParameterError, match="candidates: they are single items"):
        items.run_log(OPT_IN, "0.5")


def test_groups_that_agree_are_believed_whole():
    """`robust` changes nothing, to the last bit, as long as chance explains what the groups differ by."""
    doubting, believing = run(), run(robust=False)
    assert not any(row.is_plain for row in doubting.disagreement().queries)
    assert (doubting.queries, doubting.records) == (believing.queries, believing.records)
    assert (doubting.manifest.settings.robust, believing.manifest.settings.robust) == (True, False)


def test_a_seed_repeats_a_run_and_another_one_does_not():
    assert run() == run()
    assert run() != run(seed=2)


def test_real_randomness_is_not_marked():
    release = blender().run(OPT_IN, CLIENTS)
    assert release.manifest.randomness == "system"
    assert release != blender().run(OPT_IN, CLIENTS)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, "rows"])
def test_any_table_gives_the_same_release(kind):
    small = aol_like(2, users=4000)

    def convert(table: pa.Table):
        if kind == "rows":
            return ((row["user"], row["query"], row["url"]) for row in table.to_pylist())
        return kind(table.to_pydict())

    assert run(convert(small.slice(0, 2000)), convert(small.slice(2000))) == run(small.slice(0, 2000), small.slice(2000))


def test_row_order_and_repeats_do_not_matter():
    backwards = pa.concat_tables([OPT_IN.take(pa.array(range(OPT_IN.num_rows - 1, -1, -1))), OPT_IN.slice(0, 500)])
    assert run(backwards) == run()


def test_a_log_is_parted_by_share_or_by_name():
    by_share = blender().run_log(POPULATION, 0.4, key=b"k", entropy=Entropy.seeded(1))
    assert abs(by_share.manifest.groups[0].users - 24_000) < 600
    names = OPT_IN["user"].to_pylist()
    by_name = blender().run_log(POPULATION, names, key=b"k", entropy=Entropy.seeded(1))
    assert by_name == run()
    assert blender().run_log(POPULATION, iter(names), key=b"k", entropy=Entropy.seeded(1)) == by_name


def test_named_users_are_never_clients_too():
    """A generator of names is used up once, and two groups are made from it."""
    names = OPT_IN["user"].to_pylist()
    release = blender(m_c=2, profile="paper").run_log(
        POPULATION, (name for name in names), key=b"k", entropy=Entropy.seeded(1)
    )
    assert [group.users for group in release.manifest.groups] == [20_000, 40_000]


def test_a_file_is_a_log_too(tmp_path):
    path = tmp_path / "log.parquet"
    pq.write_table(POPULATION.rename_columns(["id", "text", "link"]), path)
    release = blender().run_log(path, 0.4, columns=Columns("id", "text", "link"), key=b"k", entropy=Entropy.seeded(1))
    assert release == blender().run_log(
        str(path), 0.4, columns=Columns("id", "text", "link"), key=b"k", entropy=Entropy.seeded(1)
    )
    assert release == blender().run_log(POPULATION, 0.4, key=b"k", entropy=Entropy.seeded(1))


def test_more_reports_per_client_split_the_budget():
    release = run(m_c=2, profile="paper")
    assert release.manifest.reports == 80_000
    assert release.manifest.groups[1].epsilon == 4
    assert blender(m_c=2, profile="paper").collection.channel(release.head_list) != blender().collection.channel(
        release.head_list
    )
    assert len(blender(m_c=2, profile="paper").run_log(POPULATION, 0.4, key=b"k", entropy=Entropy.seeded(1)).head_list) == 10


def test_the_projection_can_be_left_out():
    assert min(row.share for row in run(project=False, max_queries=50, profile="paper").records) < 0
    assert min(row.share for row in run(project=False, max_queries=50).records) >= 0  # a likelihood has none below 0


def test_an_empty_list_is_a_release():
    rows = [(str(i), f"q{i}", "https://u.example/") for i in range(600)]
    release = run(rows[:300], rows[300:])
    assert len(release.head_list) == 0
    assert [row.query for row in release.queries] == [None]
    assert release.trends() == []
    assert release.search("q") == []


def test_progress_is_told():
    steps: list[str] = []
    blender().run(OPT_IN, CLIENTS, progress=steps.append)
    assert [step.split(":")[0] for step in steps] == [
        "one record per user",
        "discovery",
        "calibration",
        "reporting",
        "blending",
    ]


@pytest.mark.parametrize(
    ("changes", "error", "subject"),
    [
        ({"epsilon": 0.6, "profile": "paper"}, OutsideTheoremError, "epsilon"),
        ({"epsilon": 0.6, "discovery": "laplace"}, OutsideTheoremError, "epsilon"),
        ({"m_o": 2, "profile": "paper"}, OutsideTheoremError, "m_o"),
        ({"delta": "1e-40"}, ParameterError, "delta"),  # bounded noise cannot tell it from 0
        ({"delta": "1e-19", "epsilon": "0.1"}, ParameterError, "delta"),
        ({"profile": "loose"}, ParameterError, "profile"),
        ({"discovery": "subset"}, ParameterError, "discovery"),
        ({"randomiser": "geometric"}, ParameterError, "randomiser"),
        ({"estimator": "best"}, ParameterError, "estimator"),
        ({"estimator": ""}, ParameterError, "estimator"),
        ({"subset_size": 0}, ParameterError, "subset_size"),
        ({"subset_size": 2, "randomiser": "two-stage"}, ParameterError, "subset_size"),
        ({"subset_size": 2, "profile": "paper"}, ParameterError, "subset_size"),
        ({"robust": 1}, ParameterError, "robust"),
        ({"m_o": 2}, OutsideTheoremError, "m_o"),
        ({"delta": 0}, ParameterError, "delta"),
        ({"f_o": 1}, ParameterError, "f_o"),
        ({"max_queries": 0}, ParameterError, "max_queries"),
        ({"f_c": 1e-25}, ParameterError, "epsilon"),
        ({"m_c": 10**30}, ParameterError, "m_c"),
        ({"project": "false"}, ParameterError, "project"),
    ],
)
def test_bad_parameters_are_refused_before_any_data_is_touched(changes, error, subject):
    with pytest.raises(error) as caught:
        blender(**changes)
    assert caught.value.subject == subject


def test_bad_groups_are_refused():
    with pytest.raises(GroupError, match="clients as well"):
        run(OPT_IN, POPULATION)
    with pytest.raises(GroupError, match="discovery users: there are 0"):
        run([], CLIENTS)
    with pytest.raises(GroupError, match="calibration users"):
        run(OPT_IN.slice(0, 3), CLIENTS)
    with pytest.raises(GroupError, match="clients: there are 0"):
        run(OPT_IN, [])
    with pytest.raises(LogError, match="no column 'url'"):
        run(OPT_IN.drop_columns(["url"]), CLIENTS)
    with pytest.raises(ParameterError, match="opt_in"):
        blender().run_log(POPULATION, 1.5)
    with pytest.raises(ParameterError, match="key"):
        blender().run(OPT_IN, CLIENTS, key="text")
    with pytest.raises(GroupError, match="check that the log has them"):
        blender().run_log(POPULATION, ["nobody", "there"])


def test_it_shows_its_parameters():
    assert repr(blender()).startswith("Blender(epsilon=4, delta=1/100000, f_o=19/20,")


def test_a_log_of_bad_rows_is_refused_before_anything_is_released(tmp_path):
    blender, heard = Blender(epsilon=4, delta=1e-5), []
    rows = [
        *((None, "q", "https://u.example/") for _ in range(30)),
        *((str(i), "q", "https://u.example/") for i in range(970)),
    ]
    with pytest.raises(LogError, match="30 of 1,000 rows are bad"):
        blender.run_log(rows, "0.5", on_tally=heard.append)
    assert (heard[0].rows, heard[0].bad) == (1000, 30)
    assert blender.run_log(rows, "0.5", max_bad="0.03").manifest.groups[0].users > 400


def test_both_simulations_give_a_release():
    rows = [(str(i), f"q{i % 2}", "https://u.example/") for i in range(4000)]
    for simulation in ("users", "cells"):
        release = Blender(epsilon=4, delta=1e-5).run_log(rows, "0.5", simulation=simulation)
        assert release.head_list.queries == ("q0", "q1")
        assert release.queries[0].client_share == pytest.approx(0.5, abs=0.1)
    with pytest.raises(ParameterError, match="Use users or cells"):
        Blender(epsilon=4, delta=1e-5).run_log(rows, "0.5", simulation="both")


def test_records_without_a_url_are_single_items():
    rows = [(str(i), "Crash 7" if i % 3 else "crash 8") for i in range(6000)]
    blender, items = Blender(epsilon=4, delta=1e-5), Columns(url=None)
    releases = [
        blender.run_log(rows, "0.5", columns=items),
        blender.run(
            rows[:3000], pa.table(dict(zip(("user", "query"), zip(*rows[3000:], strict=True), strict=True))), columns=items
        ),
    ]
    for release in releases:
        assert release.head_list.levels == 1
        assert release.head_list.queries == ("crash 7", "crash 8")
        assert release.queries[0].share == pytest.approx(2 / 3, abs=0.06)
    with pytest.raises(LogError, match=r"3 values.*\(user, query, url\)"):
        blender.run_log(rows, "0.5")


def test_a_seeded_run_needs_an_engine_with_an_order():
    for engine, entropy in ((DuckDBEngine(ordered=True), Entropy.seeded(1)), (DuckDBEngine(), Entropy.system())):
        assert blender().run_log(POPULATION, 0.4, key=b"k", entropy=entropy, engine=engine).head_list
    with pytest.raises(ParameterError, match=r"engine: rows come in any order.*ordered=True"):
        blender().run_log(POPULATION, 0.4, key=b"k", entropy=Entropy.seeded(1), engine=DuckDBEngine())


def test_different_numbers_of_records_do_not_go_into_one_likelihood():
    with pytest.raises(ParameterError, match="m_c: 2 records per client and 1"):
        blender(m_c=2)
    assert blender(m_c=2, estimator="average").parameters.m_c == 2


def test_candidates_must_be_a_head_list():
    with pytest.raises(ParameterError, match="candidates: int is not a head list"):
        blender(candidates=7)


def test_candidates_must_be_canonical():
    with pytest.raises(ParameterError, match="candidates: some records are not in canonical form"):
        blender(candidates=HeadList.of([("Weather ", "HTTP://weather.example")]))


class Unread:
    """A log that must not be read."""

    def __arrow_c_stream__(self, requested_schema=None):
        raise AssertionError("it was read")


def test_an_epsilon_that_protects_nobody_is_refused_before_anything_is_read():
    weak = blender(epsilon=21)
    with pytest.raises(ParameterError, match="epsilon: 21 is above 20"):
        weak.run(Unread(), Unread())
    with pytest.raises(ParameterError, match="epsilon: 21 is above 20"):
        weak.run_log(Unread(), 0.3)


@pytest.mark.parametrize("by", ["groups", "log"])
def test_a_delta_that_exposes_people_is_refused_before_anything_is_listed(by, monkeypatch):
    monkeypatch.setattr(Collection, "make_list", lambda *_: pytest.fail("a list was made"))
    weak, names = blender(delta="1/20000"), set(OPT_IN["user"].to_pylist())
    runs = {
        "groups": lambda: weak.run(OPT_IN, CLIENTS),
        "log": lambda: weak.run_log(pa.concat_tables([OPT_IN, CLIENTS]), names),
    }
    with pytest.raises(ParameterError, match=r"delta: 5e-05 is not below 1 / 20,000 opt-in users .* only one person has"):
        runs[by]()


def test_weak_privacy_is_warned_about_and_what_is_forced_is_recorded():
    with pytest.warns(PrivacyWarning, match="delta: 1e-05 is more than a tenth of 1 / 20,000 opt-in users"):
        usual = run().manifest
    assert not usual.weak_privacy_allowed
    assert usual.expected_exposures == DELTA * usual.discovery_users
    with pytest.warns(PrivacyWarning, match="epsilon: 21 is above 20"):
        forced = run(epsilon=21, delta="1/20000", allow_weak_privacy=True).manifest
    assert forced.weak_privacy_allowed
    assert any("Weak privacy was allowed" in text for text in statements(forced))
    assert any("up to about 0.9" in text for text in statements(forced))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(delta="1e-6")
