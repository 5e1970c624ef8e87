"""pure-LDP's direct encoding, client side."""

from __future__ import annotations

from clock import arguments, report
from pure_ldp.frequency_oracles.direct_encoding import DEClient

k, epsilon, values, rounds = arguments()
client = DEClient(epsilon, k, index_mapper=lambda value: value)
whole = values.tolist()  # it is fastest with Python integers

report({"one call per client": lambda: [client.privatise(value) for value in whole]}, values.size, rounds)
