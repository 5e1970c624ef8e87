"""Draw charts in another process.

The library that draws them takes a third of a second to start, and blocks its process meanwhile. So a verb starts it
first, and counts while it loads.
"""

from __future__ import annotations

import json
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import IO, Any, Literal, cast

Draw = Callable[[dict[str, Any]], str]
"""Turns a Vega-Lite chart into SVG, or into a PNG in Base64."""

_FIRST = {"data": {"values": []}, "mark": "bar"}  # loads everything that drawing needs
_SCALE = 2.0  # pixels per point, as in `report.lines.png`
_DRAWN = {
    "svg": "vl_convert.vegalite_to_svg(chart)",
    "png": f"base64.b64encode(vl_convert.vegalite_to_png(chart, scale={_SCALE})).decode()",
}
_PROGRAM = """
import base64, json, sys, vl_convert
def drawn(chart): return {drawn}
drawn({first!r})
for line in sys.stdin:
    print(json.dumps(drawn(json.loads(line))), flush=True)
"""


@contextmanager
def drawing_process(kind: Literal["svg", "png"] = "svg") -> Iterator[Draw | None]:
    """A function that draws charts; None if the library is not installed."""
    if find_spec("vl_convert") is None:
        yield None
        return
    command = [sys.executable, "-c", _PROGRAM.format(drawn=_DRAWN[kind], first=_FIRST)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:  # noqa: S603

        def draw(chart: dict[str, Any]) -> str:
            from blender_dp.report.theme import drawable

            charts, images = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
            charts.write(json.dumps(drawable(chart)) + "\n")
            charts.flush()
            if not (line := images.readline()):
                raise ChildProcessError("the process that draws the charts has exited")
            drawn: str = json.loads(line)
            return drawn

        try:
            yield draw
        finally:
            process.kill()


def png_of(drawn: str) -> bytes:
    """The image that a process which draws PNGs has returned."""
    return b64decode(drawn)
