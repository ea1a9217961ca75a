"""Write the formulas of the proof pages as MathML: pymdownx.arithmatex finds LaTeX between dollars, this converts it.

The site then needs no script, no font and no request for them.
"""

from __future__ import annotations

from html import unescape
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element
from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor


class Formulas(Treeprocessor):
    """Put MathML in place of the LaTeX of each element of arithmatex."""

    def run(self, root: Element) -> None:
        for element in root.iter():
            if element.get("class") == "arithmatex":
                text = unescape(element.text or "").strip()
                element.text = None
                convert_to_element(text[2:-2], display="block" if element.tag == "div" else "inline", parent=element)
                for name in element.iter("mi"):
                    if (name.text or "").isalpha() and len(name.text or "") > 1:  # log x, not logx
                        name.tag = "mo"
                        name.attrib.update(lspace="0.1em", rspace="0.17em")


class FormulaExtension(Extension):
    """The extension of Python-Markdown; its priority is below those of all that makes elements."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.treeprocessors.register(Formulas(md), "formulas", 1)


def makeExtension() -> FormulaExtension:
    return FormulaExtension()
