"""Files that do not belong to the others of a folder: a readme, thumbnails, a report beside the tables."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from takifugu.core.errors import DataError
from takifugu.data.files.formats import suffixes

#: Endings that are nobody's name; others are not repeated.
_COMMON = frozenset((
    ".7z", ".bak", ".cfg", ".dat", ".db", ".doc", ".docx", ".gif", ".gz", ".html", ".ini", ".ipynb", ".jpeg", ".jpg",
    ".json", ".lnk", ".log", ".md", ".ods", ".odt", ".pdf", ".png", ".ppt", ".pptx", ".py", ".r", ".rst", ".rtf", ".sh",
    ".sql", ".tab", ".tmp", ".toml", ".tsv", ".txt", ".url", ".xls", ".xml", ".yaml", ".yml", ".zip",
))  # fmt: skip


def refuse_strays(paths: Sequence[Path], top: Path, what: str, kind_of: Callable[[Path], object]) -> None:
    """Raise DataError for files of other endings than most.

    The error says how to read the others. Files of equal kinds are read together; a kind of None is no table. File
    names may be those of people, so only endings are repeated, and none that may be a name.
    """
    endings = Counter(map(_ending, paths))
    usual = max(endings, key=lambda ending: (endings[ending], ending in suffixes()))
    if len(endings) == 1 or (kind := kind_of(next(path for path in paths if _ending(path) == usual))) is None:
        return
    strays = {_ending(path) for path in paths if _ending(path) != usual and kind_of(path) != kind}
    if not strays:
        return
    plain, count = {*suffixes(), *_COMMON}, Counter[str]()
    if endings[usual] > 1:
        plain.add(usual)
    for ending, files in endings.items():
        if _unpacked(ending) not in plain:
            ending = "other"
        count[ending] += files
    fix = "move those away that are no such tables"
    if _unpacked(usual) in plain and strays == {*endings} - {usual}:
        pattern = f"{top.parent.name}/*{usual}"
        if top.is_dir():
            deep = "**/" if any(path.parent != top for path in paths) else ""
            pattern = f"{glob.escape(top.name)}/{deep}*{usual}"
        fix = f'read the {usual} files alone, as in "{pattern}"'
    summary = ", ".join(f"{files} {ending}" for ending, files in count.most_common())
    raise DataError(
        f"{what} has files of several formats ({summary})", rule="all are one table, with the same columns", fix=fix
    )


def _ending(path: Path) -> str:
    """Return the end of a name, .gz included.

    >>> _ending(Path("ana.csv.gz")), _ending(Path("ana"))
    ('.csv.gz', '')
    """
    return "".join(path.suffixes[-2:]) if path.suffix.lower() == ".gz" else path.suffix


def _unpacked(ending: str) -> str:
    return ending.lower().removesuffix(".gz")
