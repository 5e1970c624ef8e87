"""Whether the promises are kept: every library's findings, ours included, and what they mean for each row."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.peers import evidence
from benchmarks.peers.evidence import LOSS, NOISE, OTHER
from benchmarks.rivals.runs import Key, Outcome
from benchmarks.rivals.settings import OUR_TOOL, OURS, RIVALS, SETTINGS, Rival, Setting
from blender_dp import Blender, Device, Entropy, HeadList

PEOPLE = 10_000_000
_DRAWS, _REPORTS = 50, 40  # values of each kind that are compared, and reports per value

_TIGHT = (OURS.method, "tight", "opt-in users only", "central DP with everyone")
LISTS = {"tight": _TIGHT, "paper": ("paper",)}
"""The methods that choose their list with the integers of each profile; no integer depends on whether URLs are learnt."""
DEVICES = {
    OURS.method: (OURS.method, "opt-in users only", "clients only", "central DP with everyone"),
    "tight": ("tight",),
    "paper": ("paper",),
}
"""The methods whose noise each kind of device, and the generator of simulations, draws."""


@dataclass(frozen=True)
class Finding:
    """One claim about some methods of a tool, and what was found; one about noise is about all settings."""

    tool: str
    methods: tuple[str, ...]
    promise: str
    claim: str
    setting: Mapping[str, float] | None
    holds: bool
    evidence: str
    source: str

    @classmethod
    def of(cls, found: evidence.Finding) -> Finding:
        """Read what a script printed."""
        values = {**found, "methods": tuple(found["methods"])}
        return cls(**values)

    def concerns(self, rival: Rival, setting: Setting) -> bool:
        """Whether it is about this rival's row in this setting; baselines use our own mechanisms."""
        tools = {rival.tool, OUR_TOOL} if rival.is_baseline else {rival.tool}
        return self.tool in tools and rival.method in self.methods and self.setting in (None, setting.promise)


@dataclass(frozen=True)
class Answer:
    """Whether a row keeps a promise, and the numbers of the claims that say so; None if its own setting was not checked."""

    kept: bool | None
    claims: tuple[int, ...] = ()
    see: tuple[int, ...] = ()
    """Claims that do not hold, but on which the row does not depend."""


def answer(promise: str, rival: Rival, setting: Setting, findings: Sequence[Finding]) -> Answer:
    """What the findings mean for a row. What protects in another setting is no evidence."""
    about = [(i, finding) for i, finding in enumerate(findings, 1) if finding.concerns(rival, setting)]
    here = [(i, finding) for i, finding in about if finding.promise == promise]
    if not any(finding.setting or promise == NOISE for _, finding in here):
        return Answer(None)
    see = tuple(i for i, finding in about if promise == LOSS and finding.promise == OTHER and not finding.holds)
    if failed := tuple(i for i, finding in here if not finding.holds):
        return Answer(False, failed, see)
    return Answer(True, tuple(i for i, _ in here), see)


def sorted_findings(findings: Iterable[Finding]) -> list[Finding]:
    """In the order of the page: by promise, then by setting; otherwise as they come."""
    settings = [setting.promise for setting in SETTINGS]
    places = {promise: place for place, promise in enumerate((LOSS, NOISE, OTHER))}
    return sorted(findings, key=lambda f: (places[f.promise], settings.index(f.setting) if f.setting else len(settings)))


def ours(outcomes: Mapping[Key, Sequence[Outcome]]) -> list[Finding]:
    """The same checks on our own mechanisms, and the exact audits of the integers that the runs used."""
    found = [
        *(
            _audited(rival, setting, outcomes)
            for setting in SETTINGS
            for rival in RIVALS
            if _was_audited(rival, setting, outcomes)
        ),
        *(singletons(profile, setting) for setting in SETTINGS for profile in LISTS),
        *(finding for method in DEVICES for finding in _noise(method)),
    ]
    return [Finding.of(finding) for finding in found]


def _was_audited(rival: Rival, setting: Setting, outcomes: Mapping[Key, Sequence[Outcome]]) -> bool:
    return rival.environment is None and bool(outcomes.get((setting.name, rival.name)))


def _audited(rival: Rival, setting: Setting, outcomes: Mapping[Key, Sequence[Outcome]]) -> evidence.Finding:
    audits = [outcome.audit or {} for outcome in outcomes[setting.name, rival.name]]
    tables, worst = sum(audit.get("tables", 0) for audit in audits), max(audit.get("delta", 1.0) for audit in audits)
    text = (
        f"exact audit of the {tables} tables of integers that its {len(audits)} runs used: at ε = {setting.epsilon:g} the "
        f"largest δ is {worst:.2g}"
    )
    holds = all(audit.get("holds", False) for audit in audits) and worst <= setting.delta
    claim = "the integers of its runs keep ε and δ"
    return evidence.Claim(f"{rival.tool}: {rival.method}", LOSS, claim, evidence.Setting(**setting.promise)).found(
        holds, text
    )


def singletons(profile: str, setting: Setting) -> evidence.Finding:
    """Whether discovery lists queries that only one person has."""
    selector = blender_for(profile, setting).collection.discovery.selector(Entropy.system())
    released = selector.select(np.ones(PEOPLE, np.int64)).rows.size
    what = f"{OUR_TOOL}: {'; '.join(LISTS[profile])}"
    return evidence.singletons(what, released, PEOPLE, evidence.Setting(**setting.promise))


def blender_for(profile: str, setting: Setting) -> Blender:
    """The documented interface, with the promise of a setting."""
    p = setting
    return Blender(epsilon=p.epsilon, delta=p.delta, max_queries=p.max_queries, profile=profile, allow_weak_privacy=True)


def _noise(method: str) -> Iterator[evidence.Finding]:
    what, draw = f"{OUR_TOOL}: {'; '.join(DEVICES[method])}", _reports(method)
    yield evidence.unpredictable(what, evidence.repeated(_seed, draw), 2 * _DRAWS)
    yield evidence.separate_workers(what, evidence.shared_after_fork(draw), 2 * _DRAWS)


def _reports(method: str) -> evidence.Draw:
    blender = blender_for("paper" if method == "paper" else "tight", SETTINGS[0])
    url = None if method == OURS.method else "https://example.org/"
    head_list = HeadList.of((f"query {i}", url) for i in range(blender.parameters.max_queries))
    design = blender.collection.randomiser.designs(blender.parameters, head_list)[0]
    published = blender.collection.published(head_list, design)
    delta = blender.parameters.delta if published.channel.delta is not None else None
    device, entropy = Device(published, epsilon=blender.parameters.epsilon, delta=delta), Entropy.system()
    report = partial(device.report, "query 3", url)

    def draw() -> Sequence[str]:
        """Reports of devices, and words of the generator that simulates many of them, as text."""
        reports = [str([report().cells for _ in range(_REPORTS)]) for _ in range(_DRAWS)]
        return [*reports, *(str(entropy.words(2)) for _ in range(_DRAWS))]

    return draw


def _seed() -> None:
    random.seed(7)
    np.random.seed(7)
