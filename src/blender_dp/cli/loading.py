"""Load the modules of a verb faster."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Collect no garbage while modules are imported, and never look at what they created again.

    Importing the engine creates hundreds of thousands of objects, and all of them stay. Searching them for garbage again and
    again takes a tenth of the time of a run over a small log.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
