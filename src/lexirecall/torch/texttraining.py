"""Text training: the ordered loss for batches of texts, as trainers of sentence-transformers give them.

Belongs here: what the queries, the documents and the relevant pairs of such a batch are. Not here: the loss itself
(orderedloss).
"""

# if torch is not installed, its classes have the type Any:
# mypy: disallow-subclassing-any=False

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from lexirecall.errors import UsageError, choice, counted
from lexirecall.torch.orderedloss import OrderedLoss
from lexirecall.torch.tensors import Tensor, torch

Similarity = str | Callable[[Tensor, Tensor], Tensor]
_OF_TEXTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids", "offsets", "prompt_length"})
"""What a model is given of a text; where there is more, such as an image, tokens do not tell whether two are equal."""


def _cosine(queries: Tensor, documents: Tensor) -> Tensor:
    normalized = torch.nn.functional.normalize
    return normalized(queries, dim=1) @ normalized(documents, dim=1).T


SIMILARITIES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cosine": _cosine,
    "dot": lambda queries, documents: queries @ documents.T,
    "l2": lambda queries, documents: -torch.cdist(queries, documents),
}


class OrderedRankingLoss(torch.nn.Module):
    """OrderedLoss in the place of MultipleNegativesRankingLoss, for trainers of sentence-transformers.

    The first column of the data are anchors, that is queries, and the others are documents. All documents of the batch
    are candidates for each query. The first document of a row is relevant to its query, and the others are not. If rows
    have several relevant documents, give `labels` with a number for each document, [rows, documents]: more than 0 is
    relevant. A label for each row marks the only document of the row.

    Texts with the same tokens are one text. So a query that several rows have has all of their relevant documents, and
    counts once; a copy of a relevant document is never counted against it. A batch sampler that keeps the rows of a
    query together therefore helps. Whatever else is relevant in the batch should be marked too: other documents count
    as not relevant. Inputs with more than tokens, such as images, are all taken as different.

    `model` gives vectors, `model(features)["sentence_embedding"]`, as those of sentence-transformers do, though that
    package is not needed here. `similarity` is cosine, dot or l2, or a function of the vectors of queries and of
    documents that gives [queries, documents]. `discount`, `temperature`, `block` and `check` are those of
    `OrderedLoss`.

    >>> class Model(torch.nn.Module):  # a vector for each token
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.vectors = torch.nn.Embedding.from_pretrained(torch.eye(3), freeze=False)
    ...     def forward(self, features):
    ...         return {"sentence_embedding": self.vectors(features["input_ids"]).sum(dim=1)}
    >>> anchors, documents = ({"input_ids": torch.tensor(ids)} for ids in ([[0], [0]], [[0, 1], [2, 2]]))
    >>> round(OrderedRankingLoss(Model())([anchors, documents]).item(), 4)  # both documents are relevant to one query
    0.0
    """

    def __init__(
        self,
        model: Any,
        discount: float = 0.9,
        temperature: float = 0.05,
        similarity: Similarity = "cosine",
        *,
        block: int = 2**24,
        check: bool = True,
    ) -> None:
        super().__init__()
        if not callable(similarity):
            choice("similarity", similarity, SIMILARITIES, remedy="or give a function of two tensors of vectors")
        self.model, self.similarity = model, similarity
        self.loss = OrderedLoss(discount, temperature, block=block, check=check)

    def forward(self, sentence_features: Iterable[Mapping[str, Any]], labels: Any = None) -> Tensor:
        """Return the loss of a batch: features of each column, and labels if the data have them."""
        columns = [dict(features) for features in sentence_features]  # models write into them
        if len(columns) < 2:
            problem = f"the data have {counted(len(columns), 'column')} of texts"
            raise UsageError(problem, remedy="give an anchor and at least one document in each row")
        keys = [_keys(features) for features in columns]
        vectors = [self.model(features)["sentence_embedding"] for features in columns]
        keys = [column or _different(number, len(vectors[number])) for number, column in enumerate(keys)]
        is_relevant = _labelled(labels, len(keys[0]), len(keys) - 1)
        queries, documents = _numbered(keys[0]), _numbered([key for column in keys[1:] for key in column])
        first_query, first_document = (_firsts(numbers, vectors[0].device) for numbers in (queries, documents))
        relevant = torch.zeros(len(first_query), len(first_document), dtype=torch.bool)
        of_rows = torch.tensor(queries).repeat(len(keys) - 1)
        relevant[of_rows[is_relevant], torch.tensor(documents)[is_relevant]] = True
        compare = self.similarity if callable(self.similarity) else SIMILARITIES[self.similarity]
        scores = compare(vectors[0][first_query], torch.cat(vectors[1:])[first_document])
        return self.loss(scores, relevant)

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings, for the model card."""
        name = getattr(self.similarity, "__name__", self.similarity)
        return {"discount": self.loss.discount, "temperature": self.loss.temperature, "similarity": name}


def _keys(features: Mapping[str, Any]) -> list[Hashable]:
    """Return the tokens of each text; nothing if they are not all that the model is given."""
    tensors = {name for name, value in features.items() if isinstance(value, torch.Tensor)}
    if "input_ids" not in tensors or tensors - _OF_TEXTS:
        return []
    ids = features["input_ids"]
    if ids.ndim == 1 and "offsets" in tensors:  # texts one after another, as bags of tokens have them
        starts = features["offsets"].tolist()
        flat = ids.tolist()
        return [tuple(flat[start:stop]) for start, stop in zip(starts, [*starts[1:], len(flat)], strict=True)]
    mask = features.get("attention_mask")
    kept = torch.ones_like(ids) if mask is None or mask.shape != ids.shape else mask
    return [
        tuple(token for token, is_kept in zip(row, keeps, strict=True) if is_kept)
        for row, keeps in zip(ids.tolist(), kept.tolist(), strict=True)
    ]


def _different(column: int, size: int) -> list[Hashable]:
    """Return keys that no other text has."""
    return [(column, row, "different") for row in range(size)]


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    """Return the number of each text, in the order in which different ones appear.

    >>> _numbered(["b", "a", "b", "c"])
    [0, 1, 0, 2]
    """
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _firsts(numbers: Sequence[int], device: Any) -> Tensor:
    """Return where each number appears first."""
    firsts: dict[int, int] = {}
    for place, number in enumerate(numbers):
        firsts.setdefault(number, place)
    return torch.tensor([*firsts.values()], device=device)


def _labelled(labels: Any, num_rows: int, num_columns: int) -> Tensor:
    """Return which documents are relevant to the query of their row, column by column."""
    if labels is None or not len(labels):
        return torch.arange(num_rows * num_columns) < num_rows
    marks = torch.as_tensor(labels).cpu()
    if marks.ndim == 1 and num_columns == 1:
        marks = marks[:, None]
    if marks.shape != (num_rows, num_columns):
        problem = f"labels have the shape {list(marks.shape)}, but the texts [{num_rows}, {num_columns}] documents"
        raise UsageError(problem, remedy="give a label for each document of each row, or take the column of labels out")
    return (marks > 0).T.reshape(-1)
