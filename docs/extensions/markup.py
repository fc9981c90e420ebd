"""What pages may write beside Markdown: the role `formula` and the directive `api`."""

from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from formulas import parts
from reference import entry

NODES = {
    "math": lambda text: nodes.math(text, text, classes=["large"]),
    "code": lambda text: nodes.literal(text, text),
    "text": nodes.Text,
}


class Formula(SphinxRole):
    """A formula in plain notation, typeset; its words stay words."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return a node for each part."""
        return [NODES[kind](text) for kind, text in parts(self.text)], []


class Api(SphinxDirective):
    """The entry of one public name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the entry as if it were written where the directive is."""
        place = nodes.Element()
        lines = StringList(entry(self.arguments[0]).splitlines(), source=self.arguments[0])
        self.state.nested_parse(lines, self.content_offset, place)
        return place.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the role and the directive."""
    app.add_role("formula", Formula())
    app.add_directive("api", Api)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
