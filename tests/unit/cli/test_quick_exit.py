"""The command exits without releasing memory, but skips nothing else of an exit."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import atexit, sys, threading, time
from blender_dp.cli.quick_exit import quick_exit
class Slow:
    def __del__(self): print("released")
slow = Slow()
atexit.register(print, "at exit")
{before}
try: sys.exit({code})
except SystemExit as end:
    print("unfinished line", end=" ")
    quick_exit(end)
    raise
"""
THREAD = "threading.Thread(target=lambda: (time.sleep(0.2), print('thread'))).start()"


@pytest.mark.parametrize(
    ("before", "code", "printed", "exit_code"),
    [
        pytest.param("", "3", "unfinished line at exit\n", 3, id="at once"),
        pytest.param("", "", "unfinished line at exit\n", 0, id="without a code"),
        pytest.param("", "'text'", "unfinished line at exit\nreleased\n", 1, id="a code that is text"),
        pytest.param(THREAD, "3", "unfinished line thread\nat exit\nreleased\n", 3, id="after its threads"),
    ],
)
@pytest.mark.slow
def test_only_releasing_memory_is_skipped(before, code, printed, exit_code):
    program = PROGRAM.format(before=before, code=code)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (printed, exit_code)
