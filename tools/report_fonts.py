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

REPORT = Path(__file__).parent.parent / "src/blender_dp/report"
FAMILY = "Blender DP Sans"  # `blender_dp.report.theme.FONT`
RANGES = (
    (0x20, 0x7E), (0xA0, 0x17F), (0x1A0, 0x1B0), (0x218, 0x21B), (0x1EA0, 0x1EF9), (0x370, 0x3FF), (0x400, 0x45F),
    (0x490, 0x491), (0x2010, 0x2026), (0x2190, 0x2193), (0x2248, 0x2265),
)  # fmt: skip
"""The letters of languages with Latin, Greek and Cyrillic script, punctuation, arrows and comparisons."""
SINGLE = "‰€−√∞\ufffd"


def make(source: Path, weight: str) -> None:
    """Write the part of a font that is needed."""
    options = subset.Options(hinting=False, layout_features=[])
    options.drop_tables += ["GPOS", "GSUB", "GDEF", "kern", "FFTM"]
    font = TTFont(source)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)], text=SINGLE)
    chosen.subset(font)
    full = f"{FAMILY} {weight}"
    names = {1: FAMILY, 3: full, 4: full, 6: full.replace(" ", ""), 16: FAMILY}  # by the numbers of the format
    for record in font["name"].names:
        if record.nameID in names:
            font["name"].setName(names[record.nameID], record.nameID, record.platformID, record.platEncID, record.langID)
    font.flavor = "woff2"
    font.save(REPORT / f"fonts/{weight.lower()}.woff2")


if __name__ == "__main__":
    for weight in ("Regular", "Bold"):
        make(Path(sys.argv[1]) / f"LiberationSans-{weight}.ttf", weight)
