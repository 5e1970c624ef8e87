from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from blender_dp import ParameterError
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.shapes import shape_of
from blender_dp.planning.outline import Outline
from blender_dp.planning.sources import outline_of

TABLE = pa.table({"query": ["a", "b", "b", "c"], "url": ["x", "y", "z", "x"], "count": [100, 300, 250, 50]})


def test_a_shape_has_records_for_its_top_queries():
    outline = outline_of("aol")
    assert (outline.name, outline.users, outline.levels) == ("aol", 519_371, 2)
    records = outline.records(np.arange(1_000), "seed")
    assert np.bincount(records.query_of, weights=records.shares) == pytest.approx(outline.query_shares[:1_000])
    assert records.query_of.size == pytest.approx(1_000 / 0.3, rel=0.15)  # URLs per query: geometric with mean 1 / 0.3
    again, other = outline.records(np.arange(1_000), "seed"), outline.records(np.arange(1_000), "other")
    assert again.shares.tolist() == records.shares.tolist() != other.shares.tolist()


def test_the_urls_are_like_those_of_the_synthetic_logs():
    shape = shape_of("zipf:1.5", 200_000)
    drawn, planned = Population.of_shape(shape, 3), Outline.of_shape("zipf", shape).records(np.arange(300), "3")
    real = np.array([drawn.counts[drawn.query_of == q].max() / drawn.query_counts[q] for q in range(60)])
    firsts = np.array([planned.shares[planned.query_of == q].max() / shape.query_shares[q] for q in range(300)])
    assert firsts.mean() == pytest.approx(real.mean(), abs=0.1)


def test_counted_users_are_sorted_by_popularity():
    outline = outline_of(Population.of_counts(TABLE, 1_000))
    assert outline.query_shares == pytest.approx([0.55, 0.1, 0.05])
    records = outline.records(np.array([0, 2]), "")
    assert records.query_of.tolist() == [0, 0, 2]
    assert records.shares == pytest.approx([0.3, 0.25, 0.05])
    assert outline_of(outline) is outline


def test_an_unknown_shape_is_refused():
    with pytest.raises(ParameterError, match="neither a shape nor a file"):
        outline_of("nothing")
