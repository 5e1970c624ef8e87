"""What `run` says before it reads or spends anything."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from blender_dp.cli.app import app
from blender_dp.cli.outlook import Outlook
from blender_dp.errors import ParameterError
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection
from blender_dp.release.manifest import Sizes
from tests.unit.cli.test_run import write_log

RUN = ("run", "log.csv", "--epsilon", "4", "--out", "release", "--key", "01")  # the same groups in every run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path, 400)
    return tmp_path


def command(*arguments: str):
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_a_delta_too_large_for_the_expected_users_is_refused_before_the_log_is_read(folder):
    (folder / "log.csv").write_text("this is not a log", encoding="utf-8")
    with pytest.raises(ParameterError, match=r"delta: 0.001 is not below 1 / 50,000 opt-in users"):
        command(*RUN, "--delta", "1e-3", "--opt-in", "0.05", "--users", "1000000")
    assert not (folder / "release").exists()


@pytest.mark.slow
def test_explicitly_weak_privacy_is_not_refused():
    done = command(*RUN, "--delta", "0.01", "--opt-in", "0.5", "--users", "400", "--force-weak-privacy")
    assert done.exit_code == 0, done.output


@pytest.mark.slow
def test_an_empty_list_is_foreseen_before_and_after_the_users_are_counted(folder):
    write_log(folder, 400, lambda i: f"query {i}")
    before = json.loads(
        command(*RUN, "--delta", "1e-6", "--opt-in", "0.03", "--users", "400", "--json", "--f-o", "0.5").stdout
    )
    after = json.loads(command(*RUN, "--delta", "1e-6", "--opt-in", "0.03", "--json", "--f-o", "0.5", "--force").stdout)
    for made in (before, after):
        (warning,) = made["outlook"]["warnings"]
        assert warning.startswith("the list will probably be empty: about 8 discovery users must have the same record,")
        assert made["listed"] == 0


@pytest.mark.slow
def test_named_users_are_counted_without_the_log(folder):
    (folder / "ids.txt").write_text("\n".join(f"u{i}" for i in range(200)), encoding="utf-8")
    done = command(*RUN, "--delta", "1e-6", "--opt-in", "ids.txt")
    said = " ".join(done.output.split())
    assert "at least 8 of about 190 discovery users have it (4.21%)." in said
    assert "warning: the list will probably be empty" in said
    assert said.index("probably be empty") < said.index("one record per user")


def test_named_users_may_be_too_many_for_delta(folder):
    (folder / "ids.txt").write_text("\n".join(f"u{i}" for i in range(300)), encoding="utf-8")
    with pytest.raises(ParameterError, match="delta"):
        command(*RUN, "--delta", "0.01", "--opt-in", "ids.txt")


@pytest.mark.slow
def test_a_good_plan_causes_no_warning():
    made = json.loads(command(*RUN, "--delta", "1e-6", "--opt-in", "0.5", "--users", "1000000", "--json").stdout)
    # The log is smaller than expected: that is noticed once the users are counted.
    assert made["outlook"]["needed_count"] == 8
    assert len(made["outlook"]["warnings"]) == 1


def test_a_warning_that_proves_wrong_is_withdrawn():
    """Far more users than expected: before they are counted, the list seems to be empty."""
    outlook = Outlook(Collection(Parameters(epsilon=4, delta="1e-6")))
    outlook.before("0.5", 20, quiet=True)
    assert len(outlook.to_document()["warnings"]) == 1
    outlook.add_sizes(Sizes(24_671, 1_298, 493_402))
    assert outlook.to_document()["warnings"] == []


@pytest.mark.parametrize("share", ["1.5", "0", "-1"])
def test_a_share_that_is_none_is_refused_before_the_log_is_read(folder, share: str):
    (folder / "log.csv").unlink()
    with pytest.raises(ParameterError, match=r"opt_in: .* is not between 0 and 1"):
        command(*RUN, "--delta", "1e-6", f"--opt-in={share}", "--users", "20")


def test_an_epsilon_without_meaning_is_refused_before_the_log_is_read(folder):
    (folder / "log.csv").unlink()
    with pytest.raises(ParameterError, match="epsilon: 25 is above 20"):
        command("run", "log.csv", "--epsilon", "25", "--delta", "1e-6", "--opt-in", "0.05", "--out", "release")
