"""Fusion: several runs become one that finds more, by weights that are learnt from judgments.

Belongs here: the verb. Not here: its result (fusionresult), its options (recipe), folds (modelchoice), the fit
(featureweights).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError, counted, listed
from lexirecall.fields import among, taken, takes
from lexirecall.formats import Qrels, Runs, sizes_of_queries
from lexirecall.formats.listing import load_lists
from lexirecall.formats.wholelists import Lists
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.learn.baselines import BASELINES, BEST_RUN
from lexirecall.learn.candidates import candidates_of, learnable
from lexirecall.learn.features import parse_features
from lexirecall.learn.featureweights import ScoreLoss
from lexirecall.learn.fusionresult import FUSED, FoldModel, FusedRun
from lexirecall.learn.modelchoice import (
    LEAST_QUERIES,
    ChosenModel,
    Judge,
    Learner,
    Tuning,
    best_of,
    choose,
    folds_of,
    num_fits,
    settings_to_try,
)
from lexirecall.learn.orderedobjective import OrderedObjective
from lexirecall.learn.rankings import DECIMALS, RankingField
from lexirecall.learn.recipe import Recipe, check_fusible
from lexirecall.learn.weightsfile import RRF, FusionWeights, load_weights
from lexirecall.manifest import READING, Conventions, Note, Policies, Sources
from lexirecall.names import Evaluable, Names, parse_names
from lexirecall.positions import Positions
from lexirecall.progress import Progress
from lexirecall.statistics.portions import PortionedPairs
from lexirecall.tables import percent
from lexirecall.tracks import RunPositions
from lexirecall.verbs.census import NAMED
from lexirecall.verbs.compare import check_number, compare_scores, pairs_under
from lexirecall.verbs.evaluate import scores_of
from lexirecall.verbs.rank import contrasted
from lexirecall.verbs.subject import num_given
from lexirecall.verbs.testing import Testing, run_test

TESTING = Testing()
"""The tests are those of `compare`, if nothing else is asked of it."""
DEFAULT_MEASURES = ("LexiRecall", "Depth@0.95", "R@1000", "AP", "nDCG")
"""Whether everything is found, how far down, how much within reach, and whether the top pays for it."""


@takes(Recipe, Policies, *READING, warns=True)
def fuse(qrels: Qrels | Positions, runs: Runs | None = None, measures: Names | None = None, **options: Any) -> FusedRun:
    """Fuse runs into one, by weights that are learnt from judgments to find everything relevant.

    Every document that any run retrieves gets a score: a sum of features of each run (its score from 0 to 1, its
    reciprocal rank, the logarithm of its rank, and whether it is retrieved), with weights that make the ordered loss
    small. The queries are cut into `folds`, from `seed`, and those of each are ranked by weights learnt on the others,
    so that every number of the result is of queries that the weights never saw. `discount` and `regularization` are
    chosen within the training queries by the first measure, unless they are given. Where these queries show no gain
    over reciprocal rank fusion (RRF) by that measure, held out in the same way, RRF ranks. `features` names some of
    score, reciprocal, log and retrieved; `allow_negative` lets weights be below 0. `weights`, learnt elsewhere, are
    applied as they are. The other arguments are those of `evaluate`.

    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(6)}
    >>> good, noise = dict.fromkeys(qrels, ["a", "b", "x"]), dict.fromkeys(qrels, ["y", "x", "z", "b"])
    >>> fused = fuse(qrels, {"good": good, "noise": noise}, folds=3)
    >>> list(fused.to_dict()["q0"])
    ['a', 'b', 'x', 'z', 'y']
    >>> fused.weights.runs["noise"]["retrieved"]
    0.0
    """
    recipe, policies = taken(Recipe, options), taken(Policies, options)
    rows = parse_names(DEFAULT_MEASURES if measures is None else measures)
    if isinstance(qrels, Positions):
        problem = "positions are given, which do not hold the documents without a judgment"
        raise UsageError(problem, remedy="give judgments and runs")
    if runs is None:
        raise UsageError("no runs are given", remedy="give judgments and two or more runs")
    check_fusible(Conventions(**among(Conventions, options)), Sources(**among(Sources, options)))
    check_number(num_given(qrels, runs, options))
    weights = load_weights(recipe.weights)
    fusion = read_fusion(qrels, runs, recipe, policies, rows, options)
    return fusion.answer(weights)


def read_fusion(
    qrels: Qrels,
    runs: Runs,
    recipe: Recipe,
    policies: Policies,
    rows: Sequence[Evaluable],
    options: Mapping[str, Any],
    losses: Callable[[float], ScoreLoss] = OrderedObjective,
) -> "Fusion":
    """Read what is fused."""
    lists = load_lists(qrels, runs, needs_scores=True, **options)
    check_number(len(lists.runs))
    check_run_names(lists)
    conventions, judgments = Conventions(**among(Conventions, options)), lists.judgments
    sizes = sizes_of_queries(options.get("corpus_size"), judgments)
    conventions.require_corpus_size(sizes)
    needs_judged = any(row.needs_judged for row in rows)
    field = RankingField(tuple(candidates_of(lists)), judgments, conventions, sizes, needs_judged)
    return Fusion(
        lists=lists, field=field, recipe=recipe, policies=policies, rows=tuple(rows), losses=losses,
        show_progress=options.get("show_progress", False),
    )  # fmt: skip


def check_run_names(lists: Lists) -> None:
    """Raise if a run has the name of something that it is compared with."""
    if taken_names := [run.name for run in lists.runs if run.name in (FUSED, *BASELINES, BEST_RUN)]:
        problem = f"a run cannot be called {listed(map(repr, taken_names))}: that is a row of the report"
        raise UsageError(problem, remedy="rename the file, or give the run another name")


@dataclass(frozen=True)
class Fusion:
    """What is fused, and how."""

    lists: Lists
    field: RankingField
    recipe: Recipe
    policies: Policies
    rows: tuple[Evaluable, ...]
    losses: Callable[[float], ScoreLoss]
    show_progress: bool | None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The runs."""
        return tuple(run.name for run in self.lists.runs)

    @cached_property
    def depths(self) -> IntArray:
        """The length of the longest list of each run, [S]."""
        return np.asarray(np.max([candidates.lengths for candidates in self.field.candidates], axis=0))

    @cached_property
    def eligible(self) -> IntArray:
        """The queries that count and that something can be learnt from: some run retrieves a relevant document."""
        level, counts = self.policies.level, self.policies.eligible(self.lists.judgments)
        known = (candidates for candidates in self.field.candidates if counts[candidates.query])
        return np.array([candidates.query for candidates in known if candidates.is_relevant(level).any()], np.int64)

    @cached_property
    def singles(self) -> list[RunPositions]:
        """The runs as they are."""
        return [
            replace(
                self.field.single(run.name, s),
                num_unjudged=len(run.unjudged),
                num_duplicates=run.num_duplicates,
                num_extra=run.num_extra,
            )
            for s, run in enumerate(self.lists.runs)
        ]

    @cached_property
    def baselines(self) -> list[RunPositions]:
        """What needs no learning, RRF first."""
        return [
            self.field.scored(
                name, [fused(candidates.places, candidates.shares) for candidates in self.field.candidates]
            )
            for name, fused in BASELINES.items()
        ]

    @cached_property
    def folds(self) -> list[IntArray]:
        """The queries of each fold, or an error if they are too few."""
        return folds_of(self.eligible, self.recipe.folds, self.recipe.seed)

    @property
    def has_best_run(self) -> bool:
        """Whether there are queries enough to choose a single run by others."""
        return len(self.eligible) >= self.recipe.folds

    def check_number(self) -> None:
        """Raise if there are too few queries to learn from."""
        number, folds = len(self.eligible), self.recipe.folds
        found = f"{counted(number, 'query')} with a relevant document that a run retrieves"
        if number < LEAST_QUERIES:
            problem = f"there are {found}, too few to learn from: it takes {LEAST_QUERIES}"
            raise DataError(problem, remedy="give more judgments, or weights that were learnt elsewhere (--weights)")
        if number < folds:
            problem = f"folds is {folds}, but there are only {found}"
            raise UsageError(problem, remedy=f"--folds {number}, or folds={number} in Python, leaves one query out")

    def answer(self, weights: FusionWeights | None) -> FusedRun:
        """Rank all queries by weights that never saw them, and compare."""
        if not len(self.eligible):
            raise DataError(
                "no run retrieves a relevant document, and there is nothing to fuse for",
                remedy="check that judgments and runs are of the same collection",
            )
        is_learnt = weights is None
        if weights is not None:
            queries = range(len(self.field.candidates))
            table = weights.of_runs(self.names)
            models = [FoldModel(None, tuple(queries), None, None, weights.is_rrf)]
            scores = [self.scored(q, weights.features, None if weights.is_rrf else table) for q in queries]
        else:
            self.check_number()
            features = parse_features(self.recipe.features)
            scores, models, last = self.learnt(features)
            weights = self._named(last, features)
        runs, best_runs = self.compared(scores)
        return self._made(scores, runs, weights, self._with_best(models, best_runs), is_learnt=is_learnt)

    def scored(self, query: int, features: Sequence[str], weights: FloatArray | None) -> FloatArray:
        """Return the score of each candidate of a query; without weights, that of RRF."""
        candidates = self.field.candidates[query]
        if weights is None:
            return BASELINES["RRF"](candidates.places, candidates.shares)
        scores = candidates.features(features, self.depths) @ weights
        return np.asarray(scores.round(DECIMALS) + 0.0)  # without the sign of a zero

    def learnt(self, features: tuple[str, ...]) -> tuple[list[FloatArray], list[FoldModel], ChosenModel]:
        """Return the scores of all candidates, by weights of the other folds, and the weights of all folds."""
        settings = settings_to_try(self.recipe.discount, self.recipe.regularization)
        with Progress("learning", num_fits(self.folds, len(settings)), shown=self.show_progress) as progress:
            learner = self.learner(features, settings, progress)
            chosen = [
                choose(learner, self.folds, held_out, self.judge(features)) for held_out in range(len(self.folds))
            ]
            last = choose(learner, self.folds, None, self.judge(features))
        weights = {
            query: model.weights for fold, model in zip(self.folds, chosen, strict=True) for query in fold.tolist()
        }
        number = len(self.field.candidates)
        scores = [self.scored(query, features, weights.get(query, last.weights)) for query in range(number)]
        models = [
            _fold(f, fold.tolist(), model) for f, (fold, model) in enumerate(zip(self.folds, chosen, strict=True), 1)
        ]
        others = [query for query in range(number) if query not in weights]
        return scores, [*models, *([_fold(None, others, last)] if others else [])], last

    def learner(self, features: tuple[str, ...], settings: Sequence[Tuning], progress: Progress) -> Learner:
        """Return what fits weights, for any set of queries."""
        level, seed, rrf = self.policies.level, self.recipe.seed, BASELINES["RRF"]
        of_queries = (self.field.candidates[query] for query in self.eligible.tolist())
        learnables = {
            candidates.query: learnable(
                candidates, features, self.depths, level, rrf(candidates.places, candidates.shares), seed
            )
            for candidates in of_queries
        }
        return Learner(learnables, self.losses, settings, self.recipe.allow_negative, progress)

    def judge(self, features: tuple[str, ...]) -> Judge:
        """Return what says which settings rank queries best, and whether they gain over RRF, by the first measure."""

        def best(ranked_by: dict[int, list[FloatArray]], queries: IntArray) -> tuple[int, bool]:
            number = len(next(iter(ranked_by.values())))
            scores: list[list[FloatArray | None]] = [[None] * len(self.field.candidates) for _ in range(number)]
            for query, weights in ranked_by.items():
                table = self.scored(query, features, np.stack(weights, axis=1))
                for by_query, column in zip(scores, table.T, strict=True):
                    by_query[query] = column
            runs = [self.field.scored(str(c), by_query) for c, by_query in enumerate(scores)]
            chosen = best_of(self.field.positions(runs), self.rows[0], self.policies, queries)
            return chosen, self.gains(runs[chosen], queries)

        return best

    def gains(self, learnt: RunPositions, queries: IntArray) -> bool:
        """Tell whether a run is better than RRF on some queries: the interval of the difference is above 0.

        A mean that few queries make has none. There the sign test decides, unless wins contradict the mean.
        """
        positions = self.field.positions([learnt, self.baselines[0]])
        contrasts = contrasted(positions, self.rows[0], self.policies).on(queries)
        pair = PortionedPairs.of(contrasts)
        tests = run_test(TESTING, pair)
        by_wins = (tests.pvalues < TESTING.alpha) & (pair.wins > pair.losses) & (pair.means > 0)
        return bool(np.where(np.isnan(tests.lows), by_wins, tests.lows > 0)[0])

    def compared(self, scores: Sequence[FloatArray]) -> tuple[list[RunPositions], dict[int, int]]:
        """Return the fused run and what it is compared with; and which single run was best on other queries."""
        field = self.field
        runs = [field.scored(FUSED, scores), *self.baselines]
        if not self.has_best_run:
            return runs, {}
        together = field.positions(self.singles)
        held_out: dict[int, int] = {}
        for fold in self.folds:
            training = np.setdiff1d(self.eligible, fold)
            held_out |= dict.fromkeys(fold.tolist(), best_of(together, self.rows[0], self.policies, training))
        overall = best_of(together, self.rows[0], self.policies, self.eligible)
        chosen = {candidates.query: held_out.get(candidates.query, overall) for candidates in field.candidates}
        places = [
            candidates.places[s] if candidates.answered[s := chosen[candidates.query]] else None
            for candidates in field.candidates
        ]
        return [*runs, field.run(BEST_RUN, places)], chosen

    def _with_best(self, models: Sequence[FoldModel], best_runs: Mapping[int, int]) -> tuple[FoldModel, ...]:
        """Return the folds with the single run that was best on other queries."""

        def best(model: FoldModel) -> str | None:
            names = {self.names[best_runs[query]] for query in model.queries if query in best_runs}
            return names.pop() if len(names) == 1 else None

        return tuple(model._replace(best_run=best(model)) for model in models)

    def _named(self, last: ChosenModel, features: tuple[str, ...]) -> FusionWeights:
        features, weights = (RRF, np.ones(len(self.names))) if last.weights is None else (features, last.weights)
        table = weights.reshape(len(self.names), len(features)).tolist()
        runs = {name: dict(zip(features, row, strict=True)) for name, row in zip(self.names, table, strict=True)}
        queries = tuple(self.lists.judgments.queries[query] for query in self.eligible.tolist())
        return FusionWeights(runs, features, *last.settings, last.num_queries, queries)

    def _made(
        self,
        scores: Sequence[FloatArray],
        runs: Sequence[RunPositions],
        weights: FusionWeights,
        models: tuple[FoldModel, ...],
        *,
        is_learnt: bool,
    ) -> FusedRun:
        everything = self.field.positions([*runs, *self.singles])
        among_fused = self.field.positions(runs)
        evaluated, _ = scores_of(everything, self.rows, self.policies)
        fused_scores, _ = scores_of(among_fused, self.rows, self.policies)
        pairs = pairs_under(fused_scores.measures, among_fused, self.policies, [0])
        comparison = compare_scores(fused_scores, pairs, TESTING, references=[0])
        cautions = comparison.notes[len(fused_scores.notes) :]
        return FusedRun(
            runs=self.names,
            queries=self.lists.judgments.queries,
            candidates=self.field.candidates,
            fused=tuple(scores),
            scores=evaluated,
            comparison=comparison,
            weights=weights,
            folds=models,
            is_learnt=is_learnt,
            notes=(
                *self._notes(is_learnt=is_learnt),
                *(() if is_learnt else self._seen(weights)),
                *evaluated.notes,
                *cautions,
            ),
            frame_library=self.lists.frame_library,
        )

    def _seen(self, weights: FusionWeights) -> Iterator[Note]:
        """Warn of queries that weights from elsewhere were learnt on, as it seems: they look better than they are."""
        if number := len({*weights.queries} & {*self.lists.judgments.queries}):
            text = (
                f"{counted(number, 'query')} with the id of one that the weights were learnt on: if they are the same, "
                "the fused run looks better than it is on other queries"
            )
            yield Note("learnt on", text, number)

    def _notes(self, *, is_learnt: bool) -> Iterator[Note]:
        judgments, level = self.lists.judgments, self.policies.level
        without = [
            run.name
            for run in self.lists.runs
            if any(q not in run.scores for q, documents in run.lists.items() if documents)
        ]
        if without:
            text = f"{counted(len(without), 'run')} without scores ({listed(without, NAMED)}): ranks take their place"
            yield Note("no scores", text, len(without))
        number = sum(len(candidates.documents) for candidates in self.field.candidates)
        unjudged = sum(int(np.isnan(candidates.grades).sum()) for candidates in self.field.candidates)
        if unjudged:
            share = percent(unjudged / number)
            where = ", in learning too" if is_learnt else ""
            text = f"{share} of the documents are unjudged: they count as not relevant{where}"
            yield Note("unjudged documents", text, unjudged)
        found = np.array([int(candidates.is_relevant(level).sum()) for candidates in self.field.candidates])
        missed = np.where(self.policies.eligible(judgments), judgments.num_relevant(level) - found, 0)
        if missed.any():
            where = counted(int(np.count_nonzero(missed)), "query")
            text = f"{counted(int(missed.sum()), 'relevant document')} of {where} in no run: missed by all alike"
            yield Note("in no run", text, int(missed.sum()))
        empty = [judgments.queries[q] for q in np.flatnonzero(found == 0).tolist()]
        if empty and is_learnt:
            text = (
                f"{counted(len(empty), 'query')} without a relevant document in any run ({listed(empty, NAMED)}): "
                "ranked by the weights of all others"
            )
            yield Note("nothing to learn from", text, len(empty))
        if not self.has_best_run:
            text = f"too few queries for {self.recipe.folds} folds: no best run is chosen"
            yield Note("no best run", text, len(self.eligible))
        if strangers := frozenset().union(*(run.unjudged for run in self.lists.runs)):
            text = f"{counted(len(strangers), 'query')} without judgments: left out of the fused run"
            yield Note("not fused", text, len(strangers))


def _fold(number: int | None, queries: Sequence[int], model: ChosenModel) -> FoldModel:
    is_rrf = model.weights is None
    return FoldModel(number, tuple(queries), None if is_rrf else model.settings, None, is_rrf)
