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
"""The summary advises against measures that tie a larger share of the comparisons."""
ALLY, STRANGER = 0.95, 0.75
"""LexiRecall sides with an ally at least so often, and less often with a measure of something else."""
_COLUMNS = {
    "ties": "tied",
    "agreement": "sides",
    "paired": "paired",
    "hsd": "HSD",
    "half_ties": "half: tied",
    "half_kept": "half: kept",
    "rare_kept": "rare: kept",
}
_BOUNDS = {"deep": "more than 1,000", "standard": "more than 100 and up to 1,000", "shallow": "up to 100"}
_DEPTH = {
    "deep": "Lists this deep show the position of nearly every relevant document that can be found. Differences in "
    "finding everything are seen, not assumed.",
    "standard": "A relevant document that a run does not return counts as found last of all. So measures of finding "
    "everything look first at how much is missing.",
    "shallow": "Lists this short end before most relevant documents can be found. So measures of finding everything "
    "tie more often and separate less. If you can, keep 1,000 documents or more per query.",
}


def summarize(tables: TablesOfRows, *, alpha: float = 0.05) -> str:
    """Return one page of text about the tables of a study, with medians over several collections.

    First comes the small table, one for each depth label, then what its columns mean, and then what they say.
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
            f"{visible(row['collection'])}: {counted(row['runs'], 'run')} on {counted(row['queries'], 'query')} "
            f"with {row['relevant']:.1f} relevant documents each. On average a run returns {row['retrieved']:,.1f} "
            f"documents per query and finds {percent(row['recall'])} of the relevant ones."
        )
    labels = dict.fromkeys(label for label in _BOUNDS if any(row["label"] == label for row in data))
    groups = [
        f"{label} (runs return {_BOUNDS[label]} documents per query): "
        + listed([visible(row["collection"]) for row in data if row["label"] == label], 12)
        for label in labels
    ]
    return (
        f"{len(data)} collections. {'; '.join(groups)}. A table shows medians over the collections of one depth; the "
        "sentences give medians over all collections."
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
    compared = f"; {tables['ties'][0]['compared']:,} in all" if is_one else ""
    pairs = f"the {counted(tables['sensitivity'][0]['pairs'], 'pair')}" if is_one else "all pairs"
    yield f"tied: the share of comparisons (two runs on one query{compared}) that the measure leaves undecided."
    yield (
        "sides: of the comparisons that the measure decides, the share that LexiRecall decides the same way. "
        "LexiRecall prefers the ranking that retrieves more relevant documents, or if both retrieve the same number, "
        "the one that finds the last of them sooner. Chance gives 50 %."
    )
    yield (
        f"paired, HSD: of {pairs} of runs, the share that differs significantly (p < {alpha:g}). paired is a test of "
        "each pair (sign test for LexiRecall, t test for values), with Holm's correction for the number of pairs. HSD "
        "is Tukey's test of all runs at once."
    )
    if digest.defined("half_kept"):
        yield (
            "half: tied, kept: if a random half of the relevant documents lost their labels, the share of comparisons "
            "that would be tied, and the share of the measure's decisions that would stay."
        )
        yield (
            "rare: kept: the share of its decisions that would stay if mostly documents that few runs retrieve lost "
            "their labels, as when only the top of some runs was judged."
        )


def _answers(tables: TablesOfRows, digest: Digest) -> Iterator[str]:
    """Answer the questions of a study, with what follows from the numbers."""
    yield f"Which measures tell rankings apart? {_on_ties(digest)}"
    yield f"Which agree with finding everything? {_on_agreement(digest)}"
    if digest.defined("hsd"):
        yield f"Which tell your runs apart? {_on_power(digest)}"
    if digest.defined("survives"):
        yield f"Which survive missing labels? {_on_labels(digest)}"
    labels = [label for label in _DEPTH if any(row["label"] == label for row in tables["data"])]
    depths = " ".join(f"{label.title()} ({_BOUNDS[label]} documents per query): {_DEPTH[label]}" for label in labels)
    yield f"What does the depth of the runs mean? {depths}"


def _on_ties(digest: Digest) -> str:
    shares = digest.defined("ties")
    rising = ", ".join(f"{visible(name)} {percent(shares[name])}" for name in reversed(shares))
    said = f"Share of comparisons that are tied, lowest first: {rising}."
    if many := [name for name in shares if shares[name] > MANY_TIES]:
        said += f" Do not rely on {_joined(many, 'or')} alone: a query on which two runs tie says nothing about them."
    return said


def _on_agreement(digest: Digest) -> str:
    reference, shares = digest.measures[0], digest.defined("agreement")
    allies = [name for name in shares if shares[name] >= ALLY]
    strangers = [name for name in shares if shares[name] < STRANGER]
    said = f"Use {reference} to see which run finds more of what is relevant."
    if digest.defined("ties").get(reference, 0.0) > MANY_TIES:
        said += " It often ties here: the runs return too few documents, or too few have labels, to say more."
    if allies:
        they = "take its side where they decide" if len(allies) > 1 else "takes its side where it decides"
        said += f" {_values(allies, shares)} {they}."
    elif shares:
        nearest = next(iter(shares))
        said += f" No other measure can replace it: the closest is {_values([nearest], shares)}."
    if strangers:
        they = "measure something else" if len(strangers) > 1 else "measures something else"
        them = "them" if len(strangers) > 1 else "it"
        said += (
            f" {_values(strangers, shares)} {they}, such as how soon the first relevant documents come. Report {them} "
            f"beside {reference}, not instead of it."
        )
    return said


def _on_power(digest: Digest) -> str:
    reference, shares = digest.measures[0], digest.defined("hsd")
    best, worst = next(iter(shares)), next(reversed(shares))
    own = "" if reference in (best, worst) else f"; for {reference} it is {percent(shares.get(reference))}"
    if shares[best] == shares[worst]:
        said = f"By HSD, every measure tells {percent(shares[best])} of the pairs of runs apart."
    else:
        said = (
            f"By HSD, {visible(best)} tells the most pairs of runs apart ({percent(shares[best])}), and "
            f"{visible(worst)} the fewest ({percent(shares[worst])}){own}."
        )
    checks = []
    for test, name in (("t", "t test"), ("sign", "sign test")):
        others = _without(digest.defined(test), reference)
        best_other = (
            f" (best other: {visible(other)}, {percent(others[other])})" if (other := next(iter(others), "")) else ""
        )
        checks.append(f"{percent(digest.value(reference, test))} by the {name}{best_other}")
    return (
        f"{said} With the same test for all measures, {reference} tells apart {' and '.join(checks)}. "
        "A difference that no measure shows needs more queries."
    )


def _on_labels(digest: Digest) -> str:
    """Say how many labels may be lost for nine out of ten decisions to stay."""
    shares = digest.defined("survives")
    groups = [
        (f"{100 * share:.0f} %" if share else "less than 10 %")
        + f" for {_joined([name for name in shares if shares[name] == share])}"
        for share in dict.fromkeys(shares.values())
    ]
    last = " With the last of these, trust small differences only if the labels are complete." if groups[1:] else ""
    return f"Nine out of ten decisions stay if labels are lost at random, up to this share: {'; '.join(groups)}.{last}"


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
