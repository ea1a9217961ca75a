"""One file of a page's parts: style and scripts inside, and allowed by their digests alone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files


def page_of(folder: str, scripts: Sequence[str]) -> str:
    """Return the page of a folder beside this file: `page.html` with styles and these scripts, in this order."""
    pages = files("takifugu.pages")
    place = pages.joinpath(folder)
    script = '"use strict";\n' + "\n".join(place.joinpath(name).read_text("utf-8") for name in scripts)
    style = "".join(part.read_text("utf-8") for part in (pages.joinpath("base.css"), place.joinpath("style.css")))
    page = place.joinpath("page.html").read_text("utf-8")
    parts = {"script-hash": _digest(script), "style-hash": _digest(style), "style": style, "script": script}
    for name, part in parts.items():
        page = page.replace("{{" + name + "}}", part)
    return page


def _digest(text: str) -> str:
    """Return what a content security policy calls this text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
