from __future__ import annotations

import numpy as np
import pytest

from blender_dp import ParameterError
from blender_dp.evaluation.shapes import is_shape, shape_of


@pytest.mark.parametrize(("name", "users"), [("aol", 519_371), ("yandex", 4_970_073), ("zipf:1.1", 1_000_000)])
def test_a_named_shape_has_users_and_descending_shares(name, users):
    assert is_shape(name)
    shape = shape_of(name)
    assert shape.users == users
    assert (np.diff(shape.query_shares[3:]) <= 0).all()
    assert shape.query_shares.sum() <= 1 + 1e-9


def test_the_number_of_users_can_be_chosen():
    assert shape_of("aol", 1000).users == 1000


def test_the_exponent_is_the_slope():
    shares = shape_of("zipf:0.7").query_shares
    assert shares[0] / shares[9] == pytest.approx(10**0.7)
    assert shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("text", ["bing", "zipf", "zipf:", "zipf:-1", "zipf:11", "zipf:x", "aol:1", ""])
def test_an_unknown_shape_is_refused(text):
    with pytest.raises(ParameterError, match="shape"):
        shape_of(text)


@pytest.mark.parametrize("users", [0, -1])
def test_a_shape_needs_users(users):
    with pytest.raises(ParameterError, match="users"):
        shape_of("aol", users)
