"""How a query's share may move from round to round: eleven kinds of movement, each a hidden Markov model of the share.

A query has a level. From one round to the next the logarithm of the level moves by a normal step, and the expected level
stays the same. Nine kinds differ in how large the steps are: from none to changes that leave nothing to average. The tenth
has frequent events, and the last goes up and down around its level, as with the seasons.

An event multiplies a share by any factor: small factors are more probable, but none is excluded. Half of the events last,
so that the level jumps. The others are over after one round, as when a query is in the news: only that round's share
deviates from the level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blender_dp.release.normal import Floats
from blender_dp.release.tracks import Track

_SIZES = (0.0, *np.geomspace(0.01, 1.28, 8).tolist())
_SLOW = 0.01
STEPS = np.array([*_SIZES, _SLOW, _SLOW])
"""By kind: the standard deviation of a step, relative to the share."""

EVENTS = np.array([0.01] * len(_SIZES) + [0.1, 0.01])
"""By kind: the probability that a round has an event; half of them last."""

SWINGS = np.array([False] * (len(_SIZES) + 1) + [True])
"""By kind: whether every round deviates from the level."""

_SWING = 0.35  # the standard deviation of these deviations, relative to the share
_EVENT, _BROAD = 0.5, 0.5  # the typical logarithm of an event's factor, but this part of the events lead anywhere
_NO_STEP = 1e-6  # far below the width of a cell
_IMPOSSIBLE = -200.0  # the logarithm of a likelihood that is as good as 0
_TYPICAL, _FACTOR = 0.03, 4.0  # before any query is seen, most steps are within this factor of this size, or 0
_SPECIAL = 0.05  # before any query is seen, this part of the queries has each of the last two kinds


def typical() -> Floats:
    """How common each kind is, before any query is seen."""
    sizes = np.maximum(_SIZES, _SIZES[1])
    relative = np.exp(-0.5 * (np.log(sizes / _TYPICAL) / np.log(_FACTOR)) ** 2)
    special = STEPS.size - sizes.size
    weights: Floats = np.append((1 - special * _SPECIAL) * relative / relative.sum(), [_SPECIAL] * special)
    return weights


@dataclass(frozen=True, eq=False)
class Movement:
    """The probabilities of levels and shares on a track's grid, for some of the kinds.

    Axes: kind, from level, to level or share.
    """

    track: Track
    kinds: np.ndarray

    @cached_property
    def moves(self) -> Floats:
        """The probability of every level after every level."""
        sizes = np.maximum(STEPS[self.kinds], _NO_STEP)[:, None, None]  # a step far smaller than a cell is none
        steps = self._law(np.exp(-0.5 * (self._apart / sizes + sizes / 2) ** 2))
        lasting = EVENTS[self.kinds, None, None] / 2
        return np.asarray((1 - lasting) * steps + lasting * self._event)

    @cached_property
    def chances(self) -> Floats:
        """By kind: the probability that a round's share is the level, that it is near it, and that it has an event."""
        once, swings = EVENTS[self.kinds] / 2, SWINGS[self.kinds]
        return np.column_stack([(1 - once) * ~swings, (1 - once) * swings, once])

    @cached_property
    def likelihoods(self) -> Floats:
        """By round, visibility, bias and share, relative to the largest one of the round.

        No likelihood is 0: if every share were impossible in some round, nothing could be said about any round.
        """
        logs = self.track.log_likelihood
        return np.asarray(np.exp(np.maximum(logs - logs.max(axis=(1, 2, 3), keepdims=True), _IMPOSSIBLE)))

    def given_level(self, number: int) -> Floats:
        """The likelihoods of this round by kind, visibility, bias and level."""
        return np.tensordot(self.chances, self._by_case[:, number], axes=1)

    @cached_property
    def _by_case(self) -> Floats:
        return self.of_levels(self.likelihoods)

    def of_levels(self, of_shares: Floats) -> Floats:
        """The likelihoods of levels in each of these three cases, given those of the shares, the last axis."""
        return np.stack([of_shares, *(of_shares @ law.T for law in self._deviations)])

    def to_shares(self, levels: Floats) -> Floats:
        """The probabilities of shares, given those of the levels in each of the three cases, the first axis."""
        result: Floats = levels[0] + sum(one @ law for one, law in zip(levels[1:], self._deviations, strict=True))
        return result

    @cached_property
    def anywhere(self) -> Floats:
        """The probabilities of a level of which nothing is known: all orders of magnitude are equally likely."""
        return np.asarray(self.track.widths / self.track.widths.sum())

    @cached_property
    def _deviations(self) -> tuple[Floats, Floats]:
        return self._law(np.exp(-0.5 * (self._apart / _SWING) ** 2)), self._event

    @cached_property
    def _event(self) -> Floats:
        law: Floats = (1 - _BROAD) * self._law(np.exp(-np.abs(self._apart) / _EVENT)) + _BROAD * self.anywhere
        return law

    @cached_property
    def _apart(self) -> Floats:
        logs = self.track.logs
        return np.asarray(logs - logs[:, None])

    def _law(self, density: Floats) -> Floats:
        masses = density * self.track.widths
        return np.asarray(masses / masses.sum(axis=-1, keepdims=True))
