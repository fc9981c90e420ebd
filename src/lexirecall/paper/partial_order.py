"""Figure: the partial order of the possible users, and of the providers, of a ranking with five relevant documents.

Belongs here: the two orders, and which set covers which. Not here: how they are drawn (hasse).

A set of relevant documents is written as their recall levels, ascending: (1, 3) wants the first and the third. One set
is above another if it is at least as well off wherever the documents are and whatever the measure: for users, any
top-heavy recall-level measure; for providers, any exposure that decreases. Nothing can be added: for any two sets that
are not so ordered, some such measure, or exposure, orders them the other way.
"""

from collections.abc import Callable
from functools import cache, partial
from itertools import combinations
from typing import Any

from lexirecall.paper.drawing import named
from lexirecall.paper.exhibit import Exhibit
from lexirecall.paper.hasse import Levels, diagram
from lexirecall.tables import Table

NUM_RELEVANT = 5


def is_user_above(x: Levels, y: Levels) -> bool:
    """Tell whether a user is at least as well off as another under every top-heavy recall-level measure.

    That is so if the last |y| documents that x wants are, one by one, no lower than those of y: it does not help to
    want one document less at the top (top-heaviness), nor if a document sinks (e decreases and z is not negative).

    >>> is_user_above((1, 2, 5), (3, 5)), is_user_above((1, 5), (4,)), is_user_above((1,), (4, 5))
    (True, False, False)

    Reference: DiazEM25, Definition 2 and robustness.
    """
    return len(x) >= len(y) and all(a <= b for a, b in zip(x[len(x) - len(y) :], y, strict=True))


def is_provider_above(x: Levels, y: Levels) -> bool:
    """Tell whether a provider is at least as well off as another under every exposure that decreases.

    That is so if the first |y| documents of x are, one by one, no lower than those of y: no exposure is negative.

    >>> is_provider_above((1, 2, 5), (3, 5)), is_provider_above((1, 5), (4,)), is_provider_above((1,), (4, 5))
    (True, True, False)

    Reference: DiazEM25, provider robustness.
    """
    return len(x) >= len(y) and all(a <= b for a, b in zip(x, y, strict=False))


ORDERS: dict[str, Callable[[Levels, Levels], bool]] = {"users": is_user_above, "providers": is_provider_above}
FEWER = {"users": "without the first document", "providers": "without the last document"}
"""The second kind of step down; the first, which both orders have, is a document that sinks by one level."""


def nonempty_sets(m: int) -> list[Levels]:
    """Return the 2^m - 1 sets, the smallest first.

    >>> nonempty_sets(2)
    [(1,), (2,), (1, 2)]
    """
    return [levels for size in range(1, m + 1) for levels in combinations(range(1, m + 1), size)]


@cache
def covers(order: str, m: int) -> tuple[tuple[Levels, Levels], ...]:
    """Return the transitive reduction: the pairs (x, y) of different sets with x above y and none between them.

    >>> covers("users", 2), covers("providers", 2)
    ((((1,), (2,)), ((1, 2), (2,))), (((1,), (2,)), ((1, 2), (1,))))

    Reference: DiazEM25, the partially ordered set of users and of providers.
    """
    sets = nonempty_sets(m)
    below = {x: {y for y in sets if x != y and ORDERS[order](x, y)} for x in sets}
    return tuple((x, y) for x in sets for y in sets if y in below[x] and not any(y in below[z] for z in below[x]))


def step(x: Levels, y: Levels) -> str:
    """Say which step leads from a set to one that it covers.

    >>> step((1, 2), (1, 3)), step((1, 2), (2,))
    ('3 for 2', 'without 1')
    """
    gone, new = sorted({*x} - {*y}), sorted({*y} - {*x})
    return f"{new[0]} for {gone[0]}" if new else f"without {gone[0]}"


def exhibit(seed: int) -> Exhibit:  # noqa: ARG001 - nothing is sampled
    """Compute both orders.

    >>> [sum(row["order"] == order for row in exhibit(0).rows) for order in ORDERS]
    [47, 47]

    Reference: DiazEM25, robustness.
    """
    rows = [
        {"order": order, "above": named(x), "below": named(y), "step": step(x, y)}
        for order in ORDERS
        for x, y in covers(order, NUM_RELEVANT)
    ]
    return Exhibit(
        name="partial-order",
        title=f"partial order of the users and of the providers of {NUM_RELEVANT} relevant documents",
        columns=("order", "above", "below", "step"),
        rows=tuple(rows),
        table=_table(),
        charts={f"partial-order-{order}": partial(chart, order) for order in ORDERS},
        remarks=(
            "In both orders one set is worst off: the last document alone. One provider is best off: the one who owns "
            "all documents. No user is above those who want only the first documents: 1, 12, 123, …",
            "Above means: at least as well off. The paper writes >, but RR, for one, has the same value for 12 and 13.",
        ),
    )


def _table() -> Table:
    """Lay out, for each set, those right below it."""
    lines = [
        (named(x), *(" ".join(named(y) for above, y in covers(order, NUM_RELEVANT) if above == x) for order in ORDERS))
        for x in nonempty_sets(NUM_RELEVANT)
    ]
    return Table(("set", *(f"{order} right below" for order in ORDERS)), tuple(lines), texts=frozenset({1, 2}))


def chart(order: str) -> Any:
    """Draw one of the orders.

    >>> chart("providers").to_dict()["width"]
    301
    """
    return diagram(order, covers(order, NUM_RELEVANT), FEWER[order])
