"""Speed of randomising many clients' reports, relative to plain numpy and to the client sides of two libraries."""

from __future__ import annotations

import numpy as np

from benchmarks import peers
from benchmarks.machine import cores
from benchmarks.plain_response import FORMS, keep_probability
from benchmarks.result import Cell, Result, Verdict
from benchmarks.stopwatch import seconds
from blender_dp import Blender
from blender_dp.mechanisms.two_stage_response import TwoStageResponse
from blender_dp.sampling import Entropy
from blender_dp_device.records.head_list import HeadList

EPSILON = 4
CLIENTS = 4_000_000
ROUNDS = 9
OURS = "blender-dp, two stages, AES"


def measure() -> Result:
    rows: list[dict[str, Cell]] = []
    verdicts: list[Verdict] = []
    python = peers.environment("local")
    with cores(1):
        for k in (51, 501):
            rates = _rates(k)
            ours = rates[OURS]
            plain = max(rates[name] for name in FORMS if "np.where" in name)
            fastest = max(rates[name] for name in FORMS)
            theirs = {peer: peers.rates(python, peer, k, EPSILON) for peer in peers.NAMES}
            rates |= {f"{peer}, {use}": rate for peer, uses in theirs.items() for use, rate in uses.items()}
            rows += [
                {"queries": k, "what": name, "million reports/s": rate / 1e6, "ours relative to it": ours / rate}
                for name, rate in rates.items()
            ]
            verdicts += [
                Verdict(f"k = {k}, relative to plain numpy (np.where)", ours / plain, 0.5, "at least"),
                Verdict(f"k = {k}, relative to the fastest numpy we could write", ours / fastest, 0.5, "at least"),
            ]
            verdicts += [
                Verdict(
                    f"k = {k}, relative to {peer}, {peers.INTENDED_USE}", ours / uses[peers.INTENDED_USE], 15, "at least"
                )
                for peer, uses in theirs.items()
            ]
    return Result(
        "reporting",
        "randomising clients' reports",
        f"ε = {EPSILON}, 1 to 4 URLs per query, true values uniform, one core. "
        f"Ours and numpy: {CLIENTS:,} clients, best of {ROUNDS}, taking turns. "
        f"Peers: direct encoding, randomising only, {peers.CLIENTS:,} clients, best of {peers.ROUNDS}.",
        rows,
        verdicts,
    )


def _rates(k: int) -> dict[str, float]:
    """Reports per second of ours and of every form of plain numpy, for a list of k queries (⋆ is one of them)."""
    head_list = HeadList.of((f"query {q}", f"url {u}") for q in range(k - 1) for u in range(1 + q % 4))
    mechanism = TwoStageResponse(Blender(epsilon=EPSILON, delta="1e-5").collection.channel(head_list))
    entropy, rng = Entropy.system(), np.random.default_rng()
    cells = rng.integers(0, mechanism.cell_count, CLIENTS, dtype=np.int32)
    values = rng.integers(0, k, CLIENTS, dtype=np.int32)
    keep = keep_probability(k, EPSILON)
    ways = {OURS: lambda: mechanism.respond(cells, entropy)}
    ways |= {name: lambda form=form: form(values, k, keep, rng) for name, form in FORMS.items()}
    return {name: CLIENTS / min(taken) for name, taken in seconds(ways, ROUNDS).items()}
