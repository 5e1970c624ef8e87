from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import PurePosixPath

import pytest

from blender_dp.errors import BlenderError, MissingExtraError
from blender_dp.extras import EXTRAS, needs
from tests.conftest import ROOT

pytestmark = pytest.mark.slow  # starts a process for every test


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_table_of_extras_matches_pyproject():
    """Adding a dependency to an extra in pyproject.toml means adding its module to blender_dp/extras.py."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    homes = importlib.metadata.packages_distributions()

    def distributions(module: str) -> list[str]:
        """Return the distributions that contain the module's file; several can share the folder of a namespace package."""
        file = PurePosixPath(*module.split("."), "__init__.py")
        found = homes[module.partition(".")[0]]
        return found if "." not in module else [name for name in found if file in importlib.metadata.files(name)]

    named = {
        extra: {plain(distribution) for module in modules for distribution in distributions(module)}
        for extra, modules in EXTRAS.items()
    }
    assert named == {
        extra: {plain(re.match(r"[\w.-]+", one)[0]) for one in requirements} for extra, requirements in declared.items()
    }


@pytest.mark.parametrize(("extra", "module"), [(extra, module) for extra, some in EXTRAS.items() for module in some])
def test_every_missing_module_gives_the_same_error(monkeypatch, extra, module):
    needs(extra)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as raised:
        needs(extra)
    assert str(raised.value) == (
        f"the extra '{extra}': is not installed ({module} is missing). Install it: pip install 'blender-dp[{extra}]'."
    )
    assert isinstance(raised.value, BlenderError)
    assert isinstance(raised.value, ImportError)
    assert (raised.value.extra, raised.value.name) == (extra, module)


@pytest.mark.parametrize(
    ("extra", "package"),
    [
        ("collector", "blender_dp.collector.rounds.facade"),
        ("plots", "blender_dp.report"),
        ("spark", "blender_dp.engines.spark"),
    ],
)
def test_the_import_error_names_the_missing_extra(extra, package):
    """Even if it is the last module of the extra, and others would have been imported before it."""
    for module in EXTRAS[extra]:
        tried = f"try:\n import {package}\nexcept ValueError as error: print(error.extra, error.name)"
        script = f"import sys; sys.modules[{module!r}] = None\n{tried}"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == (f"{extra} {module}\n", "")
