"""The page at `/`: the dashboard for browsers, a summary as JSON for programs."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response

from blender_dp.collector.http.dashboard_files import add_dashboard, dashboard_files
from blender_dp.collector.http.security_headers import PAGE_POLICY, POLICY
from blender_dp.collector.http.service import Service
from blender_dp.release.manifest import package_versions

_SHOWN = 50  # campaigns, the newest ones
_SECONDS = 60
_LINKS = ["/v1/rounds/current", "/v1/campaigns", "/v1/ledger", "/v1/openapi.json", "/__version__"]
_CACHING = {"Cache-Control": f"public, max-age={_SECONDS}"}
_PAGE = {POLICY: PAGE_POLICY, "Permissions-Policy": "camera=(), geolocation=(), microphone=()"}


def add_home(app: FastAPI, service: Service) -> None:
    """Add the page. The dashboard is the same for everyone: what it shows, it requests from the API."""
    files = dashboard_files()
    add_dashboard(app, files)

    @app.get("/", include_in_schema=False)
    async def _home(request: Request) -> Response:
        if "text/html" in request.headers.get("accept", ""):
            return files["index.html"].response(request, _CACHING | _PAGE)
        body = await service.recent.get(_summary, service)
        return Response(body, media_type="application/json", headers=_CACHING | {"Vary": "Accept, Accept-Encoding"})


def _summary(service: Service) -> bytes:
    campaigns: list[dict[str, Any]] = []
    for _, settings in service.rounds.campaigns.all()[-_SHOWN:]:
        newest = service.rounds.lookup.current(settings.name)
        state = {"round": newest.number, "state": newest.state} if newest else {"round": None, "state": None}
        campaigns.append({"name": settings.name, **state})
    return msgspec.json.encode({
        "service": "blender-dp collector",
        "version": package_versions()["blender-dp"],
        "key": service.signer.public,
        "campaigns": campaigns[::-1],
        "links": _LINKS,
    })  # fmt: skip
