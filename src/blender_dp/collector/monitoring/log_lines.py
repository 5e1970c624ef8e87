"""Log lines: time, level, request, round and what happened, as text or as JSON. Never anything private.

Of an exception only the type is logged: its text may quote a record. Messages quote nothing that a client sent.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

REQUEST: ContextVar[str] = ContextVar("request", default="")
"""The id of the current request; the response has it as X-Request-Id."""
ROUND: ContextVar[str] = ContextVar("round", default="")
"""The id of the current round."""
LOG = logging.getLogger("blender_dp.collector")


@contextmanager
def about(round_id: str) -> Iterator[None]:
    """Add a round's id to the log lines of a block."""
    token = ROUND.set(round_id)
    try:
        yield
    finally:
        ROUND.reset(token)


class _Lines(logging.Formatter):
    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        facts = {
            "time": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03}Z",
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "request": REQUEST.get() or None,
            "round": ROUND.get() or None,
            "message": record.getMessage().strip(),
            "error": record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None,
        }
        known = {name: value for name, value in facts.items() if value is not None}
        if self._as_json:
            return json.dumps(known)
        named = " ".join(f"{name}={known[name]}" for name in ("request", "round", "error") if name in known)
        text = f"{known['time']} {known['level']} [{record.process}] {known['message']}{' ' if named else ''}{named}"
        return text.replace("\n", " ")


def log_to_stderr(*, as_json: bool) -> None:
    """Write the log of this process to stderr; of uvicorn only errors."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines(as_json=as_json))
    for name, level in (("blender_dp", logging.INFO), ("uvicorn", logging.ERROR), ("asyncio", logging.CRITICAL)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
