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
# Each record's noise is its own, so WIDTH records with the same count in one run are as many samples as WIDTH runs.
WIDTH, RUNS = 100, 300
SAMPLES = WIDTH * RUNS
HELD = {"frequent": 40, "none": 0, "rare": 1}  # in the order of the list
PUBLIC = HeadList.of(("public", f"{name} {i:02}") for name in HELD for i in range(WIDTH))
NEW = [("new", f"half {i:02}", 5) for i in range(WIDTH)]


def test_candidates_are_always_listed_with_unbiased_counts(entropy):
    held = [("public", url, HELD[url.split()[0]]) for _, url in PUBLIC.records()]
    rows = [{"query": q, "url": u, "count": n} for q, u, n in [*held, *NEW] if n]
    batch = pa.RecordBatch.from_pylist(rows)
    counts = np.array([n for *_, n in held] + [0, 5 * WIDTH])  # the records, ⟨public, ⋆⟩, ⋆
    noisy, news = np.empty((RUNS, len(held))), []
    for run in range(RUNS):
        found = with_candidates(discover([batch], DISCOVERY, entropy), PUBLIC, counts, CALIBRATION, entropy)
        assert set(PUBLIC.records()) <= set(found.head_list.records())
        noisy[run] = found.noisy_counts[found.is_candidate]
        news += found.noisy_counts[~found.is_candidate].tolist()
    for i, count in enumerate(HELD.values()):
        values = noisy[:, i * WIDTH : (i + 1) * WIDTH].ravel()
        assert_mean(values, count)
        kurtosis = ((values - count) ** 4).mean() / values.var() ** 2
        noise = ((kurtosis - 1) / SAMPLES) ** 0.5
        assert_ratio(values.var(ddof=1), CALIBRATION.noise.variance, tolerance=0.08, noise=noise)
    assert_share(len(news), SAMPLES, float(DISCOVERY.listing_probability(5)))
    assert min(news) > DISCOVERY.tau
