"""A QR code in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from segno import QRCode

_BORDER = 2  # modules; the standard's four would not fit into 80 columns
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


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
