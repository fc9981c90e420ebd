"""Embeddings: positions from the vectors of queries and corpus, without a list.

Belongs here: `project_embeddings`, from what is given to Positions. Not here: forms of a corpus (shards) and of ids
(ids), products (backends), counts (counting), their order (passes).
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, choice, listed
from lexirecall.formats import Qrels, load_judgments, nothing_in_common
from lexirecall.formats.counted import Counted, conventions_of, system_of
from lexirecall.formats.embeddings.checkpoint import Checkpoint, digest
from lexirecall.formats.embeddings.copies import digests_of
from lexirecall.formats.embeddings.counting import CountState, Located
from lexirecall.formats.embeddings.ids import TextIds, Twice, Wanted, ids_of
from lexirecall.formats.embeddings.passes import Passes
from lexirecall.formats.embeddings.processes import Processes
from lexirecall.formats.embeddings.shards import Shard, check_vectors, corpus_of, scales_of
from lexirecall.formats.embeddings.sought import Excluded, Sought, exclusions_of
from lexirecall.formats.embeddings.tensors import backend_of
from lexirecall.judgments import IntArray, Judgments, offsets_of
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.text import to_text

__all__ = ["project_embeddings"]

SIMILARITIES = ("dot", "cosine", "l2")
BLOCKS = 64  # of an array that make a shard: what is counted between two checkpoints
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

    `similarity` is dot, cosine or l2. `block` documents are multiplied at a time: 4,096, and more on a GPU that counts
    without writing scores. Products are computed by numpy, or by torch if `queries` is a tensor or there is a `device`.
    The score of a relevant document is that of the same product as all others, and documents with the same vector have
    the same score. `exclude` has documents that are not in the corpus of a query: `{"q1": ["d3", "d8"]}`.

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
    if block is not None and block < 1:
        raise UsageError(f"block is {block}, but must be 1 or more")
    judgments = load_judgments(qrels)
    vectors = _queries(queries, query_ids, query_scale)
    asked, sought, num_unjudged = _matched(vectors, judgments, exclude)
    backend = backend_of(asked.vectors, asked.scales, similarity, block, device, getattr(corpus, "dtype", None))
    size, width = BLOCKS * backend.block, queries.shape[1]
    whole = corpus_of(corpus, corpus_ids, width, corpus_scale, size=size, is_part=distributed)
    processes = Processes.joined(getattr(backend, "device", None)) if distributed else Processes()
    kept = Checkpoint(None, b"")
    if checkpoint is not None:
        kept = Checkpoint(Path(checkpoint), _job(asked, sought, similarity, conventions.ties, backend.block, processes))
    passes = Passes(whole, sought, backend, conventions.ties, missing, kept, processes, show_progress)
    located, state = passes.run()
    counted = _counted(sought, located, state, Excluded.of(sought, located.indices, located.thresholds, passes.ties))
    system = replace(system_of(counted, conventions, name), num_unjudged=num_unjudged)
    return Positions.stack(judgments, [system], conventions, _sizes(counted, state.num_items))


def _job(asked: Shard, sought: Sought, similarity: str, ties: str, block: int, processes: Processes) -> bytes:
    """Return what tells a job from others, beside its corpus."""
    whose = (similarity, ties, block, processes.rank, processes.number, sought.rows.tobytes(), sought.items.tobytes())
    return digest(*whose, *sought.ids, digests_of(asked, range(len(asked.ids))).tobytes())


def _queries(vectors: Vectors, ids: Any, scales: Any) -> Shard:
    """Return the vectors of queries with their ids."""
    check_vectors(vectors, "queries")
    named = TextIds(ids_of(ids, len(vectors), "queries").texts())
    twice = Twice()
    twice.watch(named.search(Wanted([])).hashes)
    twice.check(lambda: iter([named]), "queries")
    return Shard(0, named, vectors, scales_of(scales, vectors, "queries"))


def _matched(queries: Shard, judgments: Judgments, exclude: Any) -> tuple[Shard, Sought, int]:
    """Return the judged queries, in the order of the judgments; what is sought; and how many others there are."""
    ids = queries.ids.texts()
    row_of = {each: row for row, each in enumerate(ids)}
    rows = [row_of.get(each, -1) for each in judgments.request_ids]
    requests = np.flatnonzero(np.array(rows, np.int64) >= 0)
    if not len(requests):
        raise nothing_in_common([f"the query vectors ({listed(map(to_text, ids), most=3)})"], judgments.requests)
    asked = queries.pick([row for row in rows if row >= 0])
    return asked, Sought.of(judgments, requests, exclusions_of(exclude, ids)), len(ids) - len(requests)


def _counted(sought: Sought, located: Located, state: CountState, excluded: Excluded) -> Counted:
    """Return the counts of what is in the corpus, request after request; -1 items for a request without a vector."""
    present = np.flatnonzero((located.indices >= 0) & sought.is_judged)
    num_requests = len(sought.judgments.requests)
    owners = sought.requests[sought.rows[present]]
    num_items = np.full(num_requests, -1)
    num_items[sought.requests] = state.num_items - excluded.num_items
    return Counted(
        sought.judgments,
        Segments(offsets_of(np.bincount(owners, minlength=num_requests))),
        sought.items[present],
        (state.above - excluded.above)[present],
        (state.tied - excluded.tied)[present],
        (state.before - excluded.before)[present],
        num_items,
    )


def _sizes(counted: Counted, corpus_size: int) -> IntArray:
    """Return n of each request: its corpus, and the relevant items that are not in it, which are put at its end."""
    is_positive = counted.judgments.grades[counted.items] > 0
    absent = counted.judgments.num_positive - counted.segments.filter(is_positive).sizes
    # of a request without a vector it is not known what is in the corpus
    return np.where(counted.num_items >= 0, counted.num_items + absent, corpus_size)
