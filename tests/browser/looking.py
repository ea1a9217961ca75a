"""What is looked at in every page: its width, and what axe finds."""

from typing import Any

WIDTHS, SCHEMES = (360, 768, 1280), ("light", "dark")


def faults_of(page: Any, name: str, width: int, **about: Any) -> list[tuple[str, ...]]:
    """Return what is wrong with a page that is open, at this width; `about` says what axe looks at."""
    from axe_playwright_python.sync_playwright import Axe

    seen = page.evaluate("document.documentElement.scrollWidth")
    wide = [(name, f"is {seen} wide")] if seen > width else []
    violations = Axe().run(page, **about).response["violations"]
    return [*wide, *((name, one["id"], one["nodes"][0]["html"][:200]) for one in violations)]
