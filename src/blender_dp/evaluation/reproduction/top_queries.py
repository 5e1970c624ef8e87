"""Figure 9: the estimates of the papers' nine top queries and of ⋆, by each part of profile `paper`, and by `tight`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from blender_dp.evaluation.experiment import Outcome, collect
from blender_dp.evaluation.fast_reports import fast_reports
from blender_dp.evaluation.groups import Split
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.reproduction.data import Data, Populations
from blender_dp.evaluation.reproduction.figure import JOURNAL, USENIX, Checked, Tabulated, Verdict
from blender_dp.evaluation.reproduction.results import reason, spread
from blender_dp.pipeline.collection import Collection
from blender_dp.release.normal import student_quantile
from blender_dp.sampling import Entropy
from blender_dp.stages import Floats, Integers, Layout

_STAR = "⋆"
_NAMES = ("google", "yahoo", "google.com", "myspace.com", "mapquest", "yahoo.com", "www.google.com", "myspace", "ebay")
_COLUMNS = ("blended", "opt-in", "client", "client, sum of URLs")
_TIGHT = "tight, blended"
_LOOKED_AT = 2000  # of the most popular queries, to find those of the papers
_FEWEST = 5  # seeds, from which it can be said what is usual
_PRINTED: Mapping[str, Mapping[str, Sequence[float]]] = {  # ⋆ first
    JOURNAL: {
        "truth": (0.9121, 0.0211, 0.0067, 0.0066, 0.0055, 0.0055, 0.0048, 0.0044, 0.0034, 0.0030),
        "blended": (0.9144, 0.0211, 0.0081, 0.0075, 0.0046, 0.0062, 0.0047, 0.0038, 0.0030, 0.0030),
        "opt-in": (0.9148, 0.0220, 0.0061, 0.0083, 0.0034, 0.0051, 0.0057, 0.0043, 0.0031, 0.0030),
        "client": (0.9143, 0.0210, 0.0088, 0.0073, 0.0052, 0.0066, 0.0043, 0.0035, 0.0030, 0.0029),
        "client, sum of URLs": (0.9143, 0.0210, 0.0088, 0.0073, 0.0052, 0.0066, 0.0043, 0.0035, 0.0030, 0.0029),
    },
    USENIX: {
        "truth": (0.9108, 0.0213, 0.0067, 0.0067, 0.0057, 0.0054, 0.0043, 0.0034, 0.0033, 0.0028),
        "blended": (0.9103, 0.0216, 0.0070, 0.0056, 0.0052, 0.0051, 0.0043, 0.0004, 0.0034, 0.0026),
        "opt-in": (0.9199, 0.0213, 0.0046, 0.0023, 0.0022, 0.0062, 0.0021, 0.0004, 0.0042, 0.0028),
        "client": (0.9100, 0.0217, 0.0073, 0.0061, 0.0057, 0.0053, 0.0048, 0.0032, 0.0035, 0.0028),
        "client, sum of URLs": (0.1468, 0.0216, 0.0325, 0.0194, 0.0258, 0.0192, 0.0192, 0.0098, 0.0255, 0.0254),
    },
}  # fmt: skip

Estimates = Mapping[str, Floats]
"""A row per seed, a column per query, ⋆ first; NaN for a query that is not listed."""


def top_queries(data: Data, epsilon: str, paper: str, populations: Populations, seeds: int) -> Tabulated:
    """The table, for the papers' queries if the log has all of them, otherwise for its own top queries."""
    names: Sequence[str] = ()
    found: dict[str, list[Floats]] = {f"{name}{kind}": [] for name in (*_COLUMNS, _TIGHT) for kind in ("", " truth")}
    for seed in range(seeds):
        population = populations(data, seed)
        names, queries = _tracked(population)
        groups = Split(population, seed).groups(float(data.setting("paper").opt_in), 0.95)
        for profile, columns in (("paper", _COLUMNS), ("tight", (_TIGHT,))):
            collection = Collection(data.setting(profile, epsilon=epsilon).parameters)
            noise = Entropy.seeded(f"figure 9 {epsilon} {profile} {seed}")
            outcome = collect(collection, groups, noise, fast_reports)
            truth = np.append(outcome.query_truth[-1], population.query_counts[queries] / population.users)
            for column in columns:
                found[column].append(_of_queries(outcome, column, queries))
                found[f"{column} truth"].append(truth)
    estimates = {name: np.array(values) for name, values in found.items()}
    printed = _PRINTED[paper] if tuple(names) == _NAMES else {}
    table = _table([_STAR, *names], estimates, printed)
    return Tabulated(table, _checks(estimates, printed, paper, data), _remark(printed, seeds))


def _tracked(population: Population) -> tuple[Sequence[str], Integers]:
    """The names and the numbers of the queries in the table."""
    top = np.argsort(-population.query_counts, kind="stable")[:_LOOKED_AT]
    top = top[population.query_counts[top] > 0]
    named = [name for name, _ in population.names(np.searchsorted(population.query_of, top))]
    place = dict(zip(named, top.tolist(), strict=True))
    if place.keys() >= set(_NAMES):
        return _NAMES, np.array([place[name] for name in _NAMES])
    return named[: len(_NAMES)], top[: len(_NAMES)]


def _of_queries(outcome: Outcome, column: str, queries: Integers) -> Floats:
    """The estimates of ⋆ and of these queries."""
    shares = _shares(outcome, column)
    place = {number: i for i, number in enumerate(outcome.listed.queries.tolist())}
    return np.array([shares[-1], *(shares[place[query]] if query in place else np.nan for query in queries.tolist())])


def _shares(outcome: Outcome, column: str) -> Floats:
    result = outcome.result
    if column == "client, sum of URLs":
        return Layout(outcome.listed.head_list.url_counts).per_query(result.client.cells.share)
    if column in ("opt-in", "client"):
        return (result.opt_in if column == "opt-in" else result.client).queries.share
    return result.blended.queries.share


def _table(names: Sequence[str], estimates: Estimates, printed: Mapping[str, Sequence[float]]) -> pa.Table:
    rows = []
    for column in ("truth", *_COLUMNS, _TIGHT):
        values = estimates[f"{_COLUMNS[0]} truth" if column == "truth" else column]
        for i, query in enumerate(names):
            listed = values[~np.isnan(values[:, i]), i]
            measured = spread(listed) if listed.size else {"mean": None, "seeds": 0}
            rows.append({"rank": i, "query": query, "column": column,
                         "printed": printed[column][i] if column in printed else None, **measured})  # fmt: skip
    schema = pa.schema([("rank", pa.int64()), ("query", pa.string()), ("column", pa.string()),
                        *((name, pa.float64()) for name in ("printed", "mean", "standard_error", "low", "high")),
                        ("seeds", pa.int64())])  # fmt: skip
    return pa.Table.from_pylist(rows, schema)


def _remark(printed: Mapping[str, Sequence[float]], seeds: int) -> str:
    if not printed:
        return "These users do not have all of the papers' queries, so the printed values are not shown."
    if seeds < _FEWEST:
        return f"Whether the printed errors are usual is checked with {_FEWEST} seeds or more."
    return (
        "⋆ is everything that is not listed. Numbers of seeds below the others' mean that a query was not always listed. A "
        "printed error counts as usual here if it is within the range that contains the error of another collection with a "
        "probability of 99.7 %."
    )


def _checks(estimates: Estimates, printed: Mapping[str, Sequence[float]], paper: str, data: Data) -> list[Checked]:
    """Whether the printed errors are usual here, and how many queries are out of order."""
    checked: list[Checked] = []
    here = estimates["blended"]
    if printed and here.shape[0] >= _FEWEST:
        checked += [_errors(estimates, printed, column, paper, data) for column in ("blended", "opt-in", "client")]
    if not here.size or here.shape[1] < 2:
        return checked
    several = [_regressions(*pair) for pair in zip(here[:, 1:], estimates["blended truth"][:, 1:], strict=True)]
    mean, text = float(np.mean(several)), f"{np.mean(several):.1f} on average (1 in the papers)"
    why = f"The paper shows one collection; here is the mean of {len(several)}. {reason([data.source])}"
    checked.append(("the blend has one regression", f"{paper}, Section 4", Verdict(abs(mean - 1) <= 0.5, text, why)))
    return checked


def _errors(estimates: Estimates, printed: Mapping[str, Sequence[float]], column: str, paper: str, data: Data) -> Checked:
    """Whether the errors of one more collection, the paper's, are as usual as those here."""
    errors = (estimates[column] - estimates[f"{column} truth"])[:, 1:]
    theirs = (np.array(printed[column]) - np.array(printed["truth"]))[1:]
    inside = [_is_usual(error, here[~np.isnan(here)]) for error, here in zip(theirs, errors.T, strict=True)]
    outside = ", ".join(name for name, is_in in zip(_NAMES, inside, strict=True) if not is_in)
    text = f"{sum(inside)} of {len(inside)} printed errors are usual here"
    verdict = Verdict(all(inside), text, f"Unusual: {outside}. {reason([data.source])}")
    return f"the errors of the {column} estimates are as printed", f"{paper}, Figure 9", verdict


def _is_usual(error: float, here: Floats) -> bool:
    """Whether one more value is within the range of what these values, one per seed, predict."""
    if here.size < 2:
        return False
    reach = student_quantile(0.997, here.size - 1) * here.std(ddof=1) * np.sqrt(1 + 1 / here.size)
    return bool(abs(error - here.mean()) <= reach)


def _regressions(estimates: Floats, truth: Floats) -> int:
    """The number of queries whose estimate is larger than that of the query before, in the order of the truth."""
    return int(np.count_nonzero(np.diff(estimates[np.argsort(-truth, kind="stable")]) > 0))
