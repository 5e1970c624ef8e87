"""Check that reports can have come from a channel. Inverting the wrong channel would give impossible shares.

Whatever a client's record is, it reports a given cell with a probability between two bounds. By chance the frequency can be
outside them; Chernoff's bound limits the probability of that, without any assumption about the records.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blender_dp.errors import GroupError
from blender_dp.stages.denoising import reports_in
from blender_dp.stages.layout import Floats, Integers
from blender_dp.stages.response import Response
from blender_dp_device.channel.subset import AnyChannel

_FALSE_ALARM = 1e-9
"""The maximum probability of refusing reports that do fit the channel."""

_LEAST = 1e-300


def check_fit(report_counts: Integers, channel: AnyChannel, queries: Sequence[str], named: str) -> None:
    """Refuse counts that this channel practically cannot produce; `named` is the name of the channel in the error."""
    n, response = reports_in(report_counts, channel.size), Response.of(channel)
    layout, t, s = response.layout, response.query_truth, response.query_lie
    if layout.counts.size == 1:
        return  # with an empty list only one report is possible
    k, false_url = layout.counts.astype(float), response.false_url
    honest = np.where(k == 1, t, t * (1 - (k - 1) * false_url))
    replaced = np.where(k == 1, s, np.minimum(s / k, t * false_url))
    r = report_counts / n
    of_query = layout.per_query(r)
    cells = _log_chance(r, layout.per_cell(replaced), layout.per_cell(honest), n)
    by_query = _log_chance(of_query, np.full(k.size, s), np.full(k.size, t), n)
    limit = np.log(_FALSE_ALARM) - np.log(cells.size + by_query.size)
    if min(cells.min(), by_query.min()) >= limit:
        return
    worst = k.size - 1 if by_query[-1] < limit else int(np.argmin(by_query))
    share = (of_query[worst] - s) / (t - s)
    bound = s if of_query[worst] < s else t
    errors = abs(of_query[worst] - bound) / np.sqrt(max(bound * (1 - bound), _LEAST) / n)
    if worst == k.size - 1:
        problem = f"the shares of the listed queries add up to {1 - share:.2f}, but only 0 to 1 is possible"
    elif by_query[worst] < limit:
        problem = f"the share of {queries[worst]!r} would be {share:.2f}, but only 0 to 1 is possible"
    else:
        raise GroupError("reports", f"some URLs are reported more or less often than is possible with {named}", _FIX)
    raise GroupError("reports", f"{problem} ({errors:.0f} standard errors off): they were not made with {named}", _FIX)


_FIX = "Use the list that the devices reported on, and the channel they used; forged reports also look like this"


def _log_chance(frequency: Floats, low: Floats, high: Floats, n: int) -> Floats:
    """The logarithm of Chernoff's bound on a frequency this far outside [low, high]; 0 inside."""
    bound = np.clip(frequency, low, high)
    return -n * (_term(frequency, bound) + _term(1 - frequency, 1 - bound))


def _term(p: Floats, q: Floats) -> Floats:
    return np.where(p > 0, p * np.log(np.maximum(p, _LEAST) / np.maximum(q, _LEAST)), 0.0)
