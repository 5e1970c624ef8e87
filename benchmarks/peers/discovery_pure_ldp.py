"""pure-LDP's prefix extending method: it finds popular strings without a list, here codes of six letters, one per query."""

from __future__ import annotations

import string

from job import Job, bytes_of, finish, timed
from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer
from pure_ldp.heavy_hitters.prefix_extending import PEMClient, PEMServer

HASHES, WIDTH = 128, 1024  # of the sketch; the library's default oracle visits the whole domain for every report
SIZES = {"start_length": 0, "max_string_length": 6, "fragment_length": 2}


def pair(epsilon: float) -> tuple[PEMClient, PEMServer]:
    """The client and the server, with a count-mean sketch as their oracle."""
    oracle = CMSServer(epsilon, HASHES, WIDTH)
    common = {**SIZES, "alphabet": list(string.ascii_lowercase), "index_mapper": lambda text: text}
    client = CMSClient(epsilon, oracle.get_hash_funcs(), WIDTH)
    return PEMClient(epsilon, **common, fo_client=client), PEMServer(epsilon, **common, fo_server=oracle)


def main() -> None:
    job = Job.read()
    codes = (job.folder / "codes.txt").read_text(encoding="utf-8").split()
    client, server = pair(job.epsilon)

    def collect() -> tuple[list[str], list[float]]:
        for code in codes:
            server.aggregate(client.privatise(code))
        return server.find_heavy_hitters(k=job.max_queries)

    (names, counts), seconds = timed(collect)
    size = bytes_of(client.privatise(code) for code in codes[:1000])
    finish({name: count / len(codes) for name, count in zip(names, counts, strict=True)}, len(codes), seconds, size)


if __name__ == "__main__":
    main()
