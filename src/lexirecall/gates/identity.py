"""Identity: what a build is known by in a ledger.

Belongs here: digests of what is asked and of everything it is decided from. Not here: what is made of them (ledger).

Two builds are the same look at the queries if they cannot be decided otherwise: every judged document that a tested
measure sees is at the same place in both runs, and the same is asked. What else the lists hold does not matter.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np

from lexirecall.aggregation import Aggregation
from lexirecall.gates.baselinepairs import BaselinePair
from lexirecall.gates.gateoptions import GateOptions
from lexirecall.gates.ledger import BuildIdentity
from lexirecall.manifest import Policies
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.providers import Providers
from lexirecall.tracks import Tracks


def identity_of(
    comparing: BaselinePair, queries: Sequence[str], gating: GateOptions, aggregation: Aggregation
) -> BuildIdentity:
    """Return what the two runs that are compared on some queries are known by."""
    positions, rows, policies = comparing.positions, comparing.rows, comparing.policies
    settings = {
        "measures": [str(row) for row in rows], "test": "one-sided", "correction": "holm", "alpha": gating.alpha,
        "margin": gating.margin, "over": aggregation.over, "by": aggregation.by is not None,
        "min_queries": aggregation.min_queries, "policies": asdict(policies), "requirements": gating.require,
    }  # fmt: skip
    asked = json.dumps(settings, default=float)  # whatever kinds of numbers they are
    data = hashlib.sha256(asked.encode())
    members = {name: set(places.tolist()) for name, places in comparing.groups.items()}
    at = {query: q for q, query in enumerate(positions.queries)}
    runs = [positions.runs.index(run) for run in comparing.pair]
    for query in sorted(queries):
        q = at[query]
        mine = sorted(name for name, places in members.items() if q in places)
        facts = [query, mine, *_facts(positions, runs, q, rows, policies)]
        data.update(json.dumps(facts).encode())
    digest = hashlib.sha256(asked.encode()).hexdigest()
    return BuildIdentity(tuple(queries), digest, data.hexdigest(), gating.build)


def _facts(
    positions: Positions, runs: Sequence[int], q: int, rows: Sequence[Evaluable], policies: Policies
) -> Iterator[Any]:
    """Give everything about a query that a value under these measures can come from."""
    sees_others = any(row.needs_judged for row in rows)
    sees_length = sees_others or any(getattr(row, "counts_list", False) for row in rows)
    yield None if positions.corpus_size is None else int(positions.corpus_size[q])
    levels = dict.fromkeys([policies.level, *(row.level(policies.level) for row in rows)])
    projections = {id(sought): sought for sought in map(positions.sought, levels)}  # without units they are one
    for sought in projections.values():
        judgments = sought.judgments
        start, end = judgments.offsets[q : q + 2].tolist()
        grades = np.sort(judgments.grades[start:end])
        yield (grades if sees_others else grades[grades > 0]).tolist()
        for s in runs:
            yield _places(sought.found, s * len(sought.queries) + q, sought)
            if sees_others and sought.others is not None:
                yield _places(sought.others, s * len(sought.queries) + q, sought)
    if sees_length:
        yield positions.num_retrieved[runs, q].tolist()
    if positions.providers is not None and any(row.needs_providers for row in rows):
        yield from _owners(positions, positions.providers, runs, q)


def _places(tracks: Tracks, ranking: int, positions: Positions) -> list[Any]:
    at = slice(*tracks.segments.offsets[ranking : ranking + 2].tolist())
    return [tracks.positions[at].tolist(), positions.judgments.grades[tracks.documents[at]].tolist()]


def _owners(positions: Positions, providers: Providers, runs: Sequence[int], q: int) -> Iterator[Any]:
    """Give the providers of each judged document of a query, and which of these documents were found."""
    start, end = positions.judgments.offsets[q : q + 2].tolist()
    borders = pairwise(providers.offsets[start : end + 1].tolist())
    yield [[providers.names[index] for index in providers.indices[slice(*border)].tolist()] for border in borders]
    for s in runs:
        at = slice(*positions.found.segments.offsets[s * len(positions.queries) + q :][:2].tolist())
        yield (positions.found.documents[at] - start).tolist()
