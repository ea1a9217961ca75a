"""A picture as a value: a notebook shows it, it saves itself as SVG or PNG, and it has colours for the night."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from takifugu.core.errors import InputError

_SVG = "{http://www.w3.org/2000/svg}"
#: Pixels per unit of a picture.
_SHARP = 2
#: Larger pictures are drawn with one pixel per unit.
_LARGE = 4_000
_NUMBERS = ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height")


def stacked(pictures: Sequence[str]) -> str:
    """Return pictures below each other as one, titled as the first.

    >>> from takifugu.core.text.marks import drawing
    >>> stacked([drawing(10, 20, "a", []), drawing(10, 30, "b", [])]).count("<svg")
    3
    """
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


def png(picture: str) -> bytes | None:
    """Return our picture as PNG, or None without matplotlib."""
    if find_spec("matplotlib") is None:
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    root = ElementTree.fromstring(picture)
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    sharp = _SHARP if max(width, height) * _SHARP <= _LARGE else 1
    canvas: Any = FigureCanvasAgg(Figure((width / 72, height / 72), dpi=72 * sharp, facecolor="white"))
    axes = canvas.figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that its font lacks is drawn as a box
        _draw(axes, root, 0.0)
        canvas.print_png(content, metadata={"Software": None})
    return content.getvalue()


def _draw(axes: Any, parent: ElementTree.Element, down: float) -> None:
    """Draw our pictures' elements, later ones above, with pictures inside."""
    from matplotlib.patches import Circle, Polygon, Rectangle

    for element in parent:
        kind, get = element.tag.removeprefix(_SVG), element.attrib.get
        at = {key: float(get(key, "0")) for key in _NUMBERS}
        order = len(axes.get_children())
        wide = float(get("stroke-width", "1"))
        line: dict[str, Any] = {"color": get("stroke", "none"), "linewidth": wide, "zorder": order}
        line |= {"alpha": float(get("stroke-opacity", "1")), "solid_capstyle": "butt"}
        if get("stroke-dasharray"):
            line["dashes"] = list(map(float, get("stroke-dasharray", "").split()))
        area: dict[str, Any] = {
            "facecolor": get("fill", "black"), "edgecolor": get("stroke", "none"), "linewidth": wide, "zorder": order,
            "alpha": float(get("fill-opacity", "1")),
        }  # fmt: skip
        points = list[tuple[float, float]]()
        for point in get("points", "").split():
            x, y = map(float, point.split(","))
            points.append((x, y + down))
        if kind == "rect":
            axes.add_patch(Rectangle((at["x"], at["y"] + down), at["width"], at["height"], **area))
        elif kind == "polygon":
            axes.add_patch(Polygon(points, **area))
        elif kind == "line":
            axes.plot([at["x1"], at["x2"]], [at["y1"] + down, at["y2"] + down], **line)
        elif kind == "polyline":
            axes.plot(*zip(*points, strict=True), **line)
        elif kind == "circle":
            axes.add_patch(Circle((at["cx"], at["cy"] + down), at["r"], **area))
        elif kind == "text":
            side = {"middle": "center", "end": "right"}.get(get("text-anchor", "start"), "left")
            size = float(get("font-size", "12"))
            paint = {"color": get("fill"), "ha": side, "va": "baseline", "zorder": order}
            axes.text(at["x"], at["y"] + down, element.text or "", fontsize=size, parse_math=False, **paint)
        elif kind == "svg":
            _draw(axes, element, down + at["y"])


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
    """One picture as SVG text.

    >>> from takifugu.core.text.pictures import Bar, bar_chart
    >>> from takifugu.core.text.scales import Axis
    >>> Plot("use", bar_chart([Bar("still", 6, 4, 8)], Axis("minutes"), "Time use"))
    Plot('use')
    """

    title: str
    svg: str = field(repr=False)

    def __repr__(self) -> str:
        return f"Plot({self.title!r})"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write the picture into a .svg or .png file; return its path.

        Raises InputError for another ending, and for PNG where matplotlib is not installed.
        """
        target = Path(path)
        target.write_bytes(self.content(target))
        return target

    def content(self, target: Path) -> bytes:
        """Return the picture's bytes for a file of this name.

        Raises InputError as `save` does.
        """
        if target.suffix not in (".svg", ".png"):
            raise InputError(f"{target.name!r} is no name of a picture", fix="end it with .svg or .png")
        content = by_itself(self.svg).encode() if target.suffix == ".svg" else png(self.svg)
        if content is None:
            raise InputError("a PNG is drawn by matplotlib", fix="pip install takifugu[plots], or save an .svg")
        return content


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
    """Return a picture as its own file, dark on dark screens.

    >>> from takifugu.core.text.marks import drawing
    >>> by_itself(drawing(10, 20, "a", [])).count("<style>")
    1
    """
    ground = f"{_ALONE} {{ background: {PICTURES['white']}; }}"
    dark = " ".join([ground, *night_rules(_ALONE)])
    rules = " ".join([*day_rules(_ALONE), f"@media screen and (prefers-color-scheme: dark) {{ {dark} }}"])
    head, end, body = picture.partition(">")
    return f"{head}{end}\n<style>{rules}</style>{body}"
