"""Embeddings: positions from the vectors of queries and corpus, without a list.

Belongs here: `project_embeddings`, from what is given to Positions. Not here: forms of a corpus (shards), products
(backends), counts (counting), their order (passes).
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, choice, listed
from lexirecall.formats import Qrels, load_judgments, nothing_in_common
from lexirecall.formats.counted import Counted, conventions_of, system_of
from lexirecall.formats.embeddings.backends import backend_of
from lexirecall.formats.embeddings.checkpoint import Checkpoint, digest
from lexirecall.formats.embeddings.copies import digests_of
from lexirecall.formats.embeddings.counting import CountState, Located, Sought
from lexirecall.formats.embeddings.passes import Passes
from lexirecall.formats.embeddings.processes import Processes
from lexirecall.formats.embeddings.shards import Shard, Twice, check_vectors, corpus_of, ids_of, scales_of
from lexirecall.judgments import IntArray, Judgments, offsets_of
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.text import to_text

__all__ = ["project_embeddings"]

SIMILARITIES = ("dot", "cosine", "l2")
BLOCK = 4096
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
    similarity: str = "dot",
    block: int = BLOCK,
    device: Any = None,
    name: str = "run",
    query_scale: Any = None,
    corpus_scale: Any = None,
    missing: str = "error",
    checkpoint: str | os.PathLike[str] | None = None,
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

    `similarity` is dot, cosine or l2. `block` documents are multiplied at a time. Products are computed by numpy, or by
    torch if `queries` is a tensor or there is a `device`. The score of a relevant document is that of the same product
    as all others, and documents with the same vector have the same score.

    `missing="last"` puts relevant documents that are not in the corpus at its end, with a warning. `checkpoint` is a
    file that keeps what was counted after each block of the corpus that was given, or each 64 blocks of an array; a job
    that was stopped goes on from there. With `distributed=True`, each process of torch.distributed gives its own part
    of the corpus, and all get the whole result. The other options are `ties`, `depth`, `judged_only` and `imputation`.

    >>> queries, corpus = np.array([[1.0, 0.0]]), np.array([[0.5, 1.0], [0.9, 0.0], [0.7, 0.7]])
    >>> qrels = {"q": {"a": 1, "c": 1}}
    >>> positions = project_embeddings(queries, corpus, qrels, query_ids=["q"], corpus_ids=["a", "b", "c"])
    >>> positions.found.positions.tolist(), positions.corpus_size.tolist()
    ([2, 3], [3])
    """
    conventions = conventions_of("project_embeddings", options)
    choice("similarity", similarity, SIMILARITIES)
    choice("missing", missing, ("error", "last"))
    if block < 1:
        raise UsageError(f"block is {block}, but must be 1 or more")
    judgments = load_judgments(qrels)
    asked, sought, num_unjudged = _matched(_queries(queries, query_ids, query_scale), judgments)
    backend = backend_of(asked.vectors, asked.scales, similarity, block, device)
    whole = corpus_of(corpus, corpus_ids, queries.shape[1], block, corpus_scale)
    processes = Processes.joined(getattr(backend, "device", None)) if distributed else Processes()
    parts = (similarity, conventions.ties, block, processes.rank, processes.number, judgments.grades.tobytes())
    vectors = digests_of(asked, range(len(asked.ids))).tobytes()
    kept = Checkpoint(None if checkpoint is None else Path(checkpoint), digest(*parts, *judgments.items, vectors))
    passes = Passes(whole, sought, backend, conventions.ties, block, missing, kept, processes, show_progress)
    counted = _counted(sought, *passes.run())
    system = replace(system_of(counted, conventions, name), num_unjudged=num_unjudged)
    return Positions.stack(judgments, [system], conventions, _sizes(counted))


def _queries(vectors: Vectors, ids: Any, scales: Any) -> Shard:
    """Return the vectors of queries with their ids."""
    check_vectors(vectors, "queries")
    texts = ids_of(ids, len(vectors), "queries")
    twice = Twice()
    twice.watch(texts)
    twice.check(lambda: iter([texts]), "queries")
    return Shard(0, texts, vectors, scales_of(scales, vectors, "queries"))


def _matched(queries: Shard, judgments: Judgments) -> tuple[Shard, Sought, int]:
    """Return the judged queries, in the order of the judgments; what is sought; and how many others there are."""
    row_of = {each: row for row, each in enumerate(queries.ids)}
    rows = [row_of.get(each, -1) for each in judgments.request_ids]
    requests = np.flatnonzero(np.array(rows, np.int64) >= 0)
    if not len(requests):
        raise nothing_in_common(
            [f"the query vectors ({listed(map(to_text, queries.ids), most=3)})"], judgments.requests
        )
    asked = queries.pick([row for row in rows if row >= 0])
    return asked, Sought.of(judgments, requests), len(queries.ids) - len(requests)


def _counted(sought: Sought, located: Located, state: CountState) -> Counted:
    """Return the counts of what is in the corpus, request after request; -1 items for a request without a vector."""
    present = np.flatnonzero(located.indices >= 0)
    num_requests = len(sought.judgments.requests)
    owners = sought.requests[sought.rows[present]]
    num_items = np.full(num_requests, -1)
    num_items[sought.requests] = state.num_items
    return Counted(
        sought.judgments,
        Segments(offsets_of(np.bincount(owners, minlength=num_requests))),
        sought.items[present],
        state.above[present],
        state.tied[present],
        state.before[present],
        num_items,
    )


def _sizes(counted: Counted) -> IntArray:
    """Return n of each request: the corpus, and the relevant items that are not in it, which are put at its end."""
    size = int(counted.num_items.max())
    is_positive = counted.judgments.grades[counted.items] > 0
    absent = counted.judgments.num_positive - counted.segments.filter(is_positive).sizes
    is_absent = counted.num_items >= 0  # of the other requests it is not known what is in the corpus
    return size + np.where(is_absent, absent, 0)
