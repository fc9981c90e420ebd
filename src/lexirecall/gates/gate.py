"""Gate: whether a new run may replace its baseline, and does what is required of it.

Belongs here: the verb. Not here: its result (result), tests (baselinepairs, decisions), requirements (requirements,
checks), what was lost (changes).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lexirecall.aggregation import Aggregation
from lexirecall.errors import UsageError, listed
from lexirecall.fields import names_of, taken, takes
from lexirecall.formats import Qrels, Run, may_hold_both
from lexirecall.gates.baselinepairs import BaselinePair
from lexirecall.gates.changes import Change, changes_of
from lexirecall.gates.checks import RequirementCheck, check, check_confidence, check_depth
from lexirecall.gates.decisions import Decision, decide, notes_on
from lexirecall.gates.gateoptions import GateOptions
from lexirecall.gates.identity import identity_of
from lexirecall.gates.labels import note_on, unknown_labels
from lexirecall.gates.ledger import Build, Ledger
from lexirecall.gates.requirements import Limit, Requirement, Statement, parse_requirements
from lexirecall.gates.result import GateResult
from lexirecall.judgments import IntArray
from lexirecall.manifest import READING, Manifest, Note, Policies
from lexirecall.measures.sets import NUM_REL_RET
from lexirecall.names import Evaluable, Names, parse_names
from lexirecall.positions import Positions
from lexirecall.statistics.queryaggregate import overs_of
from lexirecall.texts import Texts, texts_or_none
from lexirecall.verbs.breakdown_notes import notes_on_groups
from lexirecall.verbs.evaluate import groups_of, read_aggregation, scores_of
from lexirecall.verbs.explain import check_single_order, explain
from lexirecall.verbs.explanation import QueryExplanation
from lexirecall.verbs.families import check_margin
from lexirecall.verbs.scores import Scores
from lexirecall.verbs.subject import positions_of

DEFAULT_MEASURES = ("NumRelRet", "LexiRecall")
"""How many relevant documents are found, and how soon the last ones are."""
_NAMES = ("new", "baseline")  # what messages call the runs


@takes(GateOptions, Aggregation, Policies, *READING, warns=True)
def gate(
    qrels: Qrels | Positions,
    new: Run | str | None = None,
    baseline: Run | str | None = None,
    measures: Names | None = None,
    *,
    texts: Any = None,
    **options: Any,
) -> GateResult:
    """Decide whether a new run is no worse than its baseline, and does what is required of it.

    Without a `margin`, the gate fails if the new run is significantly worse under a measure; the test is one-sided.
    Unless others are named, these are the number of relevant documents found and LexiRecall. With a margin, it fails
    unless the loss is shown to be below it. `require` has requirements in words, such as "All@20>=0.9" or "no query
    loses a relevant document". `over` and `by` compare other numbers than the mean, and groups of queries. `alpha` is
    the chance of a false alarm, of all these together; with a `ledger`, a file that knows the builds on the same
    queries, of all builds together. `build` names this one, and `builds` says how many there will be. `corpus_ids`, a
    file or the ids themselves, tells which relevant documents no longer exist. Runs are files, dicts or frames; with
    positions in the place of the judgments, they are names of runs. Rows of JSON may hold judgments and the new run;
    then `new` may be left out. The other arguments are those of `evaluate`.

    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(6)}
    >>> old, new = dict.fromkeys(qrels, ["a", "b"]), dict.fromkeys(qrels, ["a", "x"])
    >>> result = gate(qrels, new, old, require=["no query loses a relevant document"])
    >>> result.passed, result.decisions[0].compared.losses, result.changes[0].lost
    (False, 6, (DocumentMove(document='b', was=2, now=None),))
    """
    gating, policies, aggregation = taken(GateOptions, options), taken(Policies, options), taken(Aggregation, options)
    asked = Demands.of(gating, measures, has_baseline=baseline is not None)
    check_single_order(options)
    if new is None:
        new = _held_by(qrels, options.get("columns"))
    show_progress = options.get("show_progress", False)
    given_texts = texts_or_none(texts, options.get("columns"), show_progress=show_progress)
    group_map = read_aggregation(aggregation, qrels, options)
    positions, pair = _read(qrels, new, baseline, asked, options)
    explained = explain(positions, pair=(pair[1], pair[0]), **asdict(policies))
    queries = explained.queries
    asked.check_statements(positions.conventions.depth, len(queries))
    unknown = () if gating.corpus_ids is None else unknown_labels(queries, gating.corpus_ids)
    groups, small = _groups(group_map, positions, queries, aggregation.min_queries)
    comparing = BaselinePair(positions, pair, policies, asked.rows, overs_of(aggregation.over), groups=groups)
    comparing.check_tails()
    scores, _ = scores_of(positions, asked.measures, policies)
    changes = changes_of(queries)
    checks = check(asked.requirements, positions, pair[0], queries, policies, aggregation)
    shown = _texts(given_texts, changes, checks, positions)
    # from here on the build has spent its share: nothing below reads what may be wrong
    ledger = None if gating.ledger is None else Ledger(gating.ledger)
    names = [query.id for query in queries]
    build = None if ledger is None else _begun(ledger, comparing, names, gating, aggregation)
    level = gating.alpha if build is None else build.level
    compared = comparing.compared(level)
    decisions = decide(compared, level, gating.margin, are_identical=_are_identical(positions, pair))
    if ledger is not None and build is not None:
        build, decisions = _settled(ledger, build, decisions)
    notes = (
        *explained.notes, *(note for note in scores.notes if note.kind == "undefined"), *small,
        *notes_on(decisions), *_notes_on(build), *note_on(queries, unknown, gating.corpus_ids),
        *(() if shown is None else shown.notes), *(() if ledger is None else ledger.notes),
    )  # fmt: skip
    return GateResult(
        new=_label(new, pair[0]), baseline=None if baseline is None else _label(baseline, pair[1]),
        num_queries=len(queries), num_relevant=sum(query.num_relevant for query in queries), alpha=gating.alpha,
        level=level, build=build, decisions=decisions, checks=checks, changes=changes, unknown=unknown, notes=notes,
        manifest=replace(_manifest(scores, gating), notes=notes), texts=shown,
    )  # fmt: skip


def _begun(
    ledger: Ledger, comparing: BaselinePair, queries: Sequence[str], gating: GateOptions, aggregation: Aggregation
) -> Build:
    """Enter the build, unless it is known."""
    least_p = comparing.least_p(gating.margin)  # before the ledger is locked: it may take long
    identity = identity_of(comparing, queries, gating, aggregation)
    return ledger.begin(identity, gating.alpha, gating.builds, least_p=least_p)


def _settled(ledger: Ledger, build: Build, decisions: tuple[Decision, ...]) -> tuple[Build, tuple[Decision, ...]]:
    """Enter the verdict, or take that which the build has; where it is another one than now, nothing is decided now."""
    passed, was_decided = not any(decision.fails for decision in decisions), build.passed is not None
    if not was_decided:
        build = ledger.end(build, passed=passed)
    if build.passed == passed and not (was_decided and build.has_changed):
        return build, decisions
    return build._replace(is_kept=True), ()


def _notes_on(build: Build | None) -> Iterator[Note]:
    """Say what a ledger made of a build that it knows, or that spends nothing."""
    if build is None:
        return
    if build.is_kept:  # if it fails, that is among the reasons
        yield from [Note("kept verdict", build.sentence(), 1)] if build.passed else []
    elif build.has_changed:
        text = f"build {build.name} broke off when it was first tested, and its rankings are others now"
        yield Note("changed build", f"{text}: decided now, at the level that it had", 1)
    elif not build.spends:
        yield Note("nothing spent", "the gate could not fail this build, so the ledger does not count it", 1)


@dataclass(frozen=True, slots=True)
class Demands:
    """What a run is held against: measures that are compared with the baseline, and requirements."""

    rows: tuple[Evaluable, ...]
    requirements: tuple[Requirement, ...]

    @classmethod
    def of(cls, gating: GateOptions, measures: Names | None, *, has_baseline: bool) -> "Demands":
        """Read them; raise if nothing could fail, or if a baseline is needed and there is none."""
        requirements = parse_requirements(gating.require)
        if has_baseline:
            rows = parse_names(DEFAULT_MEASURES if measures is None else measures)
            if not rows:
                raise UsageError("no measure is named", remedy=f"leave measures out for {listed(DEFAULT_MEASURES)}")
            for row in rows:
                check_margin(gating.margin, row, is_share=row.name == NUM_REL_RET.name)
            return cls(tuple(rows), requirements)
        needing = [
            str(requirement)
            for requirement in requirements
            if isinstance(requirement, Statement) and requirement.kind == "lost"
        ]
        needing += [f"{name}" for name in ("margin", "ledger") if getattr(gating, name) is not None]
        needing += ["measures"] if measures else []
        if needing or not requirements:
            what = f"{listed(needing)} needs a baseline" if needing else "there is no baseline, and nothing is required"
            raise UsageError(what, remedy="give --baseline RUN, or only --require 'All@20>=0.9' and the like")
        return cls((), requirements)

    def check_statements(self, depth: int | None, num_queries: int) -> None:
        """Raise if rankings are cut before what a requirement is about, or if it takes more queries to hold."""
        for requirement in self.requirements:
            if isinstance(requirement, Statement):
                check_depth(requirement, depth)
                check_confidence(requirement, num_queries)

    @property
    def measures(self) -> list[Evaluable]:
        """Everything that has a value; without any, what the requirements about documents come to."""
        limited = (requirement.measure for requirement in self.requirements if isinstance(requirement, Limit))
        return list(dict.fromkeys([*self.rows, *limited])) or parse_names("Depth@1")


def _held_by(qrels: Qrels | Positions, columns: Any) -> Any:
    """Return what holds the new run if none is given: rows that hold judgments too."""
    if isinstance(qrels, Positions) or not may_hold_both(qrels, columns) or qrels == "-":
        raise UsageError("no new run is given", remedy="give judgments and a run, or one file of rows that hold both")
    return qrels


def _read(
    qrels: Qrels | Positions, new: Run | str, baseline: Run | str | None, asked: Demands, options: Mapping[str, Any]
) -> tuple[Positions, tuple[str, str]]:
    """Return the positions of both runs, and their names; without a baseline the new run twice."""
    if isinstance(qrels, Positions):
        names = [name for name in (new, baseline) if name is not None]
        if unknown := [name for name in names if name not in qrels.runs]:
            known = listed(qrels.runs, 9)
            raise UsageError(f"no run is called {listed(map(repr, unknown))}", remedy=f"the runs are {known}")
        return positions_of(qrels, None, asked.measures, options), (str(names[0]), str(names[-1]))
    runs = {name: run for name, run in zip(_NAMES, (new, baseline), strict=True) if run is not None}
    return positions_of(qrels, runs, asked.measures, options), (_NAMES[0], _NAMES[len(runs) - 1])


def _texts(
    texts: Texts | None, changes: Sequence[Change], checks: Sequence[RequirementCheck], positions: Positions
) -> Texts | None:
    """Return the texts of what is shown."""
    if texts is None:
        return None
    offences = [offence for outcome in checks for offence in outcome.offences]
    moved = [*(move for change in changes for move in (*change.lost, *change.gained)),
             *(move for offence in offences for move in offence.documents)]  # fmt: skip
    queries = [*(change.query for change in changes), *(offence.query for offence in offences)]
    return texts.wanted(queries, [move.document for move in moved], judgments=positions.judgments)


def _label(run: Run | str, name: str) -> str:
    """Return what people call a run: the file, or the name."""
    return str(run) if isinstance(run, str) else name


def _groups(
    group_map: tuple[dict[bytes, bytes], str] | None,
    positions: Positions,
    queries: Sequence[QueryExplanation],
    min_queries: int,
) -> tuple[dict[str, IntArray], list[Note]]:
    """Return the queries of each group that has enough of them, and say which groups are not tested."""
    groups = groups_of(group_map, positions.queries)
    if groups is None:
        return {}, []
    counting = {query.id for query in queries}
    counts = np.array([query in counting for query in positions.queries])
    members = {name: places[counts[places]] for name, places in groups.members()}
    small = [(name, len(places)) for name, places in members.items() if len(places) < min_queries]
    num_without = int(np.count_nonzero(counts & (groups.of_query < 0)))
    notes = list(notes_on_groups(groups, num_without, small, min_queries))
    return {name: places for name, places in members.items() if len(places) >= min_queries}, notes


def _are_identical(positions: Positions, pair: tuple[str, str]) -> bool:
    """Tell whether every judged document is at the same place in both runs."""
    new, baseline = (positions.runs.index(name) for name in pair)
    num_queries = len(positions.queries)
    rankings = [np.arange(s * num_queries, (s + 1) * num_queries) for s in (new, baseline)]
    everything = np.arange(len(positions.judgments.documents))
    for tracks in (positions.found, positions.others):
        if tracks is not None:
            ours, theirs = (tracks.of_rankings(indices, everything) for indices in rankings)
            pairs = (ours.segments.offsets, theirs.segments.offsets), (ours.positions, theirs.positions)
            if not all(np.array_equal(*arrays) for arrays in (*pairs, (ours.documents, theirs.documents))):
                return False
    return True


def _manifest(scores: Scores, gating: GateOptions) -> Manifest:
    """Return how the values come about, and what the gate was asked."""
    settings = {name: getattr(gating, name) for name in names_of(GateOptions) if name not in ("ledger", "corpus_ids")}
    return replace(scores.manifest, conventions={**scores.manifest.conventions, **settings})
