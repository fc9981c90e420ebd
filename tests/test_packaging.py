"""Packaging: what the workflows, the recipe and the citation say is valid, is there, and agrees with the project."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lexirecall.version import VERSION

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPTS = sorted((ROOT / "ci").glob("*.sh"))
KNOWN_ACTIONS = {
    "actions/checkout@v6", "actions/setup-python@v6", "actions/upload-artifact@v7", "actions/download-artifact@v8",
    "actions/upload-pages-artifact@v5", "actions/deploy-pages@v5", "pypa/cibuildwheel@v4.3.3",
    "pypa/gh-action-pypi-publish@release/v1",
}  # fmt: skip
"""Actions with versions that exist; a new one is added here after a look at its releases."""
pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="a source archive has no workflows")


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items():
            yield f"{path.stem}-{name}", job


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in jobs():
        yield from ((f"{name}-{number}", step) for number, step in enumerate(job["steps"]))


RUN = {name: step["run"] for name, step in steps() if "run" in step}
NAMED = RUN | {path.name: path.read_text() for path in SCRIPTS}
every_script = pytest.mark.parametrize("script", NAMED.values(), ids=NAMED)


@every_script
def test_a_script_is_bash(script: str) -> None:
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


@every_script
def test_files_and_targets_that_a_script_names_are_there(script: str) -> None:
    for name in re.findall(r"(?<![\w./$-])(?:ci|docs|tests|src)/[\w./]+\.\w+", script):
        assert (ROOT / name).exists(), name
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for target in re.findall(r"\bmake (?:-C \S+ )?([a-z][\w-]*)", script):
        assert target in targets


@pytest.mark.parametrize("script", RUN.values(), ids=RUN)
def test_no_expression_is_put_into_a_script(script: str) -> None:
    """What GitHub replaces before bash reads it could be code; the environment cannot."""
    assert "${{" not in script


def test_actions_have_known_versions() -> None:
    assert {step["uses"] for _, step in steps() if "uses" in step} == KNOWN_ACTIONS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_and_ends_in_time(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())
    assert "secrets." not in path.read_text(encoding="utf-8")


def test_only_the_publishing_of_a_tag_gets_an_identity() -> None:
    found = dict(jobs())
    may = {name for name, job in found.items() if "id-token" in job.get("permissions", {})}
    assert may == {"release-publish", "docs-deploy"}
    publish = found["release-publish"]
    assert publish["environment"] == "pypi"
    assert "startsWith(github.ref, 'refs/tags/v')" in publish["if"]
    assert set(publish["needs"]) == {"wheels", "archives"}


def test_the_suite_runs_on_every_python_that_is_promised() -> None:
    promised = re.findall(r"Python :: (3\.\d+)'", repr(PROJECT["project"]["classifiers"]))
    assert dict(jobs())["ci-test"]["strategy"]["matrix"]["python"] == promised
    built = PROJECT["tool"]["cibuildwheel"]["build"]
    assert built == [*(f"cp{version.replace('.', '')}-*" for version in promised), "cp314t-*"]


@pytest.mark.parametrize("tag", ["v0.0.0", VERSION, "", f"v{VERSION}0"])
def test_a_tag_that_is_not_the_version_is_refused(tag: str) -> None:
    done = subprocess.run([ROOT / "ci" / "tag_is_version.sh", tag], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"the tag is {tag}, but the version is {VERSION}\n")


def test_the_recipe_needs_what_the_project_needs() -> None:
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    needs = [need.replace(">=", " >=") for need in PROJECT["project"]["dependencies"]]
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert recipe["requirements"]["run"] == ["python >=${{ python_min }}", *needs]
    assert recipe["context"] == {"name": "lexirecall", "version": VERSION, "python_min": oldest}
    assert "setuptools >=77" in recipe["requirements"]["host"]
    assert PROJECT["build-system"]["requires"] == ["setuptools>=77"]
    urls = PROJECT["project"]["urls"]
    assert (recipe["about"]["homepage"], recipe["about"]["repository"]) == (urls["Homepage"], urls["Repository"])


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == VERSION
    assert (citation["url"], citation["repository-code"]) == (
        PROJECT["project"]["urls"]["Homepage"],
        PROJECT["project"]["urls"]["Repository"],
    )
