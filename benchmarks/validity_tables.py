"""Makes docs/validity-tables.md of what was counted, the appendix of docs/validity.md.

Belongs here: rates with their Monte-Carlo error, whether they meet the aims, every table, and what simulations show.
Not here: counting (validity), the page for readers (validity_page).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from textwrap import fill
from typing import Any

from validity_labels_page import ScoreCounts, label_conclusions, label_paragraphs
from validity_real import KNOWN_DOCUMENT, SIGNS

Counts = dict[str, dict[str, float]]
Row = list[str]
MOST_ERROR = 0.06  # the aim for the family-wise error
LEAST_COVERAGE = 0.93  # the aim for intervals of real runs
TESTS = {
    "t": "t + Holm", "sign": "sign + Holm", "wilcoxon": "Wilcoxon + Holm", "randomization": "randomization + Holm",
    "max-t": "max-T", "hsd": "HSD", "randomized-hsd": "randomized HSD",
}  # fmt: skip
INTERVALS = {
    "tango": "Mean preference: Tango's interval",
    "t": "Mean difference: t interval",
    "wilcoxon": "Pseudomedian: Hodges and Lehmann's interval",
}
SIZES = {
    "signs": "",
    "normal": "normal differences, shifted by the effect in standard deviations",
    "skewed": "sizes U² for a uniform U",
    "few decide": "sizes U^20, of which a few decide",
}
CORE = {
    "signs": "", "normal": " (normal differences)", "skewed": " (skewed differences)",
    "few decide": " (few queries decide)",
}  # fmt: skip
VALUES = {"measure": "low", "high": "high"}
RESPONSES = {"measure": "measure", "sparse": "sparse measure", "preference": "LexiRecall"}
EFFECTS = {
    "none": "No run differs from any other",
    "better": "Half of the runs are better than the other half",
    "variants": "A quarter of the runs are better, and the others are variants of one run",
}
ALPHA = 0.05
GATES = {
    "LexiRecall": "LexiRecall", "measure": "a measure", "gains": "a measure with few large gains",
    "losses": "a measure with few large losses", "three": "LexiRecall and two measures",
}  # fmt: skip
SEQUENCES = {
    "apart": "made anew", "variants": "a tenth of the queries changes",
    "sampled": "a tenth changes, on samples of the queries",
}  # fmt: skip
_WHOLE: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


@dataclass(frozen=True)
class Rate:
    """A share of the data sets, and the aim for it."""

    share: float
    num_sets: int
    """How many were counted; 0 if the share is exact."""
    low: float
    high: float

    @property
    def error(self) -> float:
        """The standard error of the share; that of a share of 0 or 1 as if one data set were otherwise.

        >>> round(Rate(0.05, 1900, 0, 0.06).error, 6)
        0.005
        """
        if self.num_sets == 0:
            return 0.0
        share = min(max(self.share, 1 / self.num_sets), 1 - 1 / self.num_sets)
        return sqrt(share * (1 - share) / self.num_sets)

    @property
    def verdict(self) -> str:
        """Whether the aim is met: "no" if it is missed by more than two standard errors.

        >>> [Rate(share, 1900, 0, 0.06).verdict for share in (0.06, 0.065, 0.08)]
        ['yes', 'within error', 'no']
        """
        missed = max(self.low - self.share, self.share - self.high)
        if missed <= 0:
            return "yes"
        return "within error" if missed <= 2 * self.error else "no"

    def __str__(self) -> str:
        return plain(self.share) + (f" ± {plain(self.error)}" if self.num_sets else "")


def plain(number: float) -> str:
    """Write a share with three digits.

    >>> plain(0.9471), plain(1.0)
    ('.947', '1.000')
    """
    return f"{number:.3f}".removeprefix("0")


# Coverage


@dataclass(frozen=True)
class Covered:
    """How often an interval holds the true value, in one setting."""

    interval: str
    sizes: str
    num_queries: int
    ties: float
    effect: float
    rate: Rate
    without: float
    """The share of data sets that have no interval."""

    @property
    def is_core(self) -> bool:
        """Whether the stricter aim applies."""
        return is_core(self.num_queries, self.effect)


def is_core(num_queries: int, effect: float) -> bool:
    """Tell whether the stricter aim applies: enough queries, and an effect of at most half the untied share."""
    return num_queries >= 50 and effect <= 0.5


def covered(counts: Counts) -> Iterator[Covered]:
    """Give the coverage of each interval in each setting."""
    for name, found in counts.items():
        sizes, *numbers = name.split(" | ")
        num_queries, ties, effect = int(numbers[0]), float(numbers[1]), float(numbers[2])
        low, high = (0.93, 0.97) if is_core(num_queries, effect) else (0.9, 1.0)
        for interval in INTERVALS.keys() & found.keys():
            num_sets = int(found["sets"])
            given = int(found[f"{interval} given"]) if num_sets else 1
            rate = Rate(found[interval] / given, given if num_sets else 0, low, high)
            yield Covered(interval, sizes, num_queries, ties, effect, rate, 1 - given / num_sets if num_sets else 0.0)


def coverage_tables(found: list[Covered]) -> Iterator[str]:
    for interval, title in INTERVALS.items():
        yield f"### {title}"
        for sizes, words in SIZES.items():
            cells = [each for each in found if (each.interval, each.sizes) == (interval, sizes)]
            if cells:
                if words:
                    yield f"{words[0].upper()}{words[1:]}:"
                yield table(coverage_rows(cells))


def coverage_rows(cells: list[Covered]) -> Iterator[Row]:
    effects = sorted({each.effect for each in cells})
    yield ["queries", "tied", *(f"effect {each:g}" for each in effects), "no interval", "aim met"]
    for n, ties in sorted({(each.num_queries, each.ties) for each in cells}):
        row = {each.effect: each for each in cells if (each.num_queries, each.ties) == (n, ties)}
        rates = {f"{effect:g}": row[effect].rate for effect in effects}
        without = max(each.without for each in row.values())
        yield [str(n), f"{ties:g}", *map(str, rates.values()), plain(without) if without else "", verdict(rates)]


def verdict(rates: dict[str, Rate]) -> str:
    """Say whether a row meets its aim, and otherwise where it does not.

    >>> verdict({"t": Rate(0.05, 1900, 0, 0.06), "HSD": Rate(0.2, 1900, 0, 0.06)})
    'no: HSD'
    """
    missed = {word: [name for name, rate in rates.items() if rate.verdict == word] for word in ("no", "within error")}
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in missed.items() if names) or "yes"


# Errors


@dataclass(frozen=True)
class Erred:
    """How often each test finds a difference between equally good runs, in one setting."""

    response: str
    effects: str
    num_runs: int
    num_queries: int
    effective: float
    rates: dict[str, Rate]

    def __str__(self) -> str:
        return f"{RESPONSES[self.response]}, {self.num_runs} runs, {self.num_queries} queries"


def erred(counts: Counts) -> Iterator[Erred]:
    """Give the family-wise errors of each setting."""
    for name, found in counts.items():
        response, effects, num_runs, num_queries, _ = name.split(" | ")
        num_sets = int(found["sets"])
        rates = {test: Rate(found[test] / num_sets, num_sets, 0.0, MOST_ERROR) for test in TESTS}
        yield Erred(response, effects, int(num_runs), int(num_queries), found["effective"] / num_sets, rates)


def error_tables(found: list[Erred]) -> Iterator[str]:
    for effects, title in EFFECTS.items():
        rows = [each for each in found if each.effects == effects]
        if rows:
            yield f"### {title}"
            yield table(error_rows(rows))


def error_rows(found: list[Erred]) -> Iterator[Row]:
    yield ["", "runs", "queries", "effective", *TESTS.values(), "aim met"]
    for each in sorted(found, key=lambda each: ([*RESPONSES].index(each.response), each.num_runs, each.num_queries)):
        named = {TESTS[test]: rate for test, rate in each.rates.items()}
        effective = "" if each.response == "preference" else f"{each.effective:.0f}"
        yield [
            RESPONSES[each.response], str(each.num_runs), str(each.num_queries), effective,
            *map(str, named.values()), verdict(named),
        ]  # fmt: skip


# Sentences


def conclusions(coverage: list[Covered], errors: list[Erred]) -> Iterator[str]:
    """Say in five sentences what the numbers show."""
    if coverage:
        yield _of_interval(coverage, "tango", "Tango's interval of a mean preference")
        yield _of_interval(coverage, "t", "The t interval of a mean difference")
        yield _of_interval(coverage, "wilcoxon", "Hodges and Lehmann's interval of the pseudomedian")
    if errors:
        yield _of_tests_that_hold(errors)
        yield _of_others(errors)


def _of_interval(coverage: list[Covered], interval: str, subject: str) -> str:
    mine = [each for each in coverage if each.interval == interval]
    parts = [
        f"{plain(min(core))} to {plain(max(core))}{where}"
        for sizes, where in CORE.items()
        if (core := [each.rate.share for each in mine if each.is_core and each.sizes == sizes])
    ]
    num_met = sum(each.rate.verdict != "no" for each in mine)
    worst = min(mine, key=lambda each: each.rate.share)
    return (
        f"{subject} holds the true value in {listed(parts)} of the data sets with 50 queries or more and an effect of "
        f"at most half the untied share; it meets its aim, up to Monte-Carlo error, in {num_met} of {len(mine)} "
        f"settings, and holds least often, {worst.rate}, with {worst.num_queries} queries, {worst.ties:.0%} of them "
        f"tied, and an effect of {worst.effect:g}{CORE[worst.sizes]}."
    )


def tests_with(word: str, errors: list[Erred]) -> list[str]:
    """Return the tests whose largest error has this verdict."""
    return [test for test in TESTS if _worst(errors, test).rates[test].verdict == word]


def _of_tests_that_hold(errors: list[Erred]) -> str:
    holding, near = tests_with("yes", errors), tests_with("within error", errors)
    if not holding:
        return f"No test keeps the family-wise error at {plain(MOST_ERROR)} in all {len(errors)} settings."
    least = listed([f"{TESTS[test]} ({_worst(errors, test).rates[test]} at most)" for test in holding])
    text = (
        f"In all {len(errors)} settings, whether other runs differ or not, the family-wise error is at most "
        f"{plain(MOST_ERROR)} with {least}"
    )
    if near:
        text += f"; within Monte-Carlo error of that is {_largest(errors, near)}"
    return f"{text}."


def _of_others(errors: list[Erred]) -> str:
    failing = tests_with("no", errors)
    if not failing:
        return "No test exceeds that, so the choice between them is one of power and of what they ask."
    return (
        f"More often than that, equally good runs are told apart by {_largest(errors, failing)}, so prefer the tests "
        "that hold."
    )


def _largest(errors: list[Erred], tests: list[str]) -> str:
    worst = {test: _worst(errors, test) for test in tests}
    return listed(
        [f"{TESTS[test]}, {each.rates[test]} ({each}; {_where(each)})," for test, each in worst.items()]
    ).rstrip(",")


def _where(each: Erred) -> str:
    return {"none": "no run differs", "better": "half are better", "variants": "variants of one run"}[each.effects]


def _worst(errors: list[Erred], test: str) -> Erred:
    return max(errors, key=lambda each: each.rates[test].share)


# Tails and groups


def tail_rows(counts: Counts) -> Iterator[Row]:
    """Give the coverage of each difference; a row has all effects."""
    settings = [name.split(" | ") for name in counts]
    effects = sorted({each[3] for each in settings}, key=float)
    yield ["values", "over", "queries", *(f"effect {float(each):g}" for each in effects), "aim met"]
    for response, over, num_queries in dict.fromkeys(tuple(each[:3]) for each in settings):
        rates = {}
        for effect in effects:
            found = counts[" | ".join((response, over, num_queries, effect))]
            rates[f"{float(effect):g}"] = Rate(found["held"] / found["sets"], int(found["sets"]), 0.93, 0.97)
        yield [VALUES[response], over, num_queries, *map(str, rates.values()), verdict(rates)]


def group_rows(counts: Counts) -> Iterator[Row]:
    """Give how often a difference is found that is not there."""
    yield ["groups of", "spread of the first", "differences", "found", "aim met"]
    for name, found in counts.items():
        sizes, spread, shape = name.split(" | ")
        rate = Rate(found["found"] / found["sets"], int(found["sets"]), 0.0, MOST_ERROR)
        how = "as that of the others" if float(spread) == 1 else f"{float(spread):g} times as large"
        yield [sizes.strip("()"), how, shape, str(rate), rate.verdict]


# Real runs


@dataclass(frozen=True)
class Shown:
    """How often an interval is shown, and holds the number of all queries, on real runs."""

    number: str
    method: str
    collection: str
    measure: str
    num_queries: int
    num_sets: int
    num_shown: int
    num_held: int

    @property
    def rate(self) -> Rate:
        """The share that holds, of the intervals that are shown."""
        return Rate(self.num_held / max(self.num_shown, 1), max(self.num_shown, 1), LEAST_COVERAGE, 1.0)

    @property
    def share(self) -> float:
        """The share of samples that show an interval."""
        return self.num_shown / self.num_sets

    def __str__(self) -> str:
        if not self.num_shown:
            return "none"
        return str(self.rate) + (f" ({percent(self.share)})" if self.share < MOSTLY else "")


MOSTLY = 0.995  # from here on all samples show an interval, to the digits that are printed


def percent(share: float) -> str:
    """Write a share without a digit behind the point where there is one before it.

    >>> percent(0.872), percent(0.0042)
    ('87 %', '0.4 %')
    """
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1g} %"


def shown_in(results: dict[str, Counts]) -> Iterator[Shown]:
    """Give every interval by number, method, collection, measure and size of the sample."""
    for name, found in results.get("intervals-real", {}).items():
        collection, number, method, measure, size = name.split(" | ")
        yield Shown(number, method, collection, measure, int(size), *_counts_of(found, "shown", "held"))
    for name, found in results.get("differences-real", {}).items():
        collection, number, measure, size = name.split(" | ")
        of = collection, measure, int(size)
        if number != "mean":
            is_tail = number.startswith("tail")
            what, method = (
                (f"difference in {number}", "t of the influence") if is_tail else (number, "order statistics")
            )
            yield Shown(what, method, *of, *_counts_of(found, "shown", "held"))
            continue
        if measure in SIGNS:
            number = "wins less losses"
        else:
            under = " under TSE" if measure == "TSE" else ""
            yield Shown(f"mean difference{under}", "t", *of, *_counts_of(found, "t shown", "t"))
            number = "difference of one size"
            if measure != KNOWN_DOCUMENT:  # of others eight differences hardly ever have one size
                continue
        yield Shown(number, "Tango", *of, *_counts_of(found, "Tango shown", "Tango"))


def _counts_of(found: dict[str, float], shown: str, held: str) -> tuple[int, int, int]:
    return int(found["sets"]), int(found[shown]), int(found[held])


def together(shown: Iterable[Shown]) -> Shown | None:
    """Add up what is shown of several measures and collections; None of nothing."""
    of = [*shown]
    if not of:
        return None
    sums = (sum(getattr(each, name) for each in of) for name in ("num_sets", "num_shown", "num_held"))
    return Shown(of[0].number, of[0].method, "", "", of[0].num_queries, *sums)


def grouped(shown: Iterable[Shown], key: Callable[[Shown], Any]) -> dict[Any, list[Shown]]:
    """Return what is shown by a key, in the order in which keys come up."""
    made: dict[Any, list[Shown]] = {}
    for each in shown:
        made.setdefault(key(each), []).append(each)
    return made


def shown_rows(shown: list[Shown]) -> Iterator[Row]:
    """Give the coverage of every interval, with the share of samples that show one in brackets."""
    sizes = sorted({each.num_queries for each in shown})
    yield ["number", "method", "values of", "measure", *(f"{size} queries" for size in sizes), "aim met"]
    rows = grouped(shown, lambda each: (each.number, each.method, each.collection, each.measure))
    for name, own in rows.items():
        of = {each.num_queries: each for each in own}
        cells = [str(of[size]) if size in of else "" for size in sizes]
        if any(each.num_shown for each in own):
            yield [*name, *cells, verdict({str(size): each.rate for size, each in of.items() if each.num_shown})]


FAMILY_TESTS = {"auto": "auto + Holm", **TESTS}
"""The tests of all pairs on real runs."""
OF_MEANS = ("auto", "t", "randomization", "max-t", "hsd", "randomized-hsd")
"""Those that are about means; runs that are centred tie in nothing else."""


@dataclass(frozen=True)
class RealErrors:
    """How often each test finds a difference between real runs that do not differ."""

    collection: str
    null: str
    measure: str
    num_runs: int
    num_queries: int
    num_sets: int
    found: dict[str, int]

    def rate(self, test: str) -> Rate:
        """Return the share of samples in which this test finds any."""
        return Rate(self.found[test] / self.num_sets, self.num_sets, 0.0, MOST_ERROR)


def real_errors(results: dict[str, Counts]) -> Iterator[RealErrors]:
    """Give the family-wise errors on real runs."""
    for name, found in results.get("families-real", {}).items():
        collection, null, measure, runs, size = name.split(" | ")
        tests = [test for test in FAMILY_TESTS if null != "centred" or test in OF_MEANS]
        counts = {test: int(found[test]) for test in tests}
        yield RealErrors(collection, null, measure, int(runs), int(size), int(found["sets"]), counts)


def real_error_rows(errors: Iterable[RealErrors]) -> Iterator[Row]:
    yield ["values of", "runs are", "measure", "runs", "queries", *FAMILY_TESTS.values(), "aim met"]
    for each in errors:
        rates = {title: each.rate(test) for test, title in FAMILY_TESTS.items() if test in each.found}
        cells = [str(rates.get(title, "")) for title in FAMILY_TESTS.values()]
        what = each.collection, each.null, each.measure, str(each.num_runs), str(each.num_queries)
        yield [*what, *cells, verdict(rates)]


def real_alarm_rows(counts: Counts) -> Iterator[Row]:
    """Give the false alarms of gates on real runs."""
    yield ["values of", "runs are", "compared by", "queries", "false alarms", "aim met"]
    for name, found in counts.items():
        rate = alarms(found, "alarms")
        yield [*name.replace("default", "number found and LexiRecall").split(" | "), str(rate), rate.verdict]


def breaking_rows(counts: Counts) -> Iterator[Row]:
    """Give how often the gate notices what it says that it does, and a loss on 16 % of the queries."""
    titles = "values of", "what moves", "moving", "queries", "it says", "noticed", "aim met"
    yield [*titles, "16 % broken: noticed", "by LexiRecall alone"]
    for name, found in counts.items():
        rate, said = power(found, "noticed"), percent(found["said"] / found["sets"])
        others = (str(alarms(found, each)) for each in ("broken", "broken by LexiRecall"))
        yield [*name.split(" | "), said, str(rate), rate.verdict, *others]


def real_group_rows(counts: Counts) -> Iterator[Row]:
    """Give how often a difference is found that is not there, of those that are tested."""
    yield ["values of", "measure", "groups of", "first times", "found", "aim met"]
    for name, found in counts.items():
        collection, measure, sizes, spread = name.split(" | ")
        rate = Rate(found["found"] / found["tested"], int(found["tested"]), 0.0, MOST_ERROR)
        yield [collection, measure, sizes.strip("()"), spread, str(rate), rate.verdict]


def provider_rows(counts: Counts) -> Iterator[Row]:
    """Give how often a table names anyone, and how many intervals of those shown leave out the ratio 1."""
    yield ["values of", "queries", "some p below .05", "aim met", "intervals without 1", "intervals shown"]
    for name, found in counts.items():
        collection, number = name.split(" | ")
        rate = Rate(found["found"] / found["sets"], int(found["sets"]), 0.0, MOST_ERROR)
        shown = int(found["intervals 50"])
        wrong = str(Rate(found["wrong 50"] / shown, shown, 0.0, MOST_ERROR)) if shown else "-"
        yield [collection, number, str(rate), rate.verdict, wrong, plain(shown / found["intervals 5"])]


def real_paragraphs(results: dict[str, Counts]) -> Iterator[str]:
    """Give the parts about real runs."""
    shown, errors = [*shown_in(results)], [*real_errors(results)]
    of = {part: results.get(f"{part}-real", {}) for part in ("gates", "losses", "groups", "providers")}
    for part, title, text, rows in (
        (shown, "intervals", INTERVALS_REAL, shown_rows(shown)),
        (errors, "tests of all pairs", FAMILIES_REAL, real_error_rows(errors)),
        (of["gates"], "false alarms of gates", GATES_REAL, real_alarm_rows(of["gates"])),
        (of["losses"], "losses that gates notice", LOSSES_REAL, breaking_rows(of["losses"])),
        (of["groups"], "differences found to vary by group", GROUPS_REAL, real_group_rows(of["groups"])),
        (of["providers"], "providers found to be placed apart", PROVIDERS_REAL, provider_rows(of["providers"])),
    ):
        if part:
            yield f"## Real runs: {title}"
            yield text
            yield table(rows)


# Gates


def gate_rows(counts: Counts) -> Iterator[Row]:
    """Give the false alarms of each gate, and how often it notices the loss that it says it does."""
    yield ["compared by", "queries", "tied", "false alarms", "loss noticed", "aim met"]
    for name, found in counts.items():
        response, num_queries, ties = name.split(" | ")
        rates = {"false alarms": alarms(found, "alarms")}
        if "noticed" in found:
            rates["loss noticed"] = power(found, "noticed")
        cells = [str(rates[each]) if each in rates else "" for each in ("false alarms", "loss noticed")]
        yield [GATES[response], num_queries, f"{float(ties):g}", *cells, verdict(rates)]


def ledger_rows(counts: Counts) -> Iterator[Row]:
    """Give how often any of 20 builds raises a false alarm, with a ledger and without one."""
    yield ["compared by", "builds", "queries", "with the ledger", "without it", "aim met with it"]
    for name, found in counts.items():
        response, builds, num_queries = name.split(" | ")
        rates = alarms(found, "with"), alarms(found, "without")
        yield [GATES[response], SEQUENCES[builds], num_queries, *map(str, rates), rates[0].verdict]


def margin_rows(counts: Counts) -> Iterator[Row]:
    """Give how often a loss of exactly the margin passes, and an equally good run with the margin that is advised."""
    yield ["compared by", "queries", "tied", "loss of the margin passes", "equally good passes", "aim met"]
    for name, found in counts.items():
        response, num_queries, ties = name.split(" | ")
        rates = {"loss of the margin": alarms(found, "let through"), "equally good": power(found, "passed")}
        yield [GATES[response], num_queries, f"{float(ties):g}", *map(str, rates.values()), verdict(rates)]


def alarms(found: dict[str, float], what: str) -> Rate:
    """Return a rate that should be at most alpha."""
    return Rate(found[what] / found["sets"], int(found["sets"]), 0.0, ALPHA)


def power(found: dict[str, float], what: str) -> Rate:
    """Return a rate that should be .8 or more."""
    return Rate(found[what] / found["sets"], int(found["sets"]), 0.8, 1.0)


def gate_conclusions(results: dict[str, Counts]) -> Iterator[str]:
    """Say what the numbers show about gates, one sentence for each part that was simulated."""
    if gate := results.get("gate"):
        yield _of_alarms(gate, "alarms", "A gate at .05 fails a run as good as its baseline in")
        yield _of_power(gate, "noticed", "The loss that a gate says it notices with the chance .8 is noticed")
    if ledger := results.get("ledger"):
        without = [found["without"] / found["sets"] for found in ledger.values()]
        yield (
            _of_alarms(ledger, "with", "With a ledger, any of 20 builds fails without a cause in").rstrip(".")
            + f"; without one it is {plain(min(without))} to {plain(max(without))}."
        )
    if margin := results.get("margin"):
        yield _of_alarms(margin, "let through", "With a margin, a loss of exactly that size passes in")
        yield _of_power(margin, "passed", "With the margin that a gate advises, a run as good as its baseline passes")


def _of_alarms(counts: Counts, what: str, subject: str) -> str:
    """Give the range over settings that keep to alpha, and name those that do not."""
    rates = {name: alarms(found, what) for name, found in counts.items()}
    held = [rate.share for rate in rates.values() if rate.verdict != "no"]
    missed = {name: rate for name, rate in rates.items() if rate.verdict == "no"}
    text = (
        f"{subject} {plain(min(held))} to {plain(max(held))} of the data sets, in {len(held)} of {len(rates)} settings"
    )
    if missed:
        name = max(missed, key=lambda each: missed[each].share)
        kinds = listed(list(dict.fromkeys(GATES[each.split(" | ")[0]] for each in missed)))
        text += f"; the others compare by {kinds}, with {missed[name]} at most ({name.split(' | ')[1]} queries), so "
        text += "with sizes so skewed take more queries, or LexiRecall, which asks on how many queries a run is worse"
    return f"{text}."


def _of_power(counts: Counts, what: str, subject: str) -> str:
    """Say in how many settings it is .8 or more, and where it is least."""
    rates = {name: power(found, what) for name, found in counts.items() if what in found}
    num_met = sum(rate.verdict != "no" for rate in rates.values())
    name = min(rates, key=lambda each: rates[each].share)
    response, num_queries, ties = name.split(" | ")
    where = f"{GATES[response]}, {num_queries} queries, {float(ties):.0%} of them tied"
    return (
        f"{subject} as often, up to Monte-Carlo error, or more often in {num_met} of {len(rates)} settings, and least "
        f"often in {rates[name]} of the data sets ({where})."
    )


# Certificates of recall

SIDES = {
    "low": "at least", "interval": "interval", "added low": "with finds, at least",
    "added interval": "with finds, interval",
}  # fmt: skip


def certain(name: str, found: dict[str, float], what: str) -> Rate:
    """Return a rate that should be the confidence, which is the last part of the name, or more."""
    return Rate(found[what] / found["sets"], int(found["sets"]), float(name.rpartition(" | ")[2]), 1.0)


def bound_rows(counts: Counts) -> Iterator[Row]:
    """Give how often bounds of the number that was missed hold, for the number with which they hold least often."""
    yield ["not read", "sample", "confidence", "at most", "mean", "interval", "mean", "aim met"]
    for name, found in counts.items():
        rates = {side: Rate(found[side], 0, float(name.rpartition(" | ")[2]), 1.0) for side in ("low", "interval")}
        cells = [plain(found[each]) for each in ("low", "mean low", "interval", "mean interval")]
        yield [*name.split(" | "), *cells, verdict(rates)]


def certify_rows(counts: Counts) -> Iterator[Row]:
    """Give how often each bound of recall holds, with the mean of recall and of its bound."""
    yield ["rankings", "read", "sample", "confidence", *SIDES.values(), "mean recall", "mean bound", "aim met"]
    for name, found in counts.items():
        rankings, read, sample, confidence = name.split(" | ")
        rates = {title: certain(name, found, side) for side, title in SIDES.items()}
        means = (plain(found[each] / found["sets"]) for each in ("recall", "bound"))
        yield [rankings, f"{float(read):g}", sample, confidence, *map(str, rates.values()), *means, verdict(rates)]


def plan_rows(counts: Counts) -> Iterator[Row]:
    """Give how often a planned sample shows what it should, whatever sample was drawn before."""
    together: Counts = {}
    for name, found in counts.items():
        rankings, read, _, confidence = name.split(" | ")
        own = together.setdefault(f"{rankings} | {float(read):g} | {confidence}", {"planned": 0, "shown": 0})
        own.update({each: own[each] + found[each] for each in own})
    yield ["rankings", "read", "confidence", "planned", "shown", "aim met"]
    for name, own in together.items():
        if own["planned"]:
            rate = Rate(own["shown"] / own["planned"], int(own["planned"]), 0.8, 1.0)
            yield [*name.split(" | "), f"{own['planned']:.0f}", str(rate), rate.verdict]


def look_rows(counts: Counts) -> Iterator[Row]:
    """Give how often every certificate of a review holds, with two looks planned and without a plan."""
    yield ["rankings", "read", "sample", "confidence", "second look", "planned", "not planned", "aim met if planned"]
    for name, found in counts.items():
        rankings, read, sample, confidence = name.split(" | ")
        rates = [certain(name, found, each) for each in ("with", "without")]
        second = plain(found["second"] / found["sets"])
        yield [rankings, f"{float(read):g}", sample, confidence, second, *map(str, rates), rates[0].verdict]


def certify_conclusions(results: dict[str, Counts]) -> Iterator[str]:
    """Say what the numbers show about certificates."""
    if counts := results.get("certify"):
        rates = {name: [certain(name, found, side) for side in SIDES] for name, found in counts.items()}
        num_met = sum(all(rate.verdict != "no" for rate in own) for own in rates.values())
        least: dict[float, Rate] = {}
        for rate in (rate for own in rates.values() for rate in own):
            least[rate.low] = min(rate, least.get(rate.low, rate), key=lambda each: each.share)
        worst = listed([f"{rate} at {plain(confidence)}" for confidence, rate in sorted(least.items())])
        yield (
            f"Certificates of recall hold at least as often as they say, up to Monte-Carlo error, in {num_met} of "
            f"{len(rates)} settings, and least often in {worst}{_of_bounds(results)}; bounds of a whole number are "
            "cautious, the more so the fewer relevant documents were missed."
        )
    if looks := results.get("looks"):
        both = [[certain(name, found, each) for name, found in looks.items()] for each in ("with", "without")]
        planned, alone = (min(own, key=lambda rate: rate.share - rate.low) for own in both)
        yield (
            f"With two looks planned, every certificate of a review holds in {planned} at {plain(planned.low)}, where "
            f"that is closest; with a second sample that was not planned for, in {alone} at {plain(alone.low)}."
        )


def _of_bounds(results: dict[str, Counts]) -> str:
    """Say how often they hold with the least favourable number of missed documents, which was added up exactly."""
    least: dict[str, float] = {}
    for name, found in results.get("bounds", {}).items():
        confidence = plain(float(name.rpartition(" | ")[2]))
        least[confidence] = min(found["low"], found["interval"], least.get(confidence, 1.0))
    words = listed([f"{plain(share)} at {confidence}" for confidence, share in least.items()])
    return f", with the least favourable number of missed documents in {words}" if least else ""


# Layout


def table(rows: Iterable[Row]) -> str:
    head, *body = ([cell or " " for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body))


def listed(words: list[str]) -> str:
    """Join words as in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def repetitions(counts: Counts) -> int:
    return int(max(found["sets"] for found in counts.values()))


def paragraphs(results: dict[str, Counts], studies: Sequence[ScoreCounts] = ()) -> Iterator[str]:
    """Give the parts of the page; what was not simulated is not on it."""
    coverage, errors = list(covered(results["coverage"])), list(erred(results["errors"]))
    tails, groups = results.get("tails", {}), results.get("groups", {})
    yield "# Do the numbers hold? The tables"
    yield INTRODUCTION
    yield from real_paragraphs(results)
    yield "## What the simulations show"
    concluded = (
        *conclusions(coverage, errors), *gate_conclusions(results), *label_conclusions(studies),
        *certify_conclusions(results),
    )  # fmt: skip
    yield "\n".join(f"{n}. {text}" for n, text in enumerate(concluded, 1))
    if coverage:
        yield "## Coverage of 95% intervals"
        yield COVERAGE.format(repetitions=repetitions(results["coverage"]))
        yield from coverage_tables(coverage)
    if errors:
        yield "## Family-wise error at .05"
        yield ERRORS.format(repetitions=repetitions(results["errors"]))
        yield from error_tables(errors)
    if tails:
        yield "## Coverage of 95% intervals of differences in tails"
        yield TAILS.format(repetitions=repetitions(tails))
        yield table(tail_rows(tails))
    if groups:
        yield "## Differences that are found to vary by group at .05"
        yield GROUPS.format(repetitions=repetitions(groups))
        yield table(group_rows(groups))
    yield from gate_paragraphs(results)
    yield from (each if isinstance(each, str) else table(each) for each in label_paragraphs(studies))
    yield from certify_paragraphs(results)


def certify_paragraphs(results: dict[str, Counts]) -> Iterator[str]:
    """Give the parts about certificates."""
    if counts := results.get("certify"):
        yield "## Certificates of recall"
        yield CERTIFY.format(repetitions=repetitions(counts))
        yield table(certify_rows(counts))
        if bounds := results.get("bounds"):
            yield "### The least favourable number"
            yield BOUNDS
            yield table(bound_rows(bounds))
        yield "### Planned samples"
        yield PLANNED
        yield table(plan_rows(counts))
    if looks := results.get("looks"):
        yield "### A second look"
        yield LOOKS.format(repetitions=repetitions(looks))
        yield table(look_rows(looks))


def gate_paragraphs(results: dict[str, Counts]) -> Iterator[str]:
    """Give the parts about gates."""
    for part, title, text, rows in (
        ("gate", "## False alarms of a gate at .05, and the losses that it notices", GATE, gate_rows),
        ("ledger", "## False alarms of a gate over 20 builds", LEDGER, ledger_rows),
        ("margin", "## A gate with a margin", MARGIN, margin_rows),
    ):
        if counts := results.get(part):
            yield title
            yield text.format(repetitions=repetitions(counts))
            yield table(rows(counts))


INTRODUCTION = """\
Every number behind [Do the numbers hold?](validity.md): first those of real runs, then those of simulated data. What is
said about missing labels is compared with judgments that were hidden. Each number is followed by its Monte-Carlo
standard error; a number without one is exact. "Within error" means that a number misses its aim by no more than twice
that. `python benchmarks/validity.py page` writes this page, including the sentences, from the counts in
`benchmarks/validity`."""
INTERVALS_REAL = """\
`python benchmarks/validity.py intervals-real FOLDER…` and `differences-real FOLDER…` make this table. The numbers of a
run, or of a pair of runs, on all queries are what is to be estimated. Runs and queries are drawn, these with
replacement, and of the 95% intervals that are shown those are counted that hold the number of all queries; in brackets
is the share of samples that show one. Studentized intervals have 999 resamples. R@10 of one is that of
one relevant document of each query: its differences always have one size. The aim is at least .93."""
FAMILIES_REAL = """\
`python benchmarks/validity.py families-real FOLDER…` makes this table: the share of samples in which a test finds any
difference at .05 between runs that do not differ. Permuted: half of the runs are handed out among each other anew on
each query, and the others are left as they are. Centred: every run is shifted so that all means over all queries are
equal. Only tests of means are counted then, and only pairs with eight effective queries in the sample: others have no
letter about their means. Resamples are as in the simulation below. The aim is at most .06."""
GATES_REAL = """\
`python benchmarks/validity.py gates-real FOLDER…` makes this table: the share of samples in which a gate at .05 fails a
run as good as its baseline. Swapped: the labels of two runs are exchanged on a random half of the queries. Tilted: the
queries are drawn with chances that make the mean difference of two runs 0, so that ties stay ties, and the skew is
real. Where the sign test takes the place of a test of the mean, such a run may lose more often than it wins. The aim is
at most .05."""
LOSSES_REAL = """\
`python benchmarks/validity.py losses-real FOLDER…` makes this table. Two runs are exchanged, or not, on the queries
that move, and are the same on the others. Either only the order moves, or also how many documents are found. The gate
is the one without `-m`, at .05. So many queries are broken as it says that it notices with the chance .8, on average
the share in the fifth column, each by a document that is lost. In the last two columns 16% of the queries are broken,
and the gate is the same one, or LexiRecall alone. The aim is at least .8."""
COVERAGE = """\
`python benchmarks/validity.py coverage --repetitions {repetitions}` makes these tables: {repetitions} data sets for
each cell, except for Tango's interval, where the chances of all outcomes are added up. A query is tied with the
chance in the second column. On the others the first run wins with the chance (1 + effect)/2, and sizes are
independent of who wins, unless the table says otherwise. So the mean preference is the effect times the untied
share. The differences of sizes are not symmetric about their middle if the effect is not 0, which Wilcoxon's test
assumes. Where few queries decide, the effective number of queries is about a seventh of those untied. A quarter of
the sizes there are below 1e-12 and cannot be told from 0 beside the largest ones, so that Wilcoxon's interval often
ends at exactly 0 and holds more often than it should if there is no effect. Coverage is that of the data sets that
have an interval; a column has the largest share in its row of those that have none. The aim is .93 to .97 on 50
queries or more with effects up to .5, and at least .90 elsewhere."""
ERRORS = """\
`python benchmarks/validity.py errors --repetitions {repetitions}` makes these tables: the share of {repetitions}
data sets in which a test finds any difference at .05 between two runs that are equally good. The aim is at most .06.
Values of a measure are Φ(z)^3, or Φ(z)^30 if it is sparse, where z is standard normal; half of its variance is that
of the query. LexiRecall compares rankings of 100 documents for 3 relevant ones, whose log positions are normal with
a query effect. Better runs have .5 added to their own normal part. Variants rank as the run that they were made of
on 90% of the queries. The effective number of queries is the median over pairs. Randomization, max-T and the
randomized HSD take 999 resamples, and randomization of 20 runs 4,999, because 999 could not find anything there. Of
20 runs there are 190 pairs. The randomized HSD permutes 50 data sets at a time in the same way, which makes its
error larger by less than .001."""

TAILS = """\
`python benchmarks/validity.py tails --repetitions {repetitions}` makes this table: {repetitions} data sets for each
cell, or more, of two runs that are compared by the mean of their own worst tenth of the queries, or worst half. The
interval is that of t with as many degrees of freedom as there are queries in the tail. Values are Φ(z)^3, of which
most are low, or Φ(z)^(1/3), of which most are high; z is standard normal, and half of its variance is that of the
query, the same for both runs. The effect is added to the normal part of the first run. The true difference is that of
infinitely many queries, whose worst tenth is further down than that of a few. The aim is .93 to .97; more is too
cautious, less is wrong."""
GROUPS_REAL = """\
`python benchmarks/validity.py groups-real FOLDER…` makes this table. The
differences of the first group are drawn from those of one pair of runs, and those of the other groups from those of
another pair, both less their mean: no mean differs, but spread and skew do, more so where the first are multiplied.
Pairs that differ on fewer than 8 queries are left out. The table has the share of the data sets in which the difference
is found to vary by group at .05. The aim is at most .06."""
PROVIDERS_REAL = """\
`python benchmarks/validity.py providers-real FOLDER…` makes this table. One run and so many queries are drawn, and
every relevant document is handed out at random to one of six providers, who have from 4 to 40 % of them: nobody is
treated differently. The table has the share of tables of providers in which any p, corrected by Holm, is below .05, and
the share of the 95 % intervals of a ratio that leave out 1. Only intervals of providers with 50 queries or more are
shown; the last column says what share that is of the providers with five or more. The aim is at most .06."""
GROUPS = """\
`python benchmarks/validity.py groups --repetitions {repetitions}` makes this table: the share of {repetitions} data
sets in which the mean difference of a pair is found to vary by group, although it is 0 in every group. The
differences are normal, or skewed: exponential, less their mean. In some rows the first group has three times the
spread of the others, which the test does not look for. It hands out the groups 999 times, in the same way for 50 data
sets at a time. The aim is at most .06."""

GATE = """\
`python benchmarks/validity.py gate --repetitions {repetitions}` makes this table: the share of {repetitions} data sets
in which the gate fails, at .05, one-sided. False alarms are those on a run as good as its baseline. LexiRecall is
tested by the sign test, a measure by the larger p of t and of Hall's test, or by the sign test where few queries make
the mean. Values of a measure are Φ(z)^3, where z is standard normal; half of its variance is that of the query.
Differences with few large gains are exponential, less their mean; those with few large losses are the negative of that.
Three measures are LexiRecall and two that are half alike, and any of them may fail.
The loss is the one that the gate says it notices with the chance .8. By LexiRecall so many queries are lost, and of the
others as many move either way as the third column says; by a measure the same amount is lost on every query, those that
were tied included. Where the sign test takes the place of a test of the mean, a run that loses a little on most queries
is worse by what is tested, though its mean is not: with few large gains that counts as a false alarm here.
The aim is at most .05 for false alarms, and at least .8 for losses."""
LEDGER = """\
`python benchmarks/validity.py ledger --repetitions {repetitions}` makes this table: the share of {repetitions}
sequences of 20 builds in which the gate fails at least once, although every build is as good as the baseline. All are
compared with the same baseline on the same queries. Each build is made anew, or ranks as the one before it on nine
tenths of the queries; then it may also be tested on four fifths of the queries, others each time. The numbers of the
builds are those of the ledger. The aim is at most .05 with it."""
MARGIN = """\
`python benchmarks/validity.py margin --repetitions {repetitions}` makes this table: the share of {repetitions} data
sets in which the gate passes, at .05. The loss is exactly the margin, .1 by LexiRecall (losses less wins, as a share of
the queries), .02 by a measure and .2 standard deviations by a skewed one, and should pass in at most .05. A run as good
as its baseline should pass in .8 or more with the margin for which the gate says so. Data are as above."""
CERTIFY = """\
`python benchmarks/validity.py certify --repetitions {repetitions}` makes this table on simulated rankings: 150 of 300
to 10,000 documents, of which .3% to 10% are relevant and have a score that is higher by 1 to 3 standard deviations.
`python benchmarks/validity.py certify FOLDER…` makes it on rankings of your own; here, 191 rankings of whole corpora,
of the 30 systematic reviews of CLEF TAR 2017. In each of {repetitions} repetitions a ranking is taken at random, a
share of it is read from the top, and a sample of the rest is drawn, or all of it if there is not more. A number is the
share of certificates that hold: the one-sided bound (at least), and the interval, for what was read and with the finds
of the sample added. Beside them are the mean recall of what was read and the mean one-sided bound. The aim is the
confidence or more."""
BOUNDS = """\
`python benchmarks/validity.py bounds` makes this table, by adding up the chances of all outcomes: how often the bound
of the number of relevant documents that were not read holds, for the number from 0 to all with which it holds least
often, and the mean over all of these numbers. Recall is bounded as often. So where certificates hold more often in the
table above, it is because few documents were missed, or because the sample held most of the rest."""
PLANNED = """\
For the same rankings, the sample that `--wanted 0.9` asks for, if what was missed is known: how often it shows a recall
of .9. Only reviews count that miss few enough. The aim is .8 or more."""
LOOKS = """\
`python benchmarks/validity.py looks --repetitions {repetitions}` makes this table, on these rankings. A second sample
is drawn if the first does not show a recall of .9, and it is twice as large if the first has a relevant document. A
number is the share of reviews in which every bound holds that was given: with two looks planned, or with all of alpha
for each. The aim is the confidence or more."""


def laid_out(paragraph: str) -> str:
    """Fill prose to 120 columns, and leave titles and tables as they are."""
    if paragraph.startswith(("#", "|")):
        return paragraph
    if paragraph.startswith("1. "):
        return "\n".join(fill(line, 120, subsequent_indent="   ", **_WHOLE) for line in paragraph.splitlines())
    return fill(paragraph, 120, **_WHOLE)


def write_tables(path: Path, results: dict[str, Counts], studies: Sequence[ScoreCounts] = ()) -> None:
    path.write_text("\n\n".join(map(laid_out, paragraphs(results, studies))) + "\n")
