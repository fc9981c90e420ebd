"""One large file over several cores: cut between queries, and the same as in one piece, whatever is in it."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexirecall.errors import FormatError
from lexirecall.formats import native, parts
from lexirecall.formats.source import Source
from lexirecall.formats.trec import project_text
from lexirecall.manifest import Conventions
from lexirecall.reader import is_built
from strategies import quick
from test_two_readers import CONVENTIONS, JUDGMENTS, outcome, runs

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled reader was not built")


@contextmanager
def cut_into(most: int, least: int = 8, held: int = 1 << 18) -> Iterator[None]:
    """Let files of a few bytes be cut into parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "cpu_count", lambda: most)
        patch.setattr(parts, "_LEAST", least)
        patch.setattr(parts, "_STEP", 16)
        patch.setattr(parts, "_MOST_HELD", held)
        yield


def starts_of(path: Path, most: int, num_queries: int = 1) -> list[int]:
    with Source(path) as source, cut_into(most):
        return [start for start, _ in parts.parts_of(source, most, num_queries)]


@quick(300)
@given(runs(), CONVENTIONS, st.booleans(), st.sampled_from([2, 3, 8]), st.sampled_from([1, 64, 1 << 20]))
@example(b"q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq1 Q0 b 1 1 t\n" * 2, Conventions(), False, 3, 64)
@example(b"q1 Q0 a 1 2 t\nq1 Q0 b 1 1 t\nu Q0 a 1 1 t\nq2 Q0 b 1 1 t\nu Q0 b 1 x t\n", Conventions(), False, 8, 64)
@example(b"q1 Q0 a 1 1 t\nq1 Q0 b 1 2 t\nu Q0 a 1 1 t\nq2 Q0 b 1 1 t\nu Q0 b 1 1 t\n", Conventions(), True, 8, 64)
def test_a_file_in_parts_says_what_the_whole_says(
    tmp_path_factory: pytest.TempPathFactory,
    text: bytes,
    conventions: Conventions,
    needs_judged: bool,
    most: int,
    block: int,
) -> None:
    path = tmp_path_factory.getbasetemp() / "parted.run"
    path.write_bytes(text)
    readable = outcome(lambda: project_text(Source(path), "r", JUDGMENTS, conventions, needs_judged=needs_judged))
    with cut_into(most), pytest.MonkeyPatch.context() as patch, Source(path) as source:
        patch.setattr(native, "_BLOCK", block)
        compiled = outcome(
            lambda: native.project_native(source, "r", JUDGMENTS, conventions, needs_judged=needs_judged)
        )
    assert compiled == readable


def lines_of(query: str, count: int) -> str:
    return "".join(f"{query} Q0 d{i} {i} {count - i} t\n" for i in range(count))


def test_parts_begin_with_a_query(tmp_path: Path) -> None:
    path = tmp_path / "r"
    text = "".join(lines_of(f"q{i}", 1 + 7 * i % 40) for i in range(50))
    path.write_text(text)
    starts = starts_of(path, 4)
    assert len(starts) == 4
    for start in starts[1:]:
        before, after = text[:start].splitlines()[-1], text[start:].splitlines()[0]
        assert before.split()[0] != after.split()[0]


def test_a_comment_and_an_empty_line_are_no_query(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text((lines_of("q", 9) + "# more\n\n") * 30)
    assert starts_of(path, 4) == [0]


def test_a_byte_order_mark_within_a_file_is_part_of_an_id(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text(lines_of("q", 50) + lines_of("\ufeffr", 50), encoding="utf-8")
    assert starts_of(path, 2) == [0]


def test_each_part_has_a_table_of_the_queries_so_many_queries_make_few_parts(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("".join(lines_of(f"q{i}", 9) for i in range(90)))
    assert [len(starts_of(path, 8, count)) for count in (1, 1 << 16, 1 << 17, 1 << 18, 1 << 20)] == [8, 5, 3, 2, 1]


def test_packed_files_and_small_files_are_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "r"
    text = "".join(lines_of(f"q{i}", 9) for i in range(90)).encode()
    path.write_bytes(gzip.compress(text))
    assert starts_of(path, 8) == [0]
    path.write_bytes(text)
    with Source(path) as source:
        assert parts.parts_of(source, 8, 1) == [(0, None)]


def test_files_that_are_read_at_once_share_the_cores() -> None:
    with cut_into(6), parts.free_cores() as first, parts.free_cores() as second, parts.free_cores() as third:
        assert [first, second, third] == [6, 3, 2]
    with cut_into(6), parts.free_cores() as again:
        assert again == 6


def test_an_error_has_its_line_in_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("".join(lines_of(f"q{i}", 9) for i in range(90)) + "q90 Q0 d 1 high t\n")
    with (
        cut_into(4),
        Source(path) as source,
        pytest.raises(FormatError, match=r"r:811: the score is not a number: 'high'"),
    ):
        native.project_native(source, "r", JUDGMENTS, Conventions(), needs_judged=False)


def test_all_parts_are_read_and_none_of_them_twice(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("".join(lines_of(f"q{i}", 9) for i in range(90)))
    seen, feed = [], native._feed_part

    def noted(*given: Any) -> int:
        seen.append(given[3])
        return feed(*given)

    with cut_into(4), pytest.MonkeyPatch.context() as patch, Source(path) as source:
        patch.setattr(native, "_feed", None)  # which reads all of it
        patch.setattr(native, "_feed_part", noted)
        run = native.project_native(source, "r", JUDGMENTS, Conventions(), needs_judged=False)
    assert len(seen) == 4
    assert sorted(seen)[-1][1] is None
    assert run.num_unjudged == 90 - 3
    assert run.num_retrieved.tolist() == [9, 9, 0, 9]
