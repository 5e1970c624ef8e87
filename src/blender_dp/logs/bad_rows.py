"""The share of bad rows at which a run stops."""

from __future__ import annotations

from fractions import Fraction

from blender_dp.errors import LogError
from blender_dp.logs.tally import Problem, Tally
from blender_dp.parameters.checks import share_of
from blender_dp_device.arithmetic import Number


def largest_bad_share(share: Number) -> Fraction:
    """Return the largest acceptable share of bad rows."""
    return share_of(share, "max_bad", "Pass the largest acceptable share of bad rows, such as 0.01")


def check_tally(tally: Tally, most: Fraction, name: str) -> None:
    """Raise if too many rows are bad."""
    if tally.bad > most * tally.rows:
        reasons = ", ".join(f"{problem} {rows:,}" for problem, rows in tally.problems.items())
        problem = f"{tally.bad:,} of {tally.rows:,} rows are bad ({reasons}); the limit is a share of {float(most):g}"
        if 2 * tally.problems.get(Problem.NOT_UTF8, 0) > tally.bad:
            fix = "Pass the encoding (such as --encoding latin-1), fix the rows, or raise max_bad (--max-bad)"
        else:
            fix = "Fix them, pass their format, delimiter or columns, or raise max_bad (--max-bad)"
        raise LogError(name, problem, fix)
