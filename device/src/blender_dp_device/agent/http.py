"""The collector as seen from outside: HTTP, with answers bounded in length and time, and problems told.

A report must not be linked to the next one, so no cookie is kept. Whoever listens must not read along, so a collector
elsewhere is asked with TLS.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

import httpx

from blender_dp_device.errors import DocumentError, ParameterError, StateError

_STEP_SECONDS = 30.0
_SECONDS = 120.0
_ANSWER_BYTES = 256_000
_DOCUMENT_BYTES = 8_000_000  # a list of 10,000 queries has about 1 MB, its bundle about 2; with long URLs, thrice as much
_TOLD_CHARACTERS = 200  # of what somebody else's machine says, in an error

_FIXES = {
    400: "Mend the request",
    401: "Give a token",
    403: "Give another token",
    404: "Ask for what is there",
    409: "Look at how things are now",
    413: "Send less at a time",
    415: "Mend the request",
    422: "Mend the request",
}
_ITS_FAULT = "The collector's operator must look"

_Made = TypeVar("_Made")


class SilentError(StateError):
    """The collector does not answer, or not in time."""


class AnswerError(StateError):
    """The collector answers that it will not; `status` is HTTP's. What it says is told in short, and as plain text."""

    def __init__(self, subject: str, problem: str, fix: str, *, status: int, kind: str = "conflict") -> None:
        super().__init__(subject, _plain(problem), _plain(fix), kind=kind)
        self.status = status


class BusyError(AnswerError):
    """The collector asks to be asked again, after so many seconds."""

    def __init__(self, subject: str, problem: str, fix: str, *, status: int, seconds: float) -> None:
        super().__init__(subject, problem, fix, status=status)
        self.seconds = seconds


class CollectorClient:
    """Talks to one collector. With a token it may do what the token allows.

    `allow_http` is for a collector on a network that nobody listens to; on this machine it is not needed. `most_bytes` is
    for operators, to whom more is told than to devices.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        allow_http: bool = False,
        seconds: float = _SECONDS,
        most_bytes: int | None = None,
    ) -> None:
        if not allow_http and not _is_safe(url):
            raise ParameterError("url", "is not https", "Use https for a collector that is not on this machine")
        self._seconds = seconds
        self._answer_bytes = most_bytes or _ANSWER_BYTES
        self._document_bytes = most_bytes or _DOCUMENT_BYTES
        self._streams: WeakSet[Any] = WeakSet()
        self._http = httpx.Client(
            base_url=_checked(url),
            headers={"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {}),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # it takes none, and gives none
            timeout=min(_STEP_SECONDS, seconds),
            transport=transport,
            trust_env=url.lower().startswith("https:"),  # a proxy of the environment must not see what is not encrypted
        )

    def get(self, path: str, **query: Any) -> Any:  # noqa: ANN401 (JSON)
        """Ask for something."""
        return _parsed(self._asked("GET", path, params=query))

    def document(self, path: str) -> bytes:
        """Ask for a signed document, byte by byte."""
        return self._asked("GET", path, self._document_bytes, headers={"Accept-Encoding": "gzip"})

    def download(self, path: str, file: Path) -> None:
        """Ask for something of any length, and write it to a file."""
        try:
            with self._http.stream("GET", path) as response, file.open("wb") as sink:
                if not response.is_success:
                    raise _problem(response, _read(response, time.monotonic() + self._seconds, self._answer_bytes))
                for part in response.iter_bytes():
                    sink.write(part)
        except httpx.HTTPError as error:
            raise _silent(type(error).__name__) from None

    def post(self, path: str, message: Any, **headers: str) -> Any:  # noqa: ANN401 (JSON)
        """Send something."""
        return _parsed(self._asked("POST", path, json=message, headers=headers))

    def post_bytes(self, path: str, body: bytes, **headers: str) -> Any:  # noqa: ANN401 (JSON)
        """Send JSON exactly as these bytes."""
        return _parsed(self._asked("POST", path, content=body, headers={"Content-Type": "application/json", **headers}))

    def delete(self, path: str) -> None:
        """Take something back."""
        self._asked("DELETE", path)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def _asked(self, method: str, path: str, most_bytes: int | None = None, **parts: Any) -> bytes:  # noqa: ANN401
        given_up = threading.Event()

        def watched(_: str, info: dict[str, Any]) -> None:
            """Called before and after every step of a request, and so with every new connection before it is used."""
            if hasattr(made := info.get("return_value"), "get_extra_info"):
                self._streams.add(made)
            if given_up.is_set():
                self._hang_up()

        try:
            return _within(
                self._seconds,
                lambda until: self._answer(
                    until, most_bytes or self._answer_bytes, method, path, extensions={"trace": watched}, **parts
                ),
            )
        except TimeoutError:
            given_up.set()
            self._hang_up()
            raise _silent("too slow") from None

    def _hang_up(self) -> None:
        """End all connections: whoever has heard that the collector does not answer may opt out, and then nothing leaves."""
        for stream in list(self._streams):
            with contextlib.suppress(OSError):  # closed already
                # As a plain socket's. It wakes up whoever waits for it, and its number stays taken until that one lets go.
                socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)

    def _answer(self, until: float, most_bytes: int, method: str, path: str, **parts: Any) -> bytes:  # noqa: ANN401
        try:
            with self._http.stream(method, path, **parts) as response:
                body = _read(response, until, most_bytes if response.is_success else self._answer_bytes)
        except httpx.HTTPError as error:
            raise _silent(type(error).__name__) from None
        except httpx.InvalidURL:
            raise _no_url() from None
        if not response.is_success:
            raise _problem(response, body)
        return body


def _checked(url: str) -> httpx.URL:
    try:
        return httpx.URL(url)
    except httpx.InvalidURL:
        raise _no_url() from None


def _is_safe(url: str) -> bool:
    """Whether nobody can listen: TLS, or a connection that does not leave this machine."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    if parsed.scheme != "http":
        return parsed.scheme == "https"
    try:
        return ipaddress.ip_address(parsed.host).is_loopback
    except ValueError:
        return parsed.host == "localhost"


def _within(seconds: float, work: Callable[[float], _Made]) -> _Made:
    """Do some work until a time, or raise TimeoutError, for a byte may come now and then, in headers as well.

    The thread is left behind: it ends as soon as its connection does.
    """
    done: Future[_Made] = Future()

    def run() -> None:
        try:
            done.set_result(work(time.monotonic() + seconds))
        except BaseException as error:  # noqa: BLE001 (raised again by whoever waits)
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return done.result(seconds)


def _read(response: httpx.Response, until: float, most_bytes: int) -> bytes:
    """The body, if it comes to an end. Only gzip is unpacked: of other codings a few bytes can become gigabytes at once."""
    if response.headers.get("content-encoding", "identity").lower() not in {"identity", "gzip"}:
        raise StateError("collector", "answers in a coding that was not asked for", "Do not use it")
    body = bytearray()
    for part in response.iter_bytes():
        body += part
        if len(body) > most_bytes:
            raise StateError("collector", f"sends more than {most_bytes} bytes", "Do not use it")
        if time.monotonic() > until:
            raise _silent("too slow")
    return bytes(body)


def _parsed(body: bytes) -> Any:  # noqa: ANN401 (JSON)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise DocumentError("answer", "is not JSON", "Nothing is done with it") from None


def _problem(response: httpx.Response, body: bytes) -> AnswerError:
    """An answer other than the one that was asked for."""
    status = response.status_code
    try:
        detail, fix = _told(json.loads(body))
    except (ValueError, KeyError, TypeError, RecursionError):
        detail, fix = response.reason_phrase, ""
    said = f"answers {status}: {detail}"
    if status in {429, 503}:
        return BusyError("collector", said, "Try again later", status=status, seconds=_seconds(response))
    kind = {404: "missing", 401: "forbidden", 403: "forbidden"}.get(status, "conflict")
    return AnswerError("collector", said, fix or _FIXES.get(status, _ITS_FAULT), status=status, kind=kind)


def _told(problem: dict[str, Any]) -> tuple[str, str]:
    """What a problem document says is wrong, with the places, and what to do if it says that."""
    detail = str(problem["detail"])
    said, _, fix = detail.removesuffix(".").rpartition(". ")
    if not said or not detail.endswith("."):  # it is no sentence with advice after it
        said, fix = detail.removesuffix("."), ""
    places = [f"{one['where']}: {one.get('why') or one['what']}" for one in problem.get("errors", ())]
    return "; ".join([said, *places]), fix


def _plain(text: str) -> str:
    """What somebody else's machine says, so short and plain that a terminal or a log can show it."""
    shown = "".join(character if character.isprintable() else " " for character in text[: _TOLD_CHARACTERS + 1])
    return shown if len(shown) <= _TOLD_CHARACTERS else shown[: _TOLD_CHARACTERS - 1] + "…"


def _no_url() -> ParameterError:
    return ParameterError("url", "is none", "Give the collector's address, such as https://collector.example")


def _silent(how: str) -> SilentError:
    return SilentError("collector", f"does not answer ({how})", "Check the URL, or try again", kind="missing")


def _seconds(response: httpx.Response) -> float:
    given = response.headers.get("retry-after", "")
    return float(given) if given.isdecimal() and len(given) < 6 else 1.0
