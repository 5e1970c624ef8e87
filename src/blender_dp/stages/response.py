"""What a channel does to shares: the expected frequency of every reported cell is linear in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blender_dp.mechanisms.channel_odds import query_lie, query_truth
from blender_dp.stages.layout import Floats, Layout
from blender_dp_device.channel.subset import AnyChannel


@dataclass(frozen=True)
class Response:
    """The channel as numbers by query: E[r of a cell] = base + gain · (the cell's share) + leak · (its query's share)."""

    layout: Layout
    query_truth: float
    query_lie: float
    false_url: Floats
    base: Floats
    gain: Floats
    leak: Floats
    size: int

    @classmethod
    def of(cls, channel: AnyChannel) -> Response:
        """Compute it from the channel's own integers, so that exactly the channel that was used is inverted."""
        layout = Layout(channel.url_counts)
        k = layout.counts.astype(float)
        truth = 1 - float(1 - query_truth(channel))
        lie = float(query_lie(channel)) if k.size > 1 else 0.0
        false_url = np.array(channel.url_steps, np.float64) / channel.words
        wrong = truth * false_url  # another URL of the true query
        right = truth * (1 - (k - 1) * false_url)
        single = k == 1
        return cls(
            layout,
            truth,
            lie,
            false_url,
            base=lie / k,
            gain=np.where(single, truth - lie, right - wrong),
            leak=np.where(single, 0.0, wrong - lie / k),
            size=channel.size,
        )

    def expected(self, shares: Floats) -> Floats:
        """The expected frequency with which each cell is reported."""
        layout = self.layout
        return self.cell_gain * shares + layout.per_cell(self.base + self.leak * layout.per_query(shares))

    @cached_property
    def cell_gain(self) -> Floats:
        """The gain of every cell's query."""
        return self.layout.per_cell(self.gain)
