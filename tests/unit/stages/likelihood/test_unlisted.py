from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.stages.likelihood.unlisted import expect_unlisted

SCALE = 1e-4
GRID = 300 ** (1 / 24)  # from one factor to the next that is tried
SHARES = st.lists(
    st.tuples(st.floats(-1e-2, 1e-1), st.floats(1e-14, 1.0), st.floats(0.0, 0.5)), min_size=1, max_size=30
).map(lambda rows: np.array(rows).T)


def scattered(size: np.ndarray, factor: float, scatter: float) -> np.ndarray:
    """Shares about factor · size with this relative deviation."""
    spread = np.sqrt(np.log(1 + scatter**2))
    return factor * size * np.exp(spread * np.random.default_rng(3).normal(size=size.size) - spread**2 / 2)


@pytest.mark.parametrize("factor", [0.1, 0.7, 3.0])
@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_the_model_is_learnt_from_the_data(factor, exponent):
    """From 1,000 queries whose unlisted shares are known well: factor, exponent and scatter are recovered."""
    listed = np.geomspace(2 * SCALE, 0.05, 1000)
    size = listed**exponent * SCALE ** (1 - exponent)
    found = expect_unlisted(scattered(size, factor, 0.6), np.full(1000, 1e-14), listed, SCALE)
    assert factor / GRID < found.factor < factor * GRID
    assert (found.exponent, found.scatter) == (exponent, 0.6)
    np.testing.assert_allclose(found.mean, found.factor * size)
    np.testing.assert_allclose(found.variance, (0.6 * found.mean) ** 2)


def test_without_data_the_prior_is_used():
    """A third of a listed record's least share, growing slowly with the query, regardless of the useless estimates."""
    for useless in (-0.5, 0.0, 0.5):
        found = expect_unlisted(np.full(20, useless), np.full(20, 1e6), np.full(20, 0.01), SCALE)
        assert 0.35 / GRID < found.factor < 0.35 * GRID
        assert (found.exponent, found.scatter) == (0.25, 1.7)  # the nearest to 1.5


def test_little_data_moves_the_prior_only_partly():
    """Two queries with 3 times the threshold: the result is above the prior and below the data."""
    found = expect_unlisted(np.full(2, 3 * SCALE), np.full(2, SCALE**2), np.full(2, SCALE), SCALE)
    assert 0.35 * GRID < found.factor < 3 / GRID


@given(SHARES, st.floats(1e-7, 0.1))
def test_no_expectation_is_negative_or_certain(rows, scale):
    shares, variance, listed = rows
    found = expect_unlisted(shares, variance, listed, scale)
    assert (found.mean > 0).all()
    assert (found.variance > 0).all()
    assert np.isfinite(found.mean).all()


def test_a_long_list_is_learnt_from_a_part_of_it():
    """Every query gets an expectation, and that of a list three times as long is the same."""
    short = np.geomspace(2 * SCALE, 0.05, 1000)
    listed = np.repeat(short, 3)
    found, wanted = (
        expect_unlisted(np.repeat(scattered(np.full(1000, SCALE), 1.0, 0.5), n), np.full(1000 * n, 1e-14), x, SCALE)
        for n, x in ((3, listed), (1, short))
    )
    assert found.mean.size == 3000
    np.testing.assert_allclose(found.mean, np.repeat(wanted.mean, 3))
