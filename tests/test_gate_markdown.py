"""What a gate decided as Markdown: what it says, what it leaves out, and that ids and texts stay text."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from gate_fixture import HOSTILE, ids, lossy, tiny
from helpdesk import helpdesk
from lexirecall.gates.changes import Change, DocumentMove
from lexirecall.gates.labels import Label
from lexirecall.gates.ledger import Build
from lexirecall.gates.markdown import LIMIT, markdown
from lexirecall.gates.result import SHOWN
from lexirecall.manifest import Note
from lexirecall.text import visible
from rendered import rendered
from strategies import quick

OURS = {
    "paragraph", "table", "thead", "tbody", "tr", "th", "td", "bullet_list", "list_item", "strong",
}  # fmt: skip
KINDS = {f"{kind}_{end}" for kind in OURS for end in ("open", "close")}
KINDS |= {"inline", "text", "code_inline", "softbreak", "html_block"}  # <details>


def assert_nothing_else(source: str) -> None:
    """Check that no id or text became a link, a picture, HTML, a heading, a block of code or a line of its own."""
    shown = rendered(source)
    assert shown.kinds <= KINDS
    assert shown.linked_later == {}
    assert shown.html in (
        (),
        ("<details><summary><b>Gained</b>: 1 relevant document on 1 query</summary>", "</details>"),
    )
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]", source)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_text_everywhere(name: str) -> None:
    source = markdown(lossy((name, name, name), name))
    assert_nothing_else(source)
    assert len(source) <= LIMIT


@quick(60)
@given(ids, ids, ids, ids)
def test_any_name_stays_text_everywhere(query: str, document: str, other: str, text: str) -> None:
    assert_nothing_else(markdown(lossy((query, document, other), text)))


@quick(60)
@given(ids)
def test_a_lost_document_is_named_as_it_is(name: str) -> None:
    result = lossy(("q", name, "new"), "text")
    assert visible(f"{name}2") in rendered(markdown(result)).code


@pytest.mark.parametrize("name", [name for name in HOSTILE if len(name) < 100])
def test_a_name_adds_no_line_cell_or_document(name: str) -> None:
    def structure(name: str) -> list[str]:
        sequence = rendered(markdown(lossy((name, name, name), f"text {name}"))).sequence
        return [kind for kind in sequence if kind not in ("text", "code_inline")]

    assert structure(name) == structure("plain")


def test_the_verdict_comes_first_and_says_why() -> None:
    lines = markdown(tiny(8, 6, require=["All@1>=0.5"])).splitlines()
    assert lines[0] == "**The gate fails**: 3 of 3 checks (`new` against `baseline`, 8 queries)"
    assert lines[2].startswith("- NumRelRet: worse, 0 better, 2 tied, 6 worse; p = 0.0312 (sign test")
    assert lines[4].startswith("- All@1 is 0.0000")
    assert markdown(tiny(8, 0)).startswith("**The gate passes**: 2 checks (`new` against `baseline`, 8 queries)\n")


def test_a_failing_verdict_is_bold_and_a_passing_one_is_not() -> None:
    source = markdown(tiny(8, 6, require=["All@1>=0.5", "All@2>=0"]))
    rows = [line for line in source.splitlines() if line.startswith("| ") and line.endswith(("passes |", "FAILS** |"))]
    assert [row.split(" | ")[-1] for row in rows] == ["**FAILS** |", "**FAILS** |", "**FAILS** |", "passes |"]


def test_a_gate_without_a_baseline_has_no_table_of_decisions() -> None:
    from lexirecall.gates.gate import gate

    source = markdown(gate({"q": {"a": 1}}, {"q": ["a"]}, require=["All@1>=1"]))
    assert source.splitlines()[0] == "**The gate passes**: 1 check (`new`, 1 query)"
    assert "difference" not in source
    assert "All@1" in source


def test_the_first_lost_documents_are_listed_and_the_others_counted() -> None:
    shown = markdown(tiny(60, 30))
    assert "**Lost**: 30 relevant documents on 30 queries" in shown
    assert len(re.findall(r"^  - `d\d+b` \(was at 2\)$", shown, re.MULTILINE)) == SHOWN
    assert "- and 10 more relevant documents\n" in shown


def test_as_many_rows_are_shown_as_there_is_room_for() -> None:
    result = tiny(8, 0, require=["All@1>=0"])
    shown = markdown(replace(result, checks=result.checks * 3000))
    [row] = {line for line in shown.splitlines() if line.startswith("| All@1")}
    assert LIMIT - 2 * len(row) < len(shown) <= LIMIT


def test_a_query_that_loses_more_than_are_shown_is_cut() -> None:
    lost = tuple(DocumentMove(f"d{place}", place, None) for place in range(1, 31))
    change = Change("q", 40, 30, 0, lost, (), -1, "why")
    shown = markdown(replace(tiny(8, 0), changes=(change, replace(change, query="p"))))
    assert shown.count("(was at") == SHOWN
    assert "- `p`" not in shown
    assert "- and 40 more relevant documents" in shown


def test_texts_are_shown_beside_ids() -> None:
    source = markdown(lossy(("q", "d", "new"), "How do I reset a password?"))
    assert "- `q0` (How do I reset a password?): finds 1 of 3 relevant documents, 2 before" in source
    assert "  - `d2` (was at 2): How do I reset a password?" in source


def test_what_is_found_later_gained_unknown_and_noted_is_there() -> None:
    source = markdown(lossy(("q", "d", "new"), "text"))
    assert "**Found later**, and nothing lost: 1 query\n\n- `q1` (text): baseline is preferred" in source
    gained = (
        "<summary><b>Gained</b>: 1 relevant document on 1 query</summary>\n\n- `q2` (text)\n  - `d2` (now at 2): text"
    )
    assert gained in source
    assert "- `d3`, relevant to `q0`" in source
    assert source.endswith("- new")


def test_what_the_gate_could_notice_is_said() -> None:
    assert "an 80 % chance of catching a change that breaks 25 % of them and fixes none" in markdown(tiny(30, 0))
    assert "could not have failed" in markdown(tiny(3, 0))


def test_the_build_of_a_ledger_is_said() -> None:
    assert "build 3 on these queries, at 0.01" in markdown(replace(tiny(8, 0), build=Build("x", 3, 0.01)))


def test_a_comment_is_never_too_long_and_says_what_it_leaves_out() -> None:
    long = "x" * 30_000
    result = replace(
        tiny(40, 30),
        unknown=tuple(Label(f"{number}{long}", "d") for number in range(30)),
        notes=(Note("long", long), Note("short", "the end")),
        new=long,
    )
    source = markdown(result)
    assert 30_000 < len(source) <= LIMIT
    assert "(19 more rows left out: this comment would be too long)" in source
    assert "- and 10 more" in source
    assert_nothing_else(source.replace("0x", "x"))


def test_a_single_row_that_is_too_long_is_left_out() -> None:
    source = markdown(replace(tiny(8, 0), notes=(Note("long", "y" * LIMIT), Note("short", "the end"))))
    assert len(source) <= LIMIT
    assert "yyy" not in source


def test_the_page_shows_the_comment_of_the_help_desk() -> None:
    page = (Path(__file__).parent.parent / "docs" / "gate.md").read_text()
    assert f"```markdown\n{markdown(helpdesk())}\n```\n" in page


def test_documents_against_a_requirement_are_listed_unless_they_are_the_lost_ones() -> None:
    source = markdown(tiny(8, 2, require=["no query loses a relevant document"]))
    assert source.count("`d7b` (was at 2)") == 1
    assert "**Against**" not in source
    source = markdown(tiny(8, 2, require=["every relevant document is found within the first 1"]))
    assert "**Against** every relevant document is found within the first 1: 8 relevant documents on 8" in source
    assert "- `q0`\n  - `d0b` (was at 2, now at 2)" in source
