from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from blender_dp.cli.loading import loading


@pytest.fixture(autouse=True)
def enabled() -> None:
    yield
    gc.unfreeze()
    gc.enable()


def test_no_garbage_is_collected_while_modules_load():
    with loading():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_garbage_is_collected_again_after_a_module_fails_to_load():
    with pytest.raises(ImportError), loading():
        raise ImportError
    assert gc.isenabled()


def test_a_program_that_collects_no_garbage_keeps_it_so():
    gc.disable()
    with loading():
        pass
    assert not gc.isenabled()


@pytest.mark.slow
def test_a_process_that_loaded_the_engine_ends_silently():
    code = "from blender_dp.cli.loading import loading\nwith loading():\n    import blender_dp.engines"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
