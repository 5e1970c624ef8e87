from __future__ import annotations

from fractions import Fraction

import pytest

from blender_dp import LogError, ParameterError
from blender_dp.logs import Problem, Tally
from blender_dp.logs.bad_rows import check_tally, largest_bad_share


def test_a_log_with_too_many_bad_rows_is_refused_with_the_reasons():
    tally = Tally(1000, 980, {Problem.NOT_UTF8: 4, Problem.NO_USER: 7})
    assert (tally.bad, tally.without_record) == (11, 9)
    check_tally(tally, Fraction(11, 1000), "log")
    with pytest.raises(LogError, match=r"11 of 1,000 rows are bad \(not UTF-8 4, no user 7\); the limit is a share of 0.01"):
        check_tally(tally, Fraction(1, 100), "log")


def test_an_empty_log_has_no_bad_rows():
    check_tally(Tally(0, 0, {}), Fraction(0), "log")


@pytest.mark.parametrize("share", ["-0.1", "1.1", "many"])
def test_an_invalid_share_is_refused(share):
    with pytest.raises(ParameterError, match="max_bad"):
        largest_bad_share(share)


def test_every_problem_has_a_readable_name():
    assert str(Problem.WRONG_NUMBER_OF_COLUMNS) == "wrong number of columns"
    assert str(Problem.NOT_JSON) == "not JSON"
    document = Tally(3, 1, {Problem.NOT_UTF8: 1}).to_document()
    assert document == {"rows": 3, "records": 1, "without_record": 1, "bad": {"not UTF-8": 1}}
