"""Exit without releasing memory object by object.

The modules of a run are hundreds of thousands of objects. Releasing them one by one takes longer than counting a small log,
and the system reclaims the memory of a process anyway.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading


def quick_exit(end: SystemExit) -> None:
    """Exit at once with the code of `end`, after the functions of `atexit`; return if only a normal exit is safe."""
    waits_for_threads = any(thread is not threading.main_thread() and not thread.daemon for thread in threading.enumerate())
    if waits_for_threads or not isinstance(end.code, int | None):
        return  # a normal exit joins the threads, and prints a code that is text
    atexit._run_exitfuncs()  # private, but there is no other way to call what libraries registered
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return  # a normal exit reports the closed pipe
    os._exit(end.code or 0)
