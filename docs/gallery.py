"""Make the pictures of docs/gallery.md: run its commands, and keep what each picture needs.

    python docs/gallery.py [--svg]

The page is the list. Its commands are run from top to bottom in a temporary folder, and every picture is made by the
last command above it: `gallery/FOLDER/NAME.svg` is the file NAME.svg that the command wrote into FOLDER,
`gallery/page/NAME.png` is the section NAME of the report that it wrote, in headless Chromium, and
`gallery/comment/NAME.png` is the Markdown that it printed. `--svg` leaves these photographs as they are. It needs the
extra `plots` and, for photographs, playwright, Pillow, markdown-it-py and Chromium.
"""

import argparse
import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
PAGE = DOCS / "gallery.md"
_BLOCK = r"^```(?:sh|console)\n(?P<block>.*?)^```$"
_PICTURE = r"!\[[^\]]*\]\((?P<picture>gallery/[^)]+)\)"
_STEP = re.compile(f"{_BLOCK}|{_PICTURE}", re.MULTILINE | re.DOTALL)
_FOR_SCREEN_READERS = re.compile(r' (?:aria-[a-z]+|role|class)="[^"]*"')
_VALUE = re.compile(r'="[^"]*"')
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_STYLE = """
    body { margin: 16px; font: 14px/1.5 sans-serif } main { max-width: 760px }
    table { border-collapse: collapse } th, td { border: 1px solid #d0d7de; padding: 6px 13px }
    code { background: #eff1f3; border-radius: 6px; padding: 2px 5px }
"""
_WIDTH, _TALLEST, _MARGIN = 1160, 800, 16  # of a photograph, in pixels of the page


def steps() -> Iterator[tuple[str, str]]:
    """Give the commands and pictures of the page, in its order."""
    for match in _STEP.finditer(PAGE.read_text(encoding="utf-8")):
        if match["picture"]:
            yield "picture", match["picture"]
        else:
            block = re.sub(r" \\\n +", " ", match["block"])  # a long command goes on in the next line
            commands = re.findall(r"^(?:\$ )?(lexirecall .*)$", block, re.MULTILINE)
            yield from (("command", command) for command in commands)


def smaller(svg: str) -> str:
    """Return a drawing of Vega without what an image cannot use, and with two decimals at most; others as they are."""
    if ' class="marks"' not in svg:
        return svg
    return _VALUE.sub(lambda value: re.sub(r"(\.\d\d)\d+", r"\1", value[0]), _FOR_SCREEN_READERS.sub("", svg))


def make(folder: Path, *, photographs: bool) -> None:
    """Run the commands in a folder, and write the pictures."""
    printed, report = "", Path()
    with _browser(needed=photographs) as browser:
        for kind, step in steps():
            if kind == "command":
                printed = _run(step, folder)
                words = shlex.split(step)
                report = folder / words[words.index("-o") + 1] if words[1] == "report" else report
                continue
            target = DOCS / step
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.suffix == ".svg":
                drawn = folder / target.parent.name / target.name
                target.write_text(smaller(drawn.read_text(encoding="utf-8")), encoding="utf-8")
            elif photographs and target.parent.name == "comment":
                target.write_bytes(_photograph(browser, _comment(printed, folder), "main"))
            elif photographs:
                target.write_bytes(_photograph(browser, report, f"section#{target.stem}"))


def _run(command: str, folder: Path) -> str:
    """Run a command, and return what it prints."""
    words = [sys.executable, "-m", "lexirecall"]
    for word in shlex.split(command)[1:]:
        words += sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if "*" in word else [word]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - of our own page
    if done.returncode not in (0, 3):
        sys.exit(f"{command}\n{done.stderr}")
    return done.stdout


def _comment(markdown: str, folder: Path) -> Path:
    """Write a page that shows Markdown much as a comment on a pull request is shown."""
    from markdown_it import MarkdownIt

    path = folder / "comment.html"
    body = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(markdown)
    path.write_text(
        f"<!doctype html><html data-state=complete><style>{_STYLE}</style><main>{body}</main>", encoding="utf-8"
    )
    return path


class _browser:  # noqa: N801 - used as a function
    """A browser, if photographs are wanted."""

    def __init__(self, *, needed: bool) -> None:
        self.needed = needed

    def __enter__(self) -> Any:
        if not self.needed:
            return None
        from playwright.sync_api import sync_playwright

        self.driver = sync_playwright().start()
        found = next(filter(None, map(shutil.which, _BROWSERS)), None)
        self.browser = self.driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        return self.browser

    def __exit__(self, *_: object) -> None:
        if self.needed:
            self.browser.close()
            self.driver.stop()


def _photograph(browser: Any, path: Path, element: str) -> bytes:
    """Return a picture of an element of a page, in few colours."""
    from PIL import Image

    page = browser.new_page(viewport={"width": _WIDTH, "height": 900}, device_scale_factor=1.25, color_scheme="light")
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-state=complete]")
    page.add_style_tag(content="header.top { position: static !important }")  # it would cover what is below it
    box = page.locator(element).bounding_box()
    left, top = max(box["x"] - _MARGIN, 0), box["y"]
    right, bottom = min(box["x"] + box["width"] + _MARGIN, _WIDTH), top + min(box["height"] + _MARGIN, _TALLEST)
    clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    taken = Image.open(io.BytesIO(page.screenshot(clip=clip, full_page=True)))
    page.close()
    stream = io.BytesIO()
    taken.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(stream, "PNG", optimize=True)
    return stream.getvalue()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--svg", action="store_true", help="leave photographs as they are")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        make(Path(temporary), photographs=not asked.svg)
