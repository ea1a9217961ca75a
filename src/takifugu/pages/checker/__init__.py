"""The checker: a published certificate computed again, by other code than the library's, on one page."""

from __future__ import annotations

from takifugu.pages.single_file import page_of

#: In the order in which each needs those before it; the last two need a browser.
SCRIPTS = ("json.js", "numbers.js", "cone.js", "chain.js", "check.js", "signature.js", "page.js")

#: What the file begins with, by which a former one is known.
TITLE = "<title>Check a published table – Takifugu</title>"


def checker() -> str:
    """Return the checker as one file of HTML."""
    return page_of("checker", SCRIPTS)
