"""The page at `/join`, which an invitation's link opens in a browser: what the link is, and how to use it.

The invitation is in the part of the link after `#`. Browsers do not send it, and the page has no script that could read it.
"""

from __future__ import annotations

import base64
import hashlib

from fastapi import FastAPI, Response

from blender_dp.collector.http.security_headers import NO_PAGE, POLICY

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
li { margin: .5rem 0; }
"""
_PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>An invitation</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body><main>
<h1>An invitation to participate</h1>
<p>The address of this page is an invitation: it tells the blender-dp extension of your browser which collector to report to,
and how much privacy each report must keep. This page cannot read the invitation: a browser does not send the part of an
address after <code>#</code>, and there is no script here.</p>
<h2>How to use it</h2>
<ol>
<li>Install the blender-dp extension, from the people who sent you this link.</li>
<li>Copy the whole address of this page, with everything after <code>#</code>.</li>
<li>Open the extension’s settings, and paste it there. The extension shows you what you would agree to, and asks before it
does anything.</li>
</ol>
<h2>Before you agree</h2>
<p>Accept an invitation only from someone you trust, because the extension relies on it. You can pause or leave at any time
in the extension. If you do not want to participate, close this page: opening it did nothing.</p>
<p><a href="./">About this collector</a></p>
</main></body></html>
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Cache-Control": "public, max-age=3600",
    POLICY: f"{NO_PAGE}; style-src 'sha256-{_STYLE_HASH}'",
}


def add_join(app: FastAPI) -> None:
    """Add the page."""

    @app.get("/join", include_in_schema=False)
    async def _join() -> Response:
        return Response(_PAGE, media_type="text/html", headers=_HEADERS)
