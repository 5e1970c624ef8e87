"""A link as a QR code, and the code as a picture."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from blender_dp.errors import MissingExtraError
from blender_dp.extras import is_installed

if TYPE_CHECKING:
    from segno import QRCode


def qr_code(link: str) -> QRCode:
    """The QR code of a link; the library comes with the extra `collector`."""
    if not is_installed("segno"):
        raise MissingExtraError("collector", "segno")
    import segno  # noqa: PLC0415 (only if used)

    return segno.make_qr(link, error="l")


def qr_svg(code: QRCode) -> str:
    """A QR code as SVG, black on white in every theme."""
    picture = io.BytesIO()
    code.save(picture, kind="svg", scale=4, light="white", xmldecl=False)
    return picture.getvalue().decode()
