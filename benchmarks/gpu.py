"""Measures exact positions on a GPU beside the matrix products alone, in one run, and prints a table in Markdown.

Usage: python benchmarks/gpu.py [--queries N] [--documents N] [--width N] [--repeats N] [-o FILE]

The default is the shape of MS MARCO passages. Vectors are drawn on the device from a seed. Before anything is timed,
counts are compared with those of all scores, sorted out in float64, on random and on tied vectors. Relevant documents
are drawn in two ways. `random`: any document, so that every tile of scores holds some that reach a threshold, the worst
case. `near`: documents that resemble their query, as those of a trained model do.

The products alone are `torch.matmul` into one reused matrix, block by block, in the block size that is fastest. The
top 1,000 are those of each block, merged with those before.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import triton
from torch import Tensor

from lexirecall import load_judgments, project_embeddings
from lexirecall.formats.embeddings import fusedkernels

DEPTH = 1000  # of the lists beside
BLOCKS = (32_768, 65_536, 131_072)
NUMBERS = (1, 8, 64, 256)
DEVICE = "cuda"
POISON = -7  # what memory holds before it is written


def main() -> None:
    """Read the arguments, check, measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--documents", type=int, default=8_841_823)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    lines = list(report(given.queries, given.documents, given.width, given.repeats))
    if given.output:
        given.output.write_text("\n".join(lines) + "\n")


def report(num_queries: int, num_documents: int, width: int, repeats: int) -> Iterator[str]:
    """Print the report line by line, and give its lines."""
    for line in (*checks(width), *measured(num_queries, num_documents, width, repeats)):
        print(line, flush=True)
        yield line


# Checks


def checks(width: int) -> Iterator[str]:
    """Compare with float64, and with every score that the kernel writes; raise if anything differs that may not."""
    yield from ("## Checks", "")
    for similarity in ("dot", "cosine", "l2"):
        for dtype in (torch.bfloat16, torch.float16):
            for name, queries, corpus in corpora(width, dtype):
                with patch.multiple(torch, empty=poisoned, empty_like=poisoned_like):
                    found = check(queries, corpus, similarity)
                yield f"- {similarity}, {str(dtype)[6:]}, {name}: {found}"
    yield ""


def poisoned(*shape: int | tuple[int, ...], **keywords: Any) -> Tensor:
    """Stand in for torch.empty, so that what is not written shows."""
    return torch.full(shape[0] if isinstance(shape[0], tuple) else shape, POISON, **keywords)


def poisoned_like(other: Tensor) -> Tensor:
    """Stand in for torch.empty_like."""
    return torch.full_like(other, POISON)


def corpora(width: int, dtype: torch.dtype) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Give queries and documents: without ties, with copies at many places, and of a few whole numbers."""
    queries, corpus = normal(300, width, 10, dtype), normal(5003, width, 11, dtype)
    yield "random", queries, corpus
    copies = corpus.clone()
    copies[torch.randperm(5003, device=DEVICE, generator=seeded(12))[:900]] = corpus[17]
    yield "copies", queries, copies
    whole = torch.randint(-1, 2, (5303, width), device=DEVICE, generator=seeded(13)).to(dtype)
    yield "whole numbers", whole[5003:].contiguous(), whole[:5003]


def check(queries: Tensor, corpus: Tensor, similarity: str) -> str:
    """Check one corpus, and say what was found."""
    block = fusedkernels.HalfBlock.of(corpus, similarity)
    scores, exact = fusedkernels.scores(queries, block), exact_scores(queries, corpus, similarity)
    error = ((scores - exact).norm() / exact.norm()).item()
    require(error < 1e-5, f"scores differ from float64 by {error}")
    documents = torch.randint(0, len(corpus), (300, 300), device=DEVICE, generator=seeded(15))
    documents[:, 0] = 17
    own = fusedkernels.pairs(
        queries, block, torch.arange(300, device=DEVICE).repeat_interleave(300), documents.view(-1)
    )
    own = own.view(300, 300)
    require(torch.equal(own, scores.gather(1, documents)), "scores of pairs are not those of the product, to the bit")
    for number in (1, 2, 7, 64, 300):  # the last one by search
        require_counts(queries, block, scores, own[:, :number].contiguous())
    second = exact.gather(1, documents).float()
    moved = (
        (fusedkernels.count(queries, block, second)[0] != fusedkernels.count(queries, block, own)[0])
        .double()
        .mean()
        .item()
    )
    tied = (fusedkernels.count(queries, block, own)[1] > 1).double().mean().item()
    return f"relative error {error:.1e}; {tied:.1%} tied; thresholds from float64 would move {moved:.1%} of positions"


def require_counts(queries: Tensor, block: fusedkernels.HalfBlock, scores: Tensor, thresholds: Tensor) -> None:
    """Raise unless counts are those of the sorted scores."""
    above, tied = fusedkernels.count(queries, block, thresholds)
    ordered = scores.double().sort(dim=1).values  # float32 in float64: the order is the same
    right = torch.searchsorted(ordered, thresholds.double(), right=True)
    require(torch.equal(above, len(block) - right), "counts of higher scores differ")
    require(torch.equal(tied, right - torch.searchsorted(ordered, thresholds.double())), "counts of ties differ")


def exact_scores(queries: Tensor, corpus: Tensor, similarity: str) -> Tensor:
    """Return scores in float64, from their definition."""
    dots, lengths = queries.double() @ corpus.double().T, corpus.double().norm(dim=1)
    if similarity == "cosine":
        return dots / lengths.clamp(min=1e-300)
    return dots - lengths**2 / 2 if similarity == "l2" else dots


def require(is_true: bool, problem: str) -> None:
    """Stop if a check fails."""
    if not is_true:
        sys.exit(f"check failed: {problem}")


# Measurements


def measured(num_queries: int, num_documents: int, width: int, repeats: int) -> Iterator[str]:
    """Time everything on the same vectors."""
    queries, corpus = normal(num_queries, width, 1), normal(num_documents, width, 2)
    block = fusedkernels.HalfBlock.of(corpus)
    yield f"## {num_queries:,} queries × {num_documents:,} documents × {width} dimensions, bfloat16"
    name = torch.cuda.get_device_name()
    yield f"\n{name}, torch {torch.__version__}, triton {triton.__version__}; median of {repeats} runs.\n"
    by_size = {size: timed(lambda size=size: products(queries, corpus, size), repeats) for size in BLOCKS}
    alone = min(each[0] for each in by_size.values())
    yield "| work | seconds | lowest to highest | × products alone | GB beside the vectors |"
    yield "|---|---|---|---|---|"
    rate = 2 * num_queries * num_documents * width / alone / 1e12
    yield row(f"products alone, {rate:.0f} TFLOP/s", min(by_size.values()), alone)
    yield row(
        "a look at all vectors, that no score can overflow",
        timed(lambda: fusedkernels.is_bounded(queries, block), repeats),
        alone,
    )
    for kind, relevant in (("random", random_documents), ("near", near_documents)):
        documents = relevant(queries, block)
        for number in NUMBERS:
            thresholds = own_scores(queries, block, documents[:, :number])
            require(
                (fusedkernels.count(queries, block, thresholds)[1] >= 1).all().item(),
                "an item does not tie with itself",
            )
            runs = 1 if number > 64 else repeats
            above = fusedkernels.count(queries, block, thresholds)[0].double()
            work = f"positions, {number} relevant, {kind} (median position {1 + above.median().item():,.0f})"
            yield row(work, timed(lambda limits=thresholds: fusedkernels.count(queries, block, limits), runs), alone)
        pairs = timed(lambda some=documents[:, :64]: own_scores(queries, block, some), repeats)
        yield row("scores of 64 relevant each", pairs, alone)
        for number in NUMBERS[-2:]:
            yield searched(queries, block, thresholds[:, :number].contiguous(), alone)
    yield row(f"top {DEPTH:,}", timed(lambda: top(queries, corpus), 2), alone)
    yield from wholly(queries, corpus, documents, alone, repeats)


def wholly(queries: Tensor, corpus: Tensor, documents: Tensor, alone: float, repeats: int) -> Iterator[str]:
    """Call the function that users call: everything on the host is in it, from judgments to Positions.

    Random documents lie where scores are dense, and tie by chance: then ties must be named.
    """
    drawn = torch.randint(0, len(corpus), (len(queries), 64), generator=torch.Generator().manual_seed(5)).tolist()
    loaded = load_judgments({str(query): {str(document): 1 for document in own} for query, own in enumerate(drawn)})
    times = timed(lambda: project_embeddings(queries, corpus, loaded), repeats)
    yield row("`project_embeddings`, 64 relevant, random", times, alone)
    for number in NUMBERS[:3]:
        some = documents[:, :number].tolist()
        qrels = {str(query): {str(document): 1 for document in own} for query, own in enumerate(some)}
        loaded = load_judgments(qrels)
        times = timed(lambda qrels=loaded: project_embeddings(queries, corpus, qrels), repeats)
        yield row(f"`project_embeddings`, {number} relevant, near", times, alone)
        if number == 1:
            times = timed(lambda qrels=qrels: project_embeddings(queries, corpus, qrels), repeats)
            yield row("the same, judgments as dicts", times, alone)
            ids = [f"d{document}" for document in range(len(corpus))]
            qrels = {str(query): {f"d{document}": 1 for document in own} for query, own in enumerate(some)}
            times = timed(lambda qrels=qrels, ids=ids: project_embeddings(queries, corpus, qrels, corpus_ids=ids), 1)
            yield row(f"the same, ids of all documents as a list of {len(ids):,} texts", times, alone)


def searched(queries: Tensor, block: fusedkernels.HalfBlock, thresholds: Tensor, alone: float) -> str:
    """Search in thresholds where comparing with each is the rule."""
    with patch.object(fusedkernels, "MOST", 1):
        times = timed(lambda: fusedkernels.count(queries, block, thresholds), 1)
    return row(f"the same, {thresholds.shape[1]} relevant, by search in the thresholds", times, alone)


def row(work: str, times: tuple[float, float, float, float], alone: float) -> str:
    """Write one row of the table."""
    median, low, high, memory = times
    return f"| {work} | {median:.3f} | {low:.3f} to {high:.3f} | {median / alone:.2f} | {memory:.2f} |"


def timed(work: Callable[[], object], repeats: int) -> tuple[float, float, float, float]:
    """Return the median, lowest and highest seconds, and the most memory that was added."""
    work()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    seconds = []
    for _ in range(repeats):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        stop.record()
        torch.cuda.synchronize()
        seconds.append(start.elapsed_time(stop) / 1000)
    memory = (torch.cuda.max_memory_allocated() - before) / 1e9
    return statistics.median(seconds), min(seconds), max(seconds), memory


def products(queries: Tensor, corpus: Tensor, size: int) -> None:
    """Multiply, and keep nothing."""
    out = torch.empty((len(queries), size), dtype=corpus.dtype, device=DEVICE)
    for part in corpus.split(size):
        torch.matmul(queries, part.T, out=out if len(part) == size else None)


def top(queries: Tensor, corpus: Tensor, size: int = 65_536) -> tuple[Tensor, Tensor]:
    """Return the scores and indices of the best documents."""
    best = torch.full((len(queries), DEPTH), -torch.inf, dtype=corpus.dtype, device=DEVICE)
    documents = torch.full((len(queries), DEPTH), POISON, device=DEVICE)
    for number, part in enumerate(corpus.split(size)):
        found = torch.topk(queries @ part.T, min(DEPTH, len(part)), dim=1, sorted=False)
        candidates = torch.cat([best, found.values], dim=1)
        best, at = torch.topk(candidates, DEPTH, dim=1)
        documents = torch.cat([documents, found.indices + number * size], dim=1).gather(1, at)
    return best, documents


def own_scores(queries: Tensor, block: fusedkernels.HalfBlock, documents: Tensor) -> Tensor:
    rows = torch.arange(len(documents), device=DEVICE).repeat_interleave(documents.shape[1])
    return fusedkernels.pairs(queries, block, rows, documents.reshape(-1)).view(documents.shape)


def random_documents(queries: Tensor, block: fusedkernels.HalfBlock) -> Tensor:
    """Draw relevant documents among all."""
    return torch.randint(0, len(block), (len(queries), max(NUMBERS)), device=DEVICE, generator=seeded(3))


def near_documents(queries: Tensor, block: fusedkernels.HalfBlock) -> Tensor:
    """Move documents that are drawn at random towards their queries, so that most of them come early."""
    documents = torch.randperm(len(block), device=DEVICE, generator=seeded(4))[: len(queries) * max(NUMBERS)]
    documents = documents.view(len(queries), -1)
    for start in range(0, len(queries), 64):
        some = documents[start : start + 64]
        block.vectors[some] += queries[start : start + 64, None] * 0.2
    return documents


def seeded(seed: int) -> torch.Generator:
    return torch.Generator(device=DEVICE).manual_seed(seed)


def normal(number: int, width: int, seed: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    """Draw vectors on the device, a part at a time."""
    generator = seeded(seed)
    vectors = torch.empty((number, width), dtype=dtype, device=DEVICE)
    for part in vectors.split(2**18):
        part.copy_(torch.randn(part.shape, device=DEVICE, generator=generator))
    return vectors


if __name__ == "__main__":
    main()
