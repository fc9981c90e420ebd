"""Runs whose scores descend, as those of nearly all runs do: read once, without keeping ids, and read the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall.errors import FormatError
from lexirecall.fields import choices_of
from lexirecall.formats import native
from lexirecall.formats.source import Source
from lexirecall.formats.trec import project_text
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.reader import is_built
from strategies import quick
from test_two_readers import outcome, plain

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled reader was not built")

FINDERS = ("plain", "sse2", "avx2", "neon")
JUDGMENTS = Judgments.from_grades(
    {b"q": {b"d%d" % i: i % 4 - 1.0 for i in range(0, 90, 7)}, b"a longer name".replace(b" ", b"-"): {b"d1": 1.0}}
)
MANY_JUDGMENTS = Judgments.from_grades({b"q": {b"d%d" % i: i % 4 - 1.0 for i in range(0, 6000, 3)}, b"r": {b"d1": 1.0}})
CONVENTIONS = st.builds(
    Conventions,
    ties=st.sampled_from(choices_of(Conventions, "ties")),
    score_dtype=st.sampled_from(choices_of(Conventions, "score_dtype")),
)
FORMATS = ("%.0f", "%.1f", "%.4f", "%.13f", "%.17f", "%.3e", "%r", "+%.2f", "0%.5f", "%.6f")


@st.composite
def rankings(draw: st.DrawFn) -> bytes:
    """Make a run with scores of one form, sorted, and perhaps one of another form or out of place."""
    lines = []
    for query in draw(st.sampled_from([(b"q",), (b"q", b"a-longer-name"), (b"r", b"q", b"s")])):
        most = draw(st.sampled_from([0.001, 1, 12, 1e6]))
        values = sorted(draw(st.lists(st.floats(-most / 4, most), min_size=1, max_size=40)), reverse=True)
        form = draw(st.sampled_from(FORMATS))
        texts = [form % abs(each) if "+" in form else form % each for each in values]
        if draw(st.integers(0, 3)) == 0:
            texts[draw(st.integers(0, len(texts) - 1))] = draw(
                st.sampled_from(["1", "9.99", "inf", "-1.5", "1e1", "x"])
            )
        documents = draw(st.permutations(range(len(texts) + 20)))
        lines += [
            b"%s Q0 d%d %d %s tag" % (query, document, rank, text.encode())
            for rank, (document, text) in enumerate(zip(documents, texts, strict=False))
        ]
    end = draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    return end.join(lines) + end


@quick(300)
@given(rankings(), CONVENTIONS, st.sampled_from([1, 11, 100, 1 << 18]), st.sampled_from(FINDERS))
def test_scores_of_every_form_are_ordered_as_numbers(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, conventions: Conventions, block: int, finder: str
) -> None:
    compiled, readable = both(tmp_path_factory.getbasetemp(), text, conventions, block, finder)
    assert compiled == readable


def both(
    folder: Path, text: bytes, conventions: Conventions, block: int, finder: str, judgments: Judgments = JUDGMENTS
) -> tuple[object, object]:
    """Return what the compiled reader makes of a text in blocks of some size, and what the readable one makes."""
    path = folder / "descending.run"
    path.write_bytes(text)
    readable = outcome(lambda: project_text(Source(path), "r", judgments, conventions, needs_judged=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "_BLOCK", block)
        patch.setattr(native, "_FINDER", finder if has_finder(finder) else "plain")
        compiled = outcome(lambda: native.project_native(Source(path), "r", judgments, conventions, needs_judged=True))
    return compiled, readable


def has_finder(name: str) -> bool:
    """Tell whether this machine can find blanks that way."""
    try:
        readings_of(b"q Q0 d1 1 1 t\n", Path(), finder=name)
    except ValueError:
        return False
    except FormatError:  # there is no such file
        return True
    raise AssertionError


def readings_of(text: bytes, folder: Path, finder: str | None = None) -> int:
    """Write a run and return how often it is read."""
    path = folder / "counted.run"
    if text and folder != Path():
        path.write_bytes(text)
    feed, count = native._feed, 0

    def counted(*arguments: Any) -> int:
        nonlocal count
        count += 1
        return feed(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "_feed", counted)
        patch.setattr(native, "_FINDER", finder)
        native.project_native(Source(path), "r", JUDGMENTS, Conventions(), needs_judged=False)
    return count


def a_run(scores: list[str]) -> bytes:
    return "".join(f"q Q0 d{i} 1 {score} t\n" for i, score in enumerate(scores)).encode()


@pytest.mark.parametrize(
    ("scores", "readings"),
    [
        (["10.5", "9.75", "9.75", "9.5", "1e0", "0.5", "-1", "-1.5"], 1),
        (["0.30000000000000004", "0.3", "0.29999999999999999"], 1),
        (["1.5", "1.5", "1.6"], 2),
        (["2", "-1", "-0.5"], 2),
    ],
)
def test_only_scores_that_rise_need_a_second_reading(tmp_path: Path, scores: list[str], readings: int) -> None:
    assert readings_of(a_run(scores), tmp_path) == readings


@pytest.mark.parametrize("size", [3, 1024, 1025, 5000, 70_000])
def test_a_document_listed_twice_is_noticed_however_far_apart(tmp_path: Path, size: int) -> None:
    path = tmp_path / "r"
    scores = [str(size - i) for i in range(size)]
    path.write_bytes(a_run(scores))
    compiled = native.project_native(Source(path), "r", JUDGMENTS, Conventions(), needs_judged=True)
    assert compiled.num_retrieved[0] == size
    path.write_bytes(a_run(scores) + b"q Q0 d1 1 0 t\n")
    with pytest.raises(FormatError, match=rf"r:{size + 1}: document 'd1' .* listed twice, first on line 2"):
        native.project_native(Source(path), "r", JUDGMENTS, Conventions(), needs_judged=True)


def test_a_block_of_equal_scores_may_be_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(a_run(["7.5"] * 3000))
    for ties in choices_of(Conventions, "ties"):
        conventions = Conventions(ties=ties)
        readable = project_text(Source(path), "r", JUDGMENTS, conventions, needs_judged=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(native, "_BLOCK", 1000)
            compiled = native.project_native(Source(path), "r", JUDGMENTS, conventions, needs_judged=True)
        assert plain(compiled) == plain(readable)


@st.composite
def long_rankings(draw: st.DrawFn) -> bytes:
    """Make a run of some thousand lines with many equal scores, and perhaps one line that spoils it."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    share, form = draw(st.sampled_from([0, 0.01, 0.3, 0.9])), draw(st.sampled_from(["%.4f", "%.17f", "%.0f"]))
    lines = []
    for query in ("q", "unjudged", "r"):
        score, size = 5000.0, draw(st.sampled_from([1, 40, 700, 2000]))
        for document in random.permutation(3 * size)[:size]:
            score -= float(random.random() >= share)
            lines.append([query, "Q0", f"d{document}", "1", form % score, "t"])
    field, text = draw(st.sampled_from([(5, "t"), (4, "9999"), (4, "x"), (2, "d1"), (5, "t\n\n"), (1, " Q0")]))
    if text != "t":
        lines[draw(st.integers(0, len(lines) - 1))][field] = text
    return "".join(" ".join(line) + "\n" for line in lines).encode()


@quick(60)
@given(long_rankings(), CONVENTIONS, st.sampled_from([1000, 8192, 8197, 1 << 18]), st.sampled_from(FINDERS))
def test_many_lines_that_are_read_together_are_read_as_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, conventions: Conventions, block: int, finder: str
) -> None:
    compiled, readable = both(tmp_path_factory.getbasetemp(), text, conventions, block, finder, MANY_JUDGMENTS)
    assert compiled == readable


def test_an_unknown_finder_is_refused() -> None:
    with pytest.raises(ValueError, match="this machine has no finder neither"):
        readings_of(b"", Path(), finder="neither")
