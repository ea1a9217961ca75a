"""One HTML page that needs nothing but itself: escaped text, tables, figures in two widths, screen and paper.

The page fetches nothing from anywhere: no script, no font, no picture but inline SVG; its content policy forbids it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence

#: The widths in which a picture is drawn, so that its letters stay readable: for phones, and for screens and paper.
NARROW, WIDE = 340, 640
#: Tables of at most this many rows stay on one sheet of paper.
_SHORT = 15

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_STYLE = """
:root { --ink: #1d2329; --faint: #59626b; --rule: #d8dde2; --tint: #f3f6f8; --accent: #0072b2; --warn: #8a3b00; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; color: var(--ink); background: white; font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto,
  "Helvetica Neue", "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
main { max-width: 56rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
header { border-bottom: 3px solid var(--accent); padding-bottom: 1rem; margin-bottom: 1.5rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: .2rem 0 .4rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.6rem 0 .7rem; padding-top: .9rem;
  border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
p, ul { margin: .6rem 0; max-width: 44rem; }
ul { padding-left: 1.3rem; }
li { margin: .25rem 0; }
.kind { color: var(--faint); margin: 0; font-size: .9rem; }
.lead { font-size: 1.1rem; margin: 0; }
.note, figcaption, footer { color: var(--faint); font-size: .88rem; }
.warning { border-left: 4px solid var(--warn); background: #fdf3ea; color: #5c2700; padding: .6rem .9rem;
  margin: 1rem 0; max-width: none; }
.danger { border-color: #b00020; background: #fdecef; color: #7a0016; font-weight: 600; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; margin: 1.2rem 0;
  padding: 0; list-style: none; max-width: none; }
.facts li { background: var(--tint); border-radius: 6px; padding: .6rem .8rem; margin: 0; }
.facts b { display: block; font-size: 1.15rem; line-height: 1.3; }
.facts span { color: var(--faint); font-size: .85rem; }
dl { display: grid; grid-template-columns: 9.5rem 1fr; gap: .45rem 1.2rem; margin: .8rem 0; }
dt { color: var(--faint); }
dd { margin: 0; min-width: 0; }
dd + dd { grid-column: 2; }
.scroll { overflow-x: auto; margin: 1rem 0 .6rem; }
table { border-collapse: collapse; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem 1.1rem .35rem 0; border-bottom: 1px solid var(--rule); }
thead th { color: var(--faint); font-weight: 600; font-size: .85rem; border-bottom: 2px solid var(--rule); }
tbody th { font-weight: 600; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.chosen th, tr.chosen td { background: #e8f2f9; }
tr.chosen th { box-shadow: inset 3px 0 0 var(--accent); padding-left: .6rem; }
figure { margin: 1rem 0; }
figure svg { display: block; }
.narrow { display: none; }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 0 1.5rem; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2rem; }
footer { margin-top: 3rem; border-top: 1px solid var(--rule); padding-top: .8rem; }
@media (max-width: 700px) {
  main { padding: 1.2rem 1rem 2rem; }
  h1 { font-size: 1.45rem; }
  .wide { display: none; }
  .narrow { display: block; }
  .spare { display: none; }
  .sides { grid-template-columns: 1fr; }
  dl { grid-template-columns: 1fr; gap: .1rem; }
  dt { margin-top: .6rem; }
  dd + dd { grid-column: 1; }
  .gallery { grid-template-columns: 1fr; }
  dd + dd { margin-top: .4rem; }
  table { font-size: .86rem; }
  th, td { padding-right: .7rem; }
  tbody th { white-space: normal; }
}
@page { margin: 18mm 16mm; }
@media print {
  html { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  h2 { margin-top: 1.6rem; break-after: avoid; }
  h3 { break-after: avoid; }
  figure, tr, li, .facts, .warning, dd, .short { break-inside: avoid; }
  .note { break-before: avoid; }
  article + article { break-before: page; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def page(title: str, body: Iterable[str]) -> str:
    """Return a whole document; `body` is markup."""
    inside = "\n".join(body)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{inside}\n</main>\n</body>\n"
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


def bullets(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{text(s)}</li>" for s in sentences) + "</ul>"


def facts(numbers: Iterable[tuple[str, str]]) -> str:
    """Return large numbers with their meanings."""
    inside = "".join(f"<li><span>{text(name)}</span><b>{text(value)}</b></li>" for name, value in numbers)
    return f'<ul class="facts">{inside}</ul>'


def terms(pairs: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return titles with their sentences; those without a sentence are left out."""
    found = [(name, sentences) for name, sentences in pairs if sentences]
    inside = "".join(
        f"<dt>{text(name)}</dt>" + "".join(f"<dd>{text(s)}</dd>" for s in sentences) for name, sentences in found
    )
    return f"<dl>{inside}</dl>" if found else ""


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Iterable[int] = (),
    note: str = "",
    chosen: int = -1,
    spare: Iterable[int] = (),
) -> str:
    """Return a table that scrolls where it is too wide; the first cell of a row is its heading.

    `numbers` are the columns that are aligned right, `spare` those that a narrow screen omits, `chosen` is the row
    that is highlighted.
    """
    listed = list(rows)
    kinds = [("number", set(numbers)), ("spare", set(spare))]

    def cell(name: str, column: int, words: str, scope: str = "") -> str:
        where = f' scope="{scope}"' if scope else ""
        return f"<{name}{where}{_class(' '.join(k for k, held in kinds if column in held))}>{text(words)}</{name}>"

    head = "".join(cell("th", i, words, "col") for i, words in enumerate(header))
    body = "".join(
        f"<tr{_class('chosen' if number == chosen else '')}>"
        + "".join(cell("th" if i == 0 else "td", i, words, "" if i else "row") for i, words in enumerate(row))
        + "</tr>"
        for number, row in enumerate(listed)
    )
    about = paragraph(note, "note") if note else ""
    kind = "scroll short" if len(listed) <= _SHORT else "scroll"
    return f'<div class="{kind}"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{about}'


def figure(draw: Callable[[int], str], caption: str = "", narrow_only: bool = False) -> str:
    """Return the picture that `draw` makes, in both widths; the page shows the one that fits."""
    about = f"<figcaption>{text(caption)}</figcaption>" if caption else ""
    if narrow_only:
        return f"<figure>{draw(NARROW)}{about}</figure>"
    return f'<figure><div class="wide">{draw(WIDE)}</div><div class="narrow">{draw(NARROW)}</div>{about}</figure>'


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
