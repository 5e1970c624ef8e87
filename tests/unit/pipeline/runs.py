"""Seeded runs over one small population."""

from __future__ import annotations

from fractions import Fraction

from blender_dp import (
    Blender,
    Entropy,
    aol_like,
)

DELTA = Fraction(1, 100_000)


POPULATION = aol_like(2, users=60_000)


OPT_IN, CLIENTS = POPULATION.slice(0, 20_000), POPULATION.slice(20_000)


def blender(**changes) -> Blender:
    return Blender(**{"epsilon": 4, "delta": 1e-5, "max_queries": 10, **changes})


def run(opt_in=OPT_IN, clients=CLIENTS, seed: int = 1, **changes):
    return blender(**changes).run(opt_in, clients, key=b"k", entropy=Entropy.seeded(seed))
