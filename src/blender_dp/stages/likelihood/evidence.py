"""The evidence about the shares of a list's cells: noisy linear observations, from three disjoint groups of users.

For given shares, every kind of evidence has a direction in which the shares should move (the score) and a precision (the
information). Variances are computed at the given shares, never at the noisy observation: an estimate that is low by chance
must not be trusted more because of that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from blender_dp.stages.layout import Flags, Floats, Layout
from blender_dp.stages.likelihood.system import Pull
from blender_dp.stages.response import Response

_TYPICAL_TAIL = 1.0
_TYPICAL_WEIGHT = 10.0
_MEDIAN = 1 / 3  # the difference between mean and median of a Gamma distribution of shape n


@dataclass(frozen=True)
class Released:
    """Discovery's noisy counts. They are known only for the cells of records that were listed."""

    counts: Floats
    known: Flags
    thresholded: Flags
    """Which records were listed because of a high noisy count; public candidates were not."""
    users: int
    mean: Floats | float
    variance: Floats | float
    threshold: float
    trust: Floats | float = 1.0

    def pull(self, shares: Floats) -> Pull:
        """Counts are binomial, and every user has one record, so their covariance is a diagonal plus a matrix of rank one.

        A record is listed because its noisy count was high, so the count alone would overestimate it. The counts follow a
        power law; its exponent, learnt from all listed records, says how many records of each size there are to list.
        """
        residual = np.where(self.known, self.counts - self.mean - self.users * shares, 0.0)
        return self._pull(residual - self._excess(shares), shares)

    def selection(self, shares: Floats) -> Floats:
        """By how much the scores are lowered because records were listed for their high noisy counts."""
        pull = self._pull(self._excess(shares), shares)
        return pull.score + pull.common_score * np.asarray(pull.common)

    def _excess(self, shares: Floats) -> Floats:
        """By how much the noisy counts of listed records are too high on average."""
        expected = self.users * shares
        bias = self.tail_exponent + _MEDIAN
        return np.where(self.thresholded, bias * (expected + self.variance) / np.maximum(expected, 2.0), 0.0)

    def _pull(self, residual: Floats, shares: Floats) -> Pull:
        n, known = self.users, self.known
        expected = n * shares
        variance = np.where(known, expected + self.variance, 1.0)
        trust = np.where(known, self.trust, 0.0)
        common = trust * expected / variance
        left = max(1 - float(common @ shares), 1e-6)
        return Pull(
            score=n * trust * residual / variance,
            information=n**2 * trust / variance,
            common=common,
            common_information=n / left,
            common_score=float(common @ residual) / left,
        )

    @cached_property
    def tail_exponent(self) -> float:
        """Hill's estimate of the exponent of the counts' power law, shrunk towards 1 if there are few counts."""
        counts = self.counts[self.thresholded]
        start = self.threshold + 0.5
        logs = np.log(np.maximum(counts, start) / start)
        estimate = (counts.size + _TYPICAL_WEIGHT) / (float(logs.sum()) + _TYPICAL_WEIGHT / _TYPICAL_TAIL)
        return float(np.clip(estimate, 0.2, 2.0))


@dataclass(frozen=True)
class Measured:
    """Calibration's noisy counts of all cells."""

    counts: Floats
    users: int
    variance: float
    trust: Floats | float = 1.0

    def pull(self, shares: Floats) -> Pull:
        """Treat counts as independent Poisson: with all cells counted and shares summing to 1, this is the multinomial."""
        n = self.users
        variance = n * shares + self.variance
        return Pull(n * self.trust * (self.counts - n * shares) / variance, n**2 * self.trust / variance)


@dataclass(frozen=True)
class Reported:
    """How often every cell was reported, and the number of clients."""

    counts: Floats
    clients: int
    response: Response

    def pull(self, shares: Floats) -> Pull:
        """Treat reports as independent counts, with a URL drawn within each query.

        A report contains exactly `size` queries. That makes the counts dependent, but only through their sum, which is
        known. Conditioned on it, independent counts of variance r(1 - βr) have the right covariance.
        """
        response, n, layout = self.response, self.clients, self.response.layout
        expected = np.maximum(response.expected(shares), 1e-300)
        inverse = 1 / expected
        of_queries = layout.per_query(expected)
        k = layout.counts.size
        beta = k * (response.size - 1) / (response.size * max(k - 1, 1))
        coupling = beta / np.maximum(1 - beta * of_queries, 1e-9)
        gain, leak = response.gain, response.leak
        residual = self.counts / n - expected
        weighted = inverse * residual + layout.per_cell(coupling * layout.per_query(residual))
        whole = gain + leak * layout.counts
        return Pull(
            score=n * (response.cell_gain * weighted + layout.per_cell(leak * layout.per_query(weighted))),
            information=n * response.cell_gain**2 * inverse,
            along=inverse,
            block=n * (leak**2 * layout.per_query(inverse) + coupling * whole**2),
            block_along=n * gain * leak,
        )


@dataclass(frozen=True)
class Evidence:
    """All evidence about one list; missing kinds are None."""

    layout: Layout
    released: Released | None = None
    measured: Measured | None = None
    reported: Reported | None = None

    def pulls(self, shares: Floats) -> list[Pull]:
        """The score and information of each kind of evidence at these shares."""
        kinds = (self.released, self.measured, self.reported)
        return [kind.pull(shares) for kind in kinds if kind is not None]

    @property
    def clients(self) -> int:
        """The number of reports."""
        return self.reported.clients if self.reported else 0

    @property
    def users(self) -> int:
        """The number of users with evidence."""
        return (self.released.users if self.released else 0) + (self.measured.users if self.measured else 0) + self.clients

    def of_opt_in(self) -> Evidence:
        """The opt-in users' evidence alone."""
        return replace(self, reported=None)

    def of_clients(self) -> Evidence:
        """The clients' evidence alone."""
        return replace(self, released=None, measured=None)

    def trusting_opt_in(self, trust: Floats) -> Evidence:
        """The same evidence, with the opt-in users' part weighted by `trust` in every cell."""
        return replace(
            self,
            released=replace(self.released, trust=trust) if self.released else None,
            measured=replace(self.measured, trust=trust) if self.measured else None,
        )
