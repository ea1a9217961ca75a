"""The README as a package index shows it, where a relative link leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: A Markdown link to a file of this project.
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#|mailto:)([^)]+)\)")


def for_index(text: str, urls: Mapping[str, str]) -> str:
    """Return the README with absolute links under [project.urls] `Source`; without one, with the files' names instead.

    >>> for_index("[rules](docs/a.md) and [papers](#papers)", {"Source": "https://example.org/takifugu"})
    '[rules](https://example.org/takifugu/blob/main/docs/a.md) and [papers](#papers)'
    >>> for_index("[rules](docs/a.md) and [docs/b.md](docs/b.md)", {})
    'rules (`docs/a.md`) and `docs/b.md`'
    """
    source = urls.get("Source", "").rstrip("/")

    def written(link: re.Match[str]) -> str:
        words, path = link[1], link[2]
        if source:
            return f"[{words}]({source}/blob/main/{path})"
        return f"`{path}`" if words == path else f"{words} (`{path}`)"

    return _LINK.sub(written, text)
