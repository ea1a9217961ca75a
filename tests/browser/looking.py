"""What is looked at in every page: its width, and what axe finds."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WIDTHS, SCHEMES = (360, 768, 1280), ("light", "dark")


def faults_of(page: Any, name: str, width: int, **about: Any) -> list[tuple[str, ...]]:
    """Return what is wrong with a page that is open, at this width; `about` says what axe looks at."""
    from axe_playwright_python.sync_playwright import Axe

    seen = page.evaluate("document.documentElement.scrollWidth")
    wide = [(name, f"is {seen} wide")] if seen > width else []
    violations = Axe().run(page, **about).response["violations"]
    return [*wide, *((name, one["id"], one["nodes"][0]["html"][:200]) for one in violations)]


@contextmanager
def watched(browser: Any, address: str, origins: str | tuple[str, ...], **about: Any) -> Iterator[Any]:
    """Open a page under its own policy: no error may come of it, and no request but those that start with `origins`."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **about)
    page = context.new_page()
    faults, requests = list[str](), list[str]()
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    yield page
    context.close()
    assert faults == []
    assert [url for url in requests if not url.startswith(origins)] == []
