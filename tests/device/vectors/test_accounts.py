"""A device makes exactly the requests that spec/vectors says, over sequences of rounds, and spends exactly that much."""

from __future__ import annotations

import json

import pytest

from blender_dp_device.agent.agent import Agent
from blender_dp_device.agent.client import NoResponseError, ResponseError
from blender_dp_device.errors import BlenderError
from tests.device.agent.conftest import client  # noqa: F401 (a fixture)
from tests.device.agent.http_server import Answer, Request
from tests.device.vectors.files import vectors

ACCOUNTS = vectors("accounts")


class Replayed:
    """A collector that responds to each request of a step as the vectors say, in order, and notes them."""

    def __init__(self) -> None:
        self.step: dict = {}
        self.requests: list[Request] = []
        self.seen: dict[str, list] = {"body": [], "receipt": []}

    def start(self, step: dict) -> None:
        self.step, self.requests = step, []

    def answer(self, request: Request) -> Answer | None:
        self.requests.append(request)
        if request.path == "/v1/rounds/current":
            return Answer(json={"key": ACCOUNTS["key"], "round": self.step.get("current"), "released": None})
        if request.method == "GET":
            return Answer(content=ACCOUNTS["documents"][request.path.rpartition("/")[2]].encode())
        status = self.step["requests"][len(self.requests) - 1]["status"]
        if status is None:
            return None
        sent = json.loads(request.content or b"{}")
        return Answer(status, json={"receipt": sent["receipt"]} if "receipt" in sent else {"refused": []})

    def noted(self) -> list[dict]:
        """The requests of this step as the vectors describe them; bodies and receipts by the order of their first use."""
        return [self._noted(request) for request in self.requests]

    def _noted(self, request: Request) -> dict:
        if request.method == "DELETE":
            return {"request": f"DELETE /v1/records/{{receipt {self._number('receipt', request.path.rpartition('/')[2])}}}"}
        noted: dict = {"request": f"{request.method} {request.target}"}
        if request.method == "POST":
            assert request.headers["content-type"] == "application/json"
            token = self.step.get("token")
            assert request.headers.get("authorization") == (f"Bearer {token}" if token else None)
            noted["body"] = self._number("body", request.content)
            if token:
                noted["receipt"] = self._number("receipt", json.loads(request.content)["receipt"])
        return noted

    def _number(self, kind: str, one: object) -> int:
        if one not in self.seen[kind]:
            self.seen[kind].append(one)
        return self.seen[kind].index(one)


@pytest.mark.parametrize("sequence", ACCOUNTS["sequences"], ids=lambda one: one["name"])
def test_sequences(sequence, tmp_path, client):  # noqa: F811
    collector, now = Replayed(), [0]
    pinned = {"key": ACCOUNTS["key"], "campaign": ACCOUNTS["campaign"], **sequence["device"]}
    for step in sequence["steps"]:  # each as after a restart, with a connection of its own
        wanted = {name: value for name, value in step.items() if name == "lifetime_epsilon"}
        agent = Agent(tmp_path / "device", client(collector.answer), **pinned | wanted, clock=lambda: now[0])
        now[0] = step["now"]
        collector.start(step)
        assert done(agent, step) == (step["result"], step["error"])
        expected = [{name: value for name, value in one.items() if name != "status"} for one in step["requests"]]
        assert collector.noted() == expected
        assert (str(agent.spent), str(agent.left)) == (step["spent"], step["left"])


def done(agent: Agent, step: dict) -> tuple[object, str | None]:
    """What a call returns, and the error it ends with, in the words of the vectors."""
    acts = {
        "take-part": lambda: "sent" if agent.take_part(step["query"], step["url"]) else "nothing",
        "upload": lambda: "sent" if agent.upload(step["token"], step["query"], step["url"]) else "nothing",
        "withdraw": agent.withdraw,
        "opt-out": agent.opt_out,
        "agree": agent.agree_to_limit,
    }
    try:
        return acts[step["do"]](), None
    except NoResponseError:
        return None, "no response"
    except ResponseError as error:
        return None, f"status {error.status}"
    except BlenderError as error:
        return None, error.problem
