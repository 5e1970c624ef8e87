"""The maximum-likelihood shares given all evidence: non-negative, summing to 1, with their errors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from blender_dp.stages.layout import Flags, Floats, Layout
from blender_dp.stages.likelihood.evidence import Evidence
from blender_dp.stages.likelihood.system import Step, System
from blender_dp.stages.likelihood.unlisted import Expectation, expect_unlisted

_STEPS = 60
_WHOLE_STEPS = 12  # shares that have not converged by then oscillate: shorter and shorter steps damp them
_LEARNING_STEPS = 5  # the expectation about unlisted URLs is learnt in these, then fixed so that the shares converge
_SETTLED = 1e-3  # of a standard error
_PINNED = 1e9  # times as much information as there is about a cell: it does not move
_LEAST = 1e-12


@dataclass(frozen=True)
class Fit:
    """The shares of all cells and of all queries (⋆ last), with the variances of both as estimates of a population."""

    shares: Floats
    variance: Floats
    query_shares: Floats
    query_variance: Floats
    unlisted: Expectation | None
    settled: bool
    """Whether the shares converged: the last step moved each one by less than a thousandth of its error."""


def fit(evidence: Evidence, scale: float) -> Fit:
    """Maximise the likelihood by Newton's method, with variances at the current estimate.

    `scale` is the share of a record at the threshold, which bounds the unlisted URLs (`unlisted.py`). Cells that would
    become negative are held at 0.
    """
    layout = evidence.layout
    hidden = hidden_cells(layout)
    shares = _start(evidence, hidden)
    expected: Expectation | None = None
    more, towards = np.zeros_like(shares), np.zeros_like(shares)
    for number in range(_STEPS):
        system = System.of(layout, evidence.pulls(shares))
        if number < _LEARNING_STEPS and hidden.any():
            expected = _expected(evidence, shares, hidden, scale, expected)
            more[hidden], towards[hidden] = 1 / expected.variance, expected.mean
        step = _not_negative(system, shares, more, towards)
        settled = bool(np.all(np.abs(step.shares - shares) <= _SETTLED * np.sqrt(step.variance) + _LEAST))
        pace = 1.0 if settled else 1 / max(number - _WHOLE_STEPS + 2, 1)
        shares = np.maximum(shares + pace * (step.shares - shares), _LEAST)
        if settled and number >= _LEARNING_STEPS:
            break
    shares = shares / shares.sum()
    return Fit(shares, step.variance, layout.per_query(shares), step.query_variance, expected, settled)


def _expected(evidence: Evidence, shares: Floats, hidden: Flags, scale: float, before: Expectation | None) -> Expectation:
    """The expectation about the hidden cells, learnt from their estimates without any expectation.

    Their variances are those at the expected shares: at each cell's own estimate, cells with few users would seem to be
    better known, and count more.
    """
    layout, at = evidence.layout, shares.copy()
    at[hidden] = shares[hidden].mean() if before is None else before.mean
    free = System.of(layout, evidence.pulls(at)).step(at)
    listed = layout.per_query(np.where(hidden, 0.0, shares))
    return expect_unlisted(free.shares[hidden], free.variance[hidden], listed[layout.query_of[hidden]], scale)


def _not_negative(system: System, shares: Floats, more: Floats, towards: Floats) -> Step:
    """One step after which no share is below 0: cells that would be are held at 0, and the others move again.

    The variances are those of the step without holding: holding a share does not make it better known.
    """
    held = np.zeros(shares.size, np.bool_)
    step = free = system.step(shares, more, towards)
    while (below := (step.shares < 0) & ~held).any():
        held |= below
        step = system.step(shares, more + np.where(held, _PINNED * system.diagonal, 0.0), np.where(held, 0.0, towards))
    return replace(free, shares=step.shares)


def hidden_cells(layout: Layout) -> Flags:
    """The cells ⟨q, ⋆⟩ of queries with URLs: discovery has no count of them."""
    hidden = np.zeros(layout.cell_count, np.bool_)
    hidden[layout.star_cells[layout.counts > 1]] = True
    return hidden


def _start(evidence: Evidence, hidden: Flags) -> Floats:
    """Shares to start from: positive and roughly right."""
    layout, released, reported = evidence.layout, evidence.released, evidence.reported
    shares = np.full(layout.cell_count, 1e-4)
    if released is not None:
        counted = np.maximum(released.counts - released.mean, 0.5) / released.users
        shares = np.where(released.known, counted, shares)
    elif reported is not None:
        response = reported.response
        excess = layout.per_query(reported.counts / reported.clients) - response.query_lie
        queries = np.maximum(excess / (response.query_truth - response.query_lie), 1e-5)
        shares = layout.per_cell(queries / layout.counts)
    shares[hidden] = np.minimum(shares[hidden], 1e-4)
    shares[-1] = max(1 - shares[:-1].sum(), 0.05)
    start: Floats = shares / shares.sum()
    return start
