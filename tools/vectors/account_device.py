"""A device that writes down what it is called with, every request that leaves, and what it has spent afterwards."""

# ruff: noqa: ANN401 (any JSON)
from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from vectors.signing import CAMPAIGN, round_id

_CURRENT = f"GET /v1/rounds/current?campaign={CAMPAIGN}"


@dataclass
class Device:
    """Writes down a sequence of calls on one device. Bodies and receipts are numbered in the order of their first use."""

    name: str
    epsilon: str = "4"
    lifetime: str = "400"
    seconds: int = 0
    spent: Fraction = Fraction(0)
    agreed: str | None = None
    steps: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.first = self.lifetime

    def take_part(self, current: dict[str, Any] | None, *, now: int = 0, **outcome: Any) -> None:
        """Report in a round. Posts are (path, body) pairs with their status."""
        self._step("take-part", now, current=current, **outcome)

    def upload(self, current: dict[str, Any] | None, *, now: int = 0, query: str = "google", **outcome: Any) -> None:
        """Upload a record in a round."""
        self._step("upload", now, current=current, query=query, **outcome)

    def withdraw(self, *requests: tuple[int, int | None], result: int, error: str | None = None) -> None:
        """Withdraw by receipt: pairs of a receipt's number and the status of the response."""
        made = [{"request": f"DELETE /v1/records/{{receipt {number}}}", "status": status} for number, status in requests]
        self._write(
            {"do": "withdraw", "now": 0, "requests": made, "result": result if error is None else None, "error": error}
        )

    def opt_out(self) -> None:
        """Opt out for good."""
        self._write({"do": "opt-out", "now": 0, "requests": [], "result": None, "error": None})

    def agree(self) -> None:
        """Agree to the lifetime ε that the device now has."""
        self.agreed = self.lifetime
        self._write({"do": "agree", "now": 0, "requests": [], "result": None, "error": None})

    def _step(
        self, what: str, now: int, *, current: Any, reads: int = 0, posts: Any = (), cost: str = "0", **more: Any
    ) -> None:
        """`reads` is 1 if the round's document is fetched; resent reports of earlier rounds come before it."""
        kind, name = ("openings", "opening") if what == "upload" else ("head-lists", "head_list")
        fetched = [{"request": f"GET /v1/{kind}/{current[name]}"}] * reads if current else []
        sent = [self._post(what, *post) for post in posts]
        early = [one for one in sent if current is None or f"/{current['id']}/" not in one["request"]]
        requests = [{"request": _CURRENT}, *early, *fetched, *(one for one in sent if one not in early)]
        self.spent += Fraction(cost)
        if Fraction(cost):
            self.agreed = str(self._limit)
        called = {"do": what, "now": now, "current": current}
        if what == "upload":
            called |= {"token": "t" * 64, "query": more.pop("query"), "url": "https://www.google.com/"}
        else:
            called |= {"query": "google", "url": "https://www.google.com/"}
        result = more.get("result", "sent" if sent and not more.get("error") else "nothing")
        self._write(
            called | {"requests": requests, "result": None if more.get("error") else result, "error": more.get("error")}
        )

    def silent(self, what: str, **called: Any) -> None:
        """A call after which no request leaves."""
        self._write({"do": what, "now": 0, **called, "requests": [], "result": "nothing", "error": None})

    @staticmethod
    def _post(what: str, number: int, body: int, status: int | None, receipt: int | None = None) -> dict[str, Any]:
        path = f"POST /v1/rounds/{round_id(number)}/{'records' if what == 'upload' else 'reports'}"
        return {"request": path, "status": status, "body": body} | ({} if receipt is None else {"receipt": receipt})

    def _write(self, step: dict[str, Any]) -> None:
        changed = {} if self.lifetime == self.first else {"lifetime_epsilon": self.lifetime}
        self.steps.append(step | changed | {"spent": str(self.spent), "left": str(self._limit - self.spent)})

    @property
    def _limit(self) -> Fraction:
        return min(Fraction(self.lifetime), Fraction(self.agreed or self.lifetime))

    def to_document(self) -> dict[str, Any]:
        """The sequence as JSON values."""
        settings = {"epsilon": self.epsilon, "delta": "1/1000000", "lifetime_epsilon": self.first}
        return {"name": self.name, "device": {**settings, "least_seconds": self.seconds}, "steps": self.steps}
