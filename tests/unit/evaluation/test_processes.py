from __future__ import annotations

import time
from multiprocessing import get_context

import pytest

from blender_dp.evaluation.processes import processes


@pytest.mark.slow
def test_after_an_error_only_the_pools_own_processes_end():
    other = get_context("spawn").Process(target=time.sleep, args=(60,))

    def fail() -> None:
        with processes(1) as pool:
            pool.submit(time.sleep, 60)
            other.start()  # by another part of the same program
            raise ZeroDivisionError

    try:
        with pytest.raises(ZeroDivisionError):
            fail()
        assert other.is_alive()
    finally:
        other.terminate()
        other.join()
