"""Draw the charts of the report in another process.

The library that draws them takes a third of a second to start, and blocks its process meanwhile. So a verb starts it
first, and counts while it loads.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import IO, Any, cast

Draw = Callable[[dict[str, Any]], str]

_FIRST = {"data": {"values": []}, "mark": "bar"}  # loads everything that drawing needs
_PROGRAM = f"""
import json, sys, vl_convert
vl_convert.vegalite_to_svg({_FIRST!r})
for line in sys.stdin:
    print(json.dumps(vl_convert.vegalite_to_svg(json.loads(line))), flush=True)
"""


@contextmanager
def svg_process() -> Iterator[Draw | None]:
    """A function that turns a Vega-Lite chart into SVG; None if the library is not installed."""
    if find_spec("vl_convert") is None:
        yield None
        return
    command = [sys.executable, "-c", _PROGRAM]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:  # noqa: S603

        def draw(chart: dict[str, Any]) -> str:
            charts, images = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
            charts.write(json.dumps(chart) + "\n")
            charts.flush()
            if not (line := images.readline()):
                raise ChildProcessError("the process that draws the charts has exited")
            svg: str = json.loads(line)
            return svg

        try:
            yield draw
        finally:
            process.kill()
