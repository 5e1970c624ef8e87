"""Who is compared, and on which populations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from blender_dp import aol_like, yandex_like

SEEDS = 8
FEW = 4  # populations for rivals that take more than ten seconds each


@dataclass(frozen=True)
class Setting:
    """A population, and the promise and list that everyone gets."""

    name: str
    make: Callable[..., pa.Table]
    users: int
    opt_in: float
    epsilon: float
    delta: float
    max_queries: int

    @property
    def opt_in_users(self) -> int:
        return round(self.users * self.opt_in)

    @property
    def promise(self) -> dict[str, float]:
        """What every rival promises on this population, and the length of its list."""
        return {"epsilon": self.epsilon, "delta": self.delta, "max_queries": self.max_queries}


SETTINGS = (
    Setting("AOL", aol_like, 519_371, 0.05, 4.0, 1e-5, 50),
    Setting("Yandex", yandex_like, 500_000, 0.03, 2.0, 1e-6, 50),
)

GIVEN = "local, the list is given"
FINDS = "local, finds the list"
CURATOR = "curator, opt-in users"
EVERYONE = "curator, everyone"
HYBRID = "hybrid"


@dataclass(frozen=True)
class Rival:
    """One way to get the answer. `tool` is what the evidence about its privacy is filed under."""

    tool: str
    method: str
    trust: str
    script: str
    environment: str | None = None
    seeds: int = SEEDS

    @property
    def name(self) -> str:
        return f"{self.tool}, {self.method}" if self.tool != self.method else self.tool

    @property
    def is_ours(self) -> bool:
        return self.trust == HYBRID

    @property
    def is_baseline(self) -> bool:
        """Baselines show what is possible with our own stages; their cost is not measured."""
        return self.tool == BASELINE


OURS = Rival("blender-dp", "tight, queries only", HYBRID, "ours")
"""The row that rivals are compared with: they learn queries without URLs, and so does this one."""

OUR_TOOL = OURS.tool
BASELINE = "baseline"
RIVALS = (
    OURS,
    Rival(OUR_TOOL, "tight", HYBRID, "ours"),
    Rival(OUR_TOOL, "paper", HYBRID, "ours"),
    Rival(BASELINE, "opt-in users only", CURATOR, "ours"),
    Rival(BASELINE, "clients only", GIVEN, "ours"),
    Rival(BASELINE, "central DP with everyone", EVERYONE, "ours"),
    Rival("pure-LDP", "direct encoding", GIVEN, "oracles_pure_ldp.py", "local"),
    Rival("pure-LDP", "OUE", GIVEN, "oracles_pure_ldp.py", "local", FEW),
    Rival("pure-LDP", "OLH", GIVEN, "oracles_pure_ldp.py", "local", FEW),
    Rival("pure-LDP", "Hadamard response", GIVEN, "oracles_pure_ldp.py", "local"),
    Rival("multi-freq-ldpy", "GRR", GIVEN, "oracles_multi_freq_ldpy.py", "local"),
    Rival("multi-freq-ldpy", "OUE", GIVEN, "oracles_multi_freq_ldpy.py", "local"),
    Rival("multi-freq-ldpy", "subset selection", GIVEN, "oracles_multi_freq_ldpy.py", "local"),
    Rival("pure-LDP", "PEM", FINDS, "discovery_pure_ldp.py", "local", FEW),
    Rival("OpenDP", "stable keys", CURATOR, "selection_opendp.py", "opendp"),
    Rival("OpenDP", "laplace_threshold", CURATOR, "selection_opendp.py", "opendp"),
    Rival("python-dp", "python-dp", CURATOR, "selection_google.py", "google"),
    Rival("PipelineDP", "PipelineDP", CURATOR, "selection_google.py", "google"),
)
EVIDENCE = {"local": "evidence_local.py", "opendp": "evidence_opendp.py", "google": "evidence_google.py"}
"""The script of every environment that checks promises."""
