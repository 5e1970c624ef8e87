"""Smooth the shares of many queries over rounds, each in the light of all rounds and of how all queries move.

How a share moves differs from query to query: each has one of several kinds of movement (see `movement`), and how common
each kind is, is learnt from all queries together (EM). So a slow query is averaged over many rounds, a fast one is left
alone, and an event of one round is recognised if its evidence is strong enough for how rare events are. How large the
errors are that last from round to round is learnt in the same way. The share is on a grid, so that nothing needs to be
normal: neither a share near 0, nor what a query's absence from a list says.

Citation: the forward-backward algorithm (Rabiner, 1989) of a hidden Markov model.
Privacy: post-processing of published numbers; it costs nothing.
Cost: time linear in queries and rounds; memory for one query at a time.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from blender_dp.release.estimates import QueryEstimate
from blender_dp.release.movement import STEPS, Movement, typical
from blender_dp.release.normal import Floats, normal_quantile
from blender_dp.release.tracks import Track
from blender_dp.stages import Integers

_ITERATIONS = 200
_PSEUDO = 0.5  # that many queries are counted as seen before any is
_NEGLIGIBLE = 1e-3  # the weight of a kind of movement that is not worth computing
_MOST, _CASES = 0.999, 128  # a change follows the most probable cases: this much of the probability, or so many
_WORK = 1e10  # and fewer, if the multiplications of a long series on a fine grid would take seconds
_CELL = 3e-3  # a last share that is less probable is counted with its neighbour
_QUANTILES = normal_quantile(np.array([0.025, 0.5, 0.95, 0.975]))
_ENDS = np.array([0.025, 0.975])
_SMALLEST = 1e-12  # a probability that is as good as 0
_TINY = np.finfo(float).tiny


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
    """The last share minus the first, and the 95 % interval of this difference."""


def smooth(tracks: Collection[Track]) -> tuple[list[Smoothed], Floats]:
    """Smooth all tracks; also return how common each kind of movement is."""
    likelihoods, visibilities, laws = [], [], np.ones((1, 1))
    for track in tracks:  # each is made when it is looked at
        each = _forward(Movement(track, np.arange(STEPS.size)))[1] + track.log_visibilities[:, None]
        likelihoods.append(np.logaddexp.reduce(each, axis=1))
        visibilities.append(np.exp(each - likelihoods[-1][:, None]))
        laws = track.bias_laws
    weights, belongs = _learn(np.array(likelihoods), laws)
    parts = zip(tracks, belongs, visibilities, strict=True)
    return [_smoothed(track, each[:, None] * visible) for track, each, visible in parts], weights


def _learn(log_likelihoods: Floats, laws: Floats) -> tuple[Floats, Floats]:
    """How common each kind is, and how likely each track has each kind and bias, by the `laws` of the biases."""
    likelihoods = np.exp(log_likelihoods - log_likelihoods.max(axis=(1, 2), keepdims=True))
    weights = prior = typical()
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


def _forward(movement: Movement) -> tuple[list[Floats], Floats]:
    """For every round, the belief about the level from the rounds before it; and the log-likelihood of all rounds.

    Axes: kind, visibility, bias, level.
    """
    moves = movement.moves[:, None]  # for all visibilities
    belief = np.broadcast_to(movement.anywhere, (movement.kinds.size, *movement.likelihoods.shape[1:]))
    beliefs, total = [], np.zeros(belief.shape[:3])
    for number in range(len(movement.likelihoods)):
        belief = belief @ moves if number else belief
        beliefs.append(belief)
        belief = belief * movement.given_level(number)
        mass = belief.sum(axis=3, keepdims=True) + _TINY
        belief = belief / mass
        total += np.log(mass[..., 0])
    return beliefs, total


def _smoothed(track: Track, belongs: Floats) -> Smoothed:
    """Add what later rounds say, and mix the kinds, visibilities and biases, which `belongs` gives probabilities."""
    chosen = np.flatnonzero(belongs.sum(axis=(1, 2)) > _NEGLIGIBLE)
    belongs = belongs[chosen] / belongs[chosen].sum()
    movement = Movement(track, chosen)
    beliefs, _ = _forward(movement)
    moves = np.swapaxes(movement.moves, 1, 2)[:, None]
    ahead = np.ones_like(beliefs[0])  # the likelihood of all later rounds, for every level of this one
    posteriors = []
    for number in range(len(beliefs) - 1, -1, -1):
        other = beliefs[number] * ahead  # of the level, given all other rounds
        ahead = ahead * movement.given_level(number)
        mass = (beliefs[number] * ahead).sum(axis=3, keepdims=True) + _TINY
        levels = np.tensordot(movement.chances, belongs[..., None] * other / mass, axes=(0, 0))
        posteriors.append((movement.likelihoods[number] * movement.to_shares(levels)).sum(axis=(0, 1)))
        if number:
            ahead = ahead @ moves
            ahead = ahead / (ahead.max(axis=3, keepdims=True) + _TINY)
    shares = np.array(posteriors[::-1])
    shares /= shares.sum(axis=1, keepdims=True)
    middle, low, high = _intervals(track, shares)
    change = float(middle[-1] - middle[0])
    least, most = _change(movement, belongs, shares[0], shares[-1]) if len(shares) > 1 else (0.0, 0.0)
    return Smoothed(track.query, track.rows, middle, low, high, (change, min(least, change), max(most, change)))


def _intervals(track: Track, posteriors: Floats) -> tuple[Floats, Floats, Floats]:
    """The medians and the ends of the 95 % intervals of every round's share."""
    # Half of a cell is below its share, or less if the probabilities rise (Euler and Maclaurin).
    below = np.cumsum(posteriors, axis=1) - 0.5 * posteriors - np.gradient(posteriors, axis=1) / 12
    below = np.maximum.accumulate(np.clip(below, _SMALLEST, 1 - _SMALLEST), axis=1)
    scores = normal_quantile(below)  # nearly linear between two shares, also in the tails
    low, middle, most, high = (
        np.array([np.interp(quantile, row, track.shares) for row in scores]) for quantile in _QUANTILES
    )
    # An interval that nearly begins at 0 begins there, and the probability that is left is all above it.
    from_0 = low < track.offset
    return middle, np.where(from_0, 0.0, low), np.where(from_0, most, high)


def _change(movement: Movement, belongs: Floats, first: Floats, last: Floats) -> tuple[float, float]:
    """The 95 % interval of the last share minus the first, from their joint distribution.

    The most probable cases of kind, visibility and bias are followed. What they leave of either share's probabilities is
    joined as if both were independent: positive dependence, which all cases have, would make the interval shorter.
    """
    parts = _parts(last)
    most = int(_WORK / (len(movement.likelihoods) * len(parts) * last.size**2))
    order = np.argsort(-belongs, axis=None)
    cases = order[: min(int(np.searchsorted(np.cumsum(belongs.ravel()[order]), _MOST)) + 1, _CASES, max(most, 1))]
    kinds = cases // belongs[0].size
    joint = np.zeros_like(parts)
    for kind in np.unique(kinds):
        _, visibility, bias = np.unravel_index(cases[kinds == kind], belongs.shape)
        each = _joint(movement, kind, visibility, bias, parts)
        joint += np.tensordot(belongs[kind, visibility, bias], each, axes=1)
    rest = np.maximum(parts @ last - joint.sum(axis=1), 0.0), np.maximum(first - joint.sum(axis=0), 0.0)
    joint += np.outer(*rest) / max(rest[0].sum(), _SMALLEST)
    return _difference(movement.track, joint, (parts * last) @ movement.track.shares / (parts @ last))


def _joint(movement: Movement, kind: int, visibility: Integers, bias: Integers, parts: Floats) -> Floats:
    """For each visibility with its bias: the probabilities of every part of the last shares (row) and every first share."""
    chances, backwards = movement.chances[kind], movement.moves[kind].T
    of_shares = movement.likelihoods[:, visibility, bias]
    of_levels = np.tensordot(chances, movement.of_levels(of_shares), axes=1)
    ahead = np.tensordot(chances, movement.of_levels(of_shares[-1][:, None] * parts), axes=1)
    for likelihood in of_levels[-2:0:-1]:
        ahead = (ahead @ backwards) * likelihood[:, None]
        ahead = ahead / (ahead.max(axis=(1, 2), keepdims=True) + _TINY)
    levels = chances[:, None, None, None] * (movement.anywhere * (ahead @ backwards))
    joint = of_shares[0][:, None] * movement.to_shares(levels)
    return np.asarray(joint / (joint.sum(axis=(1, 2), keepdims=True) + _TINY))


def _parts(last: Floats) -> Floats:
    """Parts of the last shares, as rows of 0 and 1: every plausible one, with its implausible neighbours."""
    plausible = np.flatnonzero(last > min(_CELL, last.max() / 2))
    nearest = np.abs(np.arange(last.size) - plausible[:, None]).argmin(axis=0)
    return np.asarray(nearest == np.arange(plausible.size)[:, None], float)


def _difference(track: Track, joint: Floats, last: Floats) -> tuple[float, float]:
    """The 95 % interval, given the probabilities of all parts of the last shares and all first shares."""
    # A share below the offset may be 0: the end of the interval uses whichever makes the interval longer.
    first, first_0, last_0 = (np.where(shares < track.offset, 0.0, shares) if to_0 else shares
                              for shares, to_0 in ((track.shares, False), (track.shares, True), (last, True)))  # fmt: skip
    ends = []
    for end, differences in zip(_ENDS, (last_0[:, None] - first, last[:, None] - first_0), strict=True):
        order = np.argsort(differences, axis=None)
        masses = joint.ravel()[order] / joint.sum()
        ends.append(float(np.interp(end, np.cumsum(masses) - 0.5 * masses, differences.ravel()[order])))
    return ends[0], ends[1]
