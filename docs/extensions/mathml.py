"""Formulas as MathML: browsers show it and screen readers read it, without a script and without a font to load."""

from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def mathml(latex: str, display: str) -> str:
    """Return a formula in MathML, with what was written for those programs that read LaTeX better.

    >>> mathml("p_m", "inline").count("<msub>")
    1
    """
    formula = convert(latex, display=display).replace(' minsize="2.047em" maxsize="2.047em"', ' stretchy="true"')
    return formula.replace("<math ", f'<math alttext="{escape(latex)}" ', 1)


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    formula = mathml(node.astext(), "inline")
    large = ' displaystyle="true"' if "large" in node["classes"] else ""
    self.body.append(formula.replace("<math", f"<math{large}", 1))
    raise nodes.SkipNode


def _block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula" tabindex="0">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Let `html_math_renderer = "mathml"` mean this."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
