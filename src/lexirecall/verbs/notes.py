"""Notes: what was left out, ignored or imputed, said once for each kind.

Belongs here: the sentences that go to stderr and into the manifest.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lexirecall.errors import counted, listed, plain, shown
from lexirecall.judgments import SMALLEST_GRADE, IntArray
from lexirecall.manifest import Note, Policies
from lexirecall.measures.providers import ProviderExposure
from lexirecall.names import Evaluable
from lexirecall.providers import EXAMPLES
from lexirecall.tables import number
from lexirecall.tracks import Mismatch
from lexirecall.verbs.census import NAMED, Census

if TYPE_CHECKING:
    from lexirecall.verbs.owners import Owners

_OF_POLICIES = ("unanswered", "no relevant document")
"""Notes that say how queries count."""


def notes_on(census: Census, measures: Sequence[Evaluable], undefined: IntArray, policies: Policies) -> Iterator[Note]:
    """Give the notes that a reader of values needs: `undefined` of them, of how many, [M, S, 2]."""
    yield from ignored_level(measures, policies.level)
    yield from notes_on_queries(census, policies)
    if census.has_query_all:
        text = (
            "a query has the id 'all', which the rows of means have too: with --per-query the last 'all' of each "
            "run is its mean; frames per query hold no means"
        )
        yield Note("query called all", text, 1)
    yield from _undefined(measures, undefined, census.runs)


def ignored_level(measures: Sequence[Evaluable], level: float) -> Iterator[Note]:
    """Say which measures use the grades themselves although a level is given, and how to apply the level."""
    ignoring = [measure for measure in measures if measure.level(level) == SMALLEST_GRADE]
    if level <= 1 or not ignoring:
        return
    text = f"computed from the grades, not from the level: {listed(map(str, ignoring), most=9)}"
    binary = dict.fromkeys(f"{measure.name}(rel={plain(level)})" for measure in ignoring if "rel" in measure.parameters)
    remedy = f" (in {listed(binary)} every grade of {plain(level)} or more has the gain 1)" if binary else ""
    yield Note("level", text + remedy, len(ignoring))


def notes_on_queries(census: Census, policies: Policies) -> Iterator[Note]:
    """Give the notes on queries and lines that were left out or imputed, whatever is computed from the rest."""
    yield from mismatch_note(census.mismatches)
    yield from _unanswered(census, policies)
    yield from _without_judgments(census)
    yield from _without_relevant(census, policies)
    yield from _repeats(census)
    yield from _without_unit(census)
    if total := sum(census.extra):
        yield extra_fields(total, f" ({census.per_run(census.extra)})", "; --strict refuses them")
    yield from (Note("rows", remark, 1) for remark in census.remarks)
    if not census.has_grades:
        yield without_grades(census.name, census.num_judged)


def notes_on_reading(census: Census) -> Iterator[Note]:
    """Give the notes on what was left out in reading, whatever the queries that are left will count for."""
    return (note for note in notes_on_queries(census, Policies()) if note.kind not in _OF_POLICIES)


def mismatch_note(mismatches: Sequence[Mismatch]) -> Iterator[Note]:
    """Say which runs retrieve no judged document, with ids of both sides, which may be written in different ways."""
    if mismatches:
        first, several = mismatches[0], len(mismatches) > 1
        runs = listed((mismatch.run for mismatch in mismatches), most=4)
        whose = first.run if several else "it"
        theirs, ours = (listed(map(shown, ids), most=9) for ids in (first.retrieved, first.judged))
        text = (
            f"{runs} {'retrieve' if several else 'retrieves'} no judged document: "
            f"{whose} has documents such as {theirs} for query {shown(first.query)}, "
            f"the judgments have {ours}; are the ids written the same way?"
        )
        yield Note("no judged document", text, len(mismatches))


def _unanswered(census: Census, policies: Policies) -> Iterator[Note]:
    if total := int(census.unanswered.sum()):
        policy = (
            "count as the worst case, nothing retrieved (--queries intersection leaves them out)"
            if policies.keeps_unanswered
            else "are left out of the means of that run"
        )
        where = f"(of {census.num_queries:,}: {census.per_run(census.unanswered)})"
        yield Note("unanswered", f"judged queries that a run does not answer {where} {policy}", total)


def _without_judgments(census: Census) -> Iterator[Note]:
    if total := sum(census.unjudged):
        text = f"queries of a run without judgments ({census.per_run(census.unjudged)}) are ignored"
        yield Note("without judgments", text, total)


def _without_relevant(census: Census, policies: Policies) -> Iterator[Note]:
    """Say which queries are not eligible, for each level if the levels differ in that."""
    # what is empty at a level is empty at every higher one, so equal numbers are the same queries
    distinct = {number: (level, names) for level, (number, names) in reversed(census.empty.items())}
    parts = []
    for number_empty, (level, names) in distinct.items():
        which = "" if len(distinct) == 1 else " of any grade" if level < 1e-300 else f" of grade {level:g} or more"
        rest = f" and {number_empty - len(names):,} more" if number_empty > len(names) else ""
        what = f"{counted(number_empty, 'query')} {policies.ineligible}{which} ({', '.join(names)}{rest})"
        parts += [what] if number_empty else []
    policy = (
        "left out of every mean (--no-relevant zero counts them as 0)"
        if policies.skips_empty
        else "counted as 0 where higher is better"
    )
    if parts:
        yield Note("no relevant document", f"{', '.join(parts)}: {policy}", max(distinct))


def _without_unit(census: Census) -> Iterator[Note]:
    if census.units is not None and (total := census.units.num_unmapped):
        names = listed(map(shown, census.units.unmapped), EXAMPLES, total)
        text = f"{counted(total, 'relevant document')} outside the map {census.units.name} ({names})"
        yield Note("without unit", f"{text}: not counted (--unmapped itself makes each a unit of its own)", total)


def extra_fields(number: int, where: str = "", remedy: str = "") -> Note:
    """Say that lines of runs have fields that are ignored."""
    have = "has" if number == 1 else "have"
    text = f"{counted(number, 'line')}{where} {have} fields after the run tag, which are ignored{remedy}"
    return Note("extra fields", text, number)


def without_grades(name: str, num_judged: int) -> Note:
    """Say that grades are missing, and what is used instead."""
    text = f"{name} has no column of grades: every judged document counts as relevant, with grade 1"
    return Note("no grades", text, num_judged)


def _repeats(census: Census) -> Iterator[Note]:
    if total := sum(census.duplicates):
        kept = "the first line" if census.conventions.duplicates == "first" else "the best score"
        where = census.per_run(census.duplicates)
        text = f"lines that repeat a document of the same query ({where}): kept {kept}"
        yield Note("duplicates", text, total)
    if total := census.num_repeated:
        yield Note(
            "repeated judgments", f"{counted(total, 'judgment')} given more than once, with the same grade", total
        )


def _undefined(measures: Sequence[Evaluable], undefined: IntArray, runs: Sequence[str]) -> Iterator[Note]:
    """Say how many values of each measure are undefined that should be defined, and in which runs."""
    parts, total, reason = [], 0, ""
    for measure, of_runs in zip(measures, undefined, strict=True):
        missing, due = of_runs.sum(axis=0).tolist()
        if missing:
            which = listed((f"{run} {n:,}" for run, (n, _) in zip(runs, of_runs.tolist(), strict=True) if n), NAMED)
            parts.append(f"{measure} ({missing:,} of {due:,}: {which})")
            total += missing
            if measure.corpus != "ignored":
                reason = (
                    "; without --corpus-size, where a document that was not retrieved would be is unknown, and such a "
                    "value counts as worse than every other one"
                )
    if parts:
        yield Note("undefined", f"undefined values, left out of the means: {listed(parts, most=9)}{reason}", total)


def notes_on_providers(owners: "Owners") -> Iterator[Note]:
    """Say how many relevant documents are credited to nobody, and which provider is worst off in each run."""
    num_relevant, total, num_empty = owners.at_level.tolist()
    if total:
        num_documents, first = owners.without
        names = listed(map(shown, first), EXAMPLES, num_documents)
        without_others = f"{counted(num_empty, 'query')} with no other relevant document"
        left_out = f"; {without_others}, left out of WorstProvider" if num_empty else ""
        text = f"{counted(total, 'relevant document')} of {num_relevant:,} without a provider ({names})"
        yield Note("without provider", f"{text}: credited to nobody{left_out}", total)
    parts = []
    for row, audit in zip(owners.rows, owners.audits, strict=True):
        runs = listed((_worst_of_run(audit, s) for s in range(len(audit.runs))), most=4)
        parts.append(f"by {row} {runs}" if len(owners.rows) > 1 else runs)
    if parts:
        text = f"worst-off provider over all queries: {'; '.join(parts)}"
        yield Note("worst-off provider", text, len(owners.audits[0].runs))


def _worst_of_run(audit: ProviderExposure, s: int) -> str:
    names = audit.worst(s)
    if not names:
        return f"{audit.runs[s]} none"
    is_worst = audit.is_worst(s)
    num_queries = audit.num_queries[s, is_worst]
    at_most = "up to " if num_queries.min() < num_queries.max() else ""
    over = f"{at_most}{counted(int(num_queries.max()), 'query')}"
    mean = number(float(audit.exposures[s, is_worst].min()))
    return f"{audit.runs[s]} {listed(map(shown, names), most=3)} (mean exposure {mean} over {over})"
