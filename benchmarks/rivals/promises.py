"""Whether the promises are kept: every library's findings, ours included, and what they mean for each row."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from benchmarks.peers import evidence
from benchmarks.rivals.settings import OUR_TOOL, Rival
from blender_dp import Blender, Device, Entropy, HeadList
from blender_dp.pipeline.audit import Tables, audit_tables

_PEOPLE = 1_000_000
_EPSILON, _DELTA = 4, Fraction(1, 100_000)
_DRAWS, _REPORTS = 50, 40  # values of each kind that are compared, and reports per value


@dataclass(frozen=True)
class Finding:
    """One claim about a tool, or about some of its methods, and what was found."""

    tool: str
    methods: tuple[str, ...]
    claim: str
    holds: bool
    evidence: str
    source: str

    @classmethod
    def of(cls, found: evidence.Finding) -> Finding:
        """Read what a script printed."""
        values = {**found, "methods": tuple(found["methods"])}
        return cls(**values)

    def concerns(self, rival: Rival) -> bool:
        """Whether it is about this rival; baselines use our own mechanisms."""
        tool = OUR_TOOL if rival.is_baseline else rival.tool
        return self.tool == tool and (not self.methods or rival.method in self.methods)


def broken(rival: Rival, findings: Iterable[Finding]) -> list[str] | None:
    """The claims that do not hold for a rival; None if nothing is known about it."""
    about = [finding for finding in findings if finding.concerns(rival)]
    return [finding.claim for finding in about if not finding.holds] if about else None


def ours() -> list[Finding]:
    """The same checks on our own mechanisms, and the exact audit of the integers they use."""
    blenders = {name: Blender(epsilon=_EPSILON, delta=_DELTA, max_queries=50, profile=name) for name in ("tight", "paper")}
    found = [_audited(name, blender) for name, blender in blenders.items()]
    for name, blender in blenders.items():
        listed = blender.collection.discovery.selector(Entropy.system()).select(np.ones(_PEOPLE, np.int64))
        found.append(evidence.singletons(f"{OUR_TOOL}: {name}", listed.rows.size, _PEOPLE, float(_DELTA)))
    draw = _reports(blenders["tight"])
    found.append(evidence.unpredictable(OUR_TOOL, evidence.repeated(_seed, draw), 2 * _DRAWS))
    found.append(evidence.separate_workers(OUR_TOOL, evidence.shared_after_fork(draw), 2 * _DRAWS))
    return [Finding.of(finding) for finding in found]


def _audited(name: str, blender: Blender) -> evidence.Finding:
    head_list = HeadList.of((f"query {i}", f"https://{i}.example/") for i in range(50))
    tables = Tables.of(blender.parameters, head_list)
    results = audit_tables(tables, blender.parameters, head_list)
    worst = max(float(result.delta) for result in results)
    holds = all(result.holds for result in results)
    text = f"exact audit of {len(results)} tables of integers: at ε = {_EPSILON} the largest δ is {worst:.2g}"
    return evidence.finding(
        f"{OUR_TOOL}: {name}", f"its integers keep ε = {_EPSILON} and δ = {float(_DELTA):g}", holds, text
    )


def _reports(blender: Blender) -> evidence.Draw:
    head_list = HeadList.of((f"query {i}", None) for i in range(50))
    design = blender.collection.randomiser.designs(blender.parameters, head_list)[0]
    device = Device(blender.collection.published(head_list, design), epsilon=_EPSILON)
    entropy = Entropy.system()

    def draw() -> Sequence[str]:
        """Reports of devices, and words of the generator that simulates many of them, as text."""
        reports = [str([device.report("query 3").cells for _ in range(_REPORTS)]) for _ in range(_DRAWS)]
        return [*reports, *(str(entropy.words(2)) for _ in range(_DRAWS))]

    return draw


def _seed() -> None:
    random.seed(7)
    np.random.seed(7)
