"""The changes that a comparison reports: false ones are rare, and real ones are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.rounds import rounds
from tests.statistical.checks import ALARM, assert_share


@pytest.mark.slow
def test_false_discoveries_are_as_rare_as_promised():
    """In pairs of rounds of the same population every discovery is false, so a rate of 5 % allows any in 5 % of the pairs.

    The p-values decide whether that holds with more power than the few pairs: no more than 5 % of them are below 0.05.
    """
    any_discovery, p_values = 0, []
    pairs = [rounds([{}, {}], seed=seed, users=60_000, max_queries=12) for seed in range(40)]
    for old, new in pairs:
        comparison = old.release.compare(new.release)
        any_discovery += bool(comparison.discoveries)
        p_values += [change.p_value for change in comparison.changes]
    assert stats.binom.sf(any_discovery - 1, len(pairs), 0.05) > ALARM
    assert stats.binom.sf(sum(p < 0.05 for p in p_values) - 1, len(p_values), 0.05) > ALARM


@pytest.mark.slow
def test_p_values_of_normal_estimates_are_uniform():
    """30,000 tests of estimates with exactly the stated errors; an error 5 % too small would make 6.3 % significant."""
    release = rounds([{}])[0].release
    rng = np.random.default_rng(3)
    p_values: list[float] = []
    while len(p_values) < 30_000:
        old, new = (
            replace(
                release,
                queries=tuple(
                    replace(row, share=row.share + row.variance**0.5 * noise)
                    for row, noise in zip(release.queries, rng.standard_normal(len(release.queries)), strict=True)
                ),
            )
            for _ in range(2)
        )
        p_values += [change.p_value for change in old.compare(new, same_users=True).changes]
    assert_share(sum(p < 0.05 for p in p_values), len(p_values), 0.05)


def test_a_query_that_doubles_is_found():
    """The three most popular queries double or halve, by at least ten standard errors."""
    old, new = rounds([{}, {"google": 2.0, "yahoo": 0.5, "google.com": 2.0}], opt_in=0.1)
    kinds = {change.query: change.kind for change in old.release.compare(new.release).changes}
    assert (kinds["google"], kinds["yahoo"], kinds["google.com"]) == ("risen", "fallen", "risen")
