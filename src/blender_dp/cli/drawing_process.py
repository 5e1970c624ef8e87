"""Draw charts in another process.

The library that draws them takes a third of a second to start, and blocks its process meanwhile. So a verb starts it
first, and counts while it loads.
"""

from __future__ import annotations

import json
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any, Literal, cast

from blender_dp.errors import ChartError

if TYPE_CHECKING:
    from blender_dp.report.figure import Draw

_FIRST = {"data": {"values": []}, "mark": "bar"}  # loads everything that drawing needs
_DRAWN = {
    "svg": "vl_convert.vegalite_to_svg(chart)",
    "png": "base64.b64encode(vl_convert.vegalite_to_png(chart, scale=scale)).decode()",
}
_PROGRAM = """
import base64, json, sys, vl_convert
def drawn(chart, scale): return {drawn}
drawn({first!r}, 1.0)
for line in sys.stdin:
    print(json.dumps(drawn(*json.loads(line))), flush=True)
"""


@contextmanager
def drawing_process(kind: Literal["svg", "png"] = "svg") -> Iterator[Draw | None]:
    """A function that draws charts as SVG, or as PNG in Base64; None if the library is not installed."""
    if find_spec("vl_convert") is None:
        yield None
        return
    command = [sys.executable, "-c", _PROGRAM.format(drawn=_DRAWN[kind], first=_FIRST)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:  # noqa: S603
        charts, images = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)

        def draw(chart: dict[str, Any]) -> str:
            from blender_dp.report.theme import PNG_SCALE, drawable

            with suppress(OSError):  # it may have exited before
                charts.write(json.dumps([drawable(chart), PNG_SCALE]) + "\n")
                charts.flush()
            if not (line := images.readline()):
                problem = "cannot be drawn, because the process that draws them has exited"
                raise ChartError("charts", problem, "Check that there is enough memory, or install vl-convert-python again")
            drawn: str = json.loads(line)
            return drawn

        try:
            yield draw
        finally:
            process.kill()
            with suppress(OSError):  # of a chart that was not read
                charts.close()


def png_of(drawn: str) -> bytes:
    """The image that a process which draws PNGs has returned."""
    return b64decode(drawn)
