"""Figure: the users and the providers parted at the third item, which is where two rankings differ last.

Belongs here: the parts and their drawings.

Let two rankings have their relevant items at the same positions below the k-th, and the k-th at different ones. Whoever
cares for items below it alone has the same from both. Those who care for k, and else for items below it alone, decide:
everyone with an item above k is above one of these.
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
"""In the paper's colours, pink, blue and green, but light, middle and dark, to be told apart in grey."""
WORDS = {
    "users": {
        TIED: f"tied: only items below {K}",
        DECIDING: f"deciding: {K}, else only below",
        ENDING: f"items above {K}, none below",
        WITH: f"items above {K}, {K} and below",
        WITHOUT: f"items above {K} and below, not {K}",
    },
    "providers": {TIED: f"tied: only items below {K}", DECIDING: f"deciding: {K} alone"},
}


def part_of_user(levels: Levels, k: int) -> str:
    """Return to which part a user belongs.

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
    """Return to which part a provider belongs.

    >>> [part_of_provider(levels, 3) for levels in ((4, 5), (3,), (3, 5))]
    ['tied', 'deciding', 'other']

    Reference: DiazEM25, theorem on leximin of providers.
    """
    if levels[0] > k:
        return TIED
    return DECIDING if levels == (k,) else OTHER


PARTS = {"users": part_of_user, "providers": part_of_provider}


def witness(order: str, levels: Levels, k: int) -> Levels | None:
    """Return a deciding set that this one is above, itself if it is one; None if it is tied.

    For a user it has the wanted items from k on, and k in any case; but k alone if nothing below k is wanted.

    >>> witness("users", (1, 2, 4), 3), witness("users", (1, 3), 3), witness("providers", (1, 2, 4), 3)
    ((3, 4), (3,), (3,))
    """
    if levels[0] > k:
        return None
    return (k, *(level for level in levels if level > k)) if order == "users" else (k,)


def exhibit(seed: int) -> Exhibit:  # noqa: ARG001 - nothing is sampled
    """Part both populations.

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
        "partition",
        f"the users and the providers of {NUM_RELEVANT} relevant items, parted at k = {K}",
        ("order", "set", "part", "above"),
        tuple(rows),
        _table(),
        {f"partition-{order}": partial(chart, order) for order in PARTS},
        remarks=(
            f"Two rankings have the same positions below item {K}, and {K} itself at different ones: who cares for "
            f"items below {K} alone is tied. Everyone else is above one of those who decide: {K} with "
            "any items below it for users, alone for providers.",
            f"The paper calls the four deciding users minimal. {K}{K + 1} is not: it is above {K}{K + 2}. The proof "
            "does not need it.",
        ),
    )


def _table() -> Table:
    """Lay out, for every set, its parts and the deciding sets that it is above."""
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
