"""Makes docs/validity.md of what was counted: the page for readers.

Belongs here: short tables of real runs, and sentences made from the counts, what does not hold among them. Not here:
every single number (validity_tables).
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from validity_tables import (
    FAMILY_TESTS,
    LEAST_COVERAGE,
    MOST_ERROR,
    Counts,
    Rate,
    RealErrors,
    Row,
    Shown,
    alarms,
    certify_conclusions,
    grouped,
    laid_out,
    listed,
    percent,
    plain,
    power,
    real_errors,
    shown_in,
    table,
    together,
)

SIZES = (10, 20, 50, 100)
FEWEST = 100  # intervals of one number, measure, collection and size that say how often they hold


# Intervals


def interval_rows(shown: list[Shown]) -> Iterator[Row]:
    """Give the coverage of each interval over all measures and collections, and where it is least."""
    yield ["number", "method", *(f"{size} queries" for size in SIZES), "least of one measure"]
    for name, own in grouped(shown, lambda each: (each.number, each.method)).items():
        cells = [together(each for each in own if each.num_queries == size) for size in SIZES]
        least = min((each for each in own if each.num_shown >= FEWEST), key=lambda each: each.rate.share, default=None)
        where = f"{least.rate} ({_where(least)})" if least else ""
        yield [*name, *(str(each or "") for each in cells), where]


def _where(each: Shown) -> str:
    return f"{each.measure}, {each.collection}, {each.num_queries}"


def too_few(shown: Iterable[Shown]) -> list[Shown]:
    """Return those that hold too seldom, beyond Monte-Carlo error."""
    return [each for each in shown if each.num_shown >= FEWEST and each.rate.verdict == "no"]


def interval_sentences(shown: list[Shown]) -> Iterator[str]:
    """Say which methods hold for which numbers of queries."""
    pooled = [
        each
        for own in grouped(shown, lambda each: (each.number, each.method, each.num_queries)).values()
        if (each := together(own)) and each.num_shown >= FEWEST
    ]
    missing = too_few(pooled)
    held = [each.rate.share for each in pooled if each not in missing]
    yield (
        f"Of the 95 % intervals that are shown, {plain(min(held))} to {plain(max(held))} hold, by method and number of "
        f"queries, in {len(held)} of {len(pooled)} cells of the table."
    )
    for (number, method), own in grouped(missing, lambda each: (each.number, each.method)).items():
        sizes = listed([f"{each.rate} with {each.num_queries} queries" for each in own])
        subject = f"{number[0].upper()}{number[1:]}, by {method}"
        yield f"**{subject}: too few hold, {sizes}.** {WHY.get(number, '')}".rstrip()
    if cells := too_few(each for each in shown if each.number not in WHY):
        worst = listed(
            [f"{each.number} by {each.method} {each.rate} ({_where(each)})"
             for each in sorted(cells, key=lambda each: each.rate.share)]
        )  # fmt: skip
        yield (
            f"**Under a single measure of one collection, too few hold in {len(cells)} of "
            f"{sum(each.num_shown >= FEWEST for each in shown)} cases: {worst}.** These are shown all the same: a rule "
            "that looked at the sample would keep the wrong ones."
        )


WHY = {
    "mean difference under TSE": (
        "A difference of TSE rests on the rare query whose last document comes early, also where eight queries or more "
        "seem to decide. So `compare` shows no interval, and decides by wins; these would be shown otherwise."
    ),
}
"""What is behind an interval that does not hold, and what the program does about it."""


# Tests


def family_rows(errors: list[RealErrors]) -> Iterator[Row]:
    """Give the family-wise errors over all measures but TSE and both collections, and where they are largest."""
    errors = [each for each in errors if each.measure != TSE]
    columns = [*dict.fromkeys((each.null, each.num_runs, each.num_queries) for each in errors)]
    columns.sort(key=lambda each: (each[0] != "permuted", each[1], each[2]))
    yield ["test", *(f"{null}, {runs} runs, {size}" for null, runs, size in columns), "largest of one measure"]
    for test, title in FAMILY_TESTS.items():
        cells = [error_of(errors, test, *column) for column in columns]
        largest = largest_of(errors, test)
        yield [title, *(str(each or "") for each in cells), f"{largest.rate(test)} ({_family(largest)})"]


def error_of(errors: list[RealErrors], test: str, null: str, runs: int, size: int) -> Rate | None:
    """Return the error over all measures and collections; None if it was not counted."""
    own = [
        each for each in errors
        if test in each.found and (each.null, each.num_runs, each.num_queries) == (null, runs, size)
    ]  # fmt: skip
    sets = sum(each.num_sets for each in own)
    return Rate(sum(each.found[test] for each in own) / sets, sets, 0.0, MOST_ERROR) if sets else None


def _family(each: RealErrors) -> str:
    return f"{each.measure}, {each.collection}, {each.null}, {each.num_runs} runs, {each.num_queries} queries"


def family_sentences(errors: list[RealErrors]) -> Iterator[str]:
    """Say which tests keep to .05 over all measures, up to Monte-Carlo error, and under which measure they do not."""
    usual, of_tse = ([each for each in errors if (each.measure == TSE) == is_tse] for is_tse in (False, True))
    worst = {test: max(columns_of(usual, test), key=lambda each: each[1].share) for test in FAMILY_TESTS}
    failing = [test for test, (_, rate) in worst.items() if rate.verdict == "no"]
    holding = [f"{FAMILY_TESTS[test]} ({rate} at most)" for test, (_, rate) in worst.items() if test not in failing]
    if holding:
        yield (
            f"Over all measures but TSE, a difference that is not there is found in at most .06 of the samples, up to "
            f"Monte-Carlo error, by {listed(holding)}."
        )
    if failing:
        found = listed([f"{FAMILY_TESTS[test]}, {worst[test][1]} ({worst[test][0]})" for test in failing])
        hsd = " A note says whenever it is used that HSD is right only while no run differs from any other."
        more = " With many runs and skewed values take `--test max-t`." if "max-t" not in failing else ""
        yield f"**Too many are found by {found}.**{hsd if 'hsd' in failing else ''}{more if 'auto' in failing else ''}"
    singles = {test: largest_of(usual, test) for test in FAMILY_TESTS if test not in failing}
    if missed := [test for test, each in singles.items() if each.rate(test).verdict == "no"]:
        found = listed(
            [f"{FAMILY_TESTS[test]}, {singles[test].rate(test)} ({_family(singles[test])})" for test in missed]
        )
        yield f"**Under a single measure of one collection too many are found by {found}.**"
    if of_tse:
        rates = {FAMILY_TESTS[test]: largest_of(of_tse, test).rate(test) for test in FAMILY_TESTS}
        if wrong := [f"{name} ({rate} at most)" for name, rate in rates.items() if rate.verdict == "no"]:
            yield f"**Under TSE too many are found by {listed(wrong)}.** {WITH_TSE}"


def columns_of(errors: list[RealErrors], test: str) -> Iterator[tuple[str, Rate]]:
    """Give the error over all measures and collections in each column of the table, with its title."""
    for null, runs, size in dict.fromkeys((each.null, each.num_runs, each.num_queries) for each in errors):
        if rate := error_of(errors, test, null, runs, size):
            yield f"{null}, {runs} runs, {size} queries", rate


def largest_of(errors: list[RealErrors], test: str) -> RealErrors:
    """Return where a test finds most."""
    return max((each for each in errors if test in each.found), key=lambda each: each.found[test] / each.num_sets)


TSE = "TSE"
WITH_TSE = """\
No test of its mean holds, as no interval does. So `compare` and `gate` decide by wins under TSE, and a test of its mean
that you ask for gives no letter."""


# Gates


def alarm_rows(counts: Counts) -> Iterator[Row]:
    """Give the false alarms of the gate over both collections, and over all measures compared by their mean."""
    yield ["compared by", "runs are", *(f"{size} queries" for size in SIZES)]
    kinds: dict[tuple[str, str], dict[str, list[dict[str, float]]]] = {}
    for name, found in counts.items():
        _, null, measure, size = name.split(" | ")
        what = "number found and LexiRecall" if measure == "default" else "AP, nDCG@10, RR or R@100"
        kinds.setdefault((what, null), {}).setdefault(size, []).append(found)
    for kind, own in kinds.items():
        yield [*kind, *(str(summed(own[str(size)], "alarms", 0.0, 0.05)) if str(size) in own else "" for size in SIZES)]


def summed(found: list[dict[str, float]], what: str, low: float, high: float) -> Rate:
    """Return the rate over several settings."""
    sets = int(sum(each["sets"] for each in found))
    return Rate(sum(each[what] for each in found) / sets, sets, low, high)


def loss_rows(counts: Counts) -> Iterator[Row]:
    """Give what the default gate says that it notices, and how often it does, over both collections."""
    yield ["what moves on the other queries", "moving", *(f"{size} queries" for size in SIZES)]
    names = {name: name.split(" | ") for name in counts}
    for moves, moving in dict.fromkeys((each[1], each[2]) for each in names.values()):
        cells = []
        for size in SIZES:
            own = [counts[name] for name, each in names.items() if each[1:] == [moves, moving, str(size)]]
            said = sum(each["said"] for each in own) / sum(each["sets"] for each in own) if own else 0
            cells.append(f"{percent(said)}: {summed(own, 'noticed', 0.8, 1.0)}" if own else "")
        yield [moves, percent(float(moving)), *cells]


def gate_sentences(results: dict[str, Counts]) -> Iterator[str]:
    """Say what a gate may be relied on for."""
    if counts := results.get("gates-real"):
        rates = {name: alarms(found, "alarms") for name, found in counts.items()}
        missed = {name: rate for name, rate in rates.items() if rate.verdict == "no"}
        default = [rate for name, rate in rates.items() if " | default | " in name]
        yield (
            f"A gate at .05 that compares by the number found and by LexiRecall, as it does without `-m`, fails a run "
            f"as good as its baseline in {plain(min(each.share for each in default))} to "
            f"{plain(max(each.share for each in default))} of the samples; by a measure it is at most .05, up to "
            f"Monte-Carlo error, in {len(rates) - len(default) - len(missed)} of {len(rates) - len(default)} settings."
        )
        if missed:
            worst = max(missed, key=lambda name: missed[name].share)
            collection, null, measure, size = worst.split(" | ")
            yield (
                f"**False alarms are too many where differences are skewed: {missed[worst]} at most ({measure}, "
                f"{collection}, {null}, {size} queries).** Where few queries make the mean the sign test decides, "
                "which asks who loses more often; leave out `-m`, or give a margin."
            )
    if counts := results.get("losses-real"):
        rates = {name: power(found, "noticed") for name, found in counts.items()}
        held = sum(rate.verdict != "no" for rate in rates.values())
        least = min(rates, key=lambda name: rates[name].share)
        _, moves, moving, size = least.split(" | ")
        yield (
            f"If as many queries lose a document as the gate's note says that it notices with the chance .8, it does "
            f"so as often, up to Monte-Carlo error, in {held} of {len(rates)} settings, least often in {rates[least]} "
            f"({percent(float(moving))} move, {moves}, {size} queries)."
        )
        yield _of_lexirecall(counts)
    if ledger := results.get("ledger"):
        within, without = ([alarms(found, each) for found in ledger.values()] for each in ("with", "without"))
        yield (
            f"With a ledger, any of 20 builds fails without a cause in {_span(within)} of simulated sequences; without "
            f"one in {_span(without)}."
        )


def _of_lexirecall(counts: Counts) -> str:
    """Compare the default gate with LexiRecall alone, where only the order of others moves."""
    own = [found for name, found in counts.items() if name.split(" | ")[1:] == ["order", "0.8", "50"]]
    both, alone = (summed(own, each, 0.0, 1.0) for each in ("broken", "broken by LexiRecall"))
    return (
        f"If 16 % of 50 queries lose a document while the order of 80 % of the others moves, the default gate notices "
        f"it in {both} of the samples, and LexiRecall alone in {alone}."
    )


# Groups, providers, reviews


def group_sentences(results: dict[str, Counts]) -> Iterator[str]:
    """Say how often a group or a provider is singled out without a cause."""
    if counts := results.get("groups-real"):
        rates = {name: Rate(f["found"] / f["tested"], int(f["tested"]), 0.0, 0.06) for name, f in counts.items()}
        worst = max(rates, key=lambda name: rates[name].share)
        collection, measure, sizes, spread = worst.split(" | ")
        times = "" if spread == "1" else f", the first with {spread} times the spread"
        mark = "**" if rates[worst].verdict == "no" else ""
        yield (
            f"A difference that does not vary by group is found to vary in {_span(rates.values())} of the samples, in "
            f"at most .06, up to Monte-Carlo error, in {sum(r.verdict != 'no' for r in rates.values())} of "
            f"{len(rates)} settings; {mark}most often in {rates[worst]}, of groups of {sizes.strip('()')}{mark} "
            f"queries ({measure}, {collection}{times})."
        )
    if counts := results.get("providers-real"):
        rates = {name: Rate(f["found"] / f["sets"], int(f["sets"]), 0.0, 0.06) for name, f in counts.items()}
        shown = [f for f in counts.values() if f["intervals 50"]]
        yield (
            f"Where documents are handed out to providers at random, {_span(rates.values())} of the tables have a "
            f"`p_corrected` below .05."
        )
        if shown:
            sets = int(sum(f["intervals 50"] for f in shown))
            wrong = Rate(sum(f["wrong 50"] for f in shown) / sets, sets, 0.0, 1 - LEAST_COVERAGE)
            mark = "**" if wrong.verdict == "no" else ""
            few = [f for f in counts.values() if f["intervals 5"] > f["intervals 50"]]
            hidden = int(sum(f["intervals 5"] - f["intervals 50"] for f in few))
            of_hidden = Rate(sum(f["wrong 5"] - f["wrong 50"] for f in few) / hidden, hidden, 0.0, 0.05)
            yield (
                f"Of the intervals of ratios, which are shown from 50 queries of a provider on, {mark}{wrong} leave "
                f"out the ratio 1{mark}; below 50 it would be {of_hidden}, so there are none. Decide by `p_corrected`."
            )


def _span(rates: Iterable[Rate]) -> str:
    shares = sorted(rate.share for rate in rates)
    return f"{plain(shares[0])} to {plain(shares[-1])}"


# The page


def paragraphs(results: dict[str, Counts]) -> Iterator[str]:
    """Give the parts of the page; what was not counted is not on it."""
    shown, errors = [*shown_in(results)], [*real_errors(results)]
    yield "# Do the numbers hold?"
    yield INTRODUCTION
    if shown:
        yield "## Intervals"
        yield from interval_sentences(shown)
        yield table(interval_rows(shown))
        yield INTERVALS
        yield NO_INTERVAL
        yield table(WITHOUT)
    if errors:
        yield "## Tests of all pairs"
        yield from family_sentences(errors)
        yield table(family_rows(errors))
        yield FAMILIES
    if results.get("gates-real") or results.get("ledger"):
        yield "## Gates"
        yield " ".join(gate_sentences(results))
        yield GATES
        for part, rows in (("gates-real", alarm_rows), ("losses-real", loss_rows)):
            if counts := results.get(part):
                yield table(rows(counts))
    if sentences := [*group_sentences(results)]:
        yield "## Groups and providers"
        yield " ".join(sentences)
    yield "## Certificates of recall and missing labels"
    yield " ".join([*certify_conclusions(results), LABELS])


INTRODUCTION = """\
An interval at 95 % should hold the true value in 95 % of all cases; a test of all pairs at .05 should find a difference
that is not there in at most 5 %; a gate at .05 should fail at most 5 % of the runs that are as good as their baseline.
Here is how often they do, on real runs: 17 of TREC Robust 2003 (robust03, 100 queries) and 16 of CLEF TAR 2017
(clef-tar-2017, 30 reviews). The number of all queries is the truth, and samples of 10, 20, 50 and 100 of them are drawn
with replacement (100 of Robust only). ± is the Monte-Carlo standard error. *Too few*, or *too many*, means by more than
twice that. What does not hold is in bold. `python benchmarks/validity.py page` writes the page, its sentences too, from
counts; [the tables](validity-tables.md) have every measure and collection by itself, and simulations. Count your own
runs with `python benchmarks/validity.py real FOLDER…`, where a folder has qrels.txt and runs/."""
INTERVALS = """\
A number is the share of the intervals shown that hold; in brackets is the share of samples that show one, if not all
do. Measures are AP, nDCG@10, RR, R@100 and P@10, of most numbers also TSE; shares of queries are those of Success@10,
and wins less losses are those of LexiRecall and Success@10. The aim is .93 or more; the last column has the least of
any measure, collection and number of queries."""
NO_INTERVAL = "Where no method holds there is no interval, and a note says so:"
WITHOUT = [
    ["number", "without an interval", "instead"],
    ["mean", "fewer than 8 queries; all values equal; TSE", "median"],
    ["mean difference", "fewer than 8 effective queries; TSE", "the sign test decides: who wins more often"],
    ["tail, difference of tails", "fewer than 5 queries in the tail; all of these equal", "a larger share"],
    ["difference of medians or quantiles", "always", "the median of the differences on each query"],
    ["minimum, worst-off provider", "always", "a tail"],
]
FAMILIES = """\
Permuted: half of the runs are handed out among each other anew on each query, so that they do not differ, and the
others stay as they are. Centred: every run is shifted so that no means differ; only tests of means are counted. The
measures are AP, nDCG@10, RR and R@1000, and, where runs are permuted, LexiRecall. Centred pairs that fewer than
eight queries tell apart are not counted: they have no letter about their means."""
GATES = """\
The first table has how often runs as good as their baseline fail. Swapped: the labels of two runs are exchanged on a
random half of the queries. Tilted: queries are drawn with chances that make the mean difference 0, with its real skew.
The second has what share of the queries the default gate says a change must break for it to be noticed with the chance
.8, and how often it notices that, while others move: their order alone, or also how many documents are found."""
LABELS = """\
What `unjudged` lists to judge next was tried where judgments were hidden, beside simpler choices:
[the tables](validity-tables.md#missing-labels-trec-robust-2003) have what came of it. Forecasts of decisions were tried
there, too, and are [not offered](unjudged.md#what-is-not-offered)."""


def write(path: Path, results: dict[str, Counts]) -> None:
    """Write the page."""
    path.write_text("\n\n".join(map(laid_out, paragraphs(results))) + "\n")
