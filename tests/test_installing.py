"""Advice on installing: it fits the way in which lexirecall was installed, for each way that there is."""

import json
import shlex
import tomllib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

import lexirecall
from lexirecall import installing
from lexirecall.installing import EXTRAS, how_to_install

ROOT = Path(__file__).parent.parent
SOURCE = Path(lexirecall.__file__).parent
Installed = Callable[..., Path]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """Install a package that stands in for lexirecall, as a tool of that name does, from an origin or an index."""
    site = tmp_path / "site-packages"
    folder = site / "lexirecall-0.1.0.dist-info"

    def install(origin: object = None, *, tool: str = "pip", package: Path | None = None) -> Path:
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: lexirecall\nVersion: 0.1.0\n")
        (folder / "INSTALLER").write_text(f"{tool}\n")
        if origin is not None:
            (folder / "direct_url.json").write_text(origin if isinstance(origin, str) else json.dumps(origin))
        monkeypatch.setattr(installing, "_PACKAGE", package or site / "lexirecall")
        monkeypatch.setattr(metadata, "distribution", lambda _: metadata.PathDistribution(folder))
        monkeypatch.setattr("sys.prefix", str(tmp_path))
        return tmp_path

    return install


def test_the_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: tuple(needs) for name, needs in project["optional-dependencies"].items()}
    assert {name: needs for name, needs in extras.items() if name not in ("docs", "test", "test-all", "lint")} == EXTRAS


def test_no_message_names_an_extra_without_knowing_how_lexirecall_was_installed() -> None:
    fixed = [path for path in SOURCE.rglob("*.py") if "pip install 'lexirecall" in path.read_text(encoding="utf-8")]
    assert not fixed


def test_from_an_index(installed: Installed) -> None:
    installed()
    assert how_to_install("plots") == "pip install 'lexirecall[plots]'"
    assert how_to_install("torch", "triton") == "pip install 'lexirecall[torch]' triton"


@pytest.mark.parametrize("name", ["lexirecall-0.1.0.tar.gz", "my wheels/lexirecall-0.1.0-py3-none-any.whl"])
def test_from_an_archive(installed: Installed, tmp_path: Path, name: str) -> None:
    archive = tmp_path / name
    archive.parent.mkdir(exist_ok=True)
    archive.touch()
    installed({"url": archive.as_uri(), "archive_info": {}})
    assert shlex.split(how_to_install("plots")) == ["pip", "install", f"{archive}[plots]"]


def test_from_an_archive_that_is_gone(installed: Installed, tmp_path: Path) -> None:
    installed({"url": (tmp_path / "gone.whl").as_uri(), "archive_info": {}})
    assert how_to_install("plots") == "pip install 'altair>=5.5' 'vl-convert-python>=1.7'"


def test_from_a_folder(installed: Installed, tmp_path: Path) -> None:
    installed({"url": tmp_path.as_uri(), "dir_info": {}})
    assert how_to_install("frames") == f"pip install '{tmp_path}[frames]'"


def test_editable(installed: Installed, tmp_path: Path) -> None:
    installed({"url": tmp_path.as_uri(), "dir_info": {"editable": True}}, package=tmp_path / "src" / "lexirecall")
    assert how_to_install("frames") == f"pip install --editable '{tmp_path}[frames]'"


def test_from_a_repository(installed: Installed) -> None:
    installed({"url": "https://example.org/x.git", "vcs_info": {"vcs": "git", "commit_id": "a1b2"}})
    assert how_to_install("irds") == "pip install 'lexirecall[irds] @ git+https://example.org/x.git@a1b2'"


def test_from_an_archive_on_the_web(installed: Installed) -> None:
    installed({"url": "https://example.org/x.whl", "archive_info": {}})
    assert how_to_install("irds") == "pip install 'lexirecall[irds] @ https://example.org/x.whl'"


def test_on_the_path_but_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", nothing)
    assert how_to_install("spark") == "pip install 'pyspark>=4.0' 'pandas>=2.1' 'pyarrow>=15'"


@pytest.mark.parametrize("origin", [None, {"url": "file:///elsewhere", "dir_info": {"editable": True}}])
def test_on_the_path_while_another_one_is_installed(installed: Installed, tmp_path: Path, origin: object) -> None:
    installed(origin, package=tmp_path / "checkout" / "lexirecall")
    assert how_to_install("duckdb") == "pip install 'duckdb>=1.5' 'polars>=1.20' 'pyarrow>=15'"


def test_by_uv(installed: Installed) -> None:
    folder = installed(tool="uv")
    assert how_to_install("fast") == "uv pip install 'lexirecall[fast]'"
    (folder / "uv-receipt.toml").touch()
    assert how_to_install("fast") == "uv tool install 'lexirecall[fast]'"


@pytest.mark.parametrize("origin", ["", "{", "[]", '{"url": 3}'])
def test_an_origin_that_says_nothing_is_an_index(installed: Installed, origin: str) -> None:
    installed(origin)
    assert how_to_install("fast") == "pip install 'lexirecall[fast]'"
