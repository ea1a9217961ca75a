"""A picture as a value: a notebook shows it, it saves itself as SVG, and it has colours for the night."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from takifugu.core.errors import InputError

_SVG = "{http://www.w3.org/2000/svg}"


def stacked(pictures: Sequence[str]) -> str:
    """Return pictures below each other as one, titled as the first."""
    if len(pictures) == 1:
        return pictures[0]
    roots = list(map(ElementTree.fromstring, pictures))
    width, height = max(int(r.attrib["width"]) for r in roots), sum(int(r.attrib["height"]) for r in roots)
    title = roots[0].findtext(f"{_SVG}title") or ""
    stack = ElementTree.Element(
        f"{_SVG}svg", {"viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height), "role": "img"}
    )
    ElementTree.SubElement(stack, f"{_SVG}title").text = title
    top = 0
    for root in roots:
        root.set("y", str(top))
        top += int(root.attrib["height"])
        stack.append(root)
    ElementTree.register_namespace("", _SVG[1:-1])
    return ElementTree.tostring(stack, encoding="unicode") + "\n"


#: The colours of lines, bars, shades and rules in pictures, with those that take their place by night.
PICTURES = {
    "#0072b2": "#5db4ea", "#d55e00": "#f28b4b", "#009e73": "#43c79e", "#a0508c": "#d592c4", "#7a6a00": "#cdb83a",
    "#333333": "#c8ced4", "#222222": "#e4e8ec", "#666666": "#a9b3bd", "#d9d9d9": "#3a444e", "white": "#14181c",
    "#888888": "#8f99a3", "#004d80": "#9bd2f7",
}  # fmt: skip
#: Letters in these colours would be too faint on white.
LETTERS = {"#d55e00": "#b04d00", "#009e73": "#007a59"}
#: Only of the file itself: put into a page, a picture must not paint others there.
_ALONE = "svg:root"


@dataclass(frozen=True)
class Plot:
    """One picture as SVG text."""

    title: str
    svg: str = field(repr=False)

    def __repr__(self) -> str:
        return f"Plot({self.title!r})"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write the picture into a .svg file; return its path. Raises InputError for another ending."""
        target = Path(path)
        if target.suffix != ".svg":
            raise InputError(f"{target.name!r} is no name of a picture", fix="end it with .svg, and convert that")
        target.write_bytes(by_itself(self.svg).encode())
        return target


def day_rules(selector: str = "svg") -> Iterator[str]:
    """Yield the style rules for letters of pictures inside the selector's elements."""
    for drawn, dark in LETTERS.items():
        yield f'{selector} text[fill="{drawn}"] {{ fill: {dark}; }}'


def night_rules(selector: str = "svg") -> Iterator[str]:
    """Yield the style rules for colours of pictures by night."""
    for drawn, night in PICTURES.items():
        for kind, paint in (("*", "fill"), ("text", "fill"), ("*", "stroke")):
            yield f'{selector} {kind}[{paint}="{drawn}"] {{ {paint}: {night}; }}'


def by_itself(picture: str) -> str:
    """Return a picture as its own file, dark on dark screens."""
    ground = f"{_ALONE} {{ background: {PICTURES['white']}; }}"
    dark = " ".join([ground, *night_rules(_ALONE)])
    rules = " ".join([*day_rules(_ALONE), f"@media screen and (prefers-color-scheme: dark) {{ {dark} }}"])
    head, end, body = picture.partition(">")
    return f"{head}{end}\n<style>{rules}</style>{body}"
