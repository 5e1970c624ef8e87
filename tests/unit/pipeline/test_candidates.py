"""Public candidates."""

from __future__ import annotations

import pyarrow as pa
import pytest

from blender_dp import (
    HeadList,
    ParameterError,
)
from blender_dp.parameters import PARTS
from tests.unit.pipeline.runs import CLIENTS, OPT_IN, blender, run

pytestmark = pytest.mark.slow  # a whole run for every test


def test_public_candidates_need_no_threshold():
    """A record that two opt-in users have, and one that nobody has, are listed and estimated, and so are discovered ones."""
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


def test_candidates_must_be_a_head_list():
    with pytest.raises(ParameterError, match="candidates: int is not a head list"):
        blender(candidates=7)


def test_candidates_must_be_canonical():
    with pytest.raises(ParameterError, match="candidates: some records are not in canonical form"):
        blender(candidates=HeadList.of([("Weather ", "HTTP://weather.example")]))
