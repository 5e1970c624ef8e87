"""The audit reports `holds` for the shipped tables and `violated` for tampered ones."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp import DocumentError, HeadList
from blender_dp.parameters import Parameters
from blender_dp.pipeline.audit import Tables, audit_tables
from blender_dp.privacy.loss import Loss
from blender_dp.sampling.discrete import WORD
from blender_dp_device.channel.subset import SubsetChannel
from blender_dp_device.channel.two_stage import Channel

pytestmark = pytest.mark.slow  # exact audits of many parameters

PARAMETERS = Parameters(epsilon=4, delta="1e-5", profile="paper", f_c="0.85")
TIGHT = Parameters(epsilon=4, delta="1e-5", subset_size=3, f_c="0.85")
LIST = HeadList.of((f"q{i}", f"u{j}") for i in range(50) for j in range(i % 5 + 1))
SHIPPED = Tables.of(PARAMETERS, LIST)


CHANNEL = next(iter(SHIPPED.channels.values()))


def with_channel(tables: Tables, **change: Any) -> Tables:
    """The tables of one design, with changes to its channel."""
    ((name, channel),) = tables.channels.items()
    return dataclasses.replace(tables, channels={name: dataclasses.replace(channel, **change)})


def verdicts(tables: Tables, parameters: Parameters = PARAMETERS, head_list: HeadList = LIST) -> dict[str, bool]:
    return {finding.mechanism: finding.holds for finding in audit_tables(tables, parameters, head_list)}


def test_the_shipped_tables_hold():
    assert verdicts(SHIPPED) == {"discovery": True, "calibration": True, "local channel": True}


def test_the_losses_at_the_papers_defaults():
    """Discovery spends its ε and half its δ; the two-stage channel leaves some ε unused."""
    discovery, calibration, channel = audit_tables(SHIPPED, PARAMETERS, LIST)
    assert 3.9999 < discovery.epsilon <= 4
    assert discovery.delta == SHIPPED.discovery.listing_probability(1)
    assert 3.9999 < calibration.epsilon <= 4
    assert calibration.delta == 0
    assert 3.7 < channel.epsilon < 3.95
    assert channel.delta == 0


def test_with_single_items_the_channel_spends_all_of_epsilon():
    names = HeadList.of((f"q{i}", None) for i in range(50))
    items = Tables.of(PARAMETERS, names)
    channel = audit_tables(items, PARAMETERS, names)[2]
    assert channel.holds
    assert channel.epsilon == pytest.approx(4, abs=1e-4)
    assert channel.delta == pytest.approx(Fraction(1, 10**5) / 2, rel=1e-6)
    (shipped,) = items.channels.values()
    too_honest = with_channel(items, query_step=shipped.query_step * 99 // 100)
    assert not verdicts(too_honest, head_list=names)["local channel"]


@given(st.fractions(Fraction(7, 10), 10, max_denominator=100), st.integers(3, 12).map(lambda n: Fraction(1, 10**n)))
@settings(max_examples=25)
def test_the_claim_holds_for_all_parameters(epsilon, delta):
    parameters = Parameters(epsilon=epsilon, delta=delta, profile="paper")
    findings = audit_tables(Tables.of(parameters, LIST), parameters, LIST)
    assert all(finding.holds for finding in findings)
    assert all(finding.epsilon <= float(epsilon) + 1e-9 for finding in findings[:2])


def noise_with(more: int | None = None, weights: tuple[int, ...] | None = None):
    noise = SHIPPED.calibration.noise
    return dataclasses.replace(noise, more=more or noise.more, weights=weights or noise.weights)


def skewed() -> tuple[int, ...]:
    """Weights with too much in the first place: still a distribution, but crossing zero reveals too much."""
    weights = list(SHIPPED.calibration.noise.weights)
    moved = weights[-1] // 2
    weights[-1] -= moved
    weights[0] += moved
    return tuple(weights)


@pytest.mark.parametrize(
    "noise",
    [noise_with(more=SHIPPED.calibration.noise.more - 1), noise_with(more=WORD // 10), noise_with(weights=skewed())],
    ids=["one word too few", "far too little noise", "skewed places"],
)
def test_sabotaged_noise_is_a_violation(noise):
    calibration = dataclasses.replace(SHIPPED, calibration=dataclasses.replace(SHIPPED.calibration, noise=noise))
    found = verdicts(calibration)  # candidates are counted with this noise in discovery, where a δ may be enough for it
    assert (found["calibration"], found["local channel"]) == (False, True)


def test_sabotaged_discovery_noise_is_a_violation():
    noise = noise_with(more=WORD // 10)
    tables = dataclasses.replace(SHIPPED, discovery=dataclasses.replace(SHIPPED.discovery, noise=noise))
    assert not verdicts(tables)["discovery"]


def test_a_threshold_that_is_too_low_is_a_violation():
    units = SHIPPED.discovery.noise.half_steps
    one_lower = dataclasses.replace(SHIPPED.discovery, threshold=SHIPPED.discovery.threshold - units)
    assert not verdicts(dataclasses.replace(SHIPPED, discovery=one_lower))["discovery"]


@pytest.mark.parametrize(
    "change",
    [
        {"query_step": CHANNEL.query_step * 2 // 3},
        {"query_step": 1},
        {"url_steps": tuple(step // 2 for step in CHANNEL.url_steps)},
        {"url_steps": (*CHANNEL.url_steps[:-2], 1, 0)},
    ],
    ids=["queries too honest", "queries bare", "URLs too honest", "one query's URLs bare"],
)
def test_a_sabotaged_channel_is_a_violation(change):
    tables = with_channel(SHIPPED, **change)
    assert verdicts(tables) == {"discovery": True, "calibration": True, "local channel": False}


def more_than_all() -> tuple[int, ...]:
    """Weights with too large a sum: the sampler would never reach the last ones, although each looks valid."""
    weights = list(SHIPPED.calibration.noise.weights)
    weights[512] += weights[-1] // 2
    return tuple(weights)


@pytest.mark.parametrize(
    "noise",
    [
        noise_with(weights=more_than_all()), noise_with(weights=(0, *SHIPPED.calibration.noise.weights[1:])),
        dataclasses.replace(SHIPPED.calibration.noise, weights=()), noise_with(more=WORD), noise_with(more=-5),
    ],
    ids=["sums to too much", "a place never taken", "no places", "never stops", "negative"],
)  # fmt: skip
def test_noise_that_is_not_a_distribution_is_a_violation(noise):
    discovery, calibration = (dataclasses.replace(m, noise=noise) for m in (SHIPPED.discovery, SHIPPED.calibration))
    tables = dataclasses.replace(SHIPPED, discovery=discovery, calibration=calibration)
    assert verdicts(tables) == {"discovery": False, "calibration": False, "local channel": True}


@pytest.mark.parametrize(
    "change",
    [
        {"url_counts": (), "url_steps": ()},
        {"url_counts": CHANNEL.url_counts[:-1]},
        {"url_counts": (*CHANNEL.url_counts[:-1], 2)},
        {"query_step": 0},
        {"query_step": -CHANNEL.query_step},
        {"query_step": 1 << 63},
        {"bits": 60},
    ],
)
def test_an_invalid_channel_is_a_violation(change):
    tables = with_channel(SHIPPED, **change)
    assert not verdicts(tables)["local channel"]


def test_a_threshold_off_the_grid_is_a_violation():
    off = dataclasses.replace(SHIPPED.discovery, threshold=SHIPPED.discovery.threshold + 1)
    assert not verdicts(dataclasses.replace(SHIPPED, discovery=off))["discovery"]


@given(
    st.fractions(Fraction(1, 10), 10, max_denominator=100),
    st.integers(3, 12).map(lambda n: Fraction(1, 10**n)),
    st.one_of(st.none(), st.integers(1, 20)),
    st.integers(1, 2),
)
@settings(max_examples=50)
def test_the_claim_of_the_tight_profile_holds_for_all_parameters(epsilon, delta, size, m_c):
    """Small ε too, and the clients' δ is 0."""
    parameters = Parameters(epsilon=epsilon, delta=delta, subset_size=size, m_c=m_c)
    findings = audit_tables(Tables.of(parameters, LIST), parameters, LIST)
    assert all(finding.holds for finding in findings)
    assert {finding.claim for finding in findings[2:]} == {Loss(epsilon / m_c, Fraction(0))}
    assert all(finding.epsilon <= float(finding.claim.epsilon) + 1e-9 for finding in findings)


def test_the_tight_profile_spends_the_whole_budget():
    """Discovery spends all of ε and δ; the clients' channel all of ε, with one query per report and with three."""
    for parameters in (TIGHT, Parameters(epsilon=4, delta="1e-5", f_c="0.85", subset_size=1)):
        discovery, _, channel = audit_tables(Tables.of(parameters, LIST), parameters, LIST)
        assert discovery.delta == pytest.approx(Fraction(1, 10**5), rel=1e-12)
        assert discovery.epsilon == pytest.approx(4, abs=1e-9)
        assert (channel.claim.delta, channel.delta) == (0, 0)
        assert channel.epsilon == pytest.approx(4, abs=1e-9)


@pytest.mark.parametrize("part", ["discovery", "channel"])
def test_sabotage_of_the_tight_profile_is_a_violation(part):
    tables = Tables.of(TIGHT, LIST)
    assert all(verdicts(tables, TIGHT).values())
    noise, (channel,) = tables.discovery.noise, tables.channels.values()
    noisy = dataclasses.replace(tables.discovery, noise=dataclasses.replace(noise, weights=noise.weights[:-1]))
    changed = {
        "discovery": dataclasses.replace(tables, discovery=noisy),
        "channel": with_channel(tables, truth=channel.truth + (WORD - channel.truth) // 50),
    }
    name = {"discovery": "discovery", "channel": "local channel"}[part]
    found = verdicts(changed[part], TIGHT)
    assert [mechanism for mechanism, holds in found.items() if not holds] == [name]


def test_a_paper_channel_does_not_keep_the_tight_promise():
    """Its δ is above 0, so the audit refuses the claim (ε, 0)."""
    items = HeadList.of((f"q{i}", None) for i in range(50))
    tables = Tables.of(PARAMETERS, items)
    assert verdicts(tables, head_list=items)["local channel"]
    assert not verdicts(tables, Parameters(epsilon=4, delta="1e-5"), items)["local channel"]


@pytest.mark.parametrize(
    "parameters",
    [PARAMETERS, TIGHT, Parameters(epsilon=4, delta="1e-5"), Parameters(epsilon=4, delta="1e-5", discovery="laplace")],
    ids=["paper", "tight, three queries", "tight", "mixed"],
)
def test_tables_survive_json_exactly(tmp_path, parameters):
    path = tmp_path / "audit.json"
    shipped = Tables.of(parameters, LIST)
    path.write_text(json.dumps({"tables": shipped.to_document()}), encoding="utf-8")
    assert Tables.load(path, shipped) == shipped
    assert type(Tables.load(path, shipped).discovery) is type(shipped.discovery)


@pytest.mark.parametrize("text", ["[]", "{}", '{"tables": {}}', '{"tables": {"discovery": 3}}'])
def test_other_json_is_refused(tmp_path, text):
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError, match="tables of an audit"):
        Tables.load(tmp_path / "x.json", SHIPPED)


@pytest.mark.parametrize("bits", [63, 65])
def test_words_of_another_length_are_a_violation(bits):
    assert not verdicts(with_channel(SHIPPED, bits=bits))["local channel"]


def test_every_design_that_may_be_chosen_is_audited():
    """With a small ε, reports of one query and of many, for six shares of the budget; a tampered design is detected."""
    parameters = Parameters(epsilon=1, delta="1e-5")
    tables = Tables.of(parameters, LIST)
    assert len(tables.channels) == 12
    assert {type(channel) for channel in tables.channels.values()} == {Channel, SubsetChannel}
    for name, channel in tables.channels.items():
        less = {"query_step": channel.query_step * 9 // 10} if isinstance(channel, Channel) else {"truth": WORD * 9 // 10}
        changed = {**tables.channels, name: dataclasses.replace(channel, **less)}
        found = verdicts(dataclasses.replace(tables, channels=changed), parameters)
        assert [mechanism for mechanism, holds in found.items() if not holds] == [f"local channel ({name})"]


def test_tables_of_another_list_are_a_violation():
    others = (HeadList.of(list(LIST.records())[1:]), HeadList.of((f"q{i}", None) for i in range(50)))
    for other in others:
        assert not verdicts(Tables.of(PARAMETERS, other))["local channel"]


def test_only_the_tables_of_the_same_list_and_designs_are_read(tmp_path):
    path = tmp_path / "audit.json"

    def refused(tables: Tables, **fields: object) -> str:
        path.write_text(json.dumps({"tables": {**tables.to_document(), **fields}}), encoding="utf-8")
        with pytest.raises(DocumentError) as caught:
            Tables.load(path, SHIPPED)
        return caught.value.problem

    assert "for another list" in refused(Tables.of(PARAMETERS, HeadList.of(list(LIST.records())[1:])))
    assert "may be chosen" in refused(Tables.of(dataclasses.replace(PARAMETERS, f_c=Fraction(9, 10)), LIST))
    assert "may be chosen" in refused(dataclasses.replace(SHIPPED, channels={}))
    assert "another discovery mechanism" in refused(Tables.of(dataclasses.replace(PARAMETERS, discovery="geometric"), LIST))
    assert "that no sampler uses" in refused(SHIPPED, half_steps="2")
    calibration = SHIPPED.to_document()["calibration"]
    assert "that no sampler uses" in refused(SHIPPED, calibration={**calibration, "threshold": "1"})
