"""Our SVG pictures as PNG, with matplotlib where it is installed (`takifugu[plots]`); several pictures as one."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any
from xml.etree import ElementTree

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
