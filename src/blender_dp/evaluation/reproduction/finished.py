"""A reproduced figure: its values, and what agrees with the papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from blender_dp.evaluation.reproduction.figure import Checked, Figure, TableFigure, Verdict


@dataclass(frozen=True)
class Finished:
    """A figure with its values, and what agrees with the papers."""

    figure: Figure | TableFigure
    table: pa.Table
    checked: list[Checked]
    remark: str = ""
    seeds: int = 1
    population: str = ""
    """Who stands for the users of the papers' logs, in words."""
    is_private: bool = False
    """Whether the values are exact numbers about real users."""

    def to_document(self) -> dict[str, Any]:
        """Everything but the values as JSON values."""
        claims = [
            {
                "claim": text,
                "source": source,
                "agrees": verdict.agrees,
                "measured": verdict.measured,
                "why": None if verdict.agrees else verdict.why,
            }
            for text, source, verdict in self.checked
        ]
        return {
            "name": self.figure.name,
            "title": self.figure.title,
            "population": self.population,
            "private": self.is_private,
            "seeds": self.seeds,
            "remark": self.remark,
            "claims": claims,
        }

    @classmethod
    def of_document(cls, document: dict[str, Any], figure: Figure | TableFigure, table: pa.Table) -> Finished:
        """The figure that such a document describes."""
        checked = [
            (str(claim["claim"]), str(claim["source"]), Verdict(claim["agrees"], claim["measured"], claim["why"] or ""))
            for claim in document["claims"]
        ]
        seeds, population = int(document["seeds"]), str(document["population"])
        return cls(figure, table, checked, str(document["remark"]), seeds, population, bool(document["private"]))
