"""Pictures by night: the colours that take the place of those of the day, on a page and in a file opened by itself."""

from __future__ import annotations

from collections.abc import Iterator

#: The colours of lines, bars, shades and rules in pictures, with those that take their place by night.
PICTURES = {
    "#0072b2": "#5db4ea", "#d55e00": "#f28b4b", "#009e73": "#43c79e", "#a0508c": "#d592c4", "#7a6a00": "#cdb83a",
    "#333333": "#c8ced4", "#222222": "#e4e8ec", "#666666": "#a9b3bd", "#d9d9d9": "#3a444e", "white": "#14181c",
    "#888888": "#8f99a3", "#004d80": "#9bd2f7",
}  # fmt: skip
#: Letters in these colours would be too faint on white.
LETTERS = {"#d55e00": "#b04d00", "#009e73": "#007a59"}
#: Only of the file itself: put into a page, a picture must not paint others there.
_ALONE = "svg:root"


def day_rules(selector: str = "svg") -> Iterator[str]:
    """Yield the style rules for letters of pictures.

    Pictures are those inside the elements of the selector.
    """
    yield from (f'{selector} text[fill="{drawn}"] {{ fill: {dark}; }}' for drawn, dark in LETTERS.items())


def night_rules(selector: str = "svg") -> Iterator[str]:
    """Yield the style rules for colours of pictures by night."""
    for drawn, night in PICTURES.items():
        for kind, paint in (("*", "fill"), ("text", "fill"), ("*", "stroke")):
            yield f'{selector} {kind}[{paint}="{drawn}"] {{ {paint}: {night}; }}'


def by_itself(picture: str) -> str:
    """Return a picture as a file of its own.

    By night it is dark, where its reader's screen is.

    >>> from takifugu.core.text.marks import drawing
    >>> by_itself(drawing(10, 20, "a", [])).count("<style>")
    1
    """
    ground = f"{_ALONE} {{ background: {PICTURES['white']}; }}"
    dark = " ".join([ground, *night_rules(_ALONE)])
    rules = " ".join([*day_rules(_ALONE), f"@media screen and (prefers-color-scheme: dark) {{ {dark} }}"])
    head, end, body = picture.partition(">")
    return f"{head}{end}\n<style>{rules}</style>{body}"
