"""Reports that a channel cannot have produced are refused; its own reports never are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp import Entropy, GroupError, HeadList
from blender_dp.stages.plausibility import check_fit
from blender_dp.stages.reporting import simulate
from blender_dp_device.channel.subset import AnyChannel, channel_of
from tests.lists import reporting

LIST = HeadList.of((f"q{i}", f"https://{i}.example/{j}") for i in range(8) for j in range(i % 3 + 1))
ITEMS = HeadList.of((f"q{i}", None) for i in range(2))


def channel(head_list: HeadList = LIST, **changes: object) -> AnyChannel:
    listed = reporting(head_list, **{"epsilon": 4, **changes})
    return channel_of(head_list, listed.channel)


def check(counts: np.ndarray, undone: AnyChannel, head_list: HeadList = LIST) -> None:
    check_fit(counts, undone, head_list.queries, "this channel")


@given(
    st.sampled_from(["0.1", "1", "4", "40"]),
    st.sampled_from([{}, {"f_c": "0.5"}, {"subset_size": 3}, {"randomiser": "two-stage"}]),
    st.lists(st.integers(0, 2000), min_size=LIST.cell_count, max_size=LIST.cell_count).filter(lambda c: sum(c) > 1),
    st.integers(0, 2**32),
)
@settings(max_examples=100)
@pytest.mark.slow
def test_reports_fit_their_channel_for_any_records(epsilon, change, held, seed):
    """A false alarm has a probability of at most 1e-9 in each of the 100 examples."""
    made = channel(epsilon=epsilon, **change)
    check(simulate(np.array(held), made, Entropy.seeded(seed)), made)


@pytest.mark.parametrize("held", [2, 3, 5])
def test_a_few_reports_always_fit(held):
    for cell in range(LIST.cell_count):
        counts = np.zeros(LIST.cell_count, np.int64)
        counts[cell] = held
        check(counts, channel(epsilon=1))


@pytest.mark.parametrize(
    ("used", "assumed"),
    [
        ({"epsilon": 4}, {"epsilon": 3}),
        ({"f_c": "0.98"}, {"f_c": "0.6"}),
        ({"subset_size": 2, "epsilon": 2}, {"subset_size": 4, "epsilon": 2}),
        ({"subset_size": 1, "epsilon": 2}, {"subset_size": 2, "epsilon": 2}),
    ],
)
def test_reports_do_not_fit_a_noisier_channel_than_their_own(used, assumed, entropy):
    held = np.zeros(LIST.cell_count, np.int64)
    held[:4] = 10_000
    counts = simulate(held, channel(**used), entropy)
    check(counts, channel(**used))
    with pytest.raises(GroupError, match="only 0 to 1 is possible"):
        check(counts, channel(**assumed))


def test_the_error_states_the_total_of_the_listed_queries(entropy):
    """Shares of 0.64 and 0.63, without ⋆, which is at -0.27."""
    counts = simulate(np.array([5000, 5000, 0]), channel(ITEMS), entropy)
    with pytest.raises(GroupError, match=r"the shares of the listed queries add up to 1\.\d\d, .* standard errors off"):
        check(counts, channel(ITEMS, epsilon=2), ITEMS)


def test_urls_alone_can_reveal_the_wrong_channel(entropy):
    """The queries fit both channels; the share of one URL, which is reported nearly always, does not."""
    names = HeadList.of((f"q{i}", f"https://u.example/{j}") for i in range(2) for j in range(5))
    held = np.zeros(names.cell_count, np.int64)
    held[0], held[6], held[-1] = 20_000, 20_000, 20_000
    counts = simulate(held, channel(names, epsilon=8, f_c="0.5"), entropy)
    with pytest.raises(GroupError, match="some URLs are reported more or less often"):
        check(counts, channel(names, epsilon="4.5", f_c="8/9"), names)


def test_an_empty_list_has_nothing_to_check():
    check(np.array([100]), channel(HeadList.of([])), HeadList.of([]))
