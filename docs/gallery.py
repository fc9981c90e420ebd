"""Make the pictures of docs/gallery.md: run its commands, and keep what each picture needs.

    python docs/gallery.py [--svg]

The page is the list. Its commands are run from top to bottom in a temporary folder, and every picture is made by the
last command above it: `gallery/FOLDER/NAME.svg` is the file NAME.svg that the command wrote into FOLDER, and
`gallery/page/NAME.png` is the section NAME of the report that it wrote, in headless Chromium. `--svg` leaves these
photographs as they are. It needs the extra `plots` and, for photographs, playwright, Pillow and Chromium.
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
_WIDTH, _TALLEST, _MARGIN = 1160, 800, 16  # of a photograph, in pixels of the page


def steps() -> Iterator[tuple[str, str]]:
    """Give the commands and pictures of the page, in its order."""
    for match in _STEP.finditer(PAGE.read_text(encoding="utf-8")):
        if match["picture"]:
            yield "picture", match["picture"]
        else:
            commands = re.findall(r"^(?:\$ )?(lexirecall .*)$", match["block"], re.MULTILINE)
            yield from (("command", command) for command in commands)


def smaller(svg: str) -> str:
    """Return a drawing of Vega without what an image cannot use, and with two decimals at most; others as they are."""
    if ' class="marks"' not in svg:
        return svg
    return _VALUE.sub(lambda value: re.sub(r"(\.\d\d)\d+", r"\1", value[0]), _FOR_SCREEN_READERS.sub("", svg))


def make(folder: Path, *, photographs: bool) -> None:
    """Run the commands in a folder, and write the pictures."""
    report = ""
    with _browser(needed=photographs) as browser:
        for kind, step in steps():
            target = DOCS / step
            if kind == "command":
                _run(step, folder)
                words = shlex.split(step)
                report = words[words.index("-o") + 1] if words[1] == "report" else report
            elif target.suffix == ".svg":
                target.parent.mkdir(parents=True, exist_ok=True)
                drawn = (folder / step).relative_to(folder / "gallery")
                target.write_text(smaller((folder / drawn).read_text(encoding="utf-8")), encoding="utf-8")
            elif photographs:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(_photograph(browser, folder / report, target.stem))


def _run(command: str, folder: Path) -> None:
    words = [sys.executable, "-m", "lexirecall"]
    for word in shlex.split(command)[1:]:
        words += sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if "*" in word else [word]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - of our own page
    if done.returncode not in (0, 3):
        sys.exit(f"{command}\n{done.stderr}")


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


def _photograph(browser: Any, report: Path, section: str) -> bytes:
    """Return a picture of a section of a report, in few colours."""
    from PIL import Image

    page = browser.new_page(viewport={"width": _WIDTH, "height": 900}, device_scale_factor=1.25, color_scheme="light")
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-state=complete]")
    page.add_style_tag(content="header.top { position: static !important }")  # it would cover what is below it
    box = page.locator(f"section#{section}").bounding_box()
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
