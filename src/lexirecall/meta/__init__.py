"""Study: what measures are worth on your own data, one module for each question.

Belongs here: the verb and its result. Not here: the questions (`data`, `agreement`, `ties`, `correlation`,
`sensitivity`, `halves`, `degradation`), the words (`summary`), the layout (`layout`) and the drawings (`figures`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from math import comb
from typing import Any, cast

import numpy as np

from lexirecall.errors import UsageError, check_count, is_several, listed
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs
from lexirecall.manifest import READING, Manifest, Note, Policies
from lexirecall.meta import agreement, correlation, data, degradation, halves, sensitivity, shares, ties
from lexirecall.meta.collection import Collection, CollectionFiles, collection_name, read_collections
from lexirecall.meta.conclusions import Outcomes
from lexirecall.meta.decisions import decide_all
from lexirecall.meta.layout import laid_out
from lexirecall.meta.resampling import NUM_RESAMPLES, Bootstrap
from lexirecall.meta.summary import summarize
from lexirecall.names import Evaluable, Names, parse_names
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.positions import Positions
from lexirecall.preferences import LEXI_RECALL, Preference
from lexirecall.progress import Progress
from lexirecall.statistics.attainable import least_attainable
from lexirecall.statistics.paired import check_chance
from lexirecall.tables import Table, to_delimited
from lexirecall.verbs.evaluate import scores_of
from lexirecall.verbs.subject import positions_of

__all__ = ["Collection", "CollectionFiles", "Study", "read_collections", "study"]

MEASURES = ("LexiRecall", "TSE", "R@1000", "Rprec", "AP", "nDCG(rel='level')", "RR", "nDCG(rel='level')@10")
"""nDCG is binary at the level of the collection, as in the paper: a label that is removed takes its gain with it."""
TABLES = {
    "data": data.COLUMNS,
    "agreement": agreement.COLUMNS,
    "ties": ties.COLUMNS,
    "correlation": correlation.COLUMNS,
    "sensitivity": sensitivity.COLUMNS,
    "halves": halves.COLUMNS,
    "degradation": degradation.COLUMNS,
    "contrasts": shares.CONTRAST_COLUMNS,
}
"""The columns of each table."""
FILES = (*(f"{name}.{end}" for name in TABLES for end in ("tsv", "md", "tex")), "summary.txt", "manifest.json")
"""What a study writes besides its figures."""
Collections = Mapping[str, Positions] | Iterable[Collection | CollectionFiles]
RowsByTable = dict[str, list[dict[str, Any]]]


@takes(Policies, *READING, warns=True)
def study(
    qrels: Qrels | Positions | Collections,
    runs: Runs | None = None,
    measures: Names | None = None,
    *,
    teams: Any = None,
    alpha: float = 0.05,
    num_samples: int = 30,
    seed: int = 0,
    **options: Any,
) -> "Study":
    """Find out which measures separate the runs, agree with finding everything, and survive missing labels.

    The arguments are those of `evaluate`. To study several collections at once, give {name: positions}, to which the
    options apply, or collections with their own options, such as those that `read_collections` finds in a file. They
    are read and studied one after the other. LexiRecall, with which measures are compared, always comes first.
    `teams` is who made each run, as {run: team} or a file: differences between measures are over other teams too.
    `num_samples` is how often labels are removed at random; the same `seed` draws the same ones.

    >>> from lexirecall import simulate_collection
    >>> simulated = simulate_collection(1, num_queries=5)
    >>> made = study(simulated.qrels, simulated.runs, ["R@1000", "RR"], num_samples=2)
    >>> [(row["measure"], round(row["ties"], 3)) for row in made.tables["ties"]]
    [('LexiRecall', 0.0), ('R@1000', 0.067), ('RR', 0.5)]

    Reference: DiazEM25, empirical analysis.
    """
    check_chance("alpha", alpha)
    check_count("num_samples", num_samples, 1)
    check_count("seed", seed, 0)
    rows = _asked(measures)
    questions = _Questions(rows, alpha, num_samples, seed, options.get("show_progress", False))
    tables: RowsByTable = {name: [] for name in TABLES}
    notes: list[Note] = []
    records: dict[str, Any] = {}
    for collection in _read(qrels, runs, options, teams, questions):
        if collection.name in records:
            raise UsageError(f"two collections are called {collection.name!r}", remedy="rename one")
        notes += questions.notes(collection)  # first: it says what cannot be computed before the long work
        records[collection.name] = _record(collection)
        for name, answers in questions.examine(collection).items():
            tables[name] += answers
    if not records:
        raise UsageError("there is no collection to study")
    return Study({name: tuple(table) for name, table in tables.items()}, questions.manifest(records, notes))


def _asked(measures: Names | None) -> tuple[Evaluable, ...]:
    """Return the rows asked for, LexiRecall first; a preference made from a measure becomes that measure."""
    asked = parse_names(MEASURES if measures is None else measures)
    rows = ((row.measure or row) if isinstance(row, Preference) else row for row in asked)
    return tuple(dict.fromkeys([LEXI_RECALL, *rows]))


def _read(
    qrels: Qrels | Positions | Collections, runs: Runs | None, options: dict[str, Any], teams: Any,
    questions: "_Questions",
) -> Iterator[Collection]:  # fmt: skip
    """Give one collection after the other: a single one, several by name, or those with their own options."""
    option_names = [name for name in options if name != "show_progress"] + ["teams"] * (teams is not None)
    policies = taken(Policies, options)
    if runs is not None or isinstance(qrels, Positions):
        positions = positions_of(cast("Qrels | Positions", qrels), runs, questions.measures, options)
        yield Collection(collection_name(positions.judgments.name), positions, policies, teams=teams)
    elif isinstance(qrels, Mapping):
        for name, source in qrels.items():
            yield Collection(str(name), positions_of(source, None, (), options), policies, teams=teams)
    else:
        collections = list(qrels) if is_several(qrels) else [qrels]
        if not all(isinstance(collection, (Collection, CollectionFiles)) for collection in collections):
            raise UsageError("no runs are given", remedy="give judgments and runs, or positions from project")
        if option_names:
            problem = f"{listed(option_names)}: given beside collections, which have their own options"
            raise UsageError(problem, remedy="give them to each collection")
        needs_judged = any(row.needs_judged for row in questions.measures)
        for collection in cast("list[Collection | CollectionFiles]", collections):
            if isinstance(collection, CollectionFiles):
                yield collection.read(needs_judged=needs_judged, show_progress=questions.show_progress)
            else:
                yield collection


@dataclass(frozen=True, slots=True)
class _Questions:
    """What is asked of each collection."""

    measures: tuple[Evaluable, ...]
    alpha: float
    num_samples: int
    seed: int
    show_progress: bool | None

    def notes(self, collection: Collection) -> Iterator[Note]:
        """Compute all measures once, which raises if one cannot be computed, and give the notes."""
        scores, _ = scores_of(collection.positions, self.measures, collection.policies)
        for note in scores.notes:
            yield Note(note.kind, f"{collection.name}: {note.text}", note.count)
        num_queries = data.describe(collection)["queries"]
        num_pairs = comb(len(collection.positions.runs), 2)
        least = least_attainable("sign", num_queries, num_pairs, correction="holm", alpha=self.alpha)
        if not least.is_possible:
            yield Note("least p", f"{collection.name}: {least.note}", num_queries)
        if collection.positions.follow_labels:
            why = "with these rules (judged-only, optimistic, or ties worst or best) the order depends on the labels"
            yield Note("degradation", f"{collection.name}: {why}, so no labels are removed", 1)

    def examine(self, collection: Collection) -> RowsByTable:
        """Answer all questions about one collection, as rows of each table."""
        num_steps = 2 * len(self.measures) + degradation.num_steps(self.num_samples)
        with Progress("studying", num_steps, shown=self.show_progress) as progress:
            description = data.describe(collection)
            answers = self._answers(collection, progress)
        key = {"collection": collection.name, "task": collection.task, "label": description["label"]}
        return {"data": [description]} | {name: [key | row for row in rows] for name, rows in answers.items()}

    def _answers(self, collection: Collection, progress: Progress) -> RowsByTable:
        positions, policies = collection.positions, collection.policies
        decisions = decide_all(self.measures, positions, policies)
        outcomes = {
            str(row): Outcomes.of(row, decided, positions, policies)
            for row, decided in zip(self.measures, decisions, strict=True)
        }
        queries = np.any([decided.compared > 0 for decided in decisions], axis=0)
        bootstrap = Bootstrap(queries, self.seed, self.alpha, teams=collection.team_numbers)
        named = {name: outcome.decisions for name, outcome in outcomes.items()}
        reference, *others = named
        tied, of_ties = ties.tie_rows(named, bootstrap)
        certain = {str(row) for row in self.measures if agreement.is_by_definition(row, positions, policies)}
        agreeing, of_agreement = agreement.agreement_rows(
            named[reference], {name: named[name] for name in others}, certain, bootstrap
        )
        power = []
        for row in self.measures:
            power.append(sensitivity.power_row(row, outcomes[str(row)], collection, alpha=self.alpha))
            progress.advance(1)
        power, of_power = sensitivity.with_intervals(power, list(outcomes.values()), bootstrap)
        split = halves.halves_rows(outcomes, queries, alpha=self.alpha, seed=self.seed, progress=progress)
        degraded: list[dict[str, Any]] = []
        of_labels: list[dict[str, Any]] = []
        if not positions.follow_labels:
            degraded, of_labels = degradation.degradation_rows(
                collection, self.measures, decisions, bootstrap, num_samples=self.num_samples, seed=self.seed,
                progress=progress,
            )  # fmt: skip
        return {
            "agreement": agreeing,
            "ties": tied,
            "correlation": correlation.tau_rows(outcomes, bootstrap),
            "sensitivity": power,
            "halves": split,
            "degradation": degraded,
            "contrasts": [*of_ties, *of_agreement, *of_power, *of_labels],
        }

    def manifest(self, collections: Mapping[str, Any], notes: Iterable[Note]) -> Manifest:
        """Return the conventions of the study."""
        conventions = {
            "seed": self.seed,
            "samples": self.num_samples,
            "resamples": NUM_RESAMPLES,
            "splits": halves.NUM_SPLITS,
            "alpha": self.alpha,
            "collections": collections,
        }
        measures = tuple({"name": str(row), "title": row.title, "formula": row.formula} for row in self.measures)
        return Manifest(conventions, measures, notes=tuple(notes))


def _record(collection: Collection) -> dict[str, Any]:
    """Return what a reader needs to know about a collection to study it again."""
    positions = collection.positions
    sizes = None if positions.corpus_size is None else sorted(set(positions.corpus_size.tolist()))
    return {
        "qrels": positions.judgments.name,
        "task": collection.task,
        "runs": list(positions.runs),
        "teams": collection.teams,
        "corpus_size": sizes if sizes is None or len(sizes) > 1 else sizes[0],
        **asdict(positions.conventions),
        **asdict(collection.policies),
        **({} if positions.unit_count is None else positions.unit_count.record()),
    }


@dataclass(frozen=True, eq=False)
class Study(DisplayedResult):
    """What a study has found: tables for programs, a page of words, and figures.

    >>> from lexirecall import project
    >>> runs = {"x": {"q": ["a", "b"]}, "y": {"q": ["a", "z", "b"]}}
    >>> made = study({"tiny": project({"q": {"a": 1, "b": 1}}, runs)}, measures=["RR"], num_samples=1)
    >>> row = made.tables["ties"][1]
    >>> row["collection"], row["measure"], row["ties"], row["compared"], row["pairs"], row["queries"]
    ('tiny', 'RR', 1.0, 1, 1, 1)
    """

    tables: Mapping[str, tuple[Mapping[str, Any], ...]]
    """The rows of each of TABLES, by its name; what is not defined is None."""
    manifest: Manifest

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know about the data."""
        return self.manifest.notes

    def to_tsv(self, table: str, *, raw: bool = False) -> str:
        """Return one of the tables as tab-separated text with a header; what is not defined is an empty field.

        A name that a spreadsheet would run as a formula gets an apostrophe before it, unless you ask for `raw`.
        """
        return to_delimited(self.tables[table], TABLES[table], "\t", raw=raw) + "\n"

    def table(self, table: str) -> Table:
        """Return one of the tables for people, which converts itself to text, Markdown and LaTeX.

        Numbers are rounded, and intervals are beside them.
        """
        return laid_out(self.tables, table)

    def summary(self) -> str:
        """Return what the numbers say, on a page."""
        return summarize(self.tables, alpha=self.manifest.conventions["alpha"])

    def __str__(self) -> str:
        return self.summary()

    def _parts(self) -> Iterable[CellPart]:
        return [self.summary()]

    def files(self, *, figures: bool = True, raw: bool = False) -> dict[str, bytes]:
        """Return the files of the folder: tables, summary, manifest and, if wanted, figures in every format.

        Each table is there for programs (tsv) and, rounded, for a paper (md, tex).
        """
        texts = {f"{name}.tsv": self.to_tsv(name, raw=raw) for name in TABLES}
        texts |= {f"{name}.md": self.table(name).to_markdown() + "\n" for name in TABLES}
        texts |= {f"{name}.tex": self.table(name).to_latex() + "\n" for name in TABLES}
        texts |= {"summary.txt": self.summary(), "manifest.json": self.manifest.to_json()}
        files = {name: text.encode(errors="surrogateescape") for name, text in texts.items()}
        if not figures:
            return files
        from lexirecall.meta.figures import charts
        from lexirecall.plots import to_files

        for name, chart in charts(self.tables).items():
            files |= to_files(chart, name)
        return files
