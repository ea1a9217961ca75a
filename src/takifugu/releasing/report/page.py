"""One HTML page that needs nothing but itself: escaped text, tables, figures in two widths, screen and paper.

The page fetches nothing from anywhere: no script, no font, no picture but inline SVG; its content policy forbids it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from takifugu.releasing.report.style import style

#: The widths in which a picture is drawn, so that its letters stay readable: for phones, and for screens and paper.
NARROW, WIDE = 340, 640
#: Tables of at most this many rows stay on one sheet of paper.
_SHORT = 15

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Cell:
    """Words in a table that look unlike others: `kind` says how."""

    words: str
    kind: str = ""


#: A row of a table.
Line = Sequence[str | Cell]


def page(title: str, body: Iterable[str], made: str = "") -> str:
    """Return a whole document; `body` is markup, `made` an element that says which program may write it anew."""
    inside = "\n".join(body)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{made}"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{style()}</style>\n</head>\n<body>\n<main>\n{inside}\n</main>\n</body>\n"
        "</html>\n"
    )


def text(words: object) -> str:
    """Return words as markup that shows exactly them, except for characters that no page may hold or that reverse text.

    >>> text('<b> & "c"')
    '&lt;b&gt; &amp; &quot;c&quot;'
    """
    return html.escape(_UNSEEN.sub("\ufffd", str(words)))


def paragraph(words: str, kind: str = "") -> str:
    return f"<p{_class(kind)}>{text(words)}</p>"


def sentence(words: str) -> str:
    """Return words with a capital letter and a full stop."""
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('.') else '.'}"


def bullets(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{text(s)}</li>" for s in sentences) + "</ul>"


def downloads(name: str, files: Iterable[tuple[str, str]]) -> str:
    """Return links that save files that lie beside the page, with what each one is."""
    links = "".join(f'<li><a href="./{quote(file)}" download>{text(label)}</a></li>' for label, file in files)
    return f'<nav aria-label="{text(name)}">{paragraph(f"{name}:", "note")}<ul class="files">{links}</ul></nav>'


def facts(numbers: Iterable[tuple[str, str]]) -> str:
    """Return large numbers with their meanings."""
    inside = "".join(f"<li><span>{text(name)}</span><b>{text(value)}</b></li>" for name, value in numbers)
    return f'<ul class="facts">{inside}</ul>'


def terms(pairs: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return titles with their sentences; those without a sentence are left out."""
    filled = [(name, sentences) for name, sentences in pairs if sentences]
    inside = "".join(
        f"<dt>{text(name)}</dt>" + "".join(f"<dd>{text(s)}</dd>" for s in sentences) for name, sentences in filled
    )
    return f"<dl>{inside}</dl>" if filled else ""


def table(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Line],
    numbers: Iterable[int] = (),
    note: str = "",
    chosen: int = -1,
    spare: Iterable[int] = (),
) -> str:
    """Return a table that scrolls where it is too wide, by keyboard, too; the first cell of a row is its heading.

    `numbers` are the columns that are aligned right, `spare` those that a narrow screen omits, `chosen` is the row
    that is highlighted. No two tables of a page have one caption.
    """
    listed = list(rows)
    kinds = [("number", set(numbers)), ("spare", set(spare))]

    def cell(name: str, column: int, words: str | Cell, scope: str = "") -> str:
        where = f' scope="{scope}"' if scope else ""
        words, kind = (words.words, words.kind) if isinstance(words, Cell) else (words, "")
        classes = " ".join([*(name for name, columns in kinds if column in columns), *kind.split()])
        return f"<{name}{where}{_class(classes)}>{text(words)}</{name}>"

    head = "".join(cell("th", i, words, "col") for i, words in enumerate(header))
    body = "".join(
        f"<tr{_class('chosen' if number == chosen else '')}>"
        + "".join(cell("th" if i == 0 else "td", i, words, "" if i else "row") for i, words in enumerate(row))
        + "</tr>"
        for number, row in enumerate(listed)
    )
    about = paragraph(note, "note") if note else ""
    kind = "scroll short" if len(listed) <= _SHORT else "scroll"
    name = f"table-{sha256(text(caption).encode()).hexdigest()[:8]}"
    return (
        f'<div class="{kind}" role="region" tabindex="0" aria-labelledby="{name}"><table>'
        f'<caption id="{name}">{text(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{about}"
    )


def folded(title: str, body: Iterable[str]) -> str:
    """Return a section that is shown when its title is chosen; paper shows it always."""
    inside = "\n".join(body)
    return f"<details><summary><h2>{text(title)}</h2></summary>\n{inside}\n</details>"


def figure(draw: Callable[[int], str], caption: str = "", narrow_only: bool = False) -> str:
    """Return the picture that `draw` makes, in both widths; the page shows the one that fits."""
    about = f"<figcaption>{text(caption)}</figcaption>" if caption else ""
    if narrow_only:
        return f"<figure>{draw(NARROW)}{about}</figure>"
    return f'<figure><div class="wide">{draw(WIDE)}</div><div class="narrow">{draw(NARROW)}</div>{about}</figure>'


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
