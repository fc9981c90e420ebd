"""Summary: what the tables of a study say, in words that a reader can act on.

Belongs here: the sentences, and the small table above them. Not here: the numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from lexirecall.errors import counted, listed
from lexirecall.meta.digest import Digest, TablesOfRows, digests, percent
from lexirecall.tables import Table
from lexirecall.text import visible

WIDTH = 100
MANY_TIES = 0.25
"""Measures that tie a larger share of the comparisons are advised against."""
ALLY, STRANGER = 0.95, 0.75
"""Measures that LexiRecall sides with so often can stand in for it, or answer another question."""
_COLUMNS = {
    "ties": "tied",
    "agreement": "sides",
    "paired": "paired",
    "hsd": "HSD",
    "half_ties": "half: tied",
    "half_kept": "half: kept",
    "rare_kept": "rare: kept",
}
_BOUNDS = {"deep": "more than 1,000", "standard": "more than 100, up to 1,000", "shallow": "up to 100"}
_DEPTH = {
    "deep": "Lists this deep show where nearly all that is found stands: differences in finding everything are "
    "seen, not assumed.",
    "standard": "What a run does not return counts as found last of all, so measures of finding everything look first "
    "at how much is missing.",
    "shallow": "Lists this short end before most of what is relevant can be found: measures of finding everything tie "
    "more and separate less. If you can, keep 1,000 documents or more per request.",
}


def summarize(tables: TablesOfRows, *, alpha: float = 0.05) -> str:
    """Return one page of text about the tables of a study; medians stand for several collections.

    The small table first, by depth label if there are several, then what its columns mean, and what they say.
    """
    everything, by_label = digests(tables)
    several = len(by_label) > 1
    parts = [_wrapped(_opening(tables["data"]))]
    parts += [_table(digest, label if several else "measure") for label, digest in by_label.items()]
    parts.append("\n".join(_wrapped(text, "  ") for text in _legend(tables, everything, alpha)))
    parts += [_wrapped(text) for text in _answers(tables, everything)]
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str, hanging: str = "") -> str:
    """Break lines, but not between a number and its percent sign."""
    return fill(text.replace(" %", "\0%"), WIDTH, subsequent_indent=hanging).replace("\0", " ")


def _opening(data: Sequence[Mapping[str, Any]]) -> str:
    if len(data) == 1:
        (row,) = data
        return (
            f"{visible(row['collection'])}: {counted(row['runs'], 'run')} on {counted(row['queries'], 'request')} "
            f"with {row['relevant']:.1f} relevant documents each. A run returns {row['retrieved']:,.1f} documents per "
            f"request on average and finds {percent(row['recall'])} of the relevant ones."
        )
    labels = dict.fromkeys(label for label in _BOUNDS if any(row["label"] == label for row in data))
    groups = [
        f"{label} (runs return {_BOUNDS[label]} documents per request): "
        + listed([visible(row["collection"]) for row in data if row["label"] == label], 12)
        for label in labels
    ]
    return (
        f"{len(data)} collections. {'; '.join(groups)}. Tables show medians over "
        "the collections of one depth, sentences over all."
    )


def _table(digest: Digest, corner: str) -> str:
    shown = {quantity: title for quantity, title in _COLUMNS.items() if digest.defined(quantity)}
    rows = tuple(
        (visible(measure), *(percent(digest.value(measure, quantity)) for quantity in shown))
        for measure in digest.measures
    )
    return Table((corner, *shown.values()), rows).to_text()


def _legend(tables: TablesOfRows, digest: Digest, alpha: float) -> Iterator[str]:
    """Say what each column means."""
    is_one = len(tables["data"]) == 1
    compared = f" ({tables['ties'][0]['compared']:,} of them)" if is_one else ""
    pairs = f"the {counted(tables['sensitivity'][0]['pairs'], 'pair')}" if is_one else "all pairs"
    yield f"tied: comparisons of two runs on one request{compared} that the measure leaves undecided."
    yield (
        "sides: of those it decides, how many LexiRecall decides the same way. LexiRecall prefers the ranking that "
        "retrieves more of what is relevant or, if both retrieve as much, finds the last of it sooner. Chance is 50 %."
    )
    yield (
        f"paired, HSD: of {pairs} of runs, how many differ significantly (p < {alpha:g}): by a test of each pair with "
        "Holm's correction for their number (sign test for LexiRecall, t test for values), and by Tukey's test of all "
        "runs at once."
    )
    if digest.defined("half_kept"):
        yield (
            "half: tied, kept: if a random half of the relevant documents had no label, how many comparisons would be "
            "tied, and how many of the measure's decisions would stay as they are; rare: kept: the same if labels are "
            "missing mostly where few runs retrieve the document, as when only the top of some runs was judged."
        )


def _answers(tables: TablesOfRows, digest: Digest) -> Iterator[str]:
    """Answer the questions of a study, with what follows from the numbers."""
    yield f"Which measures tell rankings apart? {_on_ties(digest)}"
    yield f"Which agree with finding everything? {_on_agreement(digest)}"
    if digest.defined("hsd"):
        yield f"Which tell your systems apart? {_on_power(digest)}"
    if digest.defined("survives"):
        yield f"Which survive missing labels? {_on_labels(digest)}"
    labels = [label for label in _DEPTH if any(row["label"] == label for row in tables["data"])]
    depths = " ".join(f"{label.title()} ({_BOUNDS[label]} documents per request): {_DEPTH[label]}" for label in labels)
    yield f"What does the depth of the runs mean? {depths}"


def _on_ties(digest: Digest) -> str:
    shares = digest.defined("ties")
    rising = ", ".join(f"{visible(name)} {percent(shares[name])}" for name in reversed(shares))
    said = f"Share of comparisons that are tied: {rising}."
    if many := [name for name in shares if shares[name] > MANY_TIES]:
        said += f" Do not rely on {_joined(many, 'or')} alone: a tied request says nothing about two runs."
    return said


def _on_agreement(digest: Digest) -> str:
    reference, shares = digest.measures[0], digest.defined("agreement")
    allies = [name for name in shares if shares[name] >= ALLY]
    strangers = [name for name in shares if shares[name] < STRANGER]
    said = f"Use {reference} to say which run finds more of what is relevant."
    if digest.defined("ties").get(reference, 0.0) > MANY_TIES:
        said += (
            " That it often ties here means that the runs return too little, or too little is labelled, to say more."
        )
    if allies:
        they = "take its side where they decide" if len(allies) > 1 else "takes its side where it decides"
        said += f" {_values(allies, shares)} {they}."
    elif shares:
        nearest = next(iter(shares))
        said += f" Nothing stands in for it: the closest is {_values([nearest], shares)}."
    if strangers:
        they = "measure something else" if len(strangers) > 1 else "measures something else"
        them = "them" if len(strangers) > 1 else "it"
        said += (
            f" {_values(strangers, shares)} {they}, such as how soon anything relevant comes: report {them} beside "
            f"{reference}, not instead."
        )
    return said


def _on_power(digest: Digest) -> str:
    reference, shares = digest.measures[0], digest.defined("hsd")
    best, worst = next(iter(shares)), next(reversed(shares))
    own = "" if reference in (best, worst) else f", {reference} {percent(shares.get(reference))}"
    if shares[best] == shares[worst]:
        said = f"By HSD every measure tells {percent(shares[best])} of the pairs of runs apart."
    else:
        said = (
            f"By HSD {visible(best)} tells most pairs of runs apart ({percent(shares[best])}), {visible(worst)} fewest "
            f"({percent(shares[worst])}){own}."
        )
    checks = []
    for test, name in (("t", "t test"), ("sign", "sign test")):
        others = _without(digest.defined(test), reference)
        best_other = (
            f" (best other: {visible(other)} {percent(others[other])})" if (other := next(iter(others), "")) else ""
        )
        checks.append(f"{percent(digest.value(reference, test))} by the {name}{best_other}")
    return (
        f"{said} With one and the same test for all measures, {reference} tells apart {' and '.join(checks)}. "
        "Differences that no measure shows need more requests."
    )


def _on_labels(digest: Digest) -> str:
    """Say up to which loss of labels nine of ten decisions stay."""
    shares = digest.defined("survives")
    groups = [
        (f"{100 * share:.0f} % of them" if share else "less than 10 %")
        + f" for {_joined([name for name in shares if shares[name] == share])}"
        for share in dict.fromkeys(shares.values())
    ]
    last = " Under the last of these, trust small differences only if the labels are complete." if groups[1:] else ""
    return f"Nine of ten decisions stay if labels are missing at random, up to {'; '.join(groups)}.{last}"


def _without(shares: Mapping[str, float], name: str) -> dict[str, float]:
    return {other: share for other, share in shares.items() if other != name}


def _values(names: Sequence[str], shares: Mapping[str, float]) -> str:
    return _joined([f"{visible(name)} ({percent(shares[name])})" for name in names])


def _joined(names: Sequence[str], word: str = "and") -> str:
    """Join names as one does in a sentence.

    >>> _joined(["AP"]), _joined(["AP", "RR", "TSE"])
    ('AP', 'AP, RR and TSE')
    """
    *first, last = map(visible, names)
    return f"{', '.join(first)} {word} {last}" if first else last
