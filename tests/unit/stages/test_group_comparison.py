from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from blender_dp.stages.group_comparison import Disagreement, disagreement, spread, trust
from blender_dp.stages.layout import Estimate

NUMBERS = st.lists(
    st.tuples(st.floats(0, 0.3), st.floats(1e-12, 1e-2), st.floats(-0.1, 0.3), st.floats(1e-12, 1e-2)),
    min_size=2,
    max_size=9,
).map(lambda rows: np.array(rows).T)


def groups(opt_in: list[float], client: list[float], variance: float = 1e-6) -> tuple[Estimate, Estimate]:
    o, c = np.array(opt_in), np.array(client)
    return Estimate(o, np.where(np.isnan(o), np.nan, variance)), Estimate(c, np.full(c.size, variance))


def test_differences_are_measured_in_standard_errors():
    found = disagreement(*groups([0.012, 0.03, 0.958], [0.01, 0.03, 0.96]))
    assert found.scores == pytest.approx([0.002 / 2e-6**0.5, 0, -0.002 / 2e-6**0.5])
    assert (found.chi_square, found.degrees) == (pytest.approx(2), 2)  # ⋆, the last one, is left out


def test_a_cell_that_one_group_does_not_estimate_is_no_difference():
    found = disagreement(*groups([np.nan, 0.03, 0.97], [0.5, 0.03, 0.97]))
    assert np.isnan(found.scores[0])
    assert (found.chi_square, found.degrees) == (0, 1)
    nothing = disagreement(*groups([1.0], [1.0], 0.0))
    assert (nothing.degrees, nothing.p_value) == (0, 1)


@pytest.mark.parametrize("degrees", [1, 3, 10, 50, 500])
@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.99, 0.9999])
def test_the_p_value_is_that_of_chi_square(degrees, quantile):
    value = float(stats.chi2.ppf(quantile, degrees))
    ratio = Disagreement(np.zeros(1), value, degrees).p_value / (1 - quantile)
    assert ratio == pytest.approx(1, rel=1e-9)


def test_groups_that_agree_get_full_trust():
    opt_in, client = groups([0.012, 0.029, 0.959], [0.01, 0.03, 0.96])
    assert spread(opt_in, client) == 0
    assert trust(opt_in, client, 0.0, 1.0).tolist() == [1, 1, 1]


def test_the_spread_is_the_relative_variance_of_the_difference():
    """Ten queries that each differ by a half, far more than their errors."""
    client = [0.01] * 10 + [0.9]
    opt_in = [0.015, 0.005] * 5 + [0.9]
    found = spread(*groups(opt_in, client, 1e-9))
    size = 5 * (0.015**2 + 0.005**2)
    assert found == pytest.approx((10 * 0.005**2 - 10 * 2e-9) / size)
    extra = found * np.array(opt_in) ** 2
    assert trust(*groups(opt_in, client, 1e-9), found, 1.0) == pytest.approx(1e-9 / (1e-9 + extra))


def test_trust_is_reduced_only_where_the_groups_contradict():
    """20 standard errors apart: what is beyond 4 of them is added to the opt-in users' variance, there only."""
    opt_in, client = groups([0.01, 0.03, 0.96], [0.01 + 20 * 2e-6**0.5, 0.03, 0.96])
    believed = trust(opt_in, client, 0.0, 1.0)
    assert believed[1:].tolist() == [1, 1]
    assert believed[0] == pytest.approx(1 / (1 + 2 * (20**2 - 4**2)))


def test_on_a_long_list_the_largest_difference_by_chance_is_no_contradiction():
    """Of 30,000 equal shares, two differ by more than four standard errors by chance; hardly ever one by more than five."""
    size, client = 30_000, np.zeros(30_000)
    client[0] = 4.9 * 2e-6**0.5
    assert trust(*groups([0.0] * size, client.tolist()), 0.0, 1.0)[0] == 1
    assert trust(*groups([0.0] * 100, client[:100].tolist()), 0.0, 1.0)[0] < 0.1


@given(NUMBERS, st.floats(0, 10))
def test_trust_is_between_0_and_1(rows, apart):
    opt_in, client = Estimate(rows[0], rows[1]), Estimate(rows[2], rows[3])
    believed = trust(opt_in, client, apart, 1.0)
    assert ((believed >= 0) & (believed <= 1)).all()
    assert spread(opt_in, client) >= 0


def test_a_group_without_an_estimate_is_no_contradiction():
    assert trust(*groups([np.nan, 0.03], [0.5, 0.03]), 0.5, 1.0)[0] == 1


def test_the_fewer_clients_there_are_the_less_their_contradiction_matters():
    """Opt-in users who are a part 1 - c of all users differ from all users by c times their difference from the clients."""
    opt_in, client = groups([0.02, 0.03, 0.95], [0.01, 0.03, 0.96])
    most, half, few = (trust(opt_in, client, 0.0, part)[0] for part in (1.0, 0.5, 1e-4))
    extra = 0.01**2 - 16 * 2e-6
    assert most == pytest.approx(1e-6 / (1e-6 + extra))
    assert half == pytest.approx(1e-6 / (1e-6 + extra / 4))
    assert few == pytest.approx(1, abs=1e-6)
