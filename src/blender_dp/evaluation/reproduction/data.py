"""The papers' two logs, or what stands for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from blender_dp.evaluation.grid import Setting
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.sources import PopulationSource
from blender_dp.parameters import Parameters


@dataclass(frozen=True)
class Data:
    """One of the papers' logs, or what stands for it, with the papers' parameters (Figure 11)."""

    label: str
    source: PopulationSource
    delta: str
    opt_in: str
    max_queries: int
    sizes: tuple[int, ...]

    def setting(self, profile: str, **changed: str | int) -> Setting:
        """The defaults of Figure 11, except what is changed: opt_in, epsilon, max_queries or f_c."""
        values: dict[str, str | int] = {"opt_in": self.opt_in, "epsilon": "4", "max_queries": self.max_queries, **changed}
        return Setting(
            self.source,
            Fraction(values["opt_in"]),
            Parameters(
                profile=profile,
                epsilon=values["epsilon"],
                delta=self.delta,
                max_queries=int(values["max_queries"]),
                f_c=values.get("f_c"),
            ),
        )

    def sweep(self, profile: str, x: str, values: Sequence[str], **fixed: str | int) -> dict[float, Setting]:
        """One setting for every value of the axis."""
        return {float(value): self.setting(profile, **{x: value, **fixed}) for value in values}


Populations = Callable[[Data, int], Population]
"""The population of one of the logs with a seed."""


def logs(log: PopulationSource | None = None) -> tuple[Data, Data]:
    """The papers' two logs: the built-in shapes, or a log of your own.

    A log in the format of AOL's or Yandex's stands for that one, and any other log for both.
    """
    kind = None if log is None else log.reading.find(log.name).format
    aol = PopulationSource("aol") if log is None or kind == "yandex" else log
    yandex = PopulationSource("yandex") if log is None or kind == "aol" else log
    return (
        Data("AOL", aol, "1e-5", "0.05", 50, (10, 25, 50)),
        Data("Yandex", yandex, "1e-7", "0.03", 500, (10, 25, 50, 100, 500)),
    )


def description(data: Sequence[Data]) -> str:
    """Which populations stand for the papers' logs, in words."""
    texts = (f"{one.label}: {_meaning(one.source)}" for one in data)
    return "; ".join(texts) + "."


def _meaning(source: PopulationSource) -> str:
    return "a synthetic population with the log's size and top shares" if source.varies else source.name
