"""Choose a channel by its predicted error, before anyone reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from blender_dp.stages.layout import Floats
from blender_dp.stages.likelihood.evidence import Evidence, Reported
from blender_dp.stages.likelihood.fit import Fit, hidden_cells
from blender_dp.stages.likelihood.system import System
from blender_dp.stages.response import Response

_AS_GOOD = 1.03  # errors within this factor count as equal


def likely_best(opt_in: Evidence, known: Fit, clients: int, responses: Sequence[Response]) -> int:
    """The index of the response with the smallest predicted error, or of one about as good that has other advantages.

    The error is that of queries and records together, given the opt-in users' evidence: the list and its noisy counts are
    already public, so the choice costs no privacy. Among the responses that are about as good, those with the shortest
    reports are preferred, and among these the one that lies most often about queries: it reveals most about URLs, which
    matters if the opt-in users turn out to differ from the clients.
    """
    errors = [predicted_error(opt_in, known, clients, response) for response in responses]
    good = [i for i, error in enumerate(errors) if error <= _AS_GOOD * min(errors)]
    return min(good, key=lambda i: (responses[i].size, responses[i].query_truth))


def predicted_error(opt_in: Evidence, known: Fit, clients: int, response: Response) -> float:
    """The sum of the standard errors of all queries and all listed records."""
    hidden = hidden_cells(opt_in.layout)
    variance, query_variance = predicted_variances(opt_in, known, clients, response)
    records = np.sqrt(variance[:-1][~hidden[:-1]]).sum() if hidden.any() else 0.0  # a single item is its query
    return float(np.sqrt(query_variance[:-1]).sum() + records)


def predicted_variances(opt_in: Evidence, known: Fit, clients: int, response: Response) -> tuple[Floats, Floats]:
    """The variances of cells and queries expected from the opt-in users' evidence and this many reports."""
    reports = Reported(clients * response.expected(known.shares), clients, response)
    return _variances(replace(opt_in, reported=reports), known)


def variances_without_opt_in(evidence: Evidence, known: Fit) -> tuple[Floats, Floats]:
    """The variances of cells and queries at these shares, from the reports alone."""
    return _variances(evidence.of_clients(), known)


def _variances(evidence: Evidence, known: Fit) -> tuple[Floats, Floats]:
    more = np.zeros_like(known.shares)
    if known.unlisted is not None:
        more[hidden_cells(evidence.layout)] = 1 / known.unlisted.variance
    step = System.of(evidence.layout, evidence.pulls(known.shares)).step(known.shares, more, known.shares)
    return step.variance, step.query_variance
