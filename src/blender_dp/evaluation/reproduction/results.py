"""The measured values, by setting and group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blender_dp.evaluation.grid import Setting

Values = list[float]


@dataclass(frozen=True)
class Results:
    """The rows of all cells, and what the rival reached."""

    rows: Mapping[tuple[str, str], list[dict[str, Any]]]
    """By the name of the setting and the group, one row per seed."""
    rivals: Mapping[tuple[str, float], Values] = field(default_factory=dict)
    """NDCG by the number of candidates and ε, one value per seed."""
    seeds: int = 1
    synthetic: bool = True
    """Whether the populations are built-in shapes."""

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

    @property
    def reason(self) -> str:
        """Why results may differ from a paper's."""
        if self.synthetic:
            return (
                "The population is synthetic: it has the size and the top shares that the papers print, but other shares "
                "further down, and other URLs."
            )
        return "The population is the log that was passed, one random record per user."
