"""What a value says, part by part: each is written once, and shown as plain text and as HTML for notebooks.

A notebook aligns cells right and has colours of its own, by day and by night, so alignment is written on each cell, and
nothing is coloured: what is chosen is bold, behind a bar in the colour of the letters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from takifugu.core.escaping import in_markup
from takifugu.core.text.tables import labelled, paragraph, text_table

_LEFT = "text-align:left;vertical-align:top"
#: A caption is as wide as its table, which may be narrow.
_WIDE = "min-width:24em"
_CHOSEN = f"{_LEFT};font-weight:bold"
_BAR = "box-shadow:inset 3px 0 0 currentColor;padding-left:9px"


def text(words: object) -> str:
    """Return words as markup, with control characters written out."""
    from html import escape

    return escape(in_markup(words))


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", chosen: int = -1) -> str:
    """Return a table; the row with the number `chosen` is marked."""
    head = "".join(f'<th scope="col" style="{_LEFT}">{text(cell)}</th>' for cell in header)
    body = "".join(_row(row, number == chosen) for number, row in enumerate(rows))
    title = f'<caption style="{_LEFT};{_WIDE}">{text(caption)}</caption>' if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def note(words: str, strong: bool = False) -> str:
    """Return a paragraph."""
    if strong:
        return f"<p><strong>{text(words)}</strong></p>"
    return f"<p>{text(words)}</p>"


def folded(title: str, markup: str) -> str:
    """Return markup folded under a title; nothing for nothing."""
    if markup:
        return f"<details><summary>{text(title)}</summary>{markup}</details>"
    return ""


def _row(cells: Sequence[str], is_chosen: bool) -> str:
    if is_chosen:
        styles = [f"{_CHOSEN};{_BAR}", *[_CHOSEN] * len(cells)]
    else:
        styles = [_LEFT] * len(cells)
    return "<tr>" + "".join(f'<td style="{s}">{text(c)}</td>' for s, c in zip(styles, cells, strict=False)) + "</tr>"


@dataclass(frozen=True)
class Part:
    """A part as plain text, and what draws it as HTML; either may be empty."""

    text: str
    draw: Callable[[], str]


class InParts:
    """A value that prints its parts, a blank line between them, and shows them in a notebook."""

    @property
    def parts(self) -> Iterable[Part]:
        raise NotImplementedError

    def __str__(self) -> str:
        return text_of(self.parts)

    def _repr_html_(self) -> str:
        return html_of(self.parts)


def text_of(parts: Iterable[Part], between: str = "\n\n") -> str:
    """Return parts as plain text."""
    return between.join(filter(None, (part.text for part in parts)))


def html_of(parts: Iterable[Part]) -> str:
    """Return parts as markup."""
    return "".join(part.draw() for part in parts)


def words(*sentences: str, strong: bool = False) -> Part:
    """Return a paragraph for each sentence."""
    return Part("\n".join(map(paragraph, sentences)), lambda: "".join(note(sentence, strong) for sentence in sentences))


def heading(title: str) -> Part:
    return Part(paragraph(title), lambda: f"<h3>{text(title)}</h3>")


def rows(header: Sequence[str], lines: Sequence[Sequence[str]]) -> Part:
    """Return a table, or nothing without rows."""
    if not lines:
        return words()
    return Part(text_table(header, lines), lambda: html_table(header, lines))


def facts(pairs: Sequence[tuple[str, str]]) -> Part:
    """Return labelled lines, or nothing without any."""
    if not pairs:
        return words()
    return Part(labelled(pairs), lambda: "".join(note(f"{label}: {fact}") for label, fact in pairs))


def closed(title: str, part: Part) -> Part:
    """Return a part that HTML folds under a title."""
    return Part(part.text, lambda: folded(title, part.draw()))


def together(*parts: Part) -> Part:
    """Return parts without blank lines between them."""
    return Part(text_of(parts, "\n"), partial(html_of, parts))
