"""Write switcher.json, the list from which a reader chooses a version of the documentation.

`python docs/versions.py SITE` looks at SITE, which holds the newest version, and at its folders that are called like a
version and hold an older one. Each of these gets the same list, so that no page loads anything from elsewhere.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).parent
INVENTORY = re.compile(rb"# Version: (\S+)")
"""The line of Sphinx's inventory that says which version it is of."""


def versions(site: Path, address: str) -> list[dict[str, object]]:
    """Return an entry for each version that is there, the newest first."""
    newest = _version(site)
    older = [_version(folder) for folder in site.iterdir() if re.fullmatch(r"\d+(\.\d+)+", folder.name)]
    ordered = sorted({*older} - {newest}, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    first = {"name": f"{newest} (newest)", "version": newest, "url": address, "preferred": True}
    return [first, *({"version": name, "url": f"{address}{name}/"} for name in ordered)]


def _version(folder: Path) -> str:
    match = INVENTORY.search((folder / "objects.inv").read_bytes())
    if match is None:
        raise SystemExit(f"{folder}/objects.inv does not say which version it is of")
    return match[1].decode()


def write(site: Path, address: str) -> None:
    """Write the list to every version that is there."""
    found = versions(site, address)
    text = json.dumps(found, indent=2) + "\n"
    for folder in [site, *(site / str(each["version"]) for each in found[1:])]:
        (folder / "switcher.json").write_text(text, encoding="utf-8")


def main() -> None:
    """Write the list for the site that is named."""
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    write(Path(sys.argv[1]), project.get("urls", {}).get("Documentation", "./"))


if __name__ == "__main__":
    main()
