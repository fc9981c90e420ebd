"""Funnels: what each stage of a search hands on, and where each relevant document is lost.

Belongs here: the verb, and the numbers of each stage. Not here: reading stages (funnelstages), what becomes of one
document (funnelfates), printing (funnelresult).

A later stage can reorder what it is handed, and drop from it. So the best that it can do is a perfect order of that
list: its f relevant documents of m are at 1 … f, and the others are missing. Then R is f/m, All is 1 if f = m, and of
two such orders LexiRecall prefers the one with the larger f.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from lexirecall.errors import DataError, counted, listed
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels
from lexirecall.gates.funnelfates import FATES, KEPT, LOSSES, NEVER, Paths
from lexirecall.gates.funnelresult import Arrival, Funnel, Loss, Stage
from lexirecall.gates.funnelstages import StageLists, StagesGiven, read_stages
from lexirecall.judgments import BoolArray, IntArray, Judgments
from lexirecall.manifest import MOST_DOCUMENTS, READING, Note, Policies
from lexirecall.positions import Positions
from lexirecall.preferences import LEXI_RECALL
from lexirecall.segments import sums_of
from lexirecall.sums import ExactSums
from lexirecall.text import to_text
from lexirecall.texts import Texts, texts_or_none
from lexirecall.verbs.census import Census
from lexirecall.verbs.notes import notes_on_queries
from lexirecall.verbs.serving import judgments_of_documents


@takes(Policies, *READING, warns=True)
def funnel(qrels: Qrels | Positions, stages: StagesGiven | None = None, *, texts: Any = None, **options: Any) -> Funnel:
    """Say what each stage of a search hands on to the next, and where each relevant document is lost.

    `stages` are runs, the first stage first, or {name: run}. A stage may be several searches in the order of the calls:
    a list of runs, or `a.run+b.run`. `@100` behind a file or a name says that the stage hands on the first 100
    documents of its list. `texts` are those of `load_texts`, and are shown beside ids. If positions are given in the
    place of judgments, stages are names of their runs. The other arguments are those of `evaluate`.

    >>> qrels = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"d": 1}}
    >>> first = {"q1": ["x", "a", "y", "b"], "q2": ["d", "z"]}
    >>> found = funnel(qrels, {"first@3": first, "reranked@1": {"q1": ["x", "a", "y"], "q2": ["d", "z"]}})
    >>> [(stage.name, round(stage.recall, 4), stage.all) for stage in found.stages]
    [('first@3', 0.6667, 0.5), ('reranked@1', 0.5, 0.5)]
    >>> for loss in found.losses:
    ...     print(loss.query, loss.document, loss.kind, loss.stage, loss.positions)
    q1 c never None (None, None)
    q1 b cut first@3 (4, None)
    q1 a cut reranked@1 (2, 2)
    """
    policies = taken(Policies, options)
    loaded = texts_or_none(texts, options.get("columns"))
    read = read_stages(qrels, stages, options)
    census = Census.of(read.positions, policies)
    census.check_relevant([LEXI_RECALL], policies.level)
    ways = _ways(read, policies)
    losses, arrivals = tuple(_losses(ways)), tuple(_arrivals(ways))
    notes = [*notes_on_queries(census, policies), *_note_on_arrivals(ways)]
    if loaded is not None:
        loaded = _wanted(loaded, losses, arrivals, read.positions)
        notes += loaded.notes
    return Funnel(
        stages=tuple(_stage(ways, s) for s in range(len(read.names))),
        losses=losses,
        arrivals=arrivals,
        num_queries=len(ways.queries),
        num_relevant=len(ways.documents),
        noun="document" if read.positions.unit_count is None else "unit",
        notes=tuple(notes),
        texts=loaded,
    )


class _Ways(NamedTuple):
    """The ways of the relevant documents of the queries that count."""

    read: StageLists
    judgments: Judgments
    """Of what must be found: documents, or units."""
    paths: Paths
    documents: IntArray
    """Index into the judgments, [J]."""
    owners: IntArray
    """The query of each document, as a place among those that count, [J]."""
    queries: IntArray
    """The queries that count, as places in the judgments."""
    num_relevant: IntArray
    """m of each query that counts."""

    def per_query(self, mask: BoolArray) -> IntArray:
        """Count the documents under a mask for each query that counts."""
        return sums_of(mask, self.owners, len(self.queries)).astype(np.int64)


def _ways(read: StageLists, policies: Policies) -> _Ways:
    positions = read.positions
    projection = positions.at_level(policies.level)
    judgments, found, m = projection.source.judgments, projection.found, projection.num_relevant
    queries = np.flatnonzero(policies.counted(positions, LEXI_RECALL)[read.runs].all(axis=0))
    if not len(queries):
        problem = "no query with a relevant document is answered by every stage"
        raise DataError(problem, remedy="are the ids written the same way? --queries all counts the other queries too")
    places = np.zeros((len(positions.runs), len(judgments.grades)), np.int64)
    places[found.segments.owners // len(positions.queries), found.documents] = found.positions
    which = np.full(len(m), -1, np.int64)
    which[queries] = np.arange(len(queries))
    owners = np.repeat(which, np.diff(judgments.offsets))
    documents = np.flatnonzero((judgments.grades >= policies.level) & (owners >= 0))
    paths = Paths(places[read.runs][:, documents], read.depths)
    return _Ways(
        read=read, judgments=judgments, paths=paths, documents=documents, owners=owners[documents], queries=queries,
        num_relevant=m[queries],
    )  # fmt: skip


def _stage(ways: _Ways, s: int) -> Stage:
    read, paths, m = ways.read, ways.paths, ways.num_relevant
    found = ways.per_query(paths.kept[s])
    recalls = np.column_stack([found / np.maximum(m, 1), (found == m) & (m > 0)])
    means = ExactSums.of(recalls).rounded() / len(m)
    difference = np.sign(found - ways.per_query(paths.kept[s - 1])) if s else None
    is_here = paths.stages == s
    distinct = read.positions.num_retrieved[read.runs[s], ways.queries]
    depth = int(read.depths[s])
    return Stage(
        name=read.names[s],
        depth=None if depth == MOST_DOCUMENTS else depth,
        found=int(found.sum()),
        recall=float(means[0]),
        all=float(means[1]),
        better=None if difference is None else int((difference > 0).sum()),
        worse=None if difference is None else int((difference < 0).sum()),
        lost={kind: int((is_here & (paths.fates == FATES.index(kind))).sum()) for kind in LOSSES},
        entered=int(paths.entered[s].sum()),
        read=_mean(distinct + read.num_repeats[s, ways.queries]),
        distinct=_mean(distinct),
        handed_on=_mean(np.minimum(distinct, depth)),
    )


def _mean(counts: IntArray) -> float:
    return int(counts.sum()) / len(counts)


def _losses(ways: _Ways) -> Iterator[Loss]:
    """Give what is lost: of the query with the least recall first, then in the order in which it is lost."""
    paths = ways.paths
    lost = np.flatnonzero(paths.fates != KEPT)
    num_lost = ways.per_query(paths.fates != KEPT)
    share = num_lost / np.maximum(ways.num_relevant, 1)
    owners, stages = ways.owners[lost], paths.stages[lost]
    seen_last = paths.places[paths.last[lost], lost]
    is_retrieved = paths.fates[lost] != NEVER
    order = np.lexsort((seen_last, stages, is_retrieved, owners, -num_lost[owners], -share[owners]))
    for place in order.tolist():
        document, fate = int(lost[place]), int(paths.fates[lost[place]])
        stage = None if fate == NEVER else ways.read.names[int(stages[place])]
        yield Loss(*_ids(ways, document), FATES[fate], stage, int(seen_last[place]) or None, _places(ways, document))


def _arrivals(ways: _Ways) -> Iterator[Arrival]:
    """Give what came in from elsewhere, stage by stage, in the order of the judgments."""
    for s, document in zip(*(indices.tolist() for indices in np.nonzero(ways.paths.entered)), strict=True):
        place = int(ways.paths.places[s, document])
        yield Arrival(*_ids(ways, document), ways.read.names[s], place, _places(ways, document))


def _ids(ways: _Ways, document: int) -> tuple[str, str]:
    query = ways.judgments.queries[int(ways.queries[ways.owners[document]])]
    return query, to_text(ways.judgments.documents[int(ways.documents[document])])


def _places(ways: _Ways, document: int) -> tuple[int | None, ...]:
    return tuple(place or None for place in ways.paths.places[:, document].tolist())


def _note_on_arrivals(ways: _Ways) -> Iterator[Note]:
    numbers = ways.paths.entered.sum(axis=1).tolist()
    if total := sum(numbers):
        where = listed(f"{name} {number:,}" for name, number in zip(ways.read.names, numbers, strict=True) if number)
        noun = "unit" if ways.read.positions.unit_count is not None else "document"
        lists = f"in the list of a stage that the stage before did not hand on ({where})"
        text = f"{counted(total, f'relevant {noun}')} {lists}: from elsewhere, so that recall can rise again"
        yield Note("from elsewhere", text, total)


def _wanted(texts: Texts, losses: tuple[Loss, ...], arrivals: tuple[Arrival, ...], positions: Positions) -> Texts:
    """Read the texts of what is shown."""
    rows: list[Loss | Arrival] = [*losses, *arrivals]
    queries, documents = {row.query for row in rows}, {row.document for row in rows}
    return texts.wanted(queries, documents, judgments=judgments_of_documents(positions))
