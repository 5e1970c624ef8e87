"""How much of a log may be bad before it is better not to use it."""

from __future__ import annotations

from fractions import Fraction

from blender_dp.engines import Problem, Tally
from blender_dp.errors import LogError
from blender_dp.parameters.checks import share_of
from blender_dp_device.arithmetic import Number


def most_bad(share: Number) -> Fraction:
    """The largest share of bad rows to put up with."""
    return share_of(share, "max_bad", "Give the largest share of bad rows to put up with, such as 0.01")


def check_tally(tally: Tally, most: Fraction, name: str) -> None:
    """Stop if too many rows are bad."""
    if tally.bad > most * tally.rows:
        reasons = ", ".join(f"{problem} {rows:,}" for problem, rows in tally.problems.items())
        problem = f"{tally.bad:,} of {tally.rows:,} rows are bad ({reasons}), more than the share {float(most):g}"
        if 2 * tally.problems.get(Problem.NOT_UTF8, 0) > tally.bad:
            fix = "Name the encoding (such as --encoding latin-1), repair the rows, or raise max_bad (--max-bad)"
        else:
            fix = "Repair them, name their format, delimiter or columns, or raise max_bad (--max-bad)"
        raise LogError(name, problem, fix)
