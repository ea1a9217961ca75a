"""The explorer: how much noise hides a step of a chain, on one page that computes everything itself."""

from __future__ import annotations

from takifugu.pages.single_file import page_of

#: In the order in which each needs those before it; the last one needs a browser.
SCRIPTS = ("engine.js", "reader.js", "settings.js", "table.js", "words.js", "charts.js", "page.js")

#: What the file begins with, by which a former one is known.
TITLE = "<title>How much noise hides a minute? – Takifugu</title>"


def explorer() -> str:
    """Return the explorer as one file of HTML."""
    return page_of("explorer", SCRIPTS)
