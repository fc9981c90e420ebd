"""Both readers on files without a fault, much of them judged and tied: the same rankings under every rule."""

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall.fields import choices_of
from lexirecall.formats import native
from lexirecall.formats.source import Source
from lexirecall.formats.trec import project_text, read_qrels
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.reader import is_built
from strategies import quick
from test_two_readers import plain

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled reader was not built")

QUERIES = (b"q1", b"q2", b"q3", b"unjudged")
DOCUMENTS = (*b"a b 17 d e -3 aa ab B".split(), "é".encode(), b"\xff", b"long" * 30)  # ids may be numbers too
GRADES = dict(
    zip(DOCUMENTS, (1.0, 0.0, 2.0, 1.0, -1.0, 0.5, 3.0, 1.0, 0.0), strict=False)
)  # the last three are not judged
JUDGMENTS = Judgments.from_grades(dict.fromkeys(QUERIES[:3], GRADES))
# equal though written otherwise, equal in float32 only, and far from each other
SCORES = (
    b"1",
    b"1.0",
    b"10e-1",
    b"0",
    b"-0.0",
    b"16777216",
    b"16777217",
    b"0.50000000001",
    b"0.50000000002",
    b"-3",
    b"inf",
)
CONVENTIONS = [
    Conventions(ties=ties, score_dtype=dtype, depth=depth, duplicates=duplicates)
    for ties, dtype, depth, duplicates in product(
        choices_of(Conventions, "ties"),
        choices_of(Conventions, "score_dtype"),
        (None, 1, 4),
        choices_of(Conventions, "duplicates"),
    )
]


@st.composite
def runs(draw: st.DrawFn, duplicates: str) -> bytes:
    """Make a run of whole rankings, by descending score or not; documents are repeated only where that is allowed."""
    lines = []
    for query in draw(st.lists(st.sampled_from(QUERIES), min_size=1, unique=True)):
        one = None if duplicates != "error" else lambda row: row[0]
        rows = draw(
            st.lists(
                st.tuples(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES)), unique_by=one, min_size=1, max_size=16
            )
        )
        if draw(st.booleans()):
            rows.sort(key=lambda row: -float(row[1]))
        lines += [b"%s Q0 %s 1 %s tag\n" % (query, document, score) for document, score in rows]
    return b"".join(lines)


@pytest.mark.parametrize("needs_judged", [False, True])
@quick(300)
@given(st.sampled_from(CONVENTIONS), st.data(), st.sampled_from([1, 7, 64, 1 << 20]))
def test_both_readers_find_the_same_rankings(
    tmp_path_factory: pytest.TempPathFactory,
    needs_judged: bool,
    conventions: Conventions,
    data: st.DataObject,
    block: int,
) -> None:
    path = tmp_path_factory.getbasetemp() / "ranked.run"
    path.write_bytes(data.draw(runs(conventions.duplicates)))
    readable = project_text(Source(path), "r", JUDGMENTS, conventions, needs_judged=needs_judged)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "_BLOCK", block)
        if conventions.duplicates == "error":  # lines without a fault are read in C, and not left to the other reader
            patch.setattr(native, "project_text", None)
        compiled = native.project_native(Source(path), "r", JUDGMENTS, conventions, needs_judged=needs_judged)
    assert plain(compiled) == plain(readable)


@quick(200)
@given(
    st.dictionaries(
        st.sampled_from(QUERIES),
        st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([b"-1", b"0", b"1", b"2", b"0.5"]), min_size=1),
        min_size=1,
    ),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_both_readers_find_the_same_judgments(
    tmp_path_factory: pytest.TempPathFactory, grades: dict[bytes, dict[bytes, bytes]], random: Random, is_mixed: bool
) -> None:
    lines = [b"%s 0 %s %s\n" % (query, *each) for query, judged in grades.items() for each in judged.items()]
    if is_mixed:
        random.shuffle(lines)
    path = tmp_path_factory.getbasetemp() / "judged.qrels"
    path.write_bytes(b"".join(lines))
    readable = read_qrels(Source(path))
    with pytest.MonkeyPatch.context() as patch:
        if not is_mixed:
            patch.setattr(native, "read_qrels", None)
        compiled = native.read_qrels_native(Source(path))
    assert plain(compiled) == plain(readable)
