"""The collector as seen from outside: HTTP, with answers checked and problems told."""

from __future__ import annotations

from typing import Any

import httpx

from blender_dp.errors import StateError

_SECONDS = 30.0


class CollectorClient:
    """Talks to one collector. With a token it may do what the token allows."""

    def __init__(self, url: str, token: str | None = None, *, transport: httpx.BaseTransport | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=_SECONDS, transport=transport)

    def get(self, path: str, **query: Any) -> Any:  # noqa: ANN401 (JSON)
        """Ask for something."""
        return self._answer(self._send("GET", path, params=query)).json()

    def document(self, path: str) -> bytes:
        """Ask for a signed document, byte by byte."""
        return self._answer(self._send("GET", path)).content

    def post(self, path: str, message: Any, **headers: str) -> Any:  # noqa: ANN401 (JSON)
        """Send something."""
        return self._answer(self._send("POST", path, json=message, headers=headers)).json()

    def post_bytes(self, path: str, body: bytes) -> Any:  # noqa: ANN401 (JSON)
        """Send bytes that were made before."""
        return self._answer(self._send("POST", path, content=body, headers={"Content-Type": "application/json"})).json()

    def delete(self, path: str) -> None:
        """Take something back."""
        self._answer(self._send("DELETE", path))

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def _send(self, method: str, path: str, **parts: Any) -> httpx.Response:  # noqa: ANN401
        try:
            return self._http.request(method, path, **parts)
        except httpx.HTTPError as error:
            raise StateError(
                "collector", f"does not answer ({type(error).__name__})", "Check the URL, or try again", kind="missing"
            ) from None

    def _answer(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        try:
            detail = str(response.json()["detail"])
        except (ValueError, KeyError, TypeError):
            detail = response.reason_phrase
        kind = {404: "missing", 401: "forbidden", 403: "forbidden"}.get(response.status_code, "conflict")
        raise StateError("collector", f"answers {response.status_code}: {detail}", "Mend the request", kind=kind)
