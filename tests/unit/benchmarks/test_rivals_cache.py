"""A result is used again only if nothing that it depends on has changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks import peers
from benchmarks.rivals import cache, populations, runs
from benchmarks.rivals.populations import Population
from benchmarks.rivals.runs import scored
from benchmarks.rivals.settings import EVIDENCE, OURS, RIVALS, SETTINGS
from blender_dp.evaluation import code_digest as digests

OUE = next(rival for rival in RIVALS if rival.name == "pure-LDP, OUE")


def drawn(seed, *, users):
    """A population of which the seed decides the most popular query."""
    queries = ["a"] * (users // 2 + seed) + ["b"] * (users - users // 2 - seed)
    return pa.table({"user": [str(i) for i in range(users)], "query": queries, "url": ["u"] * users})


def more_for_a(seed, *, users):
    """Other users for the same seed."""
    return drawn(seed + 1, users=users)


SMALL = replace(SETTINGS[0], name="small", make=drawn, users=20, max_queries=2)


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    for module in (cache, populations):
        monkeypatch.setattr(module, "HOME", tmp_path)
    return tmp_path


def test_a_result_is_measured_again_if_what_it_depends_on_changes(monkeypatch):
    results = iter(range(10))

    def found(name, depends_on):
        return cache.remembered(name, depends_on, lambda: next(results))["result"]

    assert [found("a", "x"), found("a", "x"), found("a", "y"), found("b", "x"), found("a", "x")] == [0, 0, 1, 2, 0]
    monkeypatch.setattr(cache, "environment", lambda: "another processor")
    assert found("a", "x") == 3


def test_scripts_depend_on_the_files_that_they_import():
    names = {script: {path.name for path in cache.files_of(peers.FOLDER / script)} for script in EVIDENCE.values()}
    assert names["evidence_opendp.py"] == {"evidence_opendp.py", "evidence.py", "selection_opendp.py", "job.py"}
    assert {"evidence_pure_ldp.py", "oracles_pure_ldp.py", "discovery_pure_ldp.py"} <= names["evidence_local.py"]
    own = {str(path) for path in cache.files_of(Path("benchmarks/rivals/ours.py"))}
    assert own == {"benchmarks/rivals/ours.py", "benchmarks/peers/job.py"}


def test_a_change_of_an_imported_file_is_noticed(tmp_path):
    (tmp_path / "script.py").write_text("from helper import run\n", encoding="utf-8")
    (tmp_path / "helper.py").write_text("run = 1\n", encoding="utf-8")
    before = cache.source_of(tmp_path / "script.py")
    (tmp_path / "helper.py").write_text("run = 2\n", encoding="utf-8")
    assert cache.source_of(tmp_path / "script.py") != before


def test_our_rows_depend_on_all_of_our_code_and_rivals_on_their_pinned_versions(monkeypatch):
    before = {rival: runs.code_of(rival) for rival in (OURS, OUE)}
    assert digests.code_digest() in before[OURS]
    assert "pure-ldp==" in before[OUE]
    monkeypatch.setattr(runs, "code_digest", lambda: "other code")
    assert runs.code_of(OURS) != before[OURS]
    assert runs.code_of(OUE) == before[OUE]


def test_other_users_have_another_fingerprint_and_the_same_users_the_same(monkeypatch):
    population = Population(SMALL, 1)
    population.write()
    first = population.fingerprint
    for name in ("everyone.parquet", "counts.parquet", "values.npy", "codes.txt", "opt-in.txt"):
        assert (population.folder / name).exists()
    monkeypatch.setattr(populations, "code_digest", lambda: "other code")
    again = Population(SMALL, 1)
    again.write()
    assert again.fingerprint == first
    monkeypatch.setattr(populations, "code_digest", lambda: "code that draws other users")
    other = Population(replace(SMALL, make=more_for_a), 1)
    other.write()
    assert other.fingerprint != first


def test_users_are_drawn_again_only_if_the_code_changes(monkeypatch):
    population = Population(SMALL, 1)
    population.write()
    (population.folder / "mark").touch()
    population.write()
    assert (population.folder / "mark").exists()
    monkeypatch.setattr(populations, "code_digest", lambda: "other code")
    population.write()
    assert not (population.folder / "mark").exists()


def test_a_result_is_measured_again_for_other_users_and_scored_every_time(monkeypatch):
    printed = {"shares": {"a": 0.5, "b": 0.5}, "rows": 20, "seconds": 1.0, "report_bytes": None, "peak_bytes": 1}
    commands = []
    monkeypatch.setattr(runs, "_printed", lambda command, _: commands.append(command) or printed)
    one = Population(SMALL, 1)
    one.write()
    for _ in range(2):
        assert runs._measured((OURS, one), {})["result"].scores.query_l1 == pytest.approx(0.1)
    assert len(commands) == 1
    other = Population(replace(SMALL, make=more_for_a), 1)  # the same seed, but other users
    other.write()
    assert runs._measured((OURS, other), {})["result"].scores.query_l1 == pytest.approx(0.2)
    assert len(commands) == 2
    one.write()
    monkeypatch.setattr(runs, "score", lambda *_: "another score")
    assert scored(OURS, one, printed).scores == "another score"
    assert runs._measured((OURS, one), {})["result"].scores == "another score"
    assert len(commands) == 2
