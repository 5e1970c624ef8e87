"""Many runs of the papers' stages at once: fresh records, fresh randomness, one row per run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from blender_dp import Entropy, HeadList
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.subset_response import SubsetResponse
from blender_dp.mechanisms.two_stage_response import TwoStageResponse
from blender_dp.stages.calibration import noisy_shares, sample_variance
from blender_dp.stages.denoising import denoised
from blender_dp.stages.layout import Estimate, Layout
from blender_dp_device.channel import Channel
from blender_dp_device.channel.subset import AnyChannel, SubsetChannel
from tests.statistical.checks import ALARM

LIST = HeadList.of([("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("c", "y"), ("c", "z")])
#                  a: x     y     ⋆     b: x   ⋆     c: x    y     z     ⋆     ⋆
SHARES = np.array([0.10, 0.05, 0.02, 0.20, 0.03, 0.04, 0.03, 0.02, 0.01, 0.50])
CHANNEL = Channel.of(LIST, Fraction(3), Fraction(1, 10**5), Fraction("0.7"))
QUERIES = Layout(CHANNEL.url_counts).per_query(SHARES)
RUNS, USERS = 60_000, 300  # the theorems hold for any number of users
ERROR = (2 / RUNS) ** 0.5


ITEMS = HeadList.of([("a", None), ("b", None), ("c", None)])  # one level
ITEM_SHARES = np.array([0.20, 0.10, 0.05, 0.65])
ITEM_CHANNEL = Channel.of(ITEMS, Fraction(1), Fraction(1, 10**5), Fraction("0.7"))
# Enough for 3 % to be 5.4 standard errors of a variance, even with the heavier tails of Laplace noise: all 16 comparisons of
# single items' variances together raise a false alarm once in a million times.
ITEM_RUNS, ITEM_ALARM = 90_000, ALARM / 16


def drawn_cells(count: int, entropy: Entropy, shares: np.ndarray = SHARES) -> np.ndarray:
    uniform = entropy.words(count) / 2.0**64
    return np.minimum(np.searchsorted(np.cumsum(shares), uniform, side="right"), shares.size - 1).astype(np.int32)


def counted(cells: np.ndarray, runs: int, size: int) -> np.ndarray:
    """How often each cell occurs in each of several runs of equal length."""
    run = np.repeat(np.arange(runs), cells.size // runs)
    return np.bincount(run * size + cells, minlength=runs * size).reshape(runs, size)


@dataclass(frozen=True)
class Runs:
    """The estimates of many runs, one per row."""

    cells: Estimate
    queries: Estimate

    def first(self, count: int) -> Iterator[tuple[Estimate, Estimate]]:
        """The estimates of the first runs one by one."""
        levels = (self.cells, self.queries)
        return (tuple(Estimate(level.share[run], level.variance[run]) for level in levels) for run in range(count))


def calibrated(counts: np.ndarray, head_list: HeadList, mechanism: LaplaceHistogram, entropy: Entropy) -> Runs:
    """What `calibrate` returns for every row, if no query is dropped."""
    layout, users, noise = Layout(head_list.url_counts), int(counts[0].sum()), mechanism.noise.variance
    cells = noisy_shares(counts, layout, mechanism, entropy)
    queries = layout.per_query(np.nan_to_num(cells))
    return Runs(*(Estimate(share, sample_variance(share, users, noise)) for share in (cells, queries)))


def client_estimates(
    channel: AnyChannel, shares: np.ndarray, entropy: Entropy, runs: int = RUNS, at_once: int = 5000
) -> Runs:
    """The estimates of every run from fresh records and fresh randomness."""
    mechanism = SubsetResponse(channel) if isinstance(channel, SubsetChannel) else TwoStageResponse(channel)
    counts = [
        counted(mechanism.respond(drawn_cells(at_once * USERS, entropy, shares), entropy).ravel(), at_once, shares.size)
        for _ in range(runs // at_once)
    ]
    return Runs(*denoised(np.concatenate(counts), USERS, channel))


def opt_in_estimates(head_list: HeadList, shares: np.ndarray, entropy: Entropy, runs: int = RUNS) -> Runs:
    counts = counted(drawn_cells(runs * USERS, entropy, shares), runs, shares.size)
    return calibrated(counts, head_list, LaplaceHistogram.of(Fraction(1)), entropy)
