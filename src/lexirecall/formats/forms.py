"""Forms: a run as text, as a mapping, as a table or as positions, each of which can be read more than once.

Belongs here: what a form is, reading one, and text. Not here: which form a run has (kinds), what its lines mean (trec),
the other forms (mappingrun, tableruns, positionsrun).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeGuard

from lexirecall.errors import UsageError
from lexirecall.formats.mismatch import finds_judged, mismatch_of
from lexirecall.formats.native import project_native
from lexirecall.formats.source import Source
from lexirecall.formats.trec import lists_of_text, project_text, run_lines
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions, Sources
from lexirecall.reader import reader_in_use
from lexirecall.tracks import RunPositions

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from lexirecall.formats.naming import NamedRun
    from lexirecall.formats.wholelists import RunLists
    from lexirecall.units.unitmap import UnitMap


class Form(Protocol):
    """A run that can be read as a whole, or one ranking at a time."""

    def runs(
        self, judgments: Judgments, conventions: Conventions, units: "UnitMap | None", *, needs_judged: bool
    ) -> list[RunPositions]:
        """Find where the judged documents are in the rankings of each run, places counted in `units` if given."""

    def documents(self, run: str, query: bytes) -> Iterable[bytes]:
        """Give what a run retrieves for a query, in any order."""

    def lists(self, judgments: Judgments, conventions: Conventions, *, needs_scores: bool = False) -> "list[RunLists]":
        """Give the whole rankings of each run for judged queries, in order; no depth is applied."""


class EngineForm(Form, Protocol):
    """A run whose rows an engine sorts by query and streams; it has no whole lists."""

    @classmethod
    def check(cls, conventions: Conventions, sources: Sources) -> None:
        """Raise before anything is read if the engine cannot do what is asked of it, or does not take its settings."""

    @classmethod
    def opened(
        cls, run: "NamedRun", conventions: Conventions, sources: Sources
    ) -> "AbstractContextManager[EngineForm]":
        """Give the form of a run, which can be read until the end."""


def no_whole_lists(engine: str, purpose: str = "here") -> UsageError:
    """Return the error about an engine from which whole lists are wanted, such as `to fuse runs`."""
    problem = f"engine is {engine!r}, which finds positions, but whole lists are needed {purpose}"
    remedy = "leave out the engine" + ("; a frame of Spark can be given as .toPandas()" if engine == "spark" else "")
    return UsageError(problem, remedy=remedy)


def is_form(value: object) -> TypeGuard[Form]:
    """Tell whether something is a run that has been opened, such as several that were joined.

    >>> is_form({"q": ["a"]}), is_form(TextRun(Source("bm25.run"), "bm25"))
    (False, True)
    """
    return hasattr(type(value), "runs") and hasattr(type(value), "lists")


def read_form(
    form: Form, judgments: Judgments, conventions: Conventions, units: "UnitMap | None" = None, *, needs_judged: bool
) -> list[RunPositions]:
    """Read a run; a run for which nothing was found is looked at again, for any judged document at any depth."""
    runs = form.runs(judgments, conventions, units, needs_judged=needs_judged)
    if all(map(finds_judged, runs)):
        return runs
    from lexirecall.formats.positionsrun import PositionsRun  # not on top: hardly any run comes here

    if isinstance(form, PositionsRun):  # the file knows what was found out about the run
        return runs
    uncut = replace(conventions, depth=None, judged_only=False, imputation="pessimistic")
    whole = form.runs(judgments, uncut, units, needs_judged=True)
    return [
        run if finds_judged(run) or finds_judged(whole_run) else _marked(form, run, whole_run, judgments)
        for run, whole_run in zip(runs, whole, strict=True)
    ]


def _marked(form: Form, run: RunPositions, whole: RunPositions, judgments: Judgments) -> RunPositions:
    def documents_of(query: int) -> Iterable[bytes]:
        return form.documents(run.name, judgments.query_ids[query])

    return replace(run, mismatch=mismatch_of(run.name, whole.num_retrieved, judgments, documents_of))


class TextRun(NamedTuple):
    """The lines of a file."""

    source: Source
    name: str

    def runs(
        self, judgments: Judgments, conventions: Conventions, units: "UnitMap | None", *, needs_judged: bool
    ) -> list[RunPositions]:
        """Read the lines with the reader in use."""
        read = project_native if reader_in_use() == "native" else project_text
        return [read(self.source, self.name, judgments, conventions, units, needs_judged=needs_judged)]

    def documents(self, _run: str, query: bytes) -> Iterable[bytes]:
        """Give the documents on the lines of a query."""
        return (document for of, document, *_ in run_lines(self.source) if of == query)

    def lists(self, judgments: Judgments, conventions: Conventions, *, needs_scores: bool = False) -> "list[RunLists]":
        """Read the whole rankings."""
        return [lists_of_text(self.source, self.name, judgments, conventions, needs_scores=needs_scores)]
