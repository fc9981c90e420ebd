"""Products and comparisons in one pass on a GPU: counts of scores above thresholds, without a matrix of scores.

Belongs here: the Triton kernels and their launchers. Not here: which thresholds to ask for, and what the counts mean.

Vectors of queries and documents are contiguous, of one type, bfloat16 or float16, and of a width that is a multiple of
8. There are fewer than 2**31 documents in a block.

All kernels score a pair by the same program on a tile of the same shape, and what a pair scores does not depend on its
place in the tile. So `pairs` and `scores` give, to the bit, what `count` compares; copies of a vector score the same. A
score from any other kernel may differ in its last bits, and a position by one.
"""

from dataclasses import dataclass
from typing import Any

from lexirecall.errors import UsageError
from lexirecall.installing import how_to_install

try:
    import torch
    import triton
    import triton.language as tl
    from torch import Tensor
    from triton.runtime.jit import JITFunction
    from triton.tools.tensor_descriptor import TensorDescriptor
except ModuleNotFoundError as error:
    raise UsageError(
        f"the kernels need {error.name}, which is not installed", remedy=how_to_install("torch", "triton")
    ) from None

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# ruff: noqa: N803 - Triton's constants are written in capitals

ROWS, COLUMNS, DEPTH = 128, 256, 64  # of a tile: queries, documents, and dimensions at a time
WARPS, STAGES = 8, 4
FEW = 16  # thresholds of a query that are compared without a loop, while the next tile is on its way
GROUP = 4  # thresholds that are compared before the next look at whether the tile reaches any more of them
MOST = 256  # thresholds of a query for which comparing with each is faster than searching in them
PAIRS = 2**16  # vectors that are copied at a time, those of pairs and those whose lengths are computed
WRITTEN = 2**26  # scores that are written at a time
_MODES = {"dot": 0, "cosine": 1, "l2": 2}


@dataclass(frozen=True, slots=True)
class HalfBlock:
    """Vectors of documents, and what the similarity does to a product with each of them."""

    vectors: Tensor
    similarity: str
    adjustments: Tensor
    """float32: 1/|c| for cosine, which the product is multiplied by; |c|²/2 for l2, which is taken off; else empty."""

    @classmethod
    def of(cls, vectors: Tensor, similarity: str = "dot") -> "HalfBlock":
        """Compute the lengths of the vectors, if the similarity needs them; a zero vector has the cosine 0."""
        if similarity == "dot":
            return cls(vectors, similarity, vectors.new_empty(0, dtype=torch.float32))
        squares = torch.cat([(part.float() ** 2).sum(dim=1) for part in vectors.split(PAIRS)])
        if similarity == "l2":
            return cls(vectors, similarity, squares / 2)
        odd = torch.where(vectors.any(dim=1), torch.nan, 0.0)  # a square too large or too small; or a zero vector
        is_plain = (squares > 2.0**-100) & (squares < 2.0**100)
        return cls(vectors, similarity, torch.where(is_plain, 1 / squares.sqrt(), odd))

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, at: slice | Tensor) -> "HalfBlock":
        return HalfBlock(
            self.vectors[at], self.similarity, self.adjustments[at] if len(self.adjustments) else self.adjustments
        )

    def arguments(self) -> tuple[Any, ...]:
        """Return what every kernel is told of it."""
        return _read_by(self.vectors, COLUMNS), self.adjustments, len(self)

    def constants(self) -> dict[str, int]:
        """Return the constants of every kernel: shapes, and the similarity."""
        shape = {"WIDTH": self.vectors.shape[1], "M": ROWS, "N": COLUMNS, "K": DEPTH}
        return {**shape, "MODE": _MODES[self.similarity], "num_warps": WARPS, "num_stages": STAGES}


# Kernels


@triton.jit
def _tile(
    queries, corpus, adjustments, num_documents, row, column,
    WIDTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    """Score M queries against N documents, summing in float32 in one order everywhere; no document scores 0."""
    scores = tl.zeros((M, N), tl.float32)
    for k in range(0, WIDTH, K):
        scores = tl.dot(queries.load([row, k]), corpus.load([column, k]).T, scores)
    if MODE > 0:
        columns = column + tl.arange(0, N)
        adjustment = tl.load(adjustments + columns, mask=columns < num_documents, other=0.0)[None, :]
        scores = scores * adjustment if MODE == 1 else scores - adjustment
    return scores


@triton.jit
def _shares(scores, threshold, ASSEMBLY: tl.constexpr):
    """Give 1 for a score above the threshold, 2**-10 for an equal one, otherwise 0.

    A tile is narrower than 2**10, so the sum over one of its rows holds both counts, exactly. Two instructions that
    saturate are faster than comparing and selecting twice; they take a difference below 2**-126 as a tie.
    """
    if ASSEMBLY:
        return tl.inline_asm_elementwise(
            "sub.ftz.f32 $0, $1, $2; fma.rn.ftz.sat.f32 $0, $0, 0f7F000000, 0f3A800000;",  # times 2**127, plus 2**-10
            "=f,f,f", [scores, threshold], dtype=tl.float32, is_pure=True, pack=1,
        )  # fmt: skip
    return tl.where(scores > threshold, 1.0, tl.where(scores == threshold, 0.0009765625, 0.0))


@triton.jit
def _add_counts(scores, thresholds, counts, queries, ASSEMBLY: tl.constexpr):
    """Add the counts of one threshold per query: those above in the low 32 bits, ties in the high ones."""
    threshold = tl.load(thresholds + queries)
    sums = tl.sum(_shares(scores, threshold[:, None], ASSEMBLY), axis=1)
    both = (sums * 1024).to(tl.int32)
    packed = (both >> 10).to(tl.int64) + ((both & 1023).to(tl.int64) << 32)
    tl.atomic_add(counts + queries, packed, sem="relaxed")


@triton.jit
def _add_group(scores, thresholds, counts, queries, stride, GROUP: tl.constexpr, ASSEMBLY: tl.constexpr):
    """Add the counts of some thresholds per query."""
    for member in tl.static_range(GROUP):
        _add_counts(scores, thresholds + member * stride, counts + member * stride, queries, ASSEMBLY)


@triton.jit
def _count(
    queries, corpus, adjustments, num_documents, thresholds, needed, counts, num_rows, num_tiles, stride,
    WIDTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, MODE: tl.constexpr,
    GROUP: tl.constexpr, LOOPED: tl.constexpr, ASSEMBLY: tl.constexpr,
):  # fmt: skip
    """Count for each query the scores above and equal to each of its thresholds, which ascend.

    Neighbouring programs take the same documents, so that these are read from memory once.
    """
    for tile in tl.range(tl.program_id(0), num_tiles, tl.num_programs(0), flatten=not LOOPED):
        row, column = tile % num_rows * M, tile // num_rows * N
        scores = _tile(queries, corpus, adjustments, num_documents, row, column, WIDTH, M, N, K, MODE)
        chosen = row + tl.arange(0, M)
        if LOOPED:
            highest = tl.max(scores, axis=1)
            for group in range(tl.load(needed + tile % num_rows)):
                first = group * GROUP * stride
                # otherwise no score of the tile reaches the lowest threshold of this group
                if tl.max(highest - tl.load(thresholds + first + chosen), axis=0) >= 0:
                    _add_group(scores, thresholds + first, counts + first, chosen, stride, GROUP, ASSEMBLY)
        else:
            _add_group(scores, thresholds, counts, chosen, stride, GROUP, ASSEMBLY)


@triton.jit
def _pairs(
    queries, corpus, adjustments, num_pairs, out,
    WIDTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    """Score row i of the queries against row i of the corpus: the diagonal of a tile."""
    row = tl.program_id(0) * M
    # M divides N, so the tile that begins here holds the whole diagonal of these rows
    column = row // N * N
    scores = _tile(queries, corpus, adjustments, num_pairs, row, column, WIDTH, M, N, K, MODE)
    rows, columns = row + tl.arange(0, M), column + tl.arange(0, N)
    is_pair = rows[:, None] == columns[None, :]
    tl.store(out + rows, tl.sum(tl.where(is_pair, scores, 0.0), axis=1), mask=rows < num_pairs)


@triton.jit
def _scores(
    queries, corpus, adjustments, num_documents, num_queries, out,
    WIDTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    """Write every score."""
    row, column = tl.program_id(1) * M, tl.program_id(0) * N
    scores = _tile(queries, corpus, adjustments, num_documents, row, column, WIDTH, M, N, K, MODE)
    rows, columns = row + tl.arange(0, M), column + tl.arange(0, N)
    is_inside = (rows < num_queries)[:, None] & (columns < num_documents)[None, :]
    tl.store(out + rows.to(tl.int64)[:, None] * num_documents + columns[None, :], scores, mask=is_inside)


# Launchers


def is_bounded(queries: Tensor, block: HalfBlock) -> bool:
    """Tell whether no score can overflow. `count` needs that, because it does not look for NaN.

    The largest elements bound every sum; twice that, what l2 takes off too.
    """
    largest = _largest(block.vectors)
    bound = 2 * queries.shape[1] * max(_largest(queries), largest) * largest
    return bool(bound < torch.finfo(torch.float32).max) and bool(block.adjustments.isfinite().all())


def _largest(vectors: Tensor) -> float:
    """Return the largest absolute value; NaN if there is one, which no bound holds for."""
    if not vectors.numel():
        return 0.0
    low, high = torch.stack(torch.aminmax(vectors)).tolist()
    return float(max(-low, high) if low == low else low)  # noqa: PLR0124 - NaN differs from itself


def count(queries: Tensor, block: HalfBlock, thresholds: Tensor) -> tuple[Tensor, Tensor]:
    """Count the documents that score above and equal to each threshold, [Q, T]; short rows end with infinity."""
    ordered, places = thresholds.to(torch.float32).sort(dim=1)
    lengths = (ordered < torch.inf).sum(dim=1)
    order = torch.argsort(lengths, descending=True, stable=True)  # queries with many thresholds share tiles
    num_many = int((lengths > MOST).sum())
    many, few = order[:num_many], order[num_many:]
    above, tied = torch.zeros_like(places), torch.zeros_like(places)
    above[many], tied[many] = _count_by_search(queries[many], block, ordered[many])
    above[few, :MOST], tied[few, :MOST] = _count_each(queries[few], block, ordered[few, :MOST], lengths[few])
    return torch.empty_like(above).scatter_(1, places, above), torch.empty_like(tied).scatter_(1, places, tied)


def _count_each(queries: Tensor, block: HalfBlock, ordered: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Compare every score with every threshold; queries with more thresholds come first."""
    num_queries, num_thresholds = ordered.shape
    is_looped = num_thresholds > FEW
    group = GROUP if is_looped else max(num_thresholds, 1)
    num_rows, depth = triton.cdiv(num_queries, ROWS), triton.cdiv(num_thresholds, group) * group
    thresholds = ordered.new_full((depth, num_rows * ROWS), torch.inf)
    thresholds[:num_thresholds, :num_queries] = ordered.T
    counts = torch.zeros(thresholds.shape, dtype=torch.int64, device=ordered.device)
    needed = ((lengths[::ROWS] + group - 1) // group).to(torch.int32)
    num_tiles = num_rows * triton.cdiv(len(block), COLUMNS)
    if num_tiles and num_thresholds:
        _count[(_programs(num_tiles, ordered.device),)](
            _read_by(queries, ROWS), *block.arguments(), thresholds, needed, counts, num_rows, num_tiles,
            thresholds.shape[1], **block.constants(), GROUP=group, LOOPED=is_looped, ASSEMBLY=_has_assembly(),
        )  # fmt: skip
    counts = counts[:num_thresholds, :num_queries].T
    num_empty = -len(block) % COLUMNS  # columns of the last tile without a document; they score 0
    return (counts & 0xFFFFFFFF) - num_empty * (ordered < 0), (counts >> 32) - num_empty * (ordered == 0)


def _count_by_search(queries: Tensor, block: HalfBlock, ordered: Tensor) -> tuple[Tensor, Tensor]:
    """Find the place of every score among the thresholds; time grows with their logarithm.

    A score is above a threshold if it reaches the next number; both are edges of one histogram.
    """
    num_queries, num_thresholds = ordered.shape
    edges = torch.cat([ordered, torch.nextafter(ordered, torch.full_like(ordered, torch.inf))], dim=1)
    edges, places = edges.sort(dim=1)
    num_bins = 2 * num_thresholds + 1
    histogram = torch.zeros(num_queries * num_bins, dtype=torch.int64, device=ordered.device)
    starts = torch.arange(num_queries, device=ordered.device)[:, None] * num_bins
    step = max(COLUMNS, WRITTEN // max(num_queries, 1) // COLUMNS * COLUMNS)
    for start in range(0, len(block) if num_queries else 0, step):
        bins = torch.searchsorted(edges, scores(queries, block[start : start + step]), right=True)
        histogram += torch.bincount((bins + starts).view(-1), minlength=len(histogram))
    reached = histogram.view(num_queries, num_bins)[:, 1:].flip(1).cumsum(1).flip(1)  # how many scores reach each edge
    reached = torch.empty_like(reached).scatter_(1, places, reached)
    at_least, above = reached[:, :num_thresholds], reached[:, num_thresholds:]
    return above, at_least - above


def pairs(queries: Tensor, block: HalfBlock, rows: Tensor, documents: Tensor) -> Tensor:
    """Score queries[rows[i]] against document documents[i], in float32."""
    out = torch.empty(len(rows), dtype=torch.float32, device=queries.device)
    for start in range(0, len(rows), PAIRS):
        at = slice(start, start + PAIRS)
        gathered = block[documents[at]]
        _pairs[(triton.cdiv(len(gathered), ROWS),)](
            _read_by(queries[rows[at]], ROWS), *gathered.arguments(), out[at], **gathered.constants()
        )
    return out


def scores(queries: Tensor, block: HalfBlock) -> Tensor:
    """Return every score that `count` compares, [Q, n] in float32: for the few queries whose ties need names."""
    out = torch.empty((len(queries), len(block)), dtype=torch.float32, device=queries.device)
    if out.numel():
        grid = triton.cdiv(len(block), COLUMNS), triton.cdiv(len(queries), ROWS)
        _scores[grid](_read_by(queries, ROWS), *block.arguments(), len(queries), out, **block.constants())
    return out


def _read_by(vectors: Tensor, rows: int) -> Any:
    """Describe a matrix that is read so many rows at a time; beyond its edges it is 0."""
    return TensorDescriptor.from_tensor(vectors, [rows, DEPTH])


def _programs(num_tiles: int, device: torch.device) -> int:
    """Return how many programs run side by side: one on each multiprocessor."""
    if device.type != "cuda":
        return min(num_tiles, 3)
    return min(num_tiles, int(torch.cuda.get_device_properties(device).multi_processor_count))


def _has_assembly() -> bool:
    """Tell whether the kernels are compiled for NVIDIA; Triton's interpreter knows no assembly."""
    return isinstance(_count, JITFunction) and torch.version.cuda is not None
