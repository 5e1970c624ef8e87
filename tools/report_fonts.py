"""Make the fonts of the report's charts: the letters of Liberation Sans that labels use, compressed.

    pip install fonttools brotli
    apt-get download fonts-liberation2 && dpkg -x fonts-liberation2_*.deb unpacked
    python tools/report_fonts.py unpacked/usr/share/fonts/truetype/liberation2

The licence allows changes under another name only, so the fonts are renamed. Kerning is removed: a label is as wide as its
letters.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FONTS = Path(__file__).parent.parent / "src/blender_dp/report/fonts"
FAMILY = "Blender DP Sans"
RANGES = ((0x20, 0x7E), (0xA0, 0x17F), (0x370, 0x3FF), (0x400, 0x45F), (0x2010, 0x2026), (0x2190, 0x2193), (0x2248, 0x2265))
"""Latin, Greek and Cyrillic letters, punctuation, arrows and comparisons."""
SINGLE = "‰€−√∞\ufffd"
NAMES = {1: FAMILY, 3: FAMILY, 4: FAMILY, 6: FAMILY.replace(" ", ""), 16: FAMILY}
"""The records of a font's name table that contain the name of its family."""


def make(source: Path, target: Path) -> None:
    """Write the part of a font that is needed."""
    options = subset.Options(hinting=False, layout_features=[])
    options.drop_tables += ["GPOS", "GSUB", "GDEF", "kern", "FFTM"]
    font = TTFont(source)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)], text=SINGLE)
    chosen.subset(font)
    for record in font["name"].names:
        if record.nameID in NAMES:
            font["name"].setName(NAMES[record.nameID], record.nameID, record.platformID, record.platEncID, record.langID)
    font.flavor = "woff2"
    font.save(target)


if __name__ == "__main__":
    for weight in ("Regular", "Bold"):
        make(Path(sys.argv[1]) / f"LiberationSans-{weight}.ttf", FONTS / f"{weight.lower()}.woff2")
