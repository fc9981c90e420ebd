"""Listing: from judgments and runs in any of their forms to whole lists.

Belongs here: `load_lists`. Not here: what lists are (wholelists), what a file means (trec, memory, rows).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lexirecall.errors import UsageError
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs, engine_of, load_units, nothing_in_common, opened_run, origin_of
from lexirecall.formats.columns import check_given
from lexirecall.formats.forms import no_whole_lists
from lexirecall.formats.naming import check_names, name_runs
from lexirecall.formats.wholelists import Lists, RunLists
from lexirecall.judgments import Judgments
from lexirecall.manifest import READING, Conventions, Sources
from lexirecall.progress import Progress


@takes(*READING)
def load_lists(qrels: Qrels, runs: Runs, *, needs_scores: bool = False, purpose: str = "here", **options: Any) -> Lists:
    """Read the ids of every ranking of a judged query, in order, cut at the depth, from what `project` takes.

    With `needs_scores` the scores come along, where there are any; what refuses says that lists are needed for this
    `purpose`. A positions file is refused: it does not hold the
    documents without a judgment.

    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 0.5, "a": 0.9, "b": 0.5}}
    >>> [run.lists for run in load_lists(qrels, {"bm25": run}).runs]
    [{b'q': [b'a', b'x', b'b']}]
    >>> [run.scores[b"q"].tolist() for run in load_lists(qrels, {"bm25": run}, needs_scores=True).runs]
    [[0.9, 0.5, 0.5]]
    """
    conventions, sources = taken(Conventions, options), taken(Sources, options)
    check_listable(conventions, sources, purpose)
    conventions.check_units(sources.units, sources.providers)
    check_given(sources.columns)
    judgments, _, _ = load_units(qrels, conventions, sources)
    named = name_runs(runs, sources.columns, sources.stdin_name)
    read: list[RunLists] = []
    sources_of_names = []
    with Progress("reading runs", sum(run.size for run in named), shown=sources.show_progress) as progress:
        for run in named:
            if (engine := engine_of(run, sources)) is not None:
                raise no_whole_lists(engine, purpose)
            with opened_run(run, conventions, sources, progress.advance) as form:
                run_lists = form.lists(judgments, conventions, needs_scores=needs_scores)
            sources_of_names += [(lists.name, run.label) for lists in run_lists]
            read += run_lists
    check_names(sources_of_names)
    if strangers := [run.name for run in read if not run.lists]:
        raise nothing_in_common(strangers, judgments.queries)
    cut = tuple(_cut(run, judgments, conventions) for run in read)
    return Lists(judgments, cut, origin_of(qrels, named))


def check_listable(conventions: Conventions, sources: Sources, purpose: str = "here") -> None:
    """Raise if whole lists cannot be had under the options; the error says for what purpose they are needed.

    >>> check_listable(Conventions(), Sources(engine="duckdb"), "to fuse runs")
    Traceback (most recent call last):
    lexirecall.errors.UsageError: engine is 'duckdb', which finds positions, but whole lists are needed to fuse runs
      leave out the engine
    """
    if sources.engine is not None:
        raise no_whole_lists(sources.engine, purpose)
    if conventions.ties == "expected":
        raise UsageError("ties='expected' has no single order to list", remedy="choose trec, input, worst or best")
    if conventions.count == "units" and conventions.depth is not None:
        problem = "with count='units' the depth counts units, but whole lists are cut in documents"
        raise UsageError(problem, remedy="leave one of them out")


def _cut(run: RunLists, judgments: Judgments, conventions: Conventions) -> RunLists:
    """Leave out what is below the depth, and then what is not judged if only judged documents count."""
    if conventions.depth is None and not conventions.judged_only:
        return run
    index = judgments.index

    def kept(query: bytes, documents: Sequence[bytes]) -> list[int]:
        """Return the places, counted from 0, that are left."""
        places = list(range(len(documents[: conventions.depth])))
        if not conventions.judged_only:
            return places
        lookup = judgments.lookup(index[query])
        return [at for at in places if documents[at] in lookup and judgments.grades[lookup[documents[at]]] >= 0]

    places = {query: kept(query, documents) for query, documents in run.lists.items()}
    lists = {query: [documents[at] for at in places[query]] for query, documents in run.lists.items()}
    return replace(run, lists=lists, scores={query: scores[places[query]] for query, scores in run.scores.items()})
