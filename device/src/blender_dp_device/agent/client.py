"""The collector as a device or an operator sees it: HTTP requests with bounded responses, and problems as short errors.

Reports must not be linkable, so there are no cookies and no headers other than those that `_head` writes. Nobody may
eavesdrop, so a collector on another machine needs TLS. Redirects are not followed.
"""

from __future__ import annotations

import json
import re
import ssl
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from blender_dp_device.agent.connection import Allowance, Connections, Origin
from blender_dp_device.errors import DocumentError, ParameterError, StateError

_SECONDS = 120.0
_RESPONSE_BYTES = 256_000
_DOCUMENT_BYTES = 8_000_000  # a list of 10,000 queries has about 1 MB, its bundle about 2; three times that with long URLs
_HEADER_BYTES = 256_000
_PIECE_BYTES = 65_536
_SHOWN_CHARACTERS = 400  # of a remote machine's text, in an error: enough for the collector's longest explanation
_VISIBLE = re.compile("[!-~]+")
_HEADER = re.compile("[ -~]*")

_FIXES = dict.fromkeys((400, 415, 422), "Fix the request") | {
    401: "Pass a token", 403: "Use another token", 404: "Check the path and the id", 409: "Check the current state",
    413: "Send less at a time",
}  # fmt: skip
_SERVER_FAULT = "The collector's operator must look into it"
_KINDS = {404: "missing", 401: "forbidden", 403: "forbidden"}


class NoResponseError(StateError):
    """The collector does not respond, or not in time."""


class ResponseError(StateError):
    """The collector refuses, with this HTTP `status`. The collector's own words are shortened and made printable."""

    def __init__(self, subject: str, problem: str, fix: str, *, status: int, kind: str = "conflict") -> None:
        super().__init__(subject, _plain(problem), _plain(fix), kind=kind)
        self.status = status


class BusyError(ResponseError):
    """The collector is busy: try again after `seconds`."""

    def __init__(self, subject: str, problem: str, fix: str, *, status: int, seconds: float) -> None:
        super().__init__(subject, problem, fix, status=status)
        self.seconds = seconds


class CollectorClient:
    """Sends requests to one collector, with the rights of `token` if there is one. Thread-safe.

    `allow_http` is for a collector on a trusted network; on this machine it is not needed. A request and its response
    take at most `seconds`. `max_bytes` is for operators, who receive longer responses than devices. `tls`
    replaces the system's certificates and settings.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        allow_http: bool = False,
        seconds: float = _SECONDS,
        max_bytes: int | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        origin = _origin(url)
        if not allow_http and not _is_safe(origin):
            raise ParameterError("url", "is not https", "Use https, or http to localhost or 127.0.0.1")
        if origin is None:
            raise _invalid_url()
        self._origin = origin
        self._prefix = urlsplit(url).path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._seconds = seconds
        self._response_bytes = max_bytes or _RESPONSE_BYTES
        self._document_bytes = max_bytes or _DOCUMENT_BYTES
        self._connections = Connections(origin, tls)

    def get(self, path: str, **query: Any) -> Any:  # noqa: ANN401 (JSON)
        """Request JSON."""
        return _parsed(self._request("GET", f"{path}?{urlencode(query)}" if query else path))

    def document(self, path: str) -> bytes:
        """Request a signed document, as exact bytes."""
        return self._request("GET", path, max_bytes=self._document_bytes, coding="gzip")

    def download(self, path: str, file: Path) -> None:
        """Request something of any length, and write it to a file."""
        with self._response("GET", self._head("GET", path), Allowance(None, None)) as response:
            if not _is_success(response):
                raise _problem(response, _body(response, self._response_bytes))
            with file.open("wb") as sink:
                sink.writelines(_pieces(response))

    def post(self, path: str, message: Any, **headers: str) -> Any:  # noqa: ANN401 (JSON)
        """Send JSON, or nothing if the message is None."""
        if message is None:
            return _parsed(self._request("POST", path, headers=headers))
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
        return self.post_bytes(path, body, **headers)

    def post_bytes(self, path: str, body: bytes, **headers: str) -> Any:  # noqa: ANN401 (JSON)
        """Send JSON as exactly these bytes."""
        return _parsed(self._request("POST", path, body, headers={"Content-Type": "application/json", **headers}))

    def delete(self, path: str) -> None:
        """Delete something."""
        self._request("DELETE", path)

    def close(self) -> None:
        """Close the idle connections."""
        self._connections.close()

    def _request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        headers: dict[str, str] | None = None,
        coding: str = "identity",
        max_bytes: int | None = None,
    ) -> bytes:
        request = self._head(method, path, coding, headers, len(body)) + body
        allowance = Allowance(self._seconds, _HEADER_BYTES + max(self._response_bytes, max_bytes or 0))
        with self._response(method, request, allowance) as response:
            is_success = _is_success(response)
            content = _body(response, max_bytes if max_bytes and is_success else self._response_bytes)
        if not is_success:
            raise _problem(response, content)
        return content

    @contextmanager
    def _response(self, method: str, request: bytes, allowance: Allowance) -> Iterator[HTTPResponse]:
        with ExitStack() as stack:
            with _network_errors():
                response = stack.enter_context(self._connections.exchange(allowance, method, request))
            yield response

    def _head(
        self, method: str, path: str, coding: str = "identity", headers: dict[str, str] | None = None, length: int = 0
    ) -> bytes:
        """The head of a request, all of it."""
        fields = {**self._headers, **(headers or {})}
        if not _VISIBLE.fullmatch(path):
            raise _invalid_url()
        if not all(_HEADER.fullmatch(text) for text in fields.values()):
            raise ParameterError("token", "has characters that HTTP does not allow", "Use the token as it was issued")
        lines = [f"{method} {self._prefix}{path} HTTP/1.1", f"Host: {self._origin.authority}", f"Accept-Encoding: {coding}"]
        lines += [f"{name}: {text}" for name, text in fields.items()]
        lines += [f"Content-Length: {length}"] if method == "POST" else []
        return "\r\n".join([*lines, "", ""]).encode("ascii")


def _origin(url: str) -> Origin | None:
    """The server that a URL points to, or None if it is not a valid URL of a collector."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        origin = Origin(parts.scheme == "https", parts.hostname or "", port)
        is_plain = _VISIBLE.fullmatch(parts.path or "/") and _VISIBLE.fullmatch(origin.authority)
    except ValueError:
        return None
    has_more = parts.username is not None or parts.query or parts.fragment
    return origin if parts.scheme in {"http", "https"} and is_plain and parts.hostname and not has_more else None


def _is_safe(origin: Origin | None) -> bool:
    """Whether nobody can eavesdrop: TLS, or a connection that does not leave this machine."""
    return origin is not None and (origin.is_tls or origin.host in {"localhost", "127.0.0.1"})


def _is_success(response: HTTPResponse) -> bool:
    return 200 <= response.status < 300


def _body(response: HTTPResponse, max_bytes: int) -> bytes:
    """The whole body, unless it is longer than allowed."""
    body = bytearray()
    for piece in _pieces(response):
        body += piece
        if len(body) > max_bytes:
            raise StateError("collector", f"sends more than {max_bytes} bytes", "Do not use it")
    return bytes(body)


def _pieces(response: HTTPResponse) -> Iterator[bytes]:
    """The body in short pieces. Only gzip is decompressed, bit by bit, so that a small response cannot fill the memory."""
    coding = response.headers.get("content-encoding", "identity").lower()
    if coding not in {"identity", "gzip"}:
        raise StateError("collector", "responds in a content coding that was not requested", "Do not use it")
    decompressor = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if coding == "gzip" else None
    while piece := _read(response):
        while decompressor and piece and not decompressor.eof:
            with _network_errors():
                more = decompressor.decompress(piece, _PIECE_BYTES)
            piece = decompressor.unconsumed_tail
            yield more
        if not decompressor:
            yield piece
    if response.length or (decompressor and not decompressor.eof):
        raise _no_response("cut short")


def _read(response: HTTPResponse) -> bytes:
    with _network_errors():
        return response.read(_PIECE_BYTES)


@contextmanager
def _network_errors() -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise _no_response("too slow") from None
    except (OSError, HTTPException, zlib.error) as error:
        raise _no_response(type(error).__name__) from None


def _parsed(body: bytes) -> Any:  # noqa: ANN401 (JSON)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise DocumentError("response", "is not JSON", "It is not used") from None


def _problem(response: HTTPResponse, body: bytes) -> ResponseError:
    """The error for a response that is not a success."""
    status = response.status
    try:
        detail, fix = _detail_and_fix(json.loads(body))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        detail, fix = response.reason, ""
    problem = f"responds with {status}: {detail}"
    if status in {429, 503}:
        return BusyError("collector", problem, "Try again later", status=status, seconds=_retry_after(response))
    kind = _KINDS.get(status, "conflict")
    return ResponseError("collector", problem, fix or _FIXES.get(status, _SERVER_FAULT), status=status, kind=kind)


def _detail_and_fix(problem: dict[str, Any]) -> tuple[str, str]:
    """What is wrong and where, according to a problem document, and what to do about it if it says so."""
    detail = str(problem["detail"])
    text, _, fix = detail.removesuffix(".").rpartition(". ")
    if not text or not detail.endswith("."):  # not a sentence with advice after it
        text, fix = detail.removesuffix("."), ""
    places = [f"{one['where']}: {one.get('why') or one['what']}" for one in problem.get("errors", ())]
    return "; ".join([text, *places]), fix


def _plain(text: str) -> str:
    """A remote machine's text, short and plain enough for a terminal or a log."""
    shown = "".join(character if character.isprintable() else " " for character in text[: _SHOWN_CHARACTERS + 1])
    return shown if len(shown) <= _SHOWN_CHARACTERS else shown[: _SHOWN_CHARACTERS - 1] + "…"


def _retry_after(response: HTTPResponse) -> float:
    text = response.headers.get("retry-after", "")
    return float(text) if text.isdecimal() and text.isascii() and len(text) < 6 else 1.0


def _invalid_url() -> ParameterError:
    return ParameterError("url", "is not valid", "Use the collector's address, such as https://collector.example")


def _no_response(reason: str) -> NoResponseError:
    return NoResponseError("collector", f"does not respond ({reason})", "Check the URL, or try again", kind="missing")
