"""Text safe to show: characters that control a terminal, or turn the direction of writing, are escaped."""

from __future__ import annotations

import re

#: Controls but the line end, controls of the writing direction, separators of lines, and halves of characters.
_COMMANDS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return a text with its control characters as escapes, for everything that is printed; line ends stay.

    >>> print(visible("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    return _COMMANDS.sub(lambda found: _escape(ord(found[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
