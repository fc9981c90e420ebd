"""Figure: the users and the providers divided at the third relevant document, where two rankings differ last.

Belongs here: the parts and their drawings.

Let two rankings have the same positions for the relevant documents below the k-th, and different positions for the
k-th. A user who wants only documents below it is as well off in both. Users who want k, and otherwise only documents
below it, decide: everyone with a document above k is above one of these.
"""

from functools import partial
from typing import Any

from lexirecall.paper.drawing import WHITE, named
from lexirecall.paper.exhibit import Exhibit
from lexirecall.paper.hasse import Levels, Look, diagram
from lexirecall.paper.partial_order import FEWER, NUM_RELEVANT, covers, nonempty_sets
from lexirecall.tables import Table

K = 3
TIED, DECIDING, ENDING, WITH, WITHOUT, OTHER = "tied", "deciding", "none below k", "k and below", "not k", "other"
LOOKS = {
    TIED: Look(rim="dashed"),
    DECIDING: Look(rim="double"),
    ENDING: Look(fill="#F7DCEA"),
    WITH: Look(fill="#7FB8DE"),
    WITHOUT: Look(fill="#00664B", color=WHITE),
    OTHER: Look(),
}
"""The paper's colours, pink, blue and green, in light, middle and dark shades that differ in grey too."""
WORDS = {
    "users": {
        TIED: f"tied: only below {K}",
        DECIDING: f"deciding: {K}, else only below",
        ENDING: f"above {K}, none below",
        WITH: f"above {K}, {K} and below",
        WITHOUT: f"above {K} and below, not {K}",
    },
    "providers": {TIED: f"tied: only below {K}", DECIDING: f"deciding: {K} alone"},
}


def part_of_user(levels: Levels, k: int) -> str:
    """Return the part that a user belongs to.

    >>> [part_of_user(levels, 3) for levels in ((4, 5), (3, 5), (1, 2), (1, 3, 4), (2, 4))]
    ['tied', 'deciding', 'none below k', 'k and below', 'not k']

    Reference: DiazEM25, lemma on the minimum untied user.
    """
    if levels[0] >= k:
        return TIED if levels[0] > k else DECIDING
    if levels[-1] <= k:
        return ENDING
    return WITH if k in levels else WITHOUT


def part_of_provider(levels: Levels, k: int) -> str:
    """Return the part that a provider belongs to.

    >>> [part_of_provider(levels, 3) for levels in ((4, 5), (3,), (3, 5))]
    ['tied', 'deciding', 'other']

    Reference: DiazEM25, theorem on leximin of providers.
    """
    if levels[0] > k:
        return TIED
    return DECIDING if levels == (k,) else OTHER


PARTS = {"users": part_of_user, "providers": part_of_provider}


def witness(order: str, levels: Levels, k: int) -> Levels | None:
    """Return a deciding set that this set is above, or itself if it decides; None if it is tied.

    For a user, it holds k and the wanted documents below k; for a provider, k alone.

    >>> witness("users", (1, 2, 4), 3), witness("users", (1, 3), 3), witness("providers", (1, 2, 4), 3)
    ((3, 4), (3,), (3,))
    """
    if levels[0] > k:
        return None
    return (k, *(level for level in levels if level > k)) if order == "users" else (k,)


def exhibit(seed: int) -> Exhibit:  # noqa: ARG001 - nothing is sampled
    """Divide both populations.

    >>> [sum(row["part"] == "deciding" for row in exhibit(0).rows if row["order"] == o) for o in PARTS]
    [4, 1]

    Reference: DiazEM25, leximin and lexicographic recall.
    """
    rows = [
        {"order": order, "set": named(levels), "part": PARTS[order](levels, K), "above": _above(order, levels)}
        for order in PARTS
        for levels in nonempty_sets(NUM_RELEVANT)
    ]
    return Exhibit(
        name="partition",
        title=f"the users and the providers of {NUM_RELEVANT} relevant documents, divided at k = {K}",
        columns=("order", "set", "part", "above"),
        rows=tuple(rows),
        table=_table(),
        charts={f"partition-{order}": partial(chart, order) for order in PARTS},
        remarks=(
            f"Two rankings have their relevant documents below document {K} at the same positions, and document {K} at "
            f"different ones. Those who want only documents below {K} are tied. Everyone else is above one of those "
            f"who decide: users who want {K} and any documents below it, and the provider of {K} alone.",
            f"The paper calls the four deciding users minimal. {K}{K + 1} is not: it is above {K}{K + 2}. The proof "
            "does not need that.",
        ),
    )


def _table() -> Table:
    """Lay out, for each set, its parts and the deciding sets that it is above."""
    lines = [
        (named(levels), *(cell for order in PARTS for cell in (PARTS[order](levels, K), _above(order, levels) or "-")))
        for levels in nonempty_sets(NUM_RELEVANT)
    ]
    header = ("set", *(title for order in PARTS for title in (order, "above")))
    return Table(header, tuple(lines), texts=frozenset(range(1, 5)))


def _above(order: str, levels: Levels) -> str | None:
    return named(witness(order, levels, K) or ()) or None


def chart(order: str) -> Any:
    """Draw an order with its parts.

    >>> chart("users").to_dict()["height"]
    514
    """
    looks = {levels: LOOKS[PARTS[order](levels, K)] for levels in nonempty_sets(NUM_RELEVANT)}
    legend = [(LOOKS[part], words) for part, words in WORDS[order].items()]
    return diagram(order, covers(order, NUM_RELEVANT), FEWER[order], looks, legend)
