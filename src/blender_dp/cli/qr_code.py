"""A link as a QR code: in the terminal, or as an SVG file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from blender_dp.errors import MissingExtraError
from blender_dp.extras import is_installed

if TYPE_CHECKING:
    from segno import QRCode

_BORDER = 2  # modules; the standard's four would not fit into 80 columns
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def qr_code(link: str) -> QRCode:
    """The QR code of a link; the library comes with the extra `collector`."""
    if not is_installed("segno"):
        raise MissingExtraError("collector", "segno")
    import segno

    return segno.make_qr(link, error="l")


def print_qr_code(code: QRCode, console: Console) -> bool:
    """Print a QR code, two rows of modules per line, black on white; return False if the terminal is too narrow for it."""
    rows = [[bool(module) for module in row] for row in code.matrix_iter(border=_BORDER)]
    if len(rows[0]) > console.width:
        return False
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        line = "".join(_HALVES[pair] for pair in zip(upper, lower, strict=True))
        console.print(Text(line, style="black on white", no_wrap=True))
    return True


def write_qr_code(code: QRCode, path: Path) -> None:
    """Write a QR code as SVG, black on white in every theme."""
    code.save(str(path), kind="svg", scale=4, light="white", xmldecl=False)
