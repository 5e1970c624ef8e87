"""How large a collection can be planned."""

from __future__ import annotations

from blender_dp.errors import ParameterError
from blender_dp_device.arithmetic import Number
from blender_dp_device.records.checks import at_least_one, open_unit

MOST_USERS, MOST_QUERIES = 10**10, 10_000


def check_opt_in(share: Number) -> float:
    """Return the share of the users who opt in, checked: above 0 and below 1."""
    return float(open_unit(share, "opt_in", "Pass the share of the users who opt in, such as 0.05"))


def check_users(users: int) -> int:
    """Return the number of users, if a collection with so many can be planned."""
    whole = at_least_one(users, "users")
    if whole > MOST_USERS:
        raise ParameterError("users", f"{whole:,} are too many", f"Use at most {MOST_USERS:,}")
    return whole


def check_length(max_queries: int) -> int:
    """Return the maximum length of a list, if such a list can be planned."""
    if max_queries > MOST_QUERIES:
        problem = f"{max_queries:,} is longer than any list that can be planned"
        raise ParameterError("max_queries", problem, f"Use at most {MOST_QUERIES:,}")
    return max_queries
