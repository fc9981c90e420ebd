"""Collections and payloads for the tests of the report in a browser: ordinary, hostile and large."""

import copy
from typing import Any

import numpy as np

from lexirecall import simulate_collection
from lexirecall.page import Report, report

HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "</script><script>alert(3)</script>",
    "safe\u202egnp.exe",
    "a&b=c#q=1+2%20é",
    "50% off%",
    "\u0007bell\u0000",
    "{{DATA}}",
    "__proto__",
    "مرحبا-1",
    "x" * 10_000,
)
"""Ids that try to be markup, code, another address, another direction of writing, or just too long."""

INHERITED = ("constructor", "toString", "__proto__", "hasOwnProperty", "valueOf", "prototype")
"""Ids that every object of JavaScript has, or seems to have, by inheritance."""

DEMO = simulate_collection(0)


def demo_report(**options: Any) -> Report:
    """Return a page about four runs on thirty queries."""
    return report(DEMO.qrels, DEMO.runs, output=None, title="Four runs", **options)


def hostile_report() -> Report:
    """Return a page with hostile names for queries, runs, documents and the title."""
    qrels = {f"q{name}": dict.fromkeys(HOSTILE, 1) for name in HOSTILE}
    runs = {
        f"r{name}": {
            q: np.random.default_rng([s, k]).permutation(HOSTILE).tolist()[: 4 + (s + k) % 6]
            for k, q in enumerate(qrels)
        }
        for s, name in enumerate(HOSTILE)
    }
    return report(qrels, runs, output=None, title="</title><script>alert(4)</script>\u202e")


HOSTILE_TEXTS = (
    *HOSTILE,
    *INHERITED,
    "<svg/onload=alert(5)>\n\n& next",
    "javascript:alert(6)",
    "${alert(7)}",
    "\u2028-->",
)
"""Texts that try the same."""


def hostile_texts_report(**options: Any) -> Report:
    """Return a page with hostile texts of queries and documents."""
    documents = sorted({document for judged in DEMO.qrels.values() for document in judged})
    texts = {
        "queries": {q: HOSTILE_TEXTS[i % len(HOSTILE_TEXTS)] for i, q in enumerate(DEMO.qrels)},
        "documents": {document: HOSTILE_TEXTS[i % len(HOSTILE_TEXTS)] for i, document in enumerate(documents)},
    }
    return demo_report(texts=texts, **options)


def inherited_report() -> Report:
    """Return a page with queries, runs and documents named like properties that JavaScript objects inherit."""
    qrels = {name: dict.fromkeys(INHERITED, 1) for name in INHERITED}
    runs = {
        name: {
            q: np.random.default_rng([s, k]).permutation(INHERITED).tolist()[: 2 + (s + k) % 5]
            for k, q in enumerate(qrels)
        }
        for s, name in enumerate(INHERITED)
    }
    return report(qrels, runs, output=None, title="__proto__")


def large_payload(template: dict[str, Any], num_runs: int = 110, num_queries: int = 249) -> dict[str, Any]:
    """Return a payload of the size of TREC's ad hoc track, with made-up numbers, in the form of the template."""
    rng = np.random.default_rng(0)
    skills = np.linspace(0.95, 0.3, num_runs)
    num_relevant = np.clip(rng.lognormal(3.5, 0.8, num_queries), 3, 400).astype(int)
    measures = template["measures"]
    values = np.clip(skills[:, None] + rng.normal(0, 0.2, (num_runs, num_queries)), 0, 1).round(4)
    means = values.mean(axis=1).round(4)
    a, b = np.triu_indices(num_runs, 1)
    pair = {
        "mean": (means[a] - means[b]).round(4).tolist(),
        "low": (means[a] - means[b] - 0.03).round(4).tolist(),
        "high": (means[a] - means[b] + 0.03).round(4).tolist(),
        "p": np.exp(-80 * np.abs(means[a] - means[b])).round(6).tolist(),
        "p_raw": np.exp(-99 * np.abs(means[a] - means[b])).round(6).tolist(),
        "wins": (values[a] > values[b]).sum(axis=1).tolist(),
        "ties": (values[a] == values[b]).sum(axis=1).tolist(),
        "losses": (values[a] < values[b]).sum(axis=1).tolist(),
    }
    runs = [f"system{s:03}" for s in range(num_runs)]
    payload = copy.deepcopy(template)
    payload["manifest"]["runs"] = [{**template["manifest"]["runs"][0], "name": name} for name in runs]
    return payload | {
        "runs": runs,
        "labels": [f"s{s}" for s in range(num_runs)],
        "ranks": list(range(1, num_runs + 1)),
        "queries": [str(301 + q) for q in range(num_queries)],
        "means": [[mean] * len(measures) for mean in means.tolist()],
        "marks": [["s100-s109"] * len(measures)] * num_runs,
        "better_than": [[num_runs - 1 - s] * len(measures) for s in range(num_runs)],
        "group_order": [list(range(num_runs))] * len(measures),
        "groups": [[[s, min(s + 9, num_runs - 1)] for s in range(num_runs - 9)]] * len(measures),
        "best": [[s == 0] * len(measures) for s in range(num_runs)],
        "values": [values.tolist()] * len(measures),
        "pairs": {"a": a.tolist(), "b": b.tolist(), "by_measure": [pair] * len(measures)},
        "relevant": [[f"FBIS3-{q}-{d}" for d in range(m)] for q, m in enumerate(num_relevant.tolist())],
        "found": [[_found(rng, m, skill) for m in num_relevant.tolist()] for skill in skills.tolist()],
        "retrieved": [[1000] * num_queries] * num_runs,
        "absent": [[]] * num_runs,
        "recall": template["recall"] | {"mean": [template["recall"]["mean"][0]] * num_runs},
        "depth_needed": [
            {"recall": need["recall"], "median": [None] * num_runs, "reached": [0.5] * num_runs}
            for need in template["depth_needed"]
        ],
    }


def _found(rng: np.random.Generator, num_relevant: int, skill: float) -> list[int]:
    positions = np.unique(np.exp(rng.uniform(0, np.log(1000), rng.binomial(num_relevant, skill))).astype(int))
    steps, documents = np.diff(positions, prepend=0), rng.permutation(num_relevant)[: len(positions)]
    flat: list[int] = np.column_stack([steps, documents]).ravel().tolist()
    return flat
