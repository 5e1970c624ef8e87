from __future__ import annotations

from fractions import Fraction

import pytest

from blender_dp import DocumentError, ParameterError
from blender_dp.evaluation.grid import Grid, by_population, read_grid
from blender_dp.logs import Reading

BASE = {"epsilon": 4, "delta": "1e-5"}


def test_a_grid_is_every_combination_once():
    grid = Grid.of({**BASE, "epsilon": [1, "2", 2], "opt_in": [0.01, 0.05], "profile": ["paper", "tight"], "seeds": 3})
    assert grid.seeds == 3
    assert len(grid.settings) == 2 * 2 * 2  # 2 and "2" are the same
    assert {setting.profile for setting in grid.settings} == {"paper", "tight"}
    assert {setting.opt_in for setting in grid.settings} == {Fraction(1, 100), Fraction(1, 20)}


def test_parts_of_different_profiles_are_mixed():
    (setting,) = Grid.of({**BASE, "profile": "paper", "estimator": "likelihood"}).settings
    assert setting.profile == "mixed"


def test_names_of_settings_differ():
    grid = Grid.of(
        {**BASE, "f_c": ["0.8", "0.9"], "max_queries": [10, 20], "robust": [True, False], "source": ["aol", "yandex"]}
    )
    assert len({setting.name for setting in grid.settings}) == 16


def test_a_grid_says_how_to_read_its_logs():
    (setting,) = Grid.of({**BASE, "source": "log.csv", "user": "who", "no_url": True}).settings
    assert setting.source.reading == Reading(user="who", no_url=True)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"user": 3}, "user"),
        ({"no_url": "yes"}, "no_url"),
        ({"epsilon": [4, -1]}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"opt_in": [0.05, 1]}, "opt_in"),
        ({"seeds": 0}, "seeds"),
        ({"users": 0}, "users"),
        ({"profile": ["paper", "loose"]}, "profile"),
        ({"m_c": 2}, "m_c"),
        ({"epsilons": 4}, "epsilons"),
        ({"source": 7}, "source"),
        ({"source": []}, "source"),
        ({"epsilon": []}, "epsilon"),
        ({"robust": []}, "robust"),
        ({"users": 10**18}, "users"),
        ({"seeds": 10**12}, "grid"),
        ({"max_queries": range(1, 10**7)}, "max_queries"),
        ({"max_queries": list(range(1, 1001)), "f_c": [f"0.{i:03}" for i in range(1, 999)]}, "grid"),
    ],
)
def test_invalid_values_name_their_axis(values, field):
    with pytest.raises(ParameterError, match=field):
        Grid.of(BASE | values)


def test_a_grid_is_read_from_toml_exactly(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text('source = "yandex"\nepsilon = [1, 0.1]\ndelta = 1e-7\nopt_in = 0.03\nseeds = 2\n')
    grid = Grid.of(read_grid(path))
    assert [setting.parameters.epsilon for setting in grid.settings] == [1, Fraction(1, 10)]
    assert grid.settings[0].parameters.delta == Fraction(1, 10**7)
    assert grid.settings[0].source.name == "yandex"


@pytest.mark.parametrize("text", ["epsilon = [", "epsilon = " + "[" * 10_000, None])
def test_a_file_that_is_not_toml_is_refused(tmp_path, text):
    path = tmp_path / "grid.toml"
    if text:
        path.write_text(text)
    with pytest.raises(DocumentError, match=r"grid\.toml"):
        read_grid(path)


def test_work_is_shared_by_population():
    grid = Grid.of({**BASE, "source": ["aol", "yandex"], "max_queries": [10, 20]})
    jobs = list(by_population(grid.settings, 2))
    assert [(source.name, seed, len(settings)) for source, seed, settings in jobs] == [
        ("aol", 0, 2), ("yandex", 0, 2), ("aol", 1, 2), ("yandex", 1, 2),
    ]  # fmt: skip
