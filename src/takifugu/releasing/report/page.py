"""One HTML page that needs nothing but itself: what it consists of, which `templates` draw, escaping every word.

The page fetches nothing from anywhere: no script, no font, no picture but inline SVG; its content policy forbids it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from takifugu.core.assumptions import sentence
from takifugu.core.escaping import in_markup
from takifugu.core.tracebacks import place_of
from takifugu.releasing.report.style import style

if TYPE_CHECKING:
    from jinja2 import Environment

#: The widths in which a picture is drawn, so that its letters stay readable: for phones, and for screens and paper.
NARROW, WIDE = 340, 640
#: Tables of at most this many rows stay on one sheet of paper.
_SHORT = 15


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    block: ClassVar[str] = "words"
    text: str
    kind: str = ""


@dataclass(frozen=True)
class Bullets:
    block: ClassVar[str] = "bullets"
    sentences: Sequence[str]


@dataclass(frozen=True)
class Terms:
    """Titles with their sentences; those without a sentence are left out."""

    block: ClassVar[str] = "terms"
    pairs: Sequence[tuple[str, Sequence[str | None]]]


@dataclass(frozen=True)
class Cell:
    """Words in a table that look unlike others: `kind` says how."""

    words: str
    kind: str = ""

    def __str__(self) -> str:
        return self.words


#: A row of a table.
Line = Sequence[str | Cell]


@dataclass(frozen=True)
class Table:
    """A table that scrolls where it is too wide, by keyboard, too; the first cell of a row is its heading."""

    block: ClassVar[str] = "table"
    #: No two tables of a page have one caption.
    caption: str
    header: Sequence[str]
    rows: Sequence[Line]
    #: The columns that are aligned right.
    numbers: Sequence[int] = ()
    note: str = ""
    #: The row that is highlighted, and the columns that a narrow screen omits.
    chosen: int = -1
    spare: Sequence[int] = ()

    @property
    def name(self) -> str:
        return f"table-{sha256(in_markup(self.caption).encode()).hexdigest()[:8]}"

    @property
    def is_short(self) -> bool:
        return len(self.rows) <= _SHORT

    def kind(self, column: int, cell: str | Cell = "") -> str:
        """Return how a cell of a column looks."""
        kinds = list[str]()
        if column in self.numbers:
            kinds.append("number")
        if column in self.spare:
            kinds.append("spare")
        if isinstance(cell, Cell):
            kinds.append(cell.kind)
        return " ".join(filter(None, kinds))


@dataclass(frozen=True)
class Figure:
    """The picture that `draw` makes, in both widths; the page shows the one that fits."""

    block: ClassVar[str] = "figure"
    draw: Callable[[int], str]
    caption: str = ""
    narrow_only: bool = False


@dataclass(frozen=True)
class Gallery:
    """Narrow figures, as many side by side as fit."""

    block: ClassVar[str] = "gallery"
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Folded:
    """Blocks under a heading that opens them."""

    block: ClassVar[str] = "folded"
    heading: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Column:
    """One of several columns beside each other, with its heading."""

    heading: str
    blocks: Sequence[Block]


Block = Words | Bullets | Terms | Table | Figure | Gallery | Folded


def page(template: str, **about: Any) -> str:
    """Return a whole document from a template of the folder `templates`."""
    return _environment().get_template(template).render(about)


#: No template draws it: what failed may be one.
_UNMADE = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">{mark}<title>{name}</title></head>\n<body>'
    "<p>This page could not be made: {fault}.</p><p>{name} is published without it: its values and certificates are "
    "beside this page.</p></body></html>\n"
)


def shown(name: str, end: str, make: Callable[[], dict[str, bytes]], mark: str = "") -> dict[str, bytes]:
    """Return files that show published values, by their ends; where they fail, a page in their place that says so."""
    try:
        return make()
    # the values are paid for, and are published without it: drawn again they would be others
    except Exception as error:
        page = _UNMADE.format(mark=mark, name=escape(in_markup(name)), fault=escape(place_of(error)))
        return {end: page.encode()}


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    templates = Environment(
        loader=PackageLoader("takifugu.releasing.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else in_markup(value),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"sentence": sentence, "quoted": quote}
    templates.globals |= {"style": style, "wide": WIDE, "narrow": NARROW}
    return templates
