"""Many runs of the papers' stages at once: fresh records, fresh randomness, one row per run."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from blender_dp import Entropy, HeadList
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.subset_response import SubsetResponse
from blender_dp.mechanisms.two_stage_response import TwoStageResponse
from blender_dp.stages.blending import Blend, blend
from blender_dp.stages.calibration import OptInEstimate, noisy_shares, sample_variance
from blender_dp.stages.denoising import ClientEstimate, denoised
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


def drawn_counts(users: int, shares: np.ndarray, runs: int, entropy: Entropy) -> np.ndarray:
    """How many users have each cell, in each of several runs."""
    return np.random.default_rng(int(entropy.words(1)[0])).multinomial(users, shares, runs)


def cells_of(counts: np.ndarray) -> np.ndarray:
    """The cell of every user, run by run."""
    runs, size = counts.shape
    return np.repeat(np.tile(np.arange(size, dtype=np.int32), runs), counts.ravel())


def counted(cells: np.ndarray, runs: int, size: int) -> np.ndarray:
    """How often each cell occurs in each of several runs of equal length."""
    run = np.repeat(np.arange(runs), cells.size // runs)
    return np.bincount(run * size + cells, minlength=runs * size).reshape(runs, size)


@dataclass(frozen=True)
class Runs:
    """The estimates of many runs, one per row."""

    cells: Estimate
    queries: Estimate


def calibrated(counts: np.ndarray, head_list: HeadList, mechanism: LaplaceHistogram, entropy: Entropy) -> Runs:
    """What `calibrate` returns for every row, if no query is dropped."""
    layout, users, noise = Layout(head_list.url_counts), int(counts[0].sum()), mechanism.noise.variance
    cells = noisy_shares(counts, layout, mechanism, entropy)
    queries = layout.per_query(np.nan_to_num(cells))
    return Runs(*(Estimate(share, sample_variance(share, users, noise)) for share in (cells, queries)))


def client_estimates(
    channel: AnyChannel, shares: np.ndarray, entropy: Entropy, runs: int = RUNS, users: int = USERS
) -> Runs:
    """The estimates of every run from fresh records and fresh randomness."""
    mechanism = SubsetResponse(channel) if isinstance(channel, SubsetChannel) else TwoStageResponse(channel)
    at_once = 5000
    counts = [
        counted(mechanism.respond(cells_of(true), entropy).ravel(), at_once, shares.size)
        for true in np.split(drawn_counts(users, shares, runs, entropy), runs // at_once)
    ]
    return Runs(*denoised(np.concatenate(counts), users, channel))


def blended(opt_in: Runs, client: Runs) -> Blend:
    """What `blend` returns for every row."""
    opt_in_estimate = OptInEstimate(HeadList.of([]), opt_in.cells, opt_in.queries)
    return blend(opt_in_estimate, ClientEstimate(client.cells, client.queries, USERS), project=False)


def opt_in_estimates(head_list: HeadList, shares: np.ndarray, entropy: Entropy, runs: int = RUNS) -> Runs:
    return calibrated(drawn_counts(USERS, shares, runs, entropy), head_list, LaplaceHistogram.of(Fraction(1)), entropy)
