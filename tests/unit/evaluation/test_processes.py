from __future__ import annotations

import signal
import time
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess

import pytest

from blender_dp.evaluation.processes import processes


@pytest.mark.slow
def test_after_an_error_only_the_pools_own_processes_end():
    other, started = get_context("spawn").Process(target=time.sleep, args=(600,)), set[BaseProcess]()

    def fail() -> None:
        before = set(active_children())
        with processes(1) as pool:
            pool.submit(time.sleep, 600)
            started.update(set(active_children()) - before)
            other.start()  # by another part of the same program
            raise ZeroDivisionError

    try:
        with pytest.raises(ZeroDivisionError):
            fail()
        assert other.is_alive()
        assert [process.exitcode for process in started] == [-signal.SIGTERM]
    finally:
        other.terminate()
        other.join()
