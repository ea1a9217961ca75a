"""Whether a release file reads its source as its ledger knows it: said before any data are read or anything is paid."""

from __future__ import annotations

from takifugu.accounting.ledger.disk.glancing import knows_no_other_layout
from takifugu.accounting.ledger.format.layouts import written
from takifugu.releasing.file.kind import ReleaseFile


def notices_of_layout(file: ReleaseFile) -> tuple[str, ...]:
    """Warn of reading a source in a layout new to its ledger."""

    def layout() -> str:
        return written(file.layout())

    if knows_no_other_layout(file.ledger, file.source.name, layout):
        return ()
    from takifugu.accounting.ledger.previewing import layout_words

    words = layout_words(file.ledger, file.source.name, layout())
    return (words,) if words else ()
