"""pure-LDP's frequency oracles on a known list: every user is one index, and the last index is every other query."""

from __future__ import annotations

import numpy as np
from job import Job, bytes_of, finish, timed
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer


def same(index: int) -> int:
    """The library counts from 1 by default."""
    return index


def pair(method: str, epsilon: float, d: int) -> tuple[object, object]:
    """The client and the server of a method."""
    common = {"index_mapper": same}
    match method:
        case "direct encoding":
            return DEClient(epsilon, d, **common), DEServer(epsilon, d, **common)
        case "OUE":
            return UEClient(epsilon, d, use_oue=True, **common), UEServer(epsilon, d, use_oue=True, **common)
        case "OLH":
            return LHClient(epsilon, d, use_olh=True, **common), LHServer(epsilon, d, use_olh=True, **common)
        case "Hadamard response":
            server = HadamardResponseServer(epsilon, d, **common)
            return HadamardResponseClient(epsilon, d, server.get_hash_funcs(), **common), server
    raise SystemExit(f"unknown method {method}")


def main() -> None:
    job = Job.read()
    values = np.load(job.folder / "values.npy").tolist()
    client, server = pair(job.method, job.epsilon, job.max_queries + 1)

    def collect() -> np.ndarray:
        for value in values:
            server.aggregate(client.privatise(value))
        return server.estimate_all(range(job.max_queries), suppress_warnings=True)

    counts, seconds = timed(collect)
    size = bytes_of(client.privatise(value) for value in values[:1000])
    finish({str(i): count / len(values) for i, count in enumerate(counts)}, len(values), seconds, size)


if __name__ == "__main__":
    main()
