"""Embeddings: positions from the vectors of queries and corpus, without a list.

Belongs here: `project_embeddings`, from what is given to Positions. Not here: forms of a corpus (shards) and of ids
(ids), products (backends), counts (counting), their order (passes).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lexirecall.errors import check_count, choice, listed
from lexirecall.formats import Qrels, load_judgments, nothing_in_common
from lexirecall.formats.embeddings.counting import CorpusPlaces
from lexirecall.formats.embeddings.ids import RepeatWatch, TextIds, WantedIds, ids_of
from lexirecall.formats.embeddings.passes import both_passes
from lexirecall.formats.embeddings.processes import Processes
from lexirecall.formats.embeddings.shards import Shard, check_vectors, corpus_of, plain_vectors, scales_of
from lexirecall.formats.embeddings.soughtpairs import SoughtPairs, excluded_counts, exclusions_of
from lexirecall.formats.embeddings.tensors import backend_of
from lexirecall.formats.scorecounts import ScoreCounts, conventions_of, run_of
from lexirecall.judgments import IntArray, Judgments, offsets_of
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.text import to_text

__all__ = ["project_embeddings"]

SIMILARITIES = ("dot", "cosine", "l2")
BLOCKS = 64  # of an array that make a shard: the ids of one are made and looked through at a time
Vectors = Any
"""[n, d]: an array or a memmap of numpy, or a tensor of torch."""
VectorBlocks = Iterable[tuple[Any, Vectors]] | Callable[[], Iterable[tuple[Any, Vectors]]]


def project_embeddings(
    queries: Vectors,
    corpus: Vectors | VectorBlocks,
    qrels: Qrels,
    *,
    query_ids: Any = None,
    corpus_ids: Any = None,
    exclude: Mapping[Any, Iterable[Any]] | None = None,
    similarity: str = "dot",
    block: int | None = None,
    device: Any = None,
    name: str = "run",
    query_scale: Any = None,
    corpus_scale: Any = None,
    missing: str = "error",
    distributed: bool = False,
    show_progress: bool | None = False,
    **options: Any,
) -> Positions:
    """Find the exact positions of the judged documents among all documents of a corpus, from vectors.

    A position is 1 + the number of documents with a higher score. So no list is needed, nothing is cut off and nothing
    imputed. `queries` and `corpus` are arrays [n, d] of numpy, also memory-mapped, or tensors of torch. A corpus that
    does not fit is a list of pairs (ids, vectors), or a function that returns a new iterator of them: it is read twice,
    because the scores of the relevant documents come first. Ids are indices as text unless given. Vectors are float32,
    float16, bfloat16, float64, or int8 with `query_scale` and `corpus_scale`, one number or one for each vector.

    `similarity` is dot, cosine or l2. `block` documents are multiplied at a time: 4,096, and more on a GPU that counts
    without writing scores. Products are computed by numpy, or by torch if `queries` is a tensor or there is a `device`.
    The score of a relevant document is that of the same product as all others, and documents with the same vector have
    the same score. `exclude` has documents that are not in the corpus of a query: `{"q1": ["d3", "d8"]}`.

    `missing="last"` puts relevant documents that are not in the corpus at its end, with a warning. With
    `distributed=True`, each process of torch.distributed gives its own part of the corpus, and all get the whole
    result. The other options are `ties`, `depth`, `judged_only` and `imputation`.

    >>> queries, corpus = np.array([[1.0, 0.0]]), np.array([[0.5, 1.0], [0.9, 0.0], [0.7, 0.7]])
    >>> qrels = {"q": {"a": 1, "c": 1}}
    >>> positions = project_embeddings(queries, corpus, qrels, query_ids=["q"], corpus_ids=["a", "b", "c"])
    >>> positions.found.positions.tolist(), positions.corpus_size.tolist()
    ([2, 3], [3])
    """
    conventions = conventions_of("project_embeddings", options)
    choice("similarity", similarity, SIMILARITIES)
    choice("missing", missing, ("error", "last"))
    if block is not None:
        check_count("block", block, 1, 2**31 - 1)
    judgments = load_judgments(qrels)
    vectors = _queries(queries, query_ids, query_scale)
    asked, sought, num_unjudged = _matched(vectors, judgments, exclude)
    backend = backend_of(asked.vectors, asked.scales, similarity, block, device, getattr(corpus, "dtype", None))
    size, width = BLOCKS * backend.block, queries.shape[1]
    whole = corpus_of(corpus, corpus_ids, width, corpus_scale, size=size, is_part=distributed)
    processes = Processes.joined(getattr(backend, "device", None)) if distributed else Processes()
    located, counts, num_documents = both_passes(
        whole, sought, backend, processes, ties=conventions.ties, missing=missing, show_progress=show_progress
    )
    excluded, num_excluded = excluded_counts(sought, located.indices, located.thresholds, conventions.ties)
    counted = _counted(sought, located, counts - excluded, num_documents - num_excluded)
    run = replace(run_of(counted, conventions, str(name)), num_unjudged=num_unjudged)
    return Positions.stack(judgments, [run], conventions, _sizes(counted, num_documents))


def _queries(vectors: Vectors, ids: Any, scales: Any) -> Shard:
    """Return the vectors of queries with their ids."""
    check_vectors(vectors, "queries")
    vectors = plain_vectors(vectors)
    named = TextIds(ids_of(ids, len(vectors), "queries").texts())
    twice = RepeatWatch()
    twice.watch(named.search(WantedIds([])).hashes)
    twice.check(lambda: iter([named]), "queries")
    return Shard(0, named, vectors, scales_of(scales, vectors, "queries"))


def _matched(queries: Shard, judgments: Judgments, exclude: Any) -> tuple[Shard, SoughtPairs, int]:
    """Return the judged queries, in the order of the judgments; what is sought; and how many others there are."""
    ids = queries.ids.texts()
    row_of = {query_id: row for row, query_id in enumerate(ids)}
    rows = [row_of.get(query_id, -1) for query_id in judgments.query_ids]
    judged = np.flatnonzero(np.array(rows, np.int64) >= 0)
    if not len(judged):
        raise nothing_in_common([f"the query vectors ({listed(map(to_text, ids), most=3)})"], judgments.queries)
    asked = queries.pick([row for row in rows if row >= 0])
    return asked, SoughtPairs.of(judgments, judged, exclusions_of(exclude, ids)), len(ids) - len(judged)


def _counted(sought: SoughtPairs, located: CorpusPlaces, counts: IntArray, sizes: IntArray) -> ScoreCounts:
    """Return the counts of what is in the corpus, query after query; -1 documents for a query without a vector."""
    present = np.flatnonzero((located.indices >= 0) & sought.is_judged)
    num_queries = len(sought.judgments.queries)
    owners = sought.queries[sought.rows[present]]
    num_documents = np.full(num_queries, -1)
    num_documents[sought.queries] = sizes
    above, tied, before = counts[:, present]
    return ScoreCounts(
        judgments=sought.judgments,
        segments=Segments(offsets_of(np.bincount(owners, minlength=num_queries))),
        documents=sought.documents[present],
        above=above,
        tied=tied,
        before=before,
        num_documents=num_documents,
    )


def _sizes(counted: ScoreCounts, corpus_size: int) -> IntArray:
    """Return n of each query: its corpus, and the relevant documents that are not in it, which are put at its end."""
    is_positive = counted.judgments.grades[counted.documents] > 0
    absent = counted.judgments.num_positive - counted.segments.filter(is_positive).sizes
    # of a query without a vector it is not known what is in the corpus
    return np.where(counted.num_documents >= 0, counted.num_documents + absent, corpus_size)
