"""Invalid parameters, small groups and weak privacy are refused, each as early as possible."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

from blender_dp import (
    GroupError,
    LogError,
    OutsideTheoremError,
    ParameterError,
    PrivacyWarning,
)
from blender_dp.pipeline.collection import Collection
from blender_dp.release.manifest import statements
from tests.unit.pipeline.runs import CLIENTS, DELTA, OPT_IN, POPULATION, blender, run


@pytest.mark.parametrize(
    ("changes", "error", "subject"),
    [
        ({"epsilon": 0.6, "profile": "paper"}, OutsideTheoremError, "epsilon"),
        ({"epsilon": 0.6, "discovery": "laplace"}, OutsideTheoremError, "epsilon"),
        ({"m_o": 2, "profile": "paper"}, OutsideTheoremError, "m_o"),
        ({"delta": "1e-40"}, ParameterError, "delta"),  # bounded noise cannot represent it
        ({"delta": "1e-19", "epsilon": "0.1"}, ParameterError, "delta"),
        ({"profile": "loose"}, ParameterError, "profile"),
        ({"discovery": "subset"}, ParameterError, "discovery"),
        ({"randomiser": "geometric"}, ParameterError, "randomiser"),
        ({"estimator": "best"}, ParameterError, "estimator"),
        ({"estimator": ""}, ParameterError, "estimator"),
        ({"subset_size": 0}, ParameterError, "subset_size"),
        ({"subset_size": 2, "randomiser": "two-stage"}, ParameterError, "subset_size"),
        ({"subset_size": 2, "profile": "paper"}, ParameterError, "subset_size"),
        ({"robust": 1}, ParameterError, "robust"),
        ({"m_o": 2}, OutsideTheoremError, "m_o"),
        ({"delta": 0}, ParameterError, "delta"),
        ({"f_o": 1}, ParameterError, "f_o"),
        ({"max_queries": 0}, ParameterError, "max_queries"),
        ({"f_c": 1e-25}, ParameterError, "epsilon"),
        ({"m_c": 10**30}, ParameterError, "m_c"),
        ({"project": "false"}, ParameterError, "project"),
    ],
)
def test_bad_parameters_are_refused_before_any_data_is_touched(changes, error, subject):
    with pytest.raises(error) as caught:
        blender(**changes)
    assert caught.value.subject == subject


@pytest.mark.slow
def test_bad_groups_are_refused():
    with pytest.raises(GroupError, match="also clients"):
        run(OPT_IN, POPULATION)
    with pytest.raises(GroupError, match="discovery users: there are 0"):
        run([], CLIENTS)
    with pytest.raises(GroupError, match="calibration users"):
        run(OPT_IN.slice(0, 3), CLIENTS)
    with pytest.raises(GroupError, match="clients: there are 0"):
        run(OPT_IN, [])
    with pytest.raises(LogError, match="no column 'url'"):
        run(OPT_IN.drop_columns(["url"]), CLIENTS)
    with pytest.raises(ParameterError, match="opt_in"):
        blender().run_log(POPULATION, 1.5)
    with pytest.raises(ParameterError, match="key"):
        blender().run(OPT_IN, CLIENTS, key="text")
    with pytest.raises(GroupError, match="check that the log contains them"):
        blender().run_log(POPULATION, ["nobody", "there"])


def test_the_likelihood_needs_the_same_number_of_records_in_both_groups():
    with pytest.raises(ParameterError, match="m_c: 2 records per client and 1"):
        blender(m_c=2)
    assert blender(m_c=2, estimator="average").parameters.m_c == 2


class Unread:
    """A log that must not be read."""

    def __arrow_c_stream__(self, requested_schema=None):
        raise AssertionError("it was read")


def test_an_epsilon_without_protection_is_refused_before_anything_is_read():
    weak = blender(epsilon=21)
    with pytest.raises(ParameterError, match="epsilon: 21 is above 20"):
        weak.run(Unread(), Unread())
    with pytest.raises(ParameterError, match="epsilon: 21 is above 20"):
        weak.run_log(Unread(), 0.3)


@pytest.mark.parametrize("by", ["groups", "log"])
def test_a_delta_that_exposes_people_is_refused_before_anything_is_listed(by, monkeypatch):
    monkeypatch.setattr(Collection, "make_list", lambda *_: pytest.fail("a list was made"))
    weak, names = blender(delta="1/20000"), set(OPT_IN["user"].to_pylist())
    runs = {
        "groups": lambda: weak.run(OPT_IN, CLIENTS),
        "log": lambda: weak.run_log(pa.concat_tables([OPT_IN, CLIENTS]), names),
    }
    with pytest.raises(ParameterError, match=r"delta: 5e-05 is not below 1 / 20,000 opt-in users .* only one person has"):
        runs[by]()


@pytest.mark.slow
def test_weak_privacy_gives_a_warning_and_forcing_it_is_recorded():
    with pytest.warns(PrivacyWarning, match="delta: 1e-05 is more than a tenth of 1 / 20,000 opt-in users"):
        usual = run().manifest
    assert not usual.weak_privacy_allowed
    assert usual.expected_exposures == DELTA * usual.discovery_users
    with pytest.warns(PrivacyWarning, match="epsilon: 21 is above 20"):
        forced = run(epsilon=21, delta="1/20000", allow_weak_privacy=True).manifest
    assert forced.weak_privacy_allowed
    assert any("Weak privacy was allowed" in text for text in statements(forced))
    assert any("up to about 0.9" in text for text in statements(forced))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(delta="1e-6")
