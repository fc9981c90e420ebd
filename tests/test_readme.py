"""The README says what is true: its commands exist, its examples print what it shows."""

import doctest
import re
from pathlib import Path

import pytest

from pages import commands, run_command

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
LINK = re.compile(r"\]\(([^)]+)\)|^\[[^]]+\]: (\S+)$", re.MULTILINE)
SITE, SOURCE = "https://lexirecall.github.io/lexirecall/", "https://github.com/lexirecall/lexirecall/blob/main/"


def test_console_examples_print_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_command("lexirecall demo")
    shown = [(command, output) for command, output in commands(README) if output]
    assert len(shown) == 2
    for command, output in shown:
        code, printed = run_command(command)
        assert (code, re.sub(r"^note: .*\n", "", printed)) == (0, output)


def test_python_examples_print_what_the_readme_shows() -> None:
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted == 6
    assert result.failed == 0


def test_the_readme_opens_with_the_two_commands() -> None:
    text = README.read_text()
    assert "\npip install . && lexirecall demo\n" in text
    assert "\npip install '.[test]' && pytest -n auto\n" in text


def test_links_are_whole_addresses_because_the_readme_is_read_elsewhere_and_lead_to_what_there_is() -> None:
    links = ["".join(found) for found in LINK.findall(README.read_text())]
    assert len(links) > 20
    assert [link for link in links if not (ROOT / source_of(link)).exists()] == []


def source_of(link: str) -> str:
    """Return what an address shows: a file of the repository, or the source of a page of the site.

    >>> source_of(f"{SITE}start/rag.html"), source_of(f"{SITE}_images/picture.svg"), source_of(f"{SITE}try/")
    ('docs/start/rag.md', 'docs/picture.svg', 'tryit/index.html')
    """
    if link.startswith(SOURCE):
        return link.removeprefix(SOURCE)
    if link == f"{SITE}try/":
        return "tryit/index.html"
    name = link.removeprefix(SITE).removeprefix("_images/")
    return f"docs/{re.sub('[.]html$', '.md', name)}"
