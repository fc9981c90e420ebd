"""What a cut-off and imputation say of two simulated models, beside what is true of the whole corpus.

Usage: python benchmarks/cutoff.py [--collections N]

It simulates embeddings, finds exact positions, cuts them at many depths and imputes the rest, as is done with lists. It
writes the figure of docs/past-the-cut-off.md, and the table and sentences between the marks on that page.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import numpy as np
import numpy.typing as npt

from lexirecall import Positions, evaluate, project_embeddings
from lexirecall.svg import Drawing, Element, bar, in_columns, line, rule, text
from lexirecall.svg.axes import BELOW, Area, axis_below, axis_beside, legend, room_beside
from lexirecall.svg.scales import Linear, Logarithmic
from lexirecall.torch.checkpoints import side_by_side

Floats = npt.NDArray[np.float64]
DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = "<!-- measured: benchmarks/cutoff.py writes this -->\n", "<!-- end of what is measured -->\n"
SAID = 1000
"""The depth that people use."""


@dataclass(frozen=True)
class Model:
    """How a model embeds relevant documents: along the query, in standard deviations of the scores of all others."""

    name: str
    near: float
    far: float
    share_far: float

    def embed(self, sizes: "Sizes", rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return vectors of queries and documents; the first documents are the relevant ones, query by query."""
        queries = rng.standard_normal((sizes.queries, sizes.dimensions))
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
        corpus = rng.standard_normal((sizes.documents, sizes.dimensions))
        num_relevant = sizes.queries * sizes.relevant
        pull = np.where(rng.random(num_relevant) < self.share_far, self.far, self.near)
        corpus[:num_relevant] += pull[:, None] * np.repeat(queries, sizes.relevant, axis=0)
        return queries, corpus


MODELS = (Model("precise", near=5, far=0.5, share_far=0.15), Model("thorough", near=3.2, far=3.2, share_far=0))


@dataclass(frozen=True)
class Sizes:
    """The size of a collection."""

    queries: int = 50
    documents: int = 50_000
    relevant: int = 8
    dimensions: int = 32

    @property
    def depths(self) -> list[int]:
        """Where the lists are cut; last, not at all."""
        rounds = (factor * 10**e for e in range(1, 9) for factor in (1, 2, 5))
        return [depth for depth in rounds if depth < self.documents] + [self.documents]


def positions_of(sizes: Sizes, rng: np.random.Generator) -> Positions:
    """Simulate a collection, and return the exact positions of both models."""
    query_ids, document_ids = [f"q{q}" for q in range(sizes.queries)], [f"d{d}" for d in range(sizes.documents)]
    m = sizes.relevant
    qrels = {query: dict.fromkeys(document_ids[q * m : (q + 1) * m], 1) for q, query in enumerate(query_ids)}
    ids = {"query_ids": query_ids, "corpus_ids": document_ids}
    runs = [project_embeddings(*model.embed(sizes, rng), qrels, **ids, name=model.name) for model in MODELS]
    return side_by_side(*runs)


def said_at(positions: Positions, depth: int) -> list[float]:
    """Return what lists of this depth say: R and LastRel of both models, and how often the second wins."""
    scores = evaluate(positions.cut(depth), measures=[f"R@{depth}", "LastRel", "LexiRecall"])
    (r_a, last_a, _), (r_b, last_b, wins) = scores.means.tolist()
    return [r_a, r_b, last_a, last_b, wins]


def counted(sizes: Sizes, collections: int, seed: int = 1) -> Floats:
    """Return what is said at each depth in each collection, [collections, depths, 5]."""
    rng = np.random.default_rng(seed)
    made = (positions_of(sizes, rng) for _ in range(collections))
    return np.array([[said_at(positions, depth) for depth in sizes.depths] for positions in made])


@dataclass(frozen=True)
class Said:
    """Means over collections and their standard errors, [depths, 5]."""

    sizes: Sizes
    collections: int
    means: Floats
    errors: Floats

    @classmethod
    def of(cls, values: Floats, sizes: Sizes) -> "Said":
        """Return the means of what was counted."""
        errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        return cls(sizes, len(values), values.mean(axis=0), errors)


# The page


def table(said: Said) -> Iterator[str]:
    """Give the lines of the table."""
    a, b = (model.name for model in MODELS)
    yield f"| lists end at | R, {a} | R, {b} | LastRel, {a} | LastRel, {b} | LexiRecall: {b} wins |"
    yield "|---:|---:|---:|---:|---:|---:|"
    for depth, means, errors in zip(said.sizes.depths, said.means, said.errors, strict=True):
        name = f"{depth:,}" if depth < said.sizes.documents else f"{depth:,} (all)"
        formats = [".3f", ".3f", ",.0f", ",.0f", ".3f"]
        cells = [f"{mean:{form}} ± {error:{form}}" for mean, error, form in zip(means, errors, formats, strict=True)]
        yield f"| {' | '.join([name, *cells])} |"


def sentences(said: Said) -> str:
    """Say what follows from the numbers: how far the imputed mean is off, and which model each depth prefers."""
    (a, b), depths = (model.name for model in MODELS), said.sizes.depths
    at = depths.index(SAID) if SAID in depths else 0
    truth, imputed = said.means[-1], said.means[at]
    off = " and ".join(f"{imputed[c]:,.0f} for {name} (in truth {truth[c]:,.0f})" for name, c in ((a, 2), (b, 3)))
    wins, error = said.means[:, 4], said.errors[:, 4]
    is_turned = ((wins - 0.5) * (wins[-1] - 0.5) < 0) & (abs(wins - 0.5) > 2 * error)
    turned = [depth for depth, each in zip(depths, is_turned, strict=True) if each]
    parts = [
        f"With lists of {depths[at]:,} documents and imputation, the mean rank of the last relevant document is {off}.",
        f"Over the whole corpus, LexiRecall prefers {b} in {100 * wins[-1]:.1f} % of the queries, "
        f"ties as half (± {100 * error[-1]:.1f}).",
    ]
    if turned:
        parts.append(
            f"Lists of up to {turned[-1]:,} documents say the opposite, by more than two standard errors: with "
            f"{turned[-1]:,} documents, it is {100 * wins[depths.index(turned[-1])]:.1f} %."
        )
    return fill(" ".join(parts), 120, break_long_words=False, break_on_hyphens=False)


def write(said: Said, page: Path, figure: Path) -> None:
    """Write the figure, and the table and sentences into the page."""
    figure.write_text(draw(said).to_svg(), encoding="utf-8")
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    measured = "\n".join(["", *table(said), "", sentences(said), "", ""])
    page.write_text(f"{before}{BEGIN}{measured}{END}{after}", encoding="utf-8")


# The figure


def draw(said: Said) -> Drawing:
    """Draw what is said of the last relevant document, and which model is preferred, over depth."""
    a, b = (model.name for model in MODELS)
    title = (
        f"What lists of a given depth say of two simulated models, {a} and {b}, and what is true of the whole corpus"
    )
    return in_columns([_last(said), _wins(said)], 2, title, gap=36)


def _last(said: Said) -> Drawing:
    """Draw the mean LastRel of both models: imputed below the depth, and true."""
    frame, x, y = _frame(said, "mean rank of the last relevant document", said.means[:, 2:4].max())
    marks, entries = [], []
    for c, model in enumerate(MODELS):
        ink = f"series-{c}"
        marks += _curve(said, 2 + c, x, y, ink)
        true = y(said.means[-1, 2 + c])
        marks.append(rule(frame.left, true, frame.right, true, ink, dash="5 3"))
        entries.append([line([(0, 0), (24, 0)], ink, stroke_width=1.8), text(30, 0, f"{model.name}, imputed")])
        entries.append([rule(0, 0, 24, 0, ink, dash="5 3"), text(30, 0, f"{model.name}, true")])
    axes = _axes(frame, x, y, "mean rank of the last relevant document")
    return Drawing(frame.right + 24, frame.bottom + BELOW, (*axes, *marks, *legend(frame.left, 10, entries)), "LastRel")


def _wins(said: Said) -> Drawing:
    """Draw how often the second model wins by LexiRecall."""
    (a, b), title = (model.name for model in MODELS), "share of queries that it wins"
    frame, x, y = _frame(said, title, 1)
    half, true = y(0.5), y(said.means[-1, 4])
    marks = [
        rule(frame.left, half, frame.right, half, "muted"),
        rule(frame.left, true, frame.right, true, "series-2", dash="5 3"),
        *_curve(said, 4, x, y, "series-2"),
    ]
    entries = [
        [line([(0, 0), (24, 0)], "series-2", stroke_width=1.8), text(30, 0, f"LexiRecall: {b} against {a}")],
        [rule(0, 0, 24, 0, "series-2", dash="5 3"), text(30, 0, "the same, whole corpus")],
    ]
    axes = _axes(frame, x, y, title)
    return Drawing(frame.right + 24, frame.bottom + BELOW, (*axes, *marks, *legend(frame.left, 10, entries)), "wins")


def _frame(said: Said, title: str, most: float) -> tuple[Area, Logarithmic, Linear]:
    y = Linear.over([most], 300, 80)
    frame = Area(room_beside(y, title), 80, 330, 220)
    return frame, Logarithmic(said.sizes.documents, frame.left, frame.right), y


def _axes(frame: Area, x: Logarithmic, y: Linear, title: str) -> tuple[Element, ...]:
    at = x(SAID)
    mark = bar(at - 0.75, frame.top, 1.5, frame.height, "muted", fill_opacity=0.5)
    return (*axis_below(frame, x, "lists end at this depth"), *axis_beside(frame, y, title), mark)


def _curve(said: Said, column: int, x: Logarithmic, y: Linear, ink: str) -> list[Element]:
    """Return a line through the means, with bars of two standard errors."""
    places = [
        (x(depth), mean, 2 * error)
        for depth, mean, error in zip(said.sizes.depths, said.means[:, column], said.errors[:, column], strict=True)
    ]
    bars = [rule(at, y(max(mean - error, y.low)), at, y(mean + error), ink) for at, mean, error in places]
    return [line([(at, y(mean)) for at, mean, _ in places], ink, stroke_width=1.8), *bars]


def main() -> None:
    """Simulate, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--collections", type=int, default=40)
    sizes = Sizes()
    said = Said.of(counted(sizes, parser.parse_args().collections), sizes)
    print("\n".join(table(said)))
    write(said, DOCS / "past-the-cut-off.md", DOCS / "past-the-cut-off.svg")


if __name__ == "__main__":
    main()
