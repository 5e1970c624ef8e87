"""The collector as seen from outside: HTTP, with answers checked and problems told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from blender_dp.errors import StateError

_SECONDS = 30.0
_MOST_BYTES = 64_000_000


class BusyError(StateError):
    """The collector asks to be asked again, after so many seconds."""

    def __init__(self, subject: str, problem: str, fix: str, *, seconds: float) -> None:
        super().__init__(subject, problem, fix)
        self.seconds = seconds


class CollectorClient:
    """Talks to one collector. With a token it may do what the token allows."""

    def __init__(self, url: str, token: str | None = None, *, transport: httpx.BaseTransport | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=_SECONDS, transport=transport)

    def get(self, path: str, **query: Any) -> Any:  # noqa: ANN401 (JSON)
        """Ask for something."""
        return self._answer(self._send("GET", path, params=query)).json()

    def document(self, path: str) -> bytes:
        """Ask for a signed document, byte by byte; one that is far too long is not read to its end."""
        body = b""
        try:
            with self._http.stream("GET", path) as response:
                if not response.is_success:
                    response.read()
                    self._answer(response)
                for part in response.iter_bytes():
                    body += part
                    if len(body) > _MOST_BYTES:
                        raise StateError("collector", f"sends more than {_MOST_BYTES} bytes", "Do not use it")
        except httpx.HTTPError as error:
            raise _silent(error) from None
        return body

    def download(self, path: str, file: Path) -> None:
        """Ask for something of any length, and write it to a file."""
        try:
            with self._http.stream("GET", path) as response, file.open("wb") as sink:
                if not response.is_success:
                    response.read()
                    self._answer(response)
                for part in response.iter_bytes():
                    sink.write(part)
        except httpx.HTTPError as error:
            raise _silent(error) from None

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
            raise _silent(error) from None

    def _answer(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        try:
            detail = str(response.json()["detail"])
        except (ValueError, KeyError, TypeError):
            detail = response.reason_phrase
        said = f"answers {response.status_code}: {detail}"
        if response.status_code in {429, 503}:
            raise BusyError("collector", said, "Try again later", seconds=_seconds(response))
        kind = {404: "missing", 401: "forbidden", 403: "forbidden"}.get(response.status_code, "conflict")
        raise StateError("collector", said, "Mend the request", kind=kind)


def _silent(error: httpx.HTTPError) -> StateError:
    said = f"does not answer ({type(error).__name__})"
    return StateError("collector", said, "Check the URL, or try again", kind="missing")


def _seconds(response: httpx.Response) -> float:
    given = response.headers.get("retry-after", "")
    return float(given) if given.isdecimal() and len(given) < 6 else 1.0
