"""multi-freq-ldpy's frequency oracles on a known list: every user is one index, and the last index is every other query."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from job import Job, bytes_of, finish, timed
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

CLIENTS: dict[str, Callable] = {"GRR": GRR_Client, "OUE": UE_Client, "OLH": LH_Client, "subset selection": SS_Client}


def estimated(method: str, reports: list, k: int, epsilon: float) -> np.ndarray:
    """The library's estimate from all reports; it always clips at 0 and makes the shares sum to 1."""
    match method:
        case "OUE":
            return UE_Aggregator_MI(reports, epsilon)
        case "GRR":
            return GRR_Aggregator_MI(reports, k, epsilon)
        case "OLH":
            return LH_Aggregator_MI(reports, k, epsilon)
    return SS_Aggregator_MI(reports, k, epsilon)


def main() -> None:
    job = Job.read()
    values = np.load(job.folder / "values.npy").tolist()
    k, client = job.max_queries + 1, CLIENTS[job.method]
    client(0, k, job.epsilon)  # compiles it

    def collect() -> np.ndarray:
        reports = [client(value, k, job.epsilon) for value in values]
        return estimated(job.method, reports, k, job.epsilon)

    shares, seconds = timed(collect)
    size = bytes_of(client(value, k, job.epsilon) for value in values[:1000])
    finish({str(i): shares[i] for i in range(job.max_queries)}, len(values), seconds, size)


if __name__ == "__main__":
    main()
