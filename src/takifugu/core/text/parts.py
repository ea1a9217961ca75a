"""What a value says, part by part: each is written once, and shown as plain text and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from takifugu.core.text.markup import folded, html_table, note, text
from takifugu.core.text.tables import labelled, paragraph, text_table


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
    """Return parts as plain text.

    >>> print(text_of([heading("noise"), rows(["cell"], []), words("one", "two")]))
    noise
    <BLANKLINE>
    one
    two
    """
    return between.join(filter(None, (part.text for part in parts)))


def html_of(parts: Iterable[Part]) -> str:
    """Return parts as markup.

    >>> html_of([heading("a < b"), rows(["cell"], []), words("one", "two")])
    '<h3>a &lt; b</h3><p>one</p><p>two</p>'
    """
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
