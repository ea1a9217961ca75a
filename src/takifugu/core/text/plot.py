"""A picture as a value: a notebook shows it, and it saves itself as SVG or PNG."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from takifugu.core.errors import InputError
from takifugu.core.text.night import by_itself
from takifugu.core.text.raster import png


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
        """Return the bytes of the picture as a file of this name.

        Raises InputError as `save` does.
        """
        if target.suffix not in (".svg", ".png"):
            raise InputError(f"{target.name!r} is no name of a picture", fix="end it with .svg or .png")
        content = by_itself(self.svg).encode() if target.suffix == ".svg" else png(self.svg)
        if content is None:
            raise InputError("a PNG is drawn by matplotlib", fix="pip install takifugu[plots], or save an .svg")
        return content
