from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import blender_dp
import blender_dp_device
from blender_dp import errors
from blender_dp_device import StateError

PUBLIC = [
    "Blender", "BlenderError", "ChannelSettings", "Columns",
    "Device", "DocumentError", "Entropy", "GroupError", "HeadList", "LogError",
    "OutsideTheoremError", "ParameterError", "PrivacyWarning", "Release", "ReportingList", "Truth",
    "aol_like", "canonical_query", "canonical_url", "evaluate", "plan", "score",
    "yandex_like",
]  # fmt: skip


def test_the_public_names_are_complete_and_resolve():
    assert blender_dp.__all__ == PUBLIC
    assert dir(blender_dp) == PUBLIC
    assert all(getattr(blender_dp, name).__doc__ for name in PUBLIC)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Mixer'"):
        blender_dp.Mixer  # noqa: B018


def test_every_error_is_a_blender_error_with_subject_problem_and_fix():
    for name in ("ParameterError", "GroupError", "LogError", "DocumentError"):
        error = getattr(errors, name)("thing", "is wrong", "Fix it")
        assert isinstance(error, errors.BlenderError)
        assert isinstance(error, ValueError)
        assert (error.subject, error.problem, error.fix) == ("thing", "is wrong", "Fix it")
        assert str(error) == "thing: is wrong. Fix it."


@pytest.mark.parametrize(
    "error",
    [
        errors.LogError("log", "is empty", "Add rows"),
        errors.OutsideTheoremError("epsilon", "is too small", "Raise it", theorem="Theorem 3.1"),
        StateError("round", "is closed", "Wait", kind="missing"),
        errors.MissingExtraError("spark", "pyspark"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_arrive_unchanged_from_another_process(error):
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_a_device_needs_only_the_standard_library():
    # -S leaves out site-packages altogether; only the source folder is added by hand.
    source = str(next(iter(blender_dp_device.__path__))).removesuffix("blender_dp_device")
    script = (
        f"import sys; sys.path.insert(0, {source!r})\n"
        "from blender_dp_device.channel import Device\nfrom blender_dp_device.records.head_list import HeadList\n"
        "from blender_dp_device.records.reporting_list import ChannelSettings, ReportingList\n"
        "c = ChannelSettings.of(epsilon=1, f_c='0.85', subset_size=1)\n"
        "d = Device(ReportingList(HeadList.of([('a', 'https://b.example/')]), c), epsilon=1)\n"
        "print(d.report('a', 'b.example').cells in {(0,), (1,), (2,)})\n"
        "c = ChannelSettings.of(epsilon=1, f_c='0.85', subset_size=2)\n"
        "d = Device(ReportingList(HeadList.of([(q, None) for q in 'abc']), c), epsilon=1)\n"
        "print(len(d.report('a').cells))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n2\n", "")
