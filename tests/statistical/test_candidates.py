"""Public candidates: listed whatever their count, with an unbiased noisy count; false-alarm rate 1e-6 per check."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from blender_dp import HeadList
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.stages import discover
from blender_dp.stages.discovery import with_candidates
from tests.statistical.checks import assert_mean, assert_ratio, assert_share

DISCOVERY, CALIBRATION = TruncatedGeometric.of(2, 1e-3), LaplaceHistogram.of(2)
PUBLIC = HeadList.of([("public", "rare"), ("public", "none"), ("public", "frequent")])
HELD = {("new", "half"): 5, ("public", "rare"): 1, ("public", "none"): 0, ("public", "frequent"): 40}
RUNS = 30_000


def test_candidates_are_always_listed_with_unbiased_counts(entropy):
    rows = [{"query": q, "url": u, "count": n} for (q, u), n in HELD.items() if n]
    batch = pa.RecordBatch.from_pylist(rows)
    counts = np.array([40, 0, 1, 0, 5])  # frequent, none, rare, ⟨public, ⋆⟩, ⋆
    noisy, news = np.empty((RUNS, 3)), []
    for run in range(RUNS):
        found = with_candidates(discover([batch], DISCOVERY, entropy), PUBLIC, counts, CALIBRATION, entropy)
        assert set(PUBLIC.records()) <= set(found.head_list.records())
        noisy[run] = found.noisy_counts[found.is_candidate]
        news += found.noisy_counts[~found.is_candidate].tolist()
    for column, held in zip(noisy.T, (40, 0, 1), strict=True):
        assert_mean(column, held)
        kurtosis = ((column - held) ** 4).mean() / column.var() ** 2
        noise = ((kurtosis - 1) / RUNS) ** 0.5
        assert_ratio(column.var(ddof=1), CALIBRATION.noise.variance, tolerance=0.08, noise=noise)
    assert_share(len(news), RUNS, float(DISCOVERY.listing_probability(5)))
    assert min(news) > DISCOVERY.tau
