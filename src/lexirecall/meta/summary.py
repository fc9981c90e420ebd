"""Summary: what the tables of a study say, in words that a reader can act on.

Belongs here: the sentences, and the small table above them. Not here: the numbers.

Every sentence is made from numbers with their intervals. A difference between two measures is stated if the interval of
the difference does not include 0, in the direction that it has in these data; otherwise the sentence says that the data
do not show one.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, variance
from textwrap import fill
from typing import Any

from lexirecall.errors import counted, listed
from lexirecall.meta.digest import ENOUGH, FEW, Digest, TablesOfRows, digests, panels
from lexirecall.tables import Table, percent
from lexirecall.text import visible

WIDTH = 100
_COLUMNS = {
    "ties": "tied",
    "agreement": "sides",
    "sign": "sign",
    "hsd_signs": "HSD",
    "paired": "own",
    "half_ties": "half: tied",
    "half_kept": "half: kept",
    "rare_kept": "rare: kept",
}
_BOUNDS = {"deep": "more than 1,000", "standard": "more than 100 and up to 1,000", "shallow": "up to 100"}


def summarize(tables: TablesOfRows, *, alpha: float = 0.05) -> str:
    """Return one page of text about the tables of a study, with medians over several collections.

    First comes the small table, one for each panel, then what its columns mean, and then what they say.
    """
    everything, by_panel = digests(tables)
    parts = [_wrapped(_opening(tables["data"]))]
    parts += [_table(digest, visible(name) if by_panel.keys() - {name} else "measure")
              for name, digest in by_panel.items()]  # fmt: skip
    parts.append("\n".join(_wrapped(text, "  ") for text in _legend(tables, everything, alpha)))
    parts += [_wrapped(text) for text in _answers(tables, everything, alpha)]
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
    names = panels(data)
    groups = [
        f"{visible(panel)}{_depth_of(panel, data)}: "
        + listed([visible(name) for name, own in names.items() if own == panel], 12)
        for panel in dict.fromkeys(names.values())
    ]
    return (
        f"{len(data):,} collections. {'; '.join(groups)}. Tables and sentences show medians over the collections, and "
        "in parentheses the lowest and the highest value."
    )


def _depth_of(panel: str, data: Sequence[Mapping[str, Any]]) -> str:
    if any(row["task"] for row in data):
        return ""
    return f" (runs return {_BOUNDS[panel]} documents per query)"


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
        "the one that finds the last of them sooner."
    )
    yield (
        f"sign: of {pairs} of runs, the share that differs significantly (p < {alpha:g}) by the sign test with Holm's "
        "correction: it only sees who wins each query, so measures can be compared. HSD: the same by Tukey's test of "
        "all runs at once, also on wins and losses; it depends on which other runs are in the pool. own: by the "
        "measure's own test (t test for values, sign test for LexiRecall); not comparable between measures."
    )
    if digest.defined("half_kept"):
        yield (
            "half: tied, kept: if a random half of the relevant documents lost their labels, the share of comparisons "
            "that would be tied, and the share of the measure's decisions that would stay. rare: kept: the latter if "
            "mostly documents that few runs retrieve lost their labels, as when only the top of some runs was judged."
        )
    if is_one:
        yield (
            f"In parentheses: the interval over queries ({100 * (1 - alpha):g} %); for samples of queries, the middle "
            "of the samples. A difference is stated if its own interval does not include 0."
        )


def _answers(tables: TablesOfRows, digest: Digest, alpha: float) -> Iterator[str]:
    """Answer the questions of a study, with what follows from the numbers."""
    yield f"Which measures tell rankings apart? {_on_ties(tables, digest)}"
    if digest.defined("agreement"):
        yield f"Which agree with finding everything? {_on_agreement(digest)}"
    if digest.defined("sign"):
        yield f"Which tell your runs apart? {_on_power(tables, digest, alpha)}"
    if digest.defined("direction"):
        yield f"Would fewer queries do? {_on_queries(digest)}"
    if digest.defined("half_kept"):
        yield f"Which survive missing labels? {_on_labels(tables, digest)}"
    if depth := " ".join(_on_depth(tables, digest, alpha)):
        yield f"What does the depth of the runs change? {depth}"


def _on_ties(tables: TablesOfRows, digest: Digest) -> str:
    shares = digest.defined("ties")
    rising = ", ".join(_shown(digest, name, "ties") for name in reversed(shares))
    said = [f"Share of comparisons that are tied, lowest first: {rising}."]
    if sparse := _sparse(digest):
        decide = "decides" if len(sparse) == 1 else "decide"
        said.append(f"{_joined(sparse)} {decide} less than {100 * FEW:.0f} % of the comparisons.")
    if other := [name for name in digest.measures if name not in _comparable(tables, digest)]:
        said.append(f"{_joined(other)}: over fewer or more comparisons than {digest.measures[0]}, so not compared.")
    said += _placed(digest, "ties", _comparable(tables, digest), "ties more often", "ties less often")
    return " ".join(said)


def _on_agreement(digest: Digest) -> str:
    reference, shares = digest.measures[0], digest.defined("agreement")
    values = ", ".join(_shown(digest, name, "agreement") for name in shares)
    said = [f"Of what a measure decides, {reference} decides the same way: {values}. Chance gives 50 %."]
    if chance := [name for name in shares if _may_be_chance(digest, name)]:
        said.append(f"{_joined(chance)} may agree by chance only.")
    if taus := digest.defined(f"tau with {reference}"):
        orders = ", ".join(f"{visible(name)} {_tau(digest, name, reference)}" for name in taus)
        said.append(f"Kendall's tau between the orders of the runs, with {reference}: {orders}.")
    return " ".join(said)


def _on_power(tables: TablesOfRows, digest: Digest, alpha: float) -> str:
    shares = digest.defined("sign")
    if not any(value for name in shares for value in digest.values[name, "sign"]):
        return (
            f"By the sign test with Holm's correction no measure tells any pair of runs apart at p < {alpha:g}: "
            "more queries are needed, or fewer runs."
        )
    values = ", ".join(_shown(digest, name, "sign") for name in shares)
    said = [f"Share of the pairs of runs told apart by the same test for all, the sign test: {values}."]
    said += _placed(digest, "power", _comparable(tables, digest), "tells apart more pairs", "tells apart fewer pairs")
    return " ".join(said)


def _on_queries(digest: Digest) -> str:
    reference = digest.measures[0]
    orders = ", ".join(_shown(digest, name, "direction") for name in digest.defined("direction"))
    said = [f"On a random half of the queries, the better mean of two runs stays the better one: {orders}."]
    if (stays := digest.value(reference, "significance")) is not None:
        said.append(f"Of the significant differences of {reference}, {percent(stays)} stay significant.")
    return " ".join(said)


def _on_labels(tables: TablesOfRows, digest: Digest) -> str:
    """Say how many labels may be lost for nine out of ten decisions to stay."""
    shares = digest.defined("survives")
    groups = [
        (f"{100 * share:.0f} %" if share else "less than 10 %")
        + f" for {_joined([name for name in shares if shares[name] == share])}"
        for share in dict.fromkeys(shares.values())
    ]
    said = []
    if groups:
        at_least = f"At least {100 * ENOUGH:.0f} % of the decisions stay (lower end of the interval)"
        said.append(f"{at_least} if labels are lost at random, up to this share: {'; '.join(groups)}.")
    sparse = _sparse(digest)
    if sparse:
        said.append(f"Too few decisions to say so of {_joined(sparse)}.")
    others = [name for name in _comparable(tables, digest) if name not in sparse]
    said += _placed(digest, "kept_uniform", others, "keeps a larger share of its decisions without half of the labels",
                    "keeps a smaller share")  # fmt: skip
    return " ".join(said)


def _on_depth(tables: TablesOfRows, digest: Digest, alpha: float) -> Iterator[str]:
    """Compare the ties of the deepest and the shallowest collections, if there are several of each."""
    labels = [label for label in _BOUNDS if sum(row["label"] == label for row in tables["data"]) > 1]
    if len(labels) < 2:
        return
    deep, shallow = labels[0], labels[-1]
    for measure in digest.measures:
        here, there = (_ties_of(tables, measure, label) for label in (shallow, deep))
        low, high = _welch(here, there, alpha)
        if low > 0 or high < 0:
            least, most = sorted((abs(low), abs(high)))
            yield (
                f"On {shallow} collections {visible(measure)} ties {'more' if low > 0 else 'less'} often than on "
                f"{deep} ones, by {percent(abs(fmean(here) - fmean(there)))} of the comparisons ({_bare(least)} to "
                f"{_bare(most)})."
            )


def _ties_of(tables: TablesOfRows, measure: str, label: str) -> list[float]:
    rows = (row for row in tables["ties"] if row["measure"] == measure and row["label"] == label)
    return [row["ties"] for row in rows if row["ties"] is not None]


def _welch(x: Sequence[float], y: Sequence[float], alpha: float) -> tuple[float, float]:
    """Return Welch's interval of mean(x) - mean(y); it includes 0 if there are too few values.

    >>> low, high = _welch([0.1, 0.2, 0.3], [0.5, 0.6, 0.7], 0.05)
    >>> round(low, 4), round(high, 4)
    (-0.6267, -0.1733)
    """
    from scipy.special import stdtrit

    if min(len(x), len(y)) < 2:
        return 0.0, 0.0
    difference = fmean(x) - fmean(y)
    squares = variance(x) / len(x), variance(y) / len(y)
    total = sum(squares)
    if not total:
        return difference, difference
    df = total**2 / (squares[0] ** 2 / (len(x) - 1) + squares[1] ** 2 / (len(y) - 1))
    reach = -float(stdtrit(df, alpha / 2)) * total**0.5
    return difference - reach, difference + reach


def _sparse(digest: Digest) -> list[str]:
    """Return the measures that decide few comparisons."""
    return [name for name, share in digest.defined("ties").items() if 1 - share < FEW]


def _comparable(tables: TablesOfRows, digest: Digest) -> list[str]:
    """Return the measures that compare exactly what the first one compares, on every collection."""
    compared: dict[str, list[Any]] = {}
    for row in tables["ties"]:
        compared.setdefault(row["measure"], []).append((row["collection"], row["compared"]))
    return [name for name in digest.measures if compared[name] == compared[digest.measures[0]]]


def _placed(digest: Digest, quantity: str, among: Sequence[str], more: str, fewer: str) -> Iterator[str]:
    """Say which measures the first one exceeds, which exceed it, and with which the data show no difference."""
    reference, others = digest.measures[0], [name for name in among if name != digest.measures[0]]
    if reference not in among or not others:
        return
    below = [name for name in others if digest.exceeds(quantity, reference, name)]
    above = [name for name in others if digest.exceeds(quantity, name, reference)]
    parts = [f"{verb} than {_joined(names)}" for verb, names in ((more, below), (fewer, above)) if names]
    if parts:
        yield f"{reference} {' and '.join(parts)}."
    if equal := [name for name in others if name not in (*below, *above)]:
        yield f"The data do not show a difference between {reference} and {_joined(equal, 'or')} in this."


def _shown(digest: Digest, measure: str, quantity: str) -> str:
    """Return a measure, its share and the interval, or the lowest and highest of several collections."""
    low, high = digest.interval(measure, quantity)
    value = f"{visible(measure)} {percent(digest.value(measure, quantity))}"
    return value if low is None or high is None or low == high else f"{value} ({_bare(low)} to {_bare(high)})"


def _bare(share: float) -> str:
    return f"{100 * share:.1f}"


def _tau(digest: Digest, measure: str, reference: str) -> str:
    low, high = digest.interval(measure, f"tau with {reference}")
    value = digest.value(measure, f"tau with {reference}")
    shown = "-" if value is None else f"{value:.2f}"
    return shown if low is None or high is None or low == high else f"{shown} ({low:.2f} to {high:.2f})"


def _may_be_chance(digest: Digest, measure: str) -> bool:
    """Tell whether the interval of agreement on a single collection includes one half."""
    low, high = digest.interval(measure, "agreement")
    is_one = len(digest.values[measure, "agreement"]) == 1
    return is_one and low is not None and high is not None and low <= 1 / 2 <= high


def _joined(names: Sequence[str], word: str = "and") -> str:
    """Join names as one does in a sentence.

    >>> _joined(["AP"]), _joined(["AP", "RR", "TSE"])
    ('AP', 'AP, RR and TSE')
    """
    *first, last = map(visible, names)
    return f"{', '.join(first)} {word} {last}" if first else last
