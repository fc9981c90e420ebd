"""Summary: what the tables of a study say, in words that a reader can act on.

Belongs here: the sentences, and the small table above them. Not here: the numbers.

Every sentence is made from numbers with their intervals. A difference between two measures is stated if the interval of
the difference does not include 0, in the direction that it has in these data; otherwise the sentence says that the data
do not show one.
"""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from lexirecall.errors import counted, listed
from lexirecall.meta.digest import ENOUGH, FEW, Digest, TablesOfRows, digests, panels
from lexirecall.meta.resampling import FEWEST_TEAMS
from lexirecall.tables import Table, percent
from lexirecall.text import visible

WIDTH = 100
CERTAIN = " by definition"
_COLUMNS = {
    "ties": "tied",
    "agreement": "sides",
    "sign": "sign",
    "hsd": "HSD",
    "hsd_signs": "HSD on signs",
    "paired": "own",
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
    depths = {names[row["collection"]]: _BOUNDS[row["label"]] for row in data}
    groups = [
        f"{visible(panel)} (runs return {depths[panel]} documents per query): "
        + listed([visible(name) for name, its_panel in names.items() if its_panel == panel], 12)
        for panel in dict.fromkeys(names.values())
    ]
    text = (
        f"{len(data):,} collections. {'; '.join(groups)}. Tables and sentences show medians over the collections, and "
        "in parentheses the lowest and the highest value."
    )
    if len(set(depths.values())) > 1:
        text += (
            " Collections of other depths may differ in more than depth: cut the same runs to see what depth changes."
        )
    return text


def _table(digest: Digest, corner: str) -> str:
    shown = {quantity: title for quantity, title in _COLUMNS.items() if digest.defined(quantity)}
    rows = tuple(
        (visible(measure), *(_cell(digest, measure, quantity) for quantity in shown)) for measure in digest.measures
    )
    return Table((corner, *shown.values()), rows).to_text()


def _cell(digest: Digest, measure: str, quantity: str) -> str:
    mark = "*" if quantity == "agreement" and _by_definition(digest, measure) == CERTAIN else ""
    return f"{percent(digest.value(measure, quantity))}{mark}"


def _by_definition(digest: Digest, measure: str) -> str:
    """Say on which collections the reference cannot but agree with a measure; nothing if on none."""
    known = digest.values.get((measure, "by_definition"), ())
    where = "" if all(known) else f" on {sum(known):,.0f} of {counted(len(known), 'collection')}"
    return f"{CERTAIN}{where}" if any(known) else ""


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
        + (f" *:{CERTAIN}, whatever the data." if any(_by_definition(digest, m) for m in digest.measures) else "")
    )
    signs = dict.fromkeys(row["measure"] for row in tables["sensitivity"] if row["test"] == "sign")
    yield (
        f"sign: of {pairs} of runs, the share that differs significantly (p < {alpha:g}) by the sign test with Holm's "
        "correction: it only sees who wins each query, so measures can be compared. HSD: the same by Tukey's test of "
        "all runs at once, as in the paper: on values, and for LexiRecall on the mean preference of a run against the "
        "others. HSD on signs: on that mean preference for every measure. Both depend on which other runs are in the "
        "pool. own: by the measure's own test (t test for values, sign test for "
        f"{_joined(list(signs))}); HSD and own are not comparable between measures."
    )
    if digest.defined("half_kept"):
        yield (
            "half: kept: if a random half of the relevant documents lost their labels, the share of the measure's "
            "decisions that would stay. rare: kept: the same if mostly documents that few runs retrieve lost their "
            "labels, as when only the top of some runs was judged."
        )
    if is_one:
        level = f"{100 * (1 - alpha):g} %"
        yield f"In parentheses: the interval over queries ({level}); for halves, the middle of the splits."
    if digest.over:
        few = f" Over queries alone, as there are fewer than {FEWEST_TEAMS} teams, it is about these runs."
        sentence = f"A difference is stated if its interval, over {', or over '.join(digest.over)}, does not include 0."
        yield sentence + (few if "queries" in digest.over else "")


def _answers(tables: TablesOfRows, digest: Digest, alpha: float) -> Iterator[str]:
    """Answer the questions of a study, with what follows from the numbers."""
    yield f"Which measures tell rankings apart? {_on_ties(tables, digest)}"
    if digest.defined("agreement"):
        yield f"Which agree with finding everything? {_on_agreement(digest)}"
    if digest.defined("sign"):
        yield f"Which tell your runs apart? {_on_power(tables, digest, alpha)}"
    if digest.defined("same_direction"):
        yield f"Would fewer queries do? {_on_queries(digest)}"
    if digest.defined("half_kept"):
        yield f"Which survive missing labels? {_on_labels(tables, digest)}"


def _on_ties(tables: TablesOfRows, digest: Digest) -> str:
    shares = digest.defined("ties")
    rising = ", ".join(_shown(digest, name, "ties") for name in reversed(shares))
    sentences = [f"Share of comparisons that are tied, lowest first: {rising}."]
    if sparse := _sparse(digest):
        decide = "decides" if len(sparse) == 1 else "decide"
        sentences.append(f"{_joined(sparse)} {decide} less than {100 * FEW:.0f} % of the comparisons.")
    if other := [name for name in digest.measures if name not in _comparable(tables, digest)]:
        sentences.append(
            f"{_joined(other)}: over fewer or more comparisons than {digest.measures[0]}, so not compared."
        )
    sentences += _placed(digest, "ties", _comparable(tables, digest), "ties more often", "ties less often")
    return " ".join(sentences)


def _on_agreement(digest: Digest) -> str:
    reference, shares = digest.measures[0], digest.defined("agreement")
    values = ", ".join(_shown(digest, name, "agreement") + _by_definition(digest, name) for name in shares)
    sentences = [f"Of what a measure decides, {reference} decides the same way: {values}. Chance gives 50 %."]
    if chance := [name for name in shares if _may_be_chance(digest, name)]:
        sentences.append(f"{_joined(chance)} may agree by chance only.")
    if taus := digest.defined(f"tau with {reference}"):
        orders = ", ".join(f"{visible(name)} {_tau(digest, name, reference)}" for name in taus)
        sentences.append(f"Kendall's tau between the orders of the runs, with {reference}: {orders}.")
    return " ".join(sentences)


def _on_power(tables: TablesOfRows, digest: Digest, alpha: float) -> str:
    shares = digest.defined("sign")
    if not any(value for name in shares for value in digest.values[name, "sign"]):
        return (
            f"By the sign test with Holm's correction no measure tells any pair of runs apart at p < {alpha:g}: "
            "more queries are needed, or fewer runs."
        )
    values = ", ".join(_shown(digest, name, "sign") for name in shares)
    sentences = [f"Share of the pairs of runs told apart by the same test for all, the sign test: {values}."]
    sentences += _placed(
        digest, "power", _comparable(tables, digest), "tells apart more pairs", "tells apart fewer pairs"
    )
    if contrary := list(_contrary(digest)):
        which = ", ".join(contrary)
        sentences.append(
            f"HSD and HSD on signs disagree on whether {digest.measures[0]} tells apart more pairs than {which}."
        )
    return " ".join(sentences)


def _contrary(digest: Digest) -> Iterator[str]:
    """Give the measures that HSD and HSD on signs put on opposite sides of the first one, and where."""
    reference, *others = digest.measures
    for name in others:
        shares = [
            digest.values.get((measure, how), ()) for how in ("hsd", "hsd_signs") for measure in (reference, name)
        ]
        collections = list(zip(*shares, strict=True)) if len(set(map(len, shares))) == 1 else []
        turned = sum((a - b) * (c - d) < 0 for a, b, c, d in collections)
        if turned and len(collections) > 1:
            yield f"{visible(name)} (on {turned:,} of {len(collections):,} collections)"
        elif turned:
            a, b, c, d = map(percent, collections[0])
            yield f"{visible(name)} (HSD {a} to {b}, on signs {c} to {d})"


def _on_queries(digest: Digest) -> str:
    """Say how far two disjoint halves agree, and that a half and the whole agree too well."""
    reference, shares = digest.measures[0], digest.defined("same_direction")
    orders = ", ".join(_shown(digest, name, "same_direction") for name in shares)
    sentences = [f"Of two disjoint halves of the queries, both have the same run of a pair ahead: {orders}."]
    both, one, opposite = (digest.value(reference, name) for name in ("both_significant", "significant", "opposite"))
    sentences.append(
        f"{reference} tells {percent(one)} of the pairs apart by the sign test on a half, {percent(both)} the "
        f"same way on both, and {percent(opposite)} in opposite ways."
    )
    whole = ", ".join(f"{visible(name)} {percent(digest.value(name, 'with_whole'))}" for name in shares)
    sentences.append(f"A half and the whole that contains it agree more, which understates the error: {whole}.")
    return " ".join(sentences)


def _on_labels(tables: TablesOfRows, digest: Digest) -> str:
    """Say how many labels may be lost for nine out of ten decisions to stay."""
    shares = digest.defined("survives")
    groups = [
        (f"{100 * share:.0f} %" if share else "less than 10 %")
        + f" for {_joined([name for name in shares if shares[name] == share])}"
        for share in dict.fromkeys(shares.values())
    ]
    sentences = []
    if groups:
        at_least = f"At least {100 * ENOUGH:.0f} % of the decisions stay (lower end of the interval)"
        sentences.append(f"{at_least} if labels are lost at random, up to this share: {'; '.join(groups)}.")
    sparse = _sparse(digest)
    if sparse:
        sentences.append(f"Too few decisions to say so of {_joined(sparse)}.")
    others = [name for name in _comparable(tables, digest) if name not in sparse]
    more = "keeps a larger share of its decisions without half of the labels"
    sentences += _placed(digest, "kept_uniform", others, more, "keeps a smaller share")
    return " ".join(sentences)


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
        yield f"{reference} {' and '.join(parts)}{', for these runs' if 'queries' in digest.over else ''}."
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
