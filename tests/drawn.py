"""Drawings read back: the elements of an SVG, for tests of what is drawn where."""

from xml.etree import ElementTree as ET

from lexirecall.svg import Drawing

SVG = "{http://www.w3.org/2000/svg}"
"""What ElementTree writes before each tag."""


def read_back(drawing: Drawing | str, theme: str = "file") -> ET.Element:
    """Return the root of a drawing; raise if it is not well-formed XML."""
    content = drawing if isinstance(drawing, str) else drawing.to_svg(theme)
    return ET.fromstring(content)  # noqa: S314 - our own text, which declares no entities


def texts(root: ET.Element) -> list[str]:
    """Return every line of text that is seen, in the order of the drawing."""
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def numbers(element: ET.Element, *names: str) -> list[float]:
    """Return some attributes, which are numbers."""
    return [float(element.attrib[name]) for name in names]
