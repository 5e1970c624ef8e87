"""The dashboard: files that `make web` builds from `web/dashboard`, read once and served from memory."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from fastapi import FastAPI, Request, Response

from blender_dp.collector.http.document_response import FOR_EVER
from blender_dp.collector.http.problems import ProblemError

FOLDER = Path(__file__).parent / "dashboard"
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8"}


@dataclass(frozen=True)
class File:
    """A file of the dashboard, and its compressed form."""

    body: bytes
    compressed: bytes
    media_type: str

    def response(self, request: Request, headers: dict[str, str]) -> Response:
        """The file, compressed if the client accepts gzip."""
        accepted = "gzip" in request.headers.get("accept-encoding", "")
        coding = {"Content-Encoding": "gzip"} if accepted else {}
        body = self.compressed if accepted else self.body
        return Response(body, media_type=self.media_type, headers={**headers, **coding, "Vary": "Accept, Accept-Encoding"})


def dashboard_files() -> dict[str, File]:
    """All files by name."""
    return {path.name: _file(path) for path in sorted(FOLDER.iterdir()) if path.suffix in _TYPES}


def add_dashboard(app: FastAPI, files: dict[str, File]) -> None:
    """Serve the scripts and styles. Their names change with their content, so they may be cached for ever."""

    @app.get("/dashboard/{name}", include_in_schema=False)
    async def _asset(request: Request, name: str) -> Response:
        if name not in files or name.endswith(".html"):
            raise ProblemError(HTTPStatus.NOT_FOUND, "missing", "unknown file")
        return files[name].response(request, {"Cache-Control": FOR_EVER})


def _file(path: Path) -> File:
    body = path.read_bytes()
    return File(body, gzip.compress(body, mtime=0), _TYPES[path.suffix])
