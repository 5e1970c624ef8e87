"""What an entry of the registry says about the algorithm, in words; the values are chosen by a release's manifest."""

from __future__ import annotations

from typing import Any

SOURCE_TYPE = "Formal publication by the deploying organization"

_AUTHORS = "Brendan Avent and Aleksandra Korolova and David Zeber and Torgeir Hovden and Benjamin Livshits"
_TITLE = "BLENDER: Enabling Local Search with a Hybrid Differential Privacy Model"
_REVIEWED = "Peer-reviewed publication"
PAPERS: dict[str, Any] = {
    "blender_2019": {
        "evidence_source_type": _REVIEWED,
        "article": {
            "author": _AUTHORS,
            "title": _TITLE,
            "journal": "Journal of Privacy and Confidentiality",
            "volume": 9,
            "number": 2,
            "year": 2019,
            "doi": "10.29012/jpc.680",
        },
    },
    "blender_2017": {
        "evidence_source_type": _REVIEWED,
        "inproceedings": {
            "author": _AUTHORS,
            "title": _TITLE,
            "booktitle": "26th USENIX Security Symposium",
            "pages": "747-764",
            "year": 2017,
        },
    },
}
"""The papers that describe the algorithm."""

ACTORS = [
    "The curator, who receives opt-in users' records and clients' reports and publishes the release.",
    "Opt-in users, who trust the curator with a record.",
    "Clients, whose records are randomised on their own device, or in a simulation of it.",
    "Everyone who reads the release, with any knowledge from elsewhere.",
]
_CURATOR = "Opt-in users trust the curator to protect their records until the release is made, and to delete them. "
TRUST = {
    "devices": f"{_CURATOR}Clients trust nobody but their own device.",
    "log": (
        f"{_CURATOR}The clients' reports were simulated from a log, so clients also trust the person who ran the simulation."
    ),
}

PREPROCESSING = (
    "Every record is converted to a canonical form (version {version}), and records that look personal are removed, one by "
    "one and independently of other records. The clients' channel is chosen from private results only, which costs nothing."
)
COMPOSITION = (
    "Every user is in one group only, so the losses of the groups do not add up: an opt-in user participates either in "
    "discovery or in calibration, and a client sends {m_c} report(s), among which its budget is divided."
)

DISCOVERY = {
    "geometric": "Discovery: two-sided geometric noise with a maximum, and a threshold above it.",
    "laplace": "Discovery: Laplace noise and a threshold.",
}
RANDOMISER = {
    "subset": "Reporting: subset selection for the query, k-ary randomised response for its URL.",
    "two-stage": "Reporting: k-ary randomised response for the query, then for its URL.",
}
ESTIMATOR = {
    "likelihood": "One maximum-likelihood fit to the evidence of both groups, with shrinkage.",
    "average": "The groups' estimates are averaged, weighted by their variances, and projected onto shares.",
}
EXACTNESS = [
    "Floating-point attacks: no float decides anything; random words are compared with integers over 2^64.",
    "Verification: blender-dp audit --release computes the exact loss of the integers in use.",
]
