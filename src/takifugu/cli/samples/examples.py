"""The examples, written out for whoever wants to try them: a release file and the files that it reads, all made up."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from takifugu.core.errors import InputError, ReleaseError
from takifugu.core.nearest import did_you_mean
from takifugu.core.plain import Plain

#: Where they are: beside this module in an installed package, in `examples/` of a checkout of the source.
_FOLDERS = (Path(__file__).resolve().parent / "examples", Path(__file__).resolve().parents[4] / "examples")


@dataclass(frozen=True)
class Example:
    """A release file: its name, what it shows in one line, and the made-up files that it reads.

    Of an example that is meant for published data, which this project may not hand on, they stand in for these: the
    release file says where to get them.
    """

    name: str
    about: str
    files: tuple[Path, ...]
    meant_for_published_data: bool


def examples() -> tuple[Example, ...]:
    """Return the examples by name, last those for published data.

    >>> [example.name for example in examples() if example.meant_for_published_data]
    ['adult', 'asia', 'primary-school']
    """
    folder = next(filter(Path.is_dir, _FOLDERS))
    all_examples = list[Example]()
    for path in [*sorted(folder.glob("*.toml")), *sorted(folder.glob("real/*.toml"))]:
        text = path.read_text(encoding="utf-8")
        comments = takewhile(lambda line: line.startswith("#"), text.splitlines())
        opening = " ".join(line.removeprefix("# ") for line in comments).split(". ")[0]
        summary = opening.removeprefix("A Takifugu release file").lstrip(":").strip().removeprefix("for ")
        files = [path.parent / name for name in dict.fromkeys(_files(tomllib.loads(text)))]
        is_real = path.parent.name == "real"
        all_examples.append(Example(path.stem, summary.rstrip("."), (path, *files), is_real))
    return tuple(all_examples)


def write_example(name: str, folder: Path) -> tuple[Path, ...]:
    """Write an example's files into a folder; return their paths.

    The release file is first. Raises InputError for an unknown name, ReleaseError for an existing file.
    """
    by_name = {example.name: example for example in examples()}
    if name not in by_name:
        raise InputError(
            f"there is no example {name!r}{did_you_mean(name, by_name)}", fix=f"write one of {', '.join(by_name)}"
        ).at("name")
    copies = {folder / path.name: path.read_bytes() for path in by_name[name].files}
    for path in copies:
        if path.exists():
            raise ReleaseError(f"{str(path)!r} would be overwritten", fix="run it in an empty folder")
    for path, content in copies.items():
        with open(path, "xb") as file:
            file.write(content)
    return tuple(copies)


def _files(section: Plain) -> Iterator[str]:
    """Yield all files named in a release file."""
    for key, value in section.items():
        if key in ("file", "roster") and isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _files(value)
