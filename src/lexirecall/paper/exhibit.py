"""An exhibit: one table or figure of the paper, computed anew, beside what the paper prints.

Belongs here: the record, how a value is compared with the paper's, and how an exhibit becomes text and files.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lexirecall.plots import to_files
from lexirecall.tables import Table, number, render, to_delimited

_ENDINGS = {"latex": "tex", "markdown": "md"}
"""The endings of files, where they are not the name of the format."""


@dataclass(frozen=True, slots=True)
class PaperValue:
    """Our value beside the paper's.

    >>> ours, same = PaperValue(0.8257, 0.825, 0.0005), PaperValue(0.313, 0.313, 0.0005)
    >>> ours.differs, str(ours), str(same)
    (True, '0.8257 (paper 0.825)', '0.3130')
    """

    ours: float
    theirs: float | None
    tolerance: float = 0.0005
    """How far apart the two may be: the rounding of the printed digits and, for samples, their spread."""
    decimals: int = 4
    paper_decimals: int = 3

    @property
    def differs(self) -> bool:
        """Whether the two are farther apart than the tolerance."""
        return self.theirs is not None and abs(self.ours - self.theirs) > self.tolerance + 1e-12

    def __str__(self) -> str:
        ours = number(self.ours, self.decimals)
        return f"{ours} (paper {self.theirs:.{self.paper_decimals}f})" if self.differs else ours


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper."""

    name: str
    title: str
    columns: tuple[str, ...] = ()
    """The columns of the rows."""
    rows: tuple[Mapping[str, Any], ...] = ()
    """The numbers behind it, for programs."""
    table: Table | None = None
    """The numbers laid out as the paper has them."""
    charts: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    """The drawings, by the name of their file; each is made on demand."""
    remarks: tuple[str, ...] = ()
    """What the reader should know: what differs from the paper and why, what is argued rather than computed."""

    def render(self, form: str = "table", *, bold: bool = False, raw: bool = False) -> str:
        """Return the exhibit in one of the formats of the command line."""
        table = self.table or Table(
            self.columns,
            tuple(tuple("-" if row[c] is None else str(row[c]) for c in self.columns) for row in self.rows),
        )
        if form != "table":
            return render(form, table, self.rows, self.columns, raw=raw)
        drawn = ", ".join(f"{name}.svg" for name in self.charts)
        parts = [
            f"{self.name}: {self.title}",
            table.to_text(bold=bold) if table.rows else "",
            "\n".join(self.remarks),
            f"-o DIR writes the drawings: {drawn}" if drawn else "",
        ]
        return "\n\n".join(part for part in parts if part)

    def files(self, form: str = "table", *, raw: bool = False) -> dict[str, bytes]:
        """Return the files for a folder: the words, the rows, the table in a format, and the drawings in every one."""
        files: dict[str, bytes] = {f"{self.name}.txt": (self.render() + "\n").encode()}
        if self.rows:
            files[f"{self.name}.tsv"] = (to_delimited(self.rows, self.columns, "\t", raw=raw) + "\n").encode()
        if self.rows and form not in ("table", "tsv"):
            files[f"{self.name}.{_ENDINGS.get(form, form)}"] = (self.render(form, raw=raw) + "\n").encode()
        for name, chart in self.charts.items():
            files |= to_files(chart(), name)
        return files
