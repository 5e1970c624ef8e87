"""The page at `/join`, which an invitation's link opens in a browser: what the link is, and how to use it.

The invitation is in the part of the link after `#`. Browsers do not send it, and the page has no script that could read it.
"""

from __future__ import annotations

from fastapi import FastAPI, Response

from blender_dp.collector.http.html_page import html_page, page_headers

_HEADERS = page_headers(3600)
_PAGE = html_page(
    "An invitation",
    "<h1>An invitation to participate</h1>"
    "<p>The address of this page is an invitation: it tells the blender-dp extension of your browser which collector to "
    "report to, and how much privacy each report must keep. This page cannot read the invitation: a browser does not send "
    "the part of an address after <code>#</code>, and there is no script here.</p>"
    "<h2>How to use it</h2><ol>"
    "<li>Install the blender-dp extension, from the people who sent you this link.</li>"
    "<li>Copy the whole address of this page, with everything after <code>#</code>.</li>"
    "<li>Open the extension\u2019s options, and paste it there. The extension shows you what you would agree to, and asks "
    "before it does anything.</li></ol>"
    "<h2>Before you agree</h2>"
    "<p>Accept an invitation only from someone you trust, because the extension relies on it. You can pause or leave at any "
    "time in the extension. If you do not want to participate, close this page: opening it did nothing.</p>"
    '<p><a href="./">About this collector</a></p>',
)


def add_join(app: FastAPI) -> None:
    """Add the page."""

    @app.get("/join", include_in_schema=False)
    async def _join() -> Response:
        return Response(_PAGE, media_type="text/html", headers=_HEADERS)
