"""Columns of a file or frame as plain lists: the one door through which data come in."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from takifugu.errors import DataError, InputError, did_you_mean


def read_columns(data: Any, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return the named columns of a CSV or Parquet file, or of any frame that narwhals knows.

    Raises DataError for a file that cannot be read, and InputError for a column that is not there.
    """
    if not isinstance(data, str | Path):
        import narwhals as nw

        frame = nw.from_native(data, pass_through=False)
        table = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        _check_columns(columns, table.columns)
        return {c: table[c].to_list() for c in columns}
    path = Path(data)
    if "://" in str(data):
        raise DataError("the data file is a URL: download it first and give the path of the copy")
    if path.is_dir():
        raise DataError(f"{path.name} is a folder: give the path of a CSV or Parquet file")
    if path.suffix == ".parquet":
        import narwhals as nw

        backend = _parquet_backend()
        try:
            table = nw.read_parquet(str(path), backend=backend)
        except Exception as error:
            raise DataError(f"{path.name} cannot be read as Parquet ({type(error).__name__}): check the file") from None
        _check_columns(columns, table.columns)
        return {c: table[c].to_list() for c in columns}
    return _read_csv(path, columns)


def _read_csv(path: Path, columns: Sequence[str]) -> dict[str, list[Any]]:
    opener: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            header = next(rows, [])
            if not header:
                raise DataError(f"{path.name} is empty: a CSV file starts with a line of column names")
            _check_columns(columns, header)
            where = [header.index(c) for c in columns]
            found: list[list[Any]] = [[] for _ in columns]
            for row in rows:
                if not row:
                    continue
                if len(row) != len(header):
                    raise DataError(f"{path.name} has a row with more or fewer fields than its header: repair the file")
                for column, index in zip(found, where, strict=True):
                    column.append(row[index].strip() or None)
            return dict(zip(columns, found, strict=True))
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is not UTF-8 text: save it as UTF-8") from None
    except csv.Error:
        raise DataError(f"{path.name} is not a well-formed CSV file: check its quotes and separators") from None
    except (OSError, EOFError) as error:
        reason = (getattr(error, "strerror", None) or "it ends too early or is damaged").lower()
        raise DataError(f"{path.name} cannot be read ({reason}): check the path and the file") from None


def _parquet_backend() -> Any:
    from importlib.util import find_spec

    for backend in ("polars", "pyarrow", "pandas"):
        if find_spec(backend) is not None:
            return backend
    raise DataError("Parquet files need polars, pyarrow or pandas: install one of them")


def _check_columns(wanted: Sequence[str], there: Sequence[str]) -> None:
    for column in wanted:
        if column not in there:
            raise InputError(
                f"the data has no column {column!r}{did_you_mean(column, there)}; its columns are {list(there)}"
            )
        if list(there).count(column) > 1:
            raise InputError(f"the data has two columns called {column!r}: rename one")
