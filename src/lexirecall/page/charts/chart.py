"""Chart: one row of the list of charts.

Belongs here: what a row says. Not here: the rows and what draws them (runs, queries, measures).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lexirecall.page.findings import Findings
from lexirecall.svg import Drawing
from lexirecall.verbs.comparison import Comparison


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: what draws it, and where the page shows it. Without anything to show it draws None, and is left out."""

    name: str
    """The name of its file, and its key on the page."""
    of_findings: Callable[[Findings], Drawing | None] | None = None
    """Draws it for `--plots`, and for the page unless `of_payload` does."""
    of_payload: Callable[[Mapping[str, Any]], Drawing | None] | None = None
    """Draws it for the page, from what the page holds. A script of the page then says where it goes."""
    section: str = ""
    """The section of the page at the end of which it is shown, with its title; empty if no section is."""
    title: str = ""


def of_comparison(draw: Callable[[Findings, Comparison], Drawing | None]) -> Callable[[Findings], Drawing | None]:
    """Let a chart of pairs be left out if there is a single run, and nothing is compared."""
    return lambda findings: None if findings.comparison is None else draw(findings, findings.comparison)
