"""Keep pyarrow from importing pandas, which takes a quarter of a second.

pyarrow imports pandas, if it is installed, when it converts the first list to an array. No verb uses data frames. Spark
does, and so does the accountant of the collector.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import Any

_VERBS = frozenset(
    {"aggregate", "audit", "demo", "disagreement", "evaluate", "registry", "reproduce", "run", "search", "trends"}
)


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:  # noqa: ANN401, ARG002 (the protocol's)
        if fullname == "pandas":
            raise ModuleNotFoundError("not needed by this verb", name=fullname)


def avoid_pandas(arguments: Sequence[str]) -> None:
    """Make pandas seem missing in this process, if the command line names a verb that does not need it."""
    uses_spark = any("spark" in argument for argument in arguments)
    if arguments and arguments[0] in _VERBS and not uses_spark and "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas())
