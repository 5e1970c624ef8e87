"""The solver that never builds the matrix, compared with a dense solution that does."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.stages.layout import Layout
from blender_dp.stages.likelihood.system import Pull, System

FLOOR = 1e-9  # information that every cell has, so that no matrix is singular
COUNTS = st.lists(st.integers(1, 5), min_size=1, max_size=6).map(lambda blocks: [*blocks, 1])


def random_pulls(layout: Layout, numbers: np.random.Generator, commons: int) -> list[Pull]:
    """Evidence as clients give it (J diag(w) J within a block, and more about whole queries), and `commons` others."""
    cells, queries = layout.cell_count, layout.counts.size
    weight = numbers.uniform(0.5, 4, cells)
    gain, leak = numbers.uniform(0.2, 1, queries), numbers.uniform(-0.1, 0.3, queries)
    beside = numbers.uniform(0, 2, queries)
    pulls = [
        Pull(
            score=numbers.normal(size=cells),
            information=layout.per_cell(gain**2) * weight,
            along=weight,
            block=leak**2 * layout.per_query(weight) + beside,
            block_along=gain * leak,
        )
    ]
    pulls += [
        Pull(
            score=numbers.normal(size=cells),
            information=numbers.uniform(0, 3, cells),
            common=numbers.uniform(0, 1, cells),
            common_information=float(numbers.uniform(0.1, 5)),
            common_score=float(numbers.normal()),
        )
        for _ in range(commons)
    ]
    return pulls


def matrix(layout: Layout, pulls: list[Pull]) -> tuple[np.ndarray, np.ndarray]:
    """The whole information matrix and the score, from the definition of a `Pull`."""
    cells = layout.cell_count
    whole, score = FLOOR * np.eye(cells), np.zeros(cells)
    for pull in pulls:
        whole += np.diag(pull.information)
        score += pull.score
        if pull.common is not None:
            whole += pull.common_information * np.outer(pull.common, pull.common)
            score += pull.common_score * pull.common
        if pull.along is not None:
            for q, (start, end) in enumerate(zip(layout.starts, layout.ends, strict=True)):
                ones, along = np.ones(end - start), pull.along[start:end]
                whole[start:end, start:end] += pull.block[q] * np.outer(ones, ones)
                whole[start:end, start:end] += pull.block_along[q] * (np.outer(ones, along) + np.outer(along, ones))
    return whole, score


def dense(layout: Layout, whole: np.ndarray, score: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, ...]:
    """The step that keeps the sum at 1, its covariance and that of the queries, by the KKT matrix."""
    cells = shares.size
    kkt = np.block([[whole, np.ones((cells, 1))], [np.ones((1, cells)), np.zeros((1, 1))]])
    inverse = np.linalg.inv(kkt)
    moved = shares + (inverse @ np.append(score, 1 - shares.sum()))[:-1]
    covariance = inverse[:-1, :-1]
    block = np.equal.outer(np.arange(layout.counts.size), np.repeat(np.arange(layout.counts.size), layout.counts))
    return moved, np.diag(covariance), np.diag(block @ covariance @ block.T)


def assert_solves(step, expected) -> None:
    for found, wanted in zip((step.shares, step.variance, step.query_variance), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)


@given(COUNTS, st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_a_step_equals_the_dense_solution(counts, commons, seed):
    numbers, layout = np.random.default_rng(seed), Layout(counts)
    pulls, shares = random_pulls(layout, numbers, commons), numbers.dirichlet(np.ones(layout.cell_count))
    shares *= numbers.uniform(0.8, 1.2)  # the starting point need not sum to 1
    assert_solves(System.of(layout, pulls).step(shares), dense(layout, *matrix(layout, pulls), shares))


@given(COUNTS, st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_additional_information_moves_cells_towards_its_values(counts, commons, seed):
    numbers, layout = np.random.default_rng(seed), Layout(counts)
    pulls, shares = random_pulls(layout, numbers, commons), numbers.dirichlet(np.ones(layout.cell_count))
    more, towards = (numbers.uniform(0, top, layout.cell_count) for top in (50, 1))
    whole, score = matrix(layout, pulls)
    expected = dense(layout, whole + np.diag(more), score + more * (towards - shares), shares)
    assert_solves(System.of(layout, pulls).step(shares, more, towards), expected)


@given(COUNTS, st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_a_pinned_cell_stays_and_the_others_move_as_without_it(counts, commons, seed):
    """Information beyond all evidence is the same as taking the cell out of the dense system."""
    numbers, layout = np.random.default_rng(seed), Layout(counts)
    pulls, shares = random_pulls(layout, numbers, commons), numbers.dirichlet(np.ones(layout.cell_count))
    pinned = np.zeros(layout.cell_count, bool)
    pinned[numbers.integers(layout.cell_count - 1)] = True
    step = System.of(layout, pulls).step(shares, np.where(pinned, 1e18, 0.0), 0.0)
    whole, score = matrix(layout, pulls)
    move = np.where(pinned, -shares, 0.0)
    rest = ~pinned
    kkt = np.block([[whole[np.ix_(rest, rest)], np.ones((rest.sum(), 1))], [np.ones((1, rest.sum())), np.zeros((1, 1))]])
    side = np.append((score - whole @ move)[rest], 1 - (shares + move).sum())
    move[rest] = np.linalg.solve(kkt, side)[:-1]
    np.testing.assert_allclose(step.shares, shares + move, rtol=1e-6, atol=1e-8)
    assert step.variance[pinned] == pytest.approx(0, abs=1e-12)


def test_a_single_cell_is_certain():
    layout = Layout([1])
    step = System.of(layout, [Pull(np.array([3.0]), np.array([7.0]))]).step(np.array([0.4]))
    assert step.shares == pytest.approx([1])
    assert step.variance == pytest.approx([0])
    assert step.query_variance == pytest.approx([0])


def test_memory_grows_no_faster_than_the_list():
    """5,000 queries with 20,000 records: the matrix would have 6 × 10^8 numbers; no stored array has more than the cells."""
    numbers = np.random.default_rng(1)
    layout = Layout([5] * 5000 + [1])
    system = System.of(layout, random_pulls(layout, numbers, 2))
    shares = numbers.dirichlet(np.ones(layout.cell_count))
    tracemalloc.start()
    step = system.step(shares)
    assert step.variance.size > step.query_variance.size
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    held = [x for part in (system, step, step.covariance) for value in vars(part).values() for x in arrays(value)]
    assert len(held) > 10
    assert max(x.size for x in held) <= layout.cell_count
    assert peak < 40 * layout.cell_count * 8
    assert step.shares.sum() == pytest.approx(1)


def arrays(value: object) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    return [x for part in value for x in arrays(part)] if isinstance(value, list | tuple) else []
