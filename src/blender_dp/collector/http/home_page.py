"""The page at `/`: what this is, its key, its campaigns, and links."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response

from blender_dp.collector.http.html_page import html_page, page_headers
from blender_dp.collector.http.service import Service
from blender_dp.collector.round_states import MEANINGS, State
from blender_dp.release.manifest import package_versions

_SHOWN = 50  # campaigns, the newest ones
_SECONDS = 60
_LINKS = {
    "/v1/rounds/current": "the current round",
    "/v1/campaigns": "campaigns and what is left of their budgets",
    "/v1/ledger": "the ledger: what was spent, in a chain that can be verified",
    "/v1/openapi.json": "the API (OpenAPI)",
    "/__version__": "versions",
}
_HEADERS = {**page_headers(_SECONDS), "Vary": "Accept"}


@dataclass(frozen=True)
class _Shown:
    """What is public about a campaign, without any user counts."""

    name: str
    epsilon: str
    delta: str
    round: int | None
    state: State | None
    head_list: str | None
    release: str | None
    """Of the newest released round."""


def add_home(app: FastAPI, service: Service) -> None:
    """Add the page; clients that do not accept HTML get a summary as JSON."""

    @app.get("/", include_in_schema=False)
    async def _home(request: Request) -> Response:
        page, document = await service.recent.get(_page_and_document, service)
        if "text/html" in request.headers.get("accept", ""):
            return Response(page, media_type="text/html", headers=_HEADERS)
        return Response(document, media_type="application/json", headers=_HEADERS)


def _page_and_document(service: Service) -> tuple[str, bytes]:
    key, shown = service.signer.public, _campaigns(service)
    return _page(key, shown), msgspec.json.encode(_document(key, shown))


def _campaigns(service: Service) -> list[_Shown]:
    shown = []
    for _, settings in service.rounds.campaigns.all()[-_SHOWN:]:
        newest, released = service.rounds.lookup.current(settings.name), service.rounds.lookup.newest_release(settings.name)
        shown.append(
            _Shown(
                settings.name,
                settings.epsilon,
                settings.delta,
                newest.number if newest else None,
                newest.state if newest else None,
                newest.head_list if newest else None,
                released.release if released else None,
            )
        )
    return shown[::-1]


def _document(key: str, campaigns: list[_Shown]) -> dict[str, Any]:
    return {
        "service": "blender-dp collector",
        "version": package_versions()["blender-dp"],
        "key": key,
        "campaigns": [{"name": one.name, "round": one.round, "state": one.state} for one in campaigns],
        "links": list(_LINKS),
    }


def _page(key: str, campaigns: list[_Shown]) -> str:
    links = "".join(f'<li><a href="{path}">{escape(what)}</a></li>' for path, what in _LINKS.items())
    rows = "".join(_row(one) for one in campaigns)
    head = "<tr><th>name</th><th>privacy of a round</th><th>newest round</th><th>published</th></tr>"
    table = f'<div class="wide"><table>{head}{rows}</table></div>' if campaigns else "<p>None yet.</p>"
    return html_page(
        "blender-dp collector",
        "<h1>A blender-dp collector</h1>"
        "<p>It learns which queries are popular, with differential privacy: opt-in users contribute records, from which a "
        "noisy list is made; all other users report about that list, randomised on their own devices. What it publishes is "
        "signed, and the privacy cost of every round is in a public ledger.</p>"
        f"<h2>Public key</h2><p>Devices pin it (Ed25519): <code>{escape(key)}</code></p>"
        f"<h2>Campaigns</h2>{table}<h2>More</h2><ul>{links}</ul>",
    )


def _row(one: _Shown) -> str:
    state = "none yet" if one.state is None else f"{one.round}: {MEANINGS[one.state]}"
    published = [
        f'<a href="/v1/{path}/{escape(digest)}">{what}</a>'
        for path, digest, what in (("head-lists", one.head_list, "head list"), ("releases", one.release, "newest release"))
        if digest
    ]
    privacy = f"ε = {escape(one.epsilon)}, δ = {escape(one.delta)}"
    cells = f"<code>{escape(one.name)}</code>", privacy, escape(state), "<br>".join(published) or "nothing yet"
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
