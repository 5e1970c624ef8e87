"""blender-dp demo-live"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blender_dp.cli.operate import client, find_campaign
from blender_dp.cli.output import Steps, note
from blender_dp.cli.simulate import run_round
from blender_dp.errors import StateError

if TYPE_CHECKING:
    from blender_dp.evaluation.crowd import Outcome, Searched
    from blender_dp_device.agent.client import CollectorClient

_HEAD = 200  # queries of the population; everyone searches for one of them, so that a small crowd fills a list
_DRIFT = 0.15  # the standard deviation of a change of the logarithm of a share, from one round to the next
_OPT_IN = 0.05
_FACTORS = 200  # rounds of drift, then it starts again


@dataclass(frozen=True)
class _Campaign:
    """A campaign of the demonstration, and its part of the users."""

    name: str
    epsilon: str
    max_queries: int
    max_epsilon: str
    part: float

    def settings(self, users: int) -> dict[str, Any]:
        """Its settings, with minimums that these users reach."""
        clients = int(users * self.part * (1 - _OPT_IN))
        return {
            "name": self.name, "epsilon": self.epsilon, "delta": "1e-6", "max_queries": self.max_queries,
            "max_epsilon": self.max_epsilon, "expected_clients": clients, "min_reports": clients // 2,
            "min_opt_in": max(int(users * self.part * _OPT_IN) // 2, 4),
        }  # fmt: skip


_CAMPAIGNS = (
    _Campaign("searches", "4", 50, "unlimited", 1.0),
    _Campaign("strict", "1", 20, "6", 0.5),  # its budget ends after six rounds, to show what happens then
)


def demo_live(
    users: Annotated[int, typer.Option(min=5000, help="Number of synthetic users.")] = 100_000,
    rounds: Annotated[int, typer.Option(min=1, help="Number of rounds to run at the start, without pauses.")] = 3,
    every: Annotated[int, typer.Option(min=0, metavar="SECONDS", help="Pause between later rounds.")] = 60,
    last: Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop after this many rounds.")] = None,
    attackers: Annotated[int, typer.Option(min=0, help="Number of attackers of each kind.")] = 50,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for any free port.")] = 8000,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic population; the noise is real.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs, one object per line.")] = False,
) -> None:
    """Start a collector with its dashboard, and run round after round with synthetic users and a few attackers.

    The population is synthetic and changes from round to round. Everything else is real: the collector, the device code,
    the noise and the budgets. The data are in a temporary folder, which is deleted when you press Ctrl-C.

    \b
    Examples:
      blender-dp demo-live
      blender-dp demo-live --users 20000 --every 10 --port 0
    """
    from blender_dp.collector.server import preparation as _  # noqa: F401 (says what to install, if it is not installed)

    with tempfile.TemporaryDirectory(prefix="blender-dp-demo-") as folder, _collector(folder, port) as (url, token):
        operator = client(url, token)
        for one in _CAMPAIGNS:
            operator.post("/v1/operator/campaigns", one.settings(users))
        announce = _Announcer(as_json)
        announce(
            {"event": "listening", "url": url, "operator_token": token},
            f"The dashboard:         {url}/\nThe operator's pages:  {url}/#/operator\nThe operator's token:  {token}",
        )
        try:
            _rounds(
                operator,
                client(url),
                announce,
                users=users,
                first=rounds,
                every=every,
                last=last,
                attackers=attackers,
                seed=seed,
            )
        except KeyboardInterrupt:
            announce({"event": "stopped"}, "Stopped.")


@dataclass(frozen=True)
class _Announcer:
    """Prints an event, as text or as JSON."""

    as_json: bool

    def __call__(self, facts: dict[str, Any], text: str) -> None:
        typer.echo(json.dumps(facts) if self.as_json else text)  # not wrapped: a token must stay in one line


def _rounds(
    operator: CollectorClient,
    devices: CollectorClient,
    announce: _Announcer,
    *,
    users: int,
    first: int,
    every: int,
    last: int | None,
    attackers: int,
    seed: int,
) -> None:
    from blender_dp.evaluation.drift import drift, head_of, searches
    from blender_dp.evaluation.population import Population
    from blender_dp.evaluation.shapes import shape_of

    head = head_of(Population.of_shape(shape_of("aol", 5 * users), seed), _HEAD)
    population = replace(head, users=int(head.counts.sum()))
    factors = drift(population.top_queries.size, _FACTORS, _DRIFT, seed)
    number = 0
    while last is None or number < last:
        for one in _CAMPAIGNS:
            size, round_seed = int(users * one.part), seed * 1_000_003 + number
            people = searches(population, factors[number % _FACTORS], users=size, seed=round_seed)
            about = {"event": "round", "campaign": one.name, "number": number + 1}
            if not announce.as_json:
                typer.echo(f"\nRound {number + 1} of {one.name}")
            try:
                sent = _round(operator, devices, one.name, people, attackers, quiet=announce.as_json)
            except StateError as error:  # nothing that an operator does in the dashboard ends the demonstration
                announce({**about, "refused": str(error)}, str(error))
                continue
            others = f"{sent.stuffed:,} stuffed ones counted, {sent.refused:,} others refused"
            announce({**about, **asdict(sent)}, f"{sent.honest:,} honest reports; {others}")
        number += 1
        if number >= first and number != last:
            note(f"The next round starts in {every} seconds; press Ctrl-C to stop.")
            time.sleep(every)


def _round(
    operator: CollectorClient, devices: CollectorClient, name: str, people: list[Searched], attackers: int, *, quiet: bool
) -> Outcome:
    """Run one round, if the campaign's budget allows it."""
    from blender_dp.evaluation.crowd import Crowd

    campaigns = {one["name"]: one for one in operator.get("/v1/operator/overview")["campaigns"]}
    if campaigns[name]["rounds_left"] == 0:
        raise StateError(name, "its budget is used up, which is part of the demonstration", "Look at its ledger")
    with Steps(quiet=quiet).shown() as step:
        crowd = Crowd(operator, devices, find_campaign(operator, name), users=people, opt_in=_OPT_IN, attackers=attackers)
        sent, _ = run_round(operator, crowd, step)
    return sent


@contextmanager
def _collector(folder: str, port: int) -> Iterator[tuple[str, str]]:
    """The real command in another process, without the user's own settings; its address and the operator's token."""
    command = [sys.executable, "-m", "blender_dp", "serve", "--json", "--data", folder, "--port", str(port)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BLENDER_DP_")}
    log = Path(folder) / "collector.log"
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True, env=environment)  # noqa: S603
    try:
        facts: dict[str, Any] = {}
        for line in process.stdout or ():
            facts |= json.loads(line)
            if facts["event"] == "listening":
                break
        else:
            raise StateError("collector", "did not start", log.read_text(encoding="utf-8").strip() or "Try another --port")
        yield facts["url"], facts["operator_token"]
    finally:
        process.terminate()
        process.communicate()  # waits, and closes the pipe
