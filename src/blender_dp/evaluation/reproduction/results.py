"""The measured values, by setting and group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blender_dp.evaluation.grid import Setting
from blender_dp.evaluation.sources import PopulationSource

Values = list[float]
_BAND = (5, 95)  # percentiles of the seeds
_FULL = 0.95  # of M queries: the L1 of a shorter list is not comparable, because fewer queries have a smaller L1


@dataclass(frozen=True)
class Results:
    """The rows of all cells, and what the rival reached."""

    rows: Mapping[tuple[str, str], list[dict[str, Any]]]
    """By the name of the setting and the group, one row per seed."""
    rivals: Mapping[tuple[str, float], Values] = field(default_factory=dict)
    """NDCG by the number of candidates and ε, one value per seed."""

    @classmethod
    def of(cls, rows: Iterable[dict[str, Any]], **more: Any) -> Results:  # noqa: ANN401 (the other fields)
        """Group the rows by setting and group."""
        grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows:
            grouped.setdefault((row["cell"], row["group"]), []).append(row)
        return cls(grouped, **more)

    def values(self, setting: Setting, group: str, measure: str) -> Values:
        """One value per seed."""
        return [row[measure] for row in self.rows[setting.name, group]]

    def mean(self, setting: Setting, group: str, measure: str) -> float:
        """The mean over the seeds."""
        return float(np.mean(self.values(setting, group, measure)))

    def listed(self, setting: Setting) -> float:
        """The mean number of listed queries."""
        return self.mean(setting, "blended", "listed")

    def has_full_list(self, setting: Setting) -> bool:
        """Whether the list is so long that its L1 can be compared."""
        return is_full(self.listed(setting), setting.parameters.max_queries)


def is_full(listed: float, max_queries: int) -> bool:
    """Whether a list of so many queries is practically as long as it may be."""
    return listed >= _FULL * max_queries


def spread(values: Sequence[float]) -> dict[str, Any]:
    """The mean over the seeds, its standard error, and the band that contains the central 90 % of the seeds."""
    low, high = np.percentile(values, _BAND)
    error = float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else None
    return {"mean": float(np.mean(values)), "standard_error": error, "low": low, "high": high, "seeds": len(values)}


def reason(sources: Iterable[PopulationSource]) -> str:
    """Why results on these populations may differ from a paper's."""
    if any(source.varies for source in sources):
        return (
            "A possible reason is the population: it is synthetic, with the size and the top shares that the papers print, "
            "but with other shares further down, and other URLs."
        )
    return "A possible reason is the population: it is the log that was passed, with one record per user."
