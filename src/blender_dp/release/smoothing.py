"""Smooth the shares of many queries over rounds, each in the light of all rounds and of how much all queries move.

From one round to the next the logarithm of a share moves by a normal step, and the expected share stays the same; with a
small probability it jumps anywhere. How large the steps are differs from query to query: each has one of several sizes,
from none to changes that leave nothing to average, and how common each size is, is learnt from all queries together (EM).
So a slow query is averaged over many rounds, and a fast one is left alone. How large the errors are that last from round
to round is learnt in the same way. The share is on a grid, so that nothing needs to be normal: neither a share near 0,
nor what a query's absence from a list says.

Citation: the forward-backward algorithm (Rabiner, 1989) of a hidden Markov model.
Privacy: post-processing of published numbers; it costs nothing.
Cost: time linear in queries and rounds; memory for one query at a time.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from blender_dp.release.estimates import QueryEstimate, margin
from blender_dp.release.normal import Floats, normal_quantile
from blender_dp.release.tracks import Track

STEPS = np.array([0.0, *np.geomspace(0.01, 1.28, 8)])
"""The standard deviations of a step, relative to the share."""

_JUMP = 0.005
_NO_STEP = 1e-6  # far below the width of a cell
_ITERATIONS = 200
_TYPICAL, _FACTOR = 0.03, 4.0  # before any query is seen, most steps are within this factor of this size, or 0
_PSEUDO = 0.5  # that many queries are counted as seen
_NEGLIGIBLE = 1e-3  # the weight of a step size that is not worth computing
_QUANTILES = normal_quantile(np.array([0.025, 0.5, 0.95, 0.975]))
_SMALLEST = 1e-12  # a probability that is as good as 0


@dataclass(frozen=True, eq=False)
class Smoothed:
    """One query's shares in all rounds, with 95 % intervals, and the change from the first round to the last."""

    query: str
    rows: tuple[QueryEstimate | None, ...]
    """The published estimates, None where the query is not listed."""
    shares: Floats
    low: Floats
    high: Floats
    change: tuple[float, float, float]
    """The expected change and its 95 % interval."""


def smooth(tracks: Collection[Track]) -> tuple[list[Smoothed], Floats]:
    """Smooth all tracks; also return how common each of `STEPS` is."""
    likelihoods, visibilities, laws = [], [], np.ones((1, 1))
    for track in tracks:  # each is made when it is looked at
        each = _forward(track, STEPS)[1] + track.log_visibilities[:, None]
        likelihoods.append(np.logaddexp.reduce(each, axis=1))
        visibilities.append(np.exp(each - likelihoods[-1][:, None]))
        laws = track.bias_laws
    weights, belongs = _learn(np.array(likelihoods), laws)
    parts = zip(tracks, belongs, visibilities, strict=True)
    return [_smoothed(track, each[:, None] * visible) for track, each, visible in parts], weights


def _learn(log_likelihoods: Floats, laws: Floats) -> tuple[Floats, Floats]:
    """How common each step size is, and how likely each track has each step size and bias, by the `laws` of the biases."""
    likelihoods = np.exp(log_likelihoods - log_likelihoods.max(axis=(1, 2), keepdims=True))
    weights = prior = _typical_steps()
    scales = equal = np.full(len(laws), 1 / len(laws))
    belongs = likelihoods
    for _ in range(_ITERATIONS):
        biases = scales @ laws
        belongs = weights[:, None] * biases * likelihoods
        belongs = belongs / belongs.sum(axis=(1, 2), keepdims=True)
        weights = _shares_of(belongs.sum(axis=(0, 2)), prior)
        scales = _shares_of((scales[:, None] * laws / biases) @ belongs.sum(axis=(0, 1)), equal)
    return weights, belongs


def _shares_of(counts: Floats, prior: Floats) -> Floats:
    shares: Floats = (counts + _PSEUDO * prior) / (counts.sum() + _PSEUDO)
    return shares


def _typical_steps() -> Floats:
    """How common each of `STEPS` is, before any query is seen."""
    logs = np.log(np.maximum(STEPS, STEPS[1]) / _TYPICAL) / np.log(_FACTOR)
    relative = np.exp(-0.5 * logs**2)
    weights: Floats = relative / relative.sum()
    return weights


def _transitions(track: Track, steps: Floats) -> Floats:
    """For each step size, the probability of every share after every share; a step far smaller than a cell is none."""
    logs, widths = track.logs, track.widths
    sizes = np.maximum(steps, _NO_STEP)[:, None, None]
    moves = widths * np.exp(-0.5 * ((logs - logs[:, None]) / sizes + sizes / 2) ** 2)
    moves = (1 - _JUMP) * moves / moves.sum(axis=2, keepdims=True) + _JUMP * widths / widths.sum()
    return np.asarray(moves)


def _scaled(track: Track) -> tuple[Floats, Floats]:
    """The likelihoods of every round, relative to the largest one, whose logarithm is returned as well."""
    largest = track.log_likelihood.max(axis=(1, 2, 3), keepdims=True)
    return np.exp(track.log_likelihood - largest), largest.ravel()


def _forward(track: Track, steps: Floats) -> tuple[list[Floats], Floats]:
    """For every round, the belief about the share from it and the rounds before; and the log-likelihood of all rounds.

    Axes: step size, visibility, bias, share. Before the first round, all orders of magnitude of a share are equally likely.
    """
    likelihoods, _ = _scaled(track)
    moves = _transitions(track, steps)[:, None]  # for all visibilities
    belief = np.broadcast_to(track.widths / track.widths.sum(), (steps.size, *likelihoods.shape[1:]))
    beliefs, total = [], np.zeros((steps.size, *likelihoods.shape[1:3]))
    for number, likelihood in enumerate(likelihoods):
        belief = (belief @ moves if number else belief) * likelihood
        mass = belief.sum(axis=3, keepdims=True) + np.finfo(float).tiny
        belief = belief / mass
        total += np.log(mass[..., 0])
        beliefs.append(belief)
    return beliefs, total


def _smoothed(track: Track, belongs: Floats) -> Smoothed:
    """Add what later rounds say, and mix the step sizes, visibilities and biases, which `belongs` gives probabilities."""
    chosen = belongs.sum(axis=(1, 2)) > _NEGLIGIBLE
    weights = (belongs[chosen] / belongs[chosen].sum())[..., None]
    moves = np.swapaxes(_transitions(track, STEPS[chosen]), 1, 2)[:, None]
    beliefs, _ = _forward(track, STEPS[chosen])
    likelihoods, _ = _scaled(track)
    ahead = np.ones_like(beliefs[0])  # the likelihood of all later rounds, for every share of this one
    last = np.broadcast_to(track.shares, ahead.shape)  # the same, times the expected last share
    posteriors = []
    for number in range(len(beliefs) - 1, -1, -1):
        joint = beliefs[number] * ahead
        mass = joint.sum(axis=3, keepdims=True) + np.finfo(float).tiny
        posteriors.append((weights * joint / mass).sum(axis=(0, 1, 2)))
        if number:
            ahead, last = (likelihoods[number] * ahead) @ moves, (likelihoods[number] * last) @ moves
            scale = ahead.max(axis=3, keepdims=True) + np.finfo(float).tiny
            ahead, last = ahead / scale, last / scale
    product = float((weights * beliefs[0] * last * track.shares / mass).sum())  # of the first and the last share
    return _summary(track, np.array(posteriors[::-1]), product)


def _summary(track: Track, posteriors: Floats, product: float) -> Smoothed:
    posteriors = posteriors / posteriors.sum(axis=1, keepdims=True)
    # Half of a cell is below its share, or less if the probabilities rise (Euler and Maclaurin).
    below = np.cumsum(posteriors, axis=1) - 0.5 * posteriors - np.gradient(posteriors, axis=1) / 12
    below = np.maximum.accumulate(np.clip(below, _SMALLEST, 1 - _SMALLEST), axis=1)
    scores = normal_quantile(below)  # nearly linear between two shares, also in the tails
    low, middle, most, high = (
        np.array([np.interp(quantile, row, track.shares) for row in scores]) for quantile in _QUANTILES
    )
    means, squares = posteriors @ track.shares, posteriors @ track.shares**2
    change = float(means[-1] - means[0])
    spread = margin(max(float(squares[-1] + squares[0]) - 2 * product - change**2, 0.0))
    # An interval that nearly begins at 0 begins there, and the probability that is left is all above it.
    from_0 = low < track.offset
    low, high = np.where(from_0, 0.0, low), np.where(from_0, most, high)
    return Smoothed(track.query, track.rows, middle, low, high, (change, change - spread, change + spread))
