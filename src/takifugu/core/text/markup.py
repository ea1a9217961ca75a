"""Tables, notes and folded parts as HTML for notebooks: escaped, left-aligned, without a style sheet or a script.

A notebook aligns cells right and has colours of its own, by day and by night, so alignment is written on each cell, and
nothing is coloured: what is chosen is bold, behind a bar in the colour of the letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from takifugu.core.escaping import visible

_LEFT = "text-align:left;vertical-align:top"
#: A caption is as wide as its table, which may be narrow.
_WIDE = "min-width:24em"
_CHOSEN = f"{_LEFT};font-weight:bold"
_BAR = "box-shadow:inset 3px 0 0 currentColor;padding-left:9px"


def text(words: object) -> str:
    """Return words as markup, with control characters written out.

    >>> text("<b>\\u202e"), text('"')
    ('&lt;b&gt;\\\\u202e', '&quot;')
    """
    from html import escape

    return escape(visible(str(words)))


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", chosen: int = -1) -> str:
    """Return a table; the row with the number `chosen` is marked.

    >>> html_table(["a"], [["<b>"]]).partition("<tbody>")[2]
    '<tr><td style="text-align:left;vertical-align:top">&lt;b&gt;</td></tr></tbody></table>'
    """
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
