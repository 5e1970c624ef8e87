"""Load the modules of a verb faster."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Collect no garbage while modules are imported, and do not search what they created later.

    Importing the engine creates hundreds of thousands of objects, and all of them stay. Searching them for garbage again and
    again takes a tenth of the time of a run over a small log.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        atexit.register(gc.unfreeze)  # at exit everything is released: DuckDB would report what is not as leaked
        if was_enabled:
            gc.enable()
