"""The simulation behind docs/past-the-cut-off.md, at a tiny size; the page holds what `benchmarks/cutoff.py` writes."""

from pathlib import Path

import cutoff
import numpy as np
import pytest
from cutoff import BEGIN, END, MODELS, Said, Sizes

from pages import DOCS

TINY = Sizes(queries=6, documents=300, relevant=3, dimensions=8)


@pytest.fixture(scope="module")
def said() -> Said:
    return Said.of(cutoff.counted(TINY, 3), TINY)


def test_embeddings_pull_relevant_documents_as_far_as_they_say() -> None:
    sizes = Sizes(queries=400, documents=3000, relevant=5, dimensions=8)
    for model in MODELS:
        queries, corpus = model.embed(sizes, np.random.default_rng(3))
        own = (corpus[:2000] * np.repeat(queries, 5, axis=0)).sum(axis=1)
        mean = model.share_far * model.far + (1 - model.share_far) * model.near
        assert own.mean() == pytest.approx(mean, abs=0.15)
        assert (queries @ corpus[2000:].T).std() == pytest.approx(1, abs=0.02)


def test_positions_are_those_of_sorted_scores() -> None:
    positions = cutoff.positions_of(TINY, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    expected = []
    for model in MODELS:
        queries, corpus = model.embed(TINY, rng)
        ranks = (-(queries @ corpus.T)).argsort(axis=1).argsort(axis=1) + 1
        expected += [sorted(ranks[q, q * 3 : q * 3 + 3].tolist()) for q in range(TINY.queries)]
    assert positions.found.positions.reshape(-1, 3).tolist() == expected


def test_without_a_cut_nothing_is_imputed_and_below_it_only_the_bottom_is_said(said: Said) -> None:
    assert said.means[-1, :2].tolist() == [1, 1]
    assert (np.diff(said.means[:, :2], axis=0) >= 0).all()
    assert (said.means[:, 2:4] >= said.means[-1, 2:4]).all()  # imputation is pessimistic
    assert said.sizes.depths == [10, 20, 50, 100, 200, 300]


def test_the_page_is_written_between_its_marks(said: Said, tmp_path: Path) -> None:
    page, figure = tmp_path / "page.md", tmp_path / "figure.svg"
    page.write_text(f"before\n\n{BEGIN}old\n{END}\nafter\n")
    for _ in range(2):
        cutoff.write(said, page, figure)
    text = page.read_text()
    assert text.startswith("before\n\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert text.count("| 300 (all) | 1.000 ± 0.000 |") == 1
    assert figure.read_text().startswith("<svg ")


def test_a_sentence_about_a_reversal_is_said_only_if_there_is_one() -> None:
    means = np.tile([0.5, 0.5, 9.0, 9.0, 0.8], (6, 1))
    steady = Said(TINY, 9, means, np.full(means.shape, 0.01))
    assert "opposite" not in cutoff.sentences(steady)
    means[:2, 4] = 0.3
    assert "Lists of up to 20 documents say the opposite" in cutoff.sentences(steady)
    unsure = Said(TINY, 9, means, np.full(means.shape, 0.11))
    assert "opposite" not in cutoff.sentences(unsure)


def test_the_page_has_the_marks_and_the_figure() -> None:
    text = (DOCS / "past-the-cut-off.md").read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    assert "| 50,000 (all) |" in text
    assert (DOCS / "past-the-cut-off.svg").exists()
