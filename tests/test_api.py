"""What users rely on stays: names, signatures, commands, options and fields of rows, in tests/api.txt."""

import difflib
import re
from pathlib import Path

import pytest

import api
import lexirecall

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def now() -> list[str]:
    return api.described().splitlines()


def test_what_users_rely_on_has_not_changed(now: list[str]) -> None:
    before = api.FILE.read_text(encoding="utf-8").splitlines()
    changes = [line for line in difflib.unified_diff(before, now, "before", "now", lineterm="", n=0) if line]
    assert not changes, (
        "What users rely on has changed. If that is meant, follow docs/stability.md (nothing that was released goes "
        "without a deprecation), run python tests/api.py, and say it in CHANGELOG.md:\n" + "\n".join(changes)
    )


def test_a_changed_keyword_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [line for line in api.names() if line.startswith("lexirecall.rank(")]
    monkeypatch.setattr(lexirecall, "rank", lexirecall.register)
    assert [line for line in api.names() if line.startswith("lexirecall.rank")] != before


def test_keywords_that_come_from_records_are_there(now: list[str]) -> None:
    (line,) = (line for line in now if line.startswith("lexirecall.evaluate("))
    assert all(f"{name}=" in line for name in ("ties", "level", "units", "over", "bootstrap"))


def test_the_26_names_are_there(now: list[str]) -> None:
    top = [re.match(r"(?:class )?lexirecall\.(\w+)(?!\.)\b", line) for line in now]
    assert len(lexirecall.__all__) == 26
    assert {*lexirecall.__all__} <= {match[1] for match in top if match}


@pytest.mark.parametrize(
    "line",
    [
        "compare: a, b, measure, mean, wins, ties, losses, p, p_corrected, queries, low, high,",
        "gate: verdict: kind, passed,",
        "funnel: stage: kind, stage,",
        "unjudged: pair: kind,",
        "certify: certificate: kind,",
        "evaluate: run, query, measure, value",
        "rank: run, rank, score,",
    ],
)
def test_fields_that_programs_read_are_there(line: str, now: list[str]) -> None:
    assert any(each.startswith(line) for each in now)


# One version, in one place


def test_the_version_is_a_semantic_one() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+|\.dev\d+)?", lexirecall.__version__)


def test_the_changelog_begins_with_this_version() -> None:
    sections = re.findall(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sections[0][0] == lexirecall.__version__
    assert all(date == "unreleased" or re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in sections)
    assert "unreleased" not in [date for _, date in sections[1:]]


def test_the_citation_has_this_version() -> None:
    (version,) = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert version.strip("\"'") == lexirecall.__version__
