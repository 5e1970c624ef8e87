"""Build the documentation site: python -m tools.docs_site [FOLDER]."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.docs_site.build import build
from tools.docs_site.pages import ROOT

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".site"
print(f"Open {build(folder)} in a browser.")  # noqa: T201
