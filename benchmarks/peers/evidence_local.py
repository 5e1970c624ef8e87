"""Which promises pure-LDP and multi-freq-ldpy keep."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence

import numba
import numpy as np
from evidence import Finding, cited, finding, repeated, separate_workers, shared_after_fork, show, unpredictable
from multi_freq_ldpy.pure_frequency_oracles import GRR
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer, cms_client
from pure_ldp.frequency_oracles.direct_encoding import DEClient, de_client
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.hadamard_response.internal import k2k_hadamard
from pure_ldp.frequency_oracles.local_hashing import LHClient, lh_client
from pure_ldp.frequency_oracles.rappor import RAPPORClient, RAPPORServer, rappor_client
from pure_ldp.frequency_oracles.unary_encoding import UEClient, ue_client

EPSILON, D, TRIALS = 4.0, 51, 20_000
DRAWS, REPORTS = 50, 40  # values, and reports per value


def same(index: int) -> int:
    return index


def clients() -> dict[str, object]:
    """The client sides that are compared on the page."""
    server = HadamardResponseServer(EPSILON, D, index_mapper=same)
    sketch = CMSServer(EPSILON, 128, 1024)
    return {
        "direct encoding": DEClient(EPSILON, D, index_mapper=same),
        "OUE": UEClient(EPSILON, D, use_oue=True, index_mapper=same),
        "OLH": LHClient(EPSILON, D, use_olh=True, index_mapper=same),
        "Hadamard response": HadamardResponseClient(EPSILON, D, server.get_hash_funcs(), index_mapper=same),
        "PEM": CMSClient(EPSILON, sketch.get_hash_funcs(), 1024),
    }


def seed() -> None:
    random.seed(7)
    np.random.seed(7)


@numba.njit
def seed_compiled() -> None:
    np.random.seed(7)


def drawn(privatise: Callable[[int], object]) -> Callable[[], Sequence[str]]:
    """Draw values that are never equal by chance: each is the text of many reports."""

    def value() -> str:
        return json.dumps([privatise(3) for _ in range(REPORTS)], default=lambda report: report.tolist())

    return lambda: [value() for _ in range(DRAWS)]


def worst_loss(client: object) -> float:
    """The ε of the probabilities that a client computes with."""
    match client:
        case DEClient() | LHClient():
            return math.log(client.p / client.q)
        case UEClient():
            return math.log(client.p * (1 - client.q) / (client.q * (1 - client.p)))
        case CMSClient():
            return 2 * math.log((1 - client.prob) / client.prob)
    hr = client.hr
    uniform = 2 * hr.part / (2 * hr.part - 1 + hr.exp)
    return math.log(1 + (1 - uniform) * 2 / hr.partsz / (uniform / hr.outsz))


def probabilities(found: dict[str, object]) -> Finding:
    losses = {name: worst_loss(client) for name, client in found.items()}
    evidence = "; ".join(f"{name}: {loss:.6f}" for name, loss in losses.items())
    holds = max(losses.values()) <= EPSILON + 1e-9
    return finding("pure-LDP", f"its probabilities are those of ε = {EPSILON:g}", holds, evidence)


def rappor() -> Finding:
    """RAPPOR's client must clear a bit that is set with probability f/2."""
    f = 0.5
    server = RAPPORServer(f, 128, 2, D, index_mapper=same)
    client = RAPPORClient(f, 128, server.get_hash_funcs(), index_mapper=same)
    kept = sum(client._perturb([1])[0] for _ in range(TRIALS))
    allowed = 1 - f / 2
    holds = kept / TRIALS <= allowed + 5 * math.sqrt(allowed * (1 - allowed) / TRIALS)
    evidence = f"a set bit stayed set in {kept:,} of {TRIALS:,} reports at f = {f}; it should be {allowed * TRIALS:,.0f}"
    return finding(
        "pure-LDP: RAPPOR", "every bit of a report is randomised", holds, evidence, cited(rappor_client, "bit == 1 and")
    )


def main() -> None:
    found = clients()
    findings = [
        unpredictable(f"pure-LDP: {name}", repeated(seed, drawn(client.privatise)), DRAWS, source)
        for (name, client), source in zip(found.items(), _sources(), strict=True)
    ]
    # The bits of all queries except the user's own, which come from another generator.
    oue = shared_after_fork(drawn(lambda value: found["OUE"].privatise(value)[value + 1 :]))
    findings.append(separate_workers("pure-LDP: OUE", oue, DRAWS, cited(ue_client, "np.random.choice")))
    findings += [probabilities(found), rappor()]
    compiled = drawn(lambda value: UE_Client(value, D, EPSILON))
    source = cited(GRR, "np.random.binomial")
    repeats = repeated(seed_compiled, compiled)
    findings.append(unpredictable("multi-freq-ldpy", repeats, DRAWS, source, "the generator of numba"))
    findings.append(separate_workers("multi-freq-ldpy", shared_after_fork(compiled), DRAWS))
    show(findings)


def _sources() -> list[str]:
    """Where each of the clients draws."""
    return [
        cited(de_client, "random.random()"),
        cited(ue_client, "np.random.choice"),
        cited(lh_client, "np.random.random_sample"),
        cited(k2k_hadamard, "np.random.randint", after="class Hadamard_Rand_general_original"),
        cited(cms_client, "np.random.rand("),
    ]


if __name__ == "__main__":
    main()
