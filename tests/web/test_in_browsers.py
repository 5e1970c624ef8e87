"""The tests of web/, which are written in TypeScript: all of them, with real browsers and a real collector."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

BROWSERS = {"Chromium": ("chromium", "chromium-browser", "google-chrome"), "Firefox": ("firefox-esr", "firefox")}
NEEDED = bool(os.environ.get("BLENDER_DP_NEEDS_WEB"))


@pytest.mark.slow
def test_the_client_and_the_extension_pass_their_own_tests():
    if shutil.which("npm") is None and not NEEDED:
        pytest.skip("web tests need Node and browsers (Debian: apt-get install nodejs npm chromium firefox-esr)")
    lacking = [name for name, programs in BROWSERS.items() if not any(map(shutil.which, programs))]
    if lacking and not NEEDED:
        run("check")
        pytest.skip(f"the fast web tests passed; the others need {' and '.join(lacking)}")
    run("test")


def run(script: str) -> None:
    environment = {**os.environ, "BLENDER_DP_NEEDS_WEB": "1", "BLENDER_DP_PYTHON": sys.executable}
    done = subprocess.run([ROOT / "tools/web", script], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
