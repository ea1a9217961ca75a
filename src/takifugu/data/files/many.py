"""Many files as one table, one after the other by name, without those that do not belong to the others."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from urllib.parse import unquote

from takifugu.core.errors import DataError, InputError
from takifugu.data.engines.table import Table
from takifugu.data.files.copied_rows import table_of
from takifugu.data.files.formats import (
    DataFile,
    Rows,
    SourceFormat,
    careful_with_format,
    check_parts,
    columns_of,
    data_file,
    format_of,
    suffixes,
)
from takifugu.data.files.parquet import PARQUET, dataset, refuse_twice
from takifugu.data.values.written import Written

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


#: More files, or folders in each other, are a mistake in the path.
MOST_FILES, DEEPEST, MOST_NAMES = 100_000, 16, 200_000
#: How a partition without a value is called.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Part:
    """One of the files: its place, and the columns that its folders and its name become."""

    file: DataFile
    columns: Mapping[str, str | None]


def is_many(path: Path) -> bool:
    """Return whether a path is a folder or a pattern."""
    return os.path.isdir(path) or (glob.has_magic(str(path)) and not os.path.exists(path))  # also no path at all


def is_there(path: Path) -> bool:
    """Return whether a path is a file, folder or pattern."""
    return os.path.exists(path) or is_many(path)


def files_of(path: Path) -> list[Path]:
    """Return the files of a path, by name, without hidden ones.

    Names of hidden files start with ".", "_" or "~$". Raises DataError for folders other than partitions (key=value),
    which may or may not belong to the data.
    """
    if not is_many(path):
        return [path]
    if path.is_dir():
        return sorted(_inside(path, path))
    matched = set(map(Path, _matched(path.parts, count())))
    return sorted(file for file in matched if file.is_file() and not _is_aside(file))


def _matched(pattern: Sequence[str], looked_at: Iterator[int]) -> Iterator[str]:
    """Yield the files of a pattern, safe from endless folders."""
    if "**" not in pattern:
        yield from glob.iglob(os.path.join(*pattern))
        return
    at = pattern.index("**")
    below = pattern[at + 1 :] or ("*",)
    tops: Iterable[str] = [os.curdir]
    if at:
        tops = glob.iglob(os.path.join(*pattern[:at]))
    for top in tops:
        for folder in _folders(top, looked_at):
            yield from _matched((glob.escape(folder), *below), looked_at)


def _folders(top: str, looked_at: Iterator[int]) -> Iterator[str]:
    """Yield a folder and its visible folders; DataError for too many names."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        yield folder
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if next(looked_at) > MOST_NAMES:
                    raise DataError(
                        f"the pattern looks through more than {MOST_NAMES:,} files and folders",
                        fix="let it begin with the folder that the files are in",
                    )
                if not entry.name.startswith(".") and entry.is_dir():
                    waiting.append(entry.path)


def _inside(folder: Path, top: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if _is_aside(entry):
            continue
        if entry.is_dir():
            if "=" not in entry.name or len(entry.relative_to(top).parts) > DEEPEST:
                raise DataError(
                    f"{top.name} has folders that are no partitions",
                    rule="a folder holds files, or folders called key=value",
                    fix='write a pattern of the files that are meant, such as "people/**/*.csv"',
                )
            yield from _inside(entry, top)
        elif entry.is_file():
            yield entry


def _is_aside(path: Path) -> bool:
    return path.name.startswith((".", "_", "~$"))  # the last one is what Office writes beside an open file


def open_many(path: Path, written: Written) -> tuple[str, Table, SourceFormat]:
    """Return title, table and format of a folder's or pattern's files.

    Messages have the title and numbers of files, because file names may be those of people. Raises DataError for no
    files, several formats or other columns, and repeated file names where these are read.
    """
    title = f"{path.parent.name}/{path.name}"
    paths = files_of(path)
    if not paths or len(paths) > MOST_FILES:
        many = f"has more than {MOST_FILES:,} files" if paths else "has no files"
        raise DataError(f"{title} {many}", fix="check the path, and the signs * and ? in it")
    refuse_strays(paths, path, title, partial(_kind_of, written=written))
    parts = [_part(file, number, path, title, written) for number, file in enumerate(paths, 1)]
    form = format_of(parts[0].file)
    forms = {format_of(part.file).name for part in parts}
    if len(forms) > 1:
        raise DataError(
            f"{title} has files of several formats ({', '.join(sorted(forms))})", fix='write a pattern, as in "*.csv"'
        )
    _check_columns(parts, title, written)
    check_parts(parts[0].file, form, written)
    columns = [part.columns for part in parts]
    if form is PARQUET:
        return title, dataset([part.file for part in parts], columns, title), form
    with careful_with_format(parts[0].file, form):
        first = tuple(_rows_of(form, parts[0].file, written)[0])
        refuse_twice(parts[0].file.name, first, columns)
        rows = _rows(form, parts, written, first)
        return title, table_of(replace(parts[0].file, name=title), (*first, *columns[0]), rows), form


def _check_columns(parts: Sequence[Part], title: str, notation: Written) -> None:
    for part in parts:
        if part.columns.keys() != parts[0].columns.keys():
            raise DataError(f"{part.file.name} lies in other partitions than the first one", fix="move it")
    key = notation.file_names
    if key is not None and len({part.columns[key] for part in parts}) < len(parts):
        raise DataError(
            f"{title} has two files of one name", rule="they would be one", fix="rename one"
        ).at("file_names")


def _kind_of(path: Path, written: Written) -> object:
    """Return the format and the columns of a file, if a table.

    Databases and workbooks are not opened: one may be the ledger, and SQLite writes beside what it reads.
    """
    try:
        file = data_file(path, "a file")
        form = format_of(file)
        if form is PARQUET or form.parts:
            return form.name, ()
        with careful_with_format(file, form):
            return form.name, sorted(_rows_of(form, file, written)[0])
    except InputError:
        return None


def _part(file: Path, number: int, top: Path, title: str, notation: Written) -> Part:
    source = data_file(file, f"file {number} of {title}")
    columns = dict[str, str | None]()
    while glob.has_magic(str(top)) and not top.is_dir():
        top = top.parent  # above all partitions
    for folder in file.relative_to(top).parts[:-1]:
        key, sign, value = folder.partition("=")
        if sign:
            columns[unquote(key)] = unquote(value)
        if sign and value == _NO_VALUE:
            columns[unquote(key)] = None
    if notation.file_names is not None:
        columns[notation.file_names] = stem(file)
    return Part(source, columns)


def stem(file: Path) -> str:
    """Return a file's name without its ending.

    >>> stem(Path("people/ana.b.csv.gz")), stem(Path("ben"))
    ('ana.b', 'ben')
    """
    return Path(file.name.removesuffix(".gz")).stem


def _rows(
    form: SourceFormat, parts: Sequence[Part], notation: Written, first: Sequence[str]
) -> Iterator[Sequence[str | None]]:
    for part in parts:
        names, rows = _rows_of(form, part.file, notation)
        if sorted(names) != sorted(first) or (tuple(names) != first and len(set(first)) < len(first)):
            raise DataError(f"{part.file.name} has other columns than the first one", fix="write the same in all")
        places, more = list(map(list(names).index, first)), list(part.columns.values())
        if tuple(names) == first:
            places = list(range(len(first)))
        for row in rows:
            yield [*map(row.__getitem__, places), *more]


def _rows_of(form: SourceFormat, file: DataFile, notation: Written) -> Rows:
    if form.rows is not None:
        return form.rows(file, notation)
    content = form.read(file, notation)
    if not isinstance(content, Mapping):
        raise DataError(f"many files of {form.name} are not read together", fix="join them first")
    return columns_of(content, file.name)
