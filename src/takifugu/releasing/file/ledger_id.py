"""Which ledger a release file belongs to: one line that the first release adds, and nothing else changes."""

from __future__ import annotations

import re
import tomllib
from contextlib import suppress
from pathlib import Path

from takifugu.core.files import read_file, replace_synced

_KEY = "ledger_id"
#: The line of the key `ledger`, with its end.
_LEDGER = re.compile(r"""^\ufeff?[ \t]*(?:ledger|"ledger"|'ledger')[ \t]*=[^\r\n]*(\r?\n|\Z)""", re.MULTILINE)
#: The value of an id that is there.
_WRITTEN = re.compile(rf"""^([ \t]*{_KEY}[ \t]*=[ \t]*)(["'])[^"'\r\n]*\2""", re.MULTILINE)


def write_ledger_id(path: Path, ledger: str) -> None:
    """Write the ledger's id below the key `ledger`, changing no other key.

    A read-only file, or one that cannot be changed like this, stays as it is.
    """
    try:
        place = path.resolve()
        before = read_file(place).decode("utf-8")
        after = with_ledger_id(before, ledger)
        if after in (None, before):
            return
        replace_synced(place, str(after).encode("utf-8"))
    except (OSError, ValueError, RuntimeError):
        return  # the release is done; the folder and the ledger still say which ledger it was


def with_ledger_id(text: str, ledger: str) -> str | None:
    """Return a file's text with its ledger's id, or None.

    >>> print(with_ledger_id('ledger = "a.db"  # kept safe\\noutput = "out"', "0123456789abcdef"))
    ledger = "a.db"  # kept safe
    ledger_id = "0123456789abcdef"  # which ledger that is: a release with another one stops
    output = "out"
    """
    match = _LEDGER.search(text)
    if _WRITTEN.search(text):
        changed = _WRITTEN.sub(rf'\g<1>"{ledger}"', text, count=1)
    elif match is None:
        return None
    else:
        end = match[1] or "\n"
        line = f'{_KEY} = "{ledger}"  # which ledger that is: a release with another one stops'
        before, after = text[: match.end()], text[match.end() :]
        changed = f"{before}{line}{end}{after}" if match[1] else f"{before}{end}{line}"
    with suppress(ValueError, RecursionError):
        keys_with_id = {**tomllib.loads(text.removeprefix("\ufeff")), _KEY: ledger}
        if tomllib.loads(changed.removeprefix("\ufeff")) == keys_with_id:
            return changed
    return None
