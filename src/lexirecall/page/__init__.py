"""Page: a report on the runs of one collection, as a single HTML file that needs nothing else.

Belongs here: the verb and its result. Not here: what the page shows (`findings`, `payload`), how it becomes a file
(`html`), what it does in a browser (`assets`), and drawings for papers (`charts`).
"""

import datetime as dt
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexirecall.aggregation import Aggregation
from lexirecall.errors import LexirecallError, UsageError, counted, names_in, warn
from lexirecall.fields import among, taken, takes
from lexirecall.formats import Qrels, Runs
from lexirecall.installing import how_to_install
from lexirecall.manifest import READING, Conventions, Note, Policies
from lexirecall.names import Names
from lexirecall.notebook import CellPart, NotebookDisplay, TitledTable
from lexirecall.output import FilePath, check_outputs, write_files
from lexirecall.page.findings import Findings
from lexirecall.page.html import fill
from lexirecall.page.limits import Limits
from lexirecall.page.payload import build_payload
from lexirecall.page.stages import check_funnel
from lexirecall.page.unlabelled import check_unjudged
from lexirecall.paths import exists, is_folder
from lexirecall.plots import drawing_files, has_converter
from lexirecall.positions import Positions
from lexirecall.svg import Drawing
from lexirecall.tables import Table
from lexirecall.texts import files_named, texts_or_none
from lexirecall.verbs.evaluate import groups_of, read_aggregation
from lexirecall.verbs.explain import check_single_order
from lexirecall.verbs.resamples import check_bootstrap
from lexirecall.verbs.subject import asked_of, positions_of
from lexirecall.verbs.testing import Testing

if TYPE_CHECKING:
    from lexirecall.gates.funnelresult import Funnel
    from lexirecall.labels.missingresult import Unjudged

__all__ = ["Limits", "Report", "report"]


@takes(Testing, Aggregation, Policies, *READING, warns=True)
def report(
    qrels: Qrels | Positions,
    runs: Runs | None = None,
    measures: Names | None = None,
    *,
    output: FilePath | None = "report.html",
    plots: FilePath | None = None,
    title: str | None = None,
    date: dt.date | None = None,
    baseline: str | Sequence[str] | None = None,
    limits: Limits | None = None,
    texts: Any = None,
    funnel: "Funnel | None" = None,
    unjudged: "Unjudged | None" = None,
    **options: Any,
) -> "Report":
    """Write a page about runs: a leaderboard, every pair, every query and what decides it; and charts, to a folder.

    `output` is the file; None writes no file. `plots` is a folder for the charts as SVG and, if `lexirecall[plots]` is
    installed, as PDF and PNG. The page shows `title` and `date` (default: today). `over`, `by` and `min_queries` are
    those of `evaluate`, the other arguments those of `compare`. A single run is enough; the page then has nothing about
    pairs. With several runs, LexiRecall is always among the measures. `texts` are the words of queries and documents,
    as `lexirecall.texts.load_texts` takes them; the page holds one line of each. `funnel` is what `lexirecall.funnel`
    returns; the page then shows what each stage hands on, and where documents are lost. `unjudged` is what
    `lexirecall.unjudged` returns; the page then shows how much depends on labels that are missing.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> runs = {"old": {"q1": ["a"], "q2": ["x", "c"]}, "new": {"q1": ["x", "b", "a"], "q2": ["c"]}}
    >>> page = report(qrels, runs, output=None, title="Old and new")
    >>> page.payload["runs"], page.payload["title"]
    (['new', 'old'], 'Old and new')
    """
    testing, policies = taken(Testing, options), taken(Policies, options)
    check_bootstrap(testing, testing.alpha)
    check_funnel(funnel)
    check_unjudged(unjudged)
    _check_places(output, plots)
    inputs = [] if isinstance(qrels, Positions) else [qrels, runs]
    _check_kept(output, plots, [*inputs, *files_named(texts)], options)
    loaded = texts_or_none(texts, options.get("columns"), options.get("show_progress", False))
    check_single_order(among(Conventions, options))
    aggregation = taken(Aggregation, options)
    group_map = read_aggregation(aggregation, qrels, options)
    rows = asked_of(qrels, measures, options)
    positions = positions_of(qrels, runs, rows, options)
    asked = None if measures is None else rows  # of the default ones, those that are not defined are left out
    groups = groups_of(group_map, positions.queries)
    findings = Findings.of(
        positions, asked, testing, policies, baseline=baseline, aggregation=aggregation, groups=groups,
        show_progress=options.get("show_progress", False),
    )  # fmt: skip
    heading = "".join(names_in("title", title)) or f"{counted(len(positions.runs), 'run')} on {findings.name}"
    payload = build_payload(
        findings, title=heading, date=date, limits=limits, texts=loaded, funnel=funnel, unjudged=unjudged
    )
    page = Report(
        findings, payload, tuple(note for part in (funnel, unjudged) if part is not None for note in part.notes)
    )
    if output is not None:
        page.write(output, plots)
    elif plots is not None:
        page.write_plots(plots)
    return page


def _check_kept(
    output: FilePath | None, plots: FilePath | None, inputs: list[object], options: Mapping[str, Any]
) -> None:
    """Raise if what is written would overwrite what is read."""
    charts = None if plots is None else Path(plots, "leaderboard.svg")
    kept = [(option, path) for option, path in (("-o", output), ("--plots", charts)) if path is not None]
    check_outputs(kept, [*inputs, options.get("corpus_size"), options.get("providers"), options.get("by")])


def _check_places(output: FilePath | None, plots: FilePath | None) -> None:
    """Raise before any work if the page or the charts could not be written."""
    if output is not None and is_folder(output):
        raise UsageError(f"{os.fspath(output)!r} is a folder", remedy="name a file, such as report.html")
    if plots is not None and exists(plots) and not is_folder(plots):
        raise UsageError(f"{os.fspath(plots)!r} exists and is not a folder", remedy="name a folder for the charts")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"{folder}: cannot be created: {(error.strerror or str(error)).lower()}"
        raise LexirecallError(problem, remedy="name a folder that you can write to") from None


@dataclass(frozen=True, eq=False, repr=False)
class Report(NotebookDisplay):
    """A page about the runs of one collection.

    >>> from lexirecall import project
    >>> page = report(project({"q": {"a": 1}}, {"q": ["a"]}), measures="RR", output=None)
    >>> page.payload["means"], page.payload["queries"]
    ([[1]], ['q'])
    """

    findings: Findings
    payload: dict[str, Any]
    """What the page shows, as plain lists and numbers."""
    notes_on_parts: tuple[Note, ...] = ()
    """What readers should know about stages of a funnel and about missing labels, if the page shows them."""

    def __repr__(self) -> str:
        return f"<Report: {self.payload['title']}>"

    def _parts(self) -> Iterable[CellPart]:
        return [TitledTable(self.payload["title"], self._leaderboard)]

    def _pictured(self) -> object:
        return self

    @property
    def notes(self) -> tuple[Note, ...]:
        """What readers should know about the data, and what the page leaves out."""
        left_out = (Note("left out of the page", sentence) for sentence in self.payload["left_out"])
        notes = self.findings.notes
        known = {note.kind for note in notes}  # the same, of stages or labels: it need not be said twice
        return (*notes, *(note for note in self.notes_on_parts if note.kind not in known), *left_out)

    def html(self) -> str:
        """Return the page as the text of one HTML file."""
        return self._html

    @cached_property
    def _html(self) -> str:
        return fill(self.payload, self._leaderboard)

    @property
    def _leaderboard(self) -> Table:
        """The table for readers without JavaScript, with names as long as on the page."""
        table = self.findings.leaderboard
        names = zip(self.payload["labels"], self.payload["runs"], table.rows, strict=True)
        return replace(table, rows=tuple((f"{label} {run}", *row[1:]) for label, run, row in names))

    def charts(self) -> dict[str, Drawing]:
        """Return the charts of the page as drawings, by name; charts of one pair show the two best runs.

        >>> page = report({"q": {"a": 1}}, {"q": ["a"]}, output=None)
        >>> page.charts()["leaderboard"].to_svg()[:4]
        '<svg'
        """
        from lexirecall.page.charts import charts_of

        return charts_of(self.findings)

    def write(self, path: FilePath, plots: FilePath | None = None) -> None:
        """Write the page to a file and, if `plots` is given, the charts to a folder; all of it or nothing."""
        page = {Path(path): self.html().encode()}
        write_files(page if plots is None else page | self._plots(Path(plots)))

    def write_plots(self, folder: FilePath) -> None:
        """Write the charts to a folder, as SVG and, if vl-convert is installed, as PDF and PNG."""
        write_files(self._plots(Path(folder)))

    def _plots(self, folder: Path) -> dict[Path, bytes]:
        if not has_converter():
            warn(f"the charts are written only as SVG; for PDF and PNG: {how_to_install('plots')}", UserWarning)
        named = [drawing_files(chart, name) for name, chart in self.charts().items()]
        _make(folder)
        return {folder / name: data for files in named for name, data in files.items()}
