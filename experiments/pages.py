"""Tables and pictures of an experiment; a table goes between `<!-- made: name -->` and `<!-- end: name -->`.

They are those of docs/, or of the folder that TAKIFUGU_OUTPUT names, which `takifugu reproduce --output` sets. There,
the page has the words of docs/; parts that need what is absent are left out, and the page says why.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import takifugu as tf

ROOT = Path(__file__).resolve().parent.parent
#: The folder of the pages outside docs/, if one is wanted.
OUTPUT = Path(os.environ["TAKIFUGU_OUTPUT"]).resolve() if os.environ.get("TAKIFUGU_OUTPUT") else None
PAGES = OUTPUT or ROOT / "docs"
IMAGES = PAGES / "images"
#: Where the words of the pages are: the documentation of a checkout, or what an installed package has of it.
WORDS = ROOT / "docs" if (ROOT / "docs").is_dir() else Path(__file__).resolve().parent / "pages"
#: Whether the grids are those of docs/; elsewhere a tenth of their points, unless `--whole` is written.
IS_WHOLE = OUTPUT is None or os.environ.get("TAKIFUGU_WHOLE") == "1"

_BLOCK = re.compile(r"(<!-- made: ([^\n]+) -->\n).*?(\n<!-- end: \2 -->)", re.DOTALL)
_PICTURE = re.compile(r"!\[([^\]]*)\]\(images/([^)]+)\)")
#: A link to another page, none of which lies beside a page that is made elsewhere.
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?://|#)[^)]+\)")
_NOT_YET = "*Not made yet.*"


class Absent(Exception):
    """What a part of an experiment needs, and is not here: the message says what, and where to get it."""


#: A part of an experiment: it draws pictures, and returns tables by their names.
Part = Callable[[], Mapping[str, str]]


def make(page: Path | None, command: str, parts: Mapping[str, Part]) -> None:
    """Run the parts of an experiment, and write each one's tables when it ends; without a page there are pictures only.

    A part that needs what is absent is left out with OUTPUT; without it the program ends, as a failure in CI.
    """
    started = time.perf_counter()
    left_out: dict[str, str] = {}
    for number, (name, run) in enumerate(parts.items(), 1):
        print(f"{number} of {len(parts)}: {name} ...", file=sys.stderr, flush=True)
        began = time.perf_counter()
        try:
            tables = run()
        except Absent as absent:
            if OUTPUT is None:
                print(absent, file=sys.stderr)
                sys.exit(1 if os.environ.get("CI") == "true" else 0)
            left_out[name] = str(absent)
            print(f"left out: {name}: {absent}")
            continue
        print(f"  {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        if page is not None:
            if OUTPUT is not None and number - len(left_out) == 1:
                _begin(page)
            for table_name, text in tables.items():
                write(page, table_name, text)
    seconds = f"{time.perf_counter() - started:.0f} s"
    if len(left_out) == len(parts):
        print("nothing is left to make")
        return
    if page is not None:
        _end(page, f"Made by `{command}` {stamp()}.", seconds, left_out)
    where = page or IMAGES
    path = where.relative_to(ROOT) if where.is_relative_to(ROOT) else where
    print(f"wrote {path} and its pictures in {seconds}")


def _begin(page: Path) -> None:
    """Write a page with the words of docs/, whose tables are not made yet."""
    words = WORDS / page.name
    text = words.read_text(encoding="utf-8") if words.is_file() else f"# {page.stem}\n"
    text = _LINK.sub(r"\1", _BLOCK.sub(rf"\1{_NOT_YET}\3", text))
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")


def _end(page: Path, stamped: str, seconds: str, left_out: Mapping[str, str]) -> None:
    """Stamp a page; one outside docs/ says its seconds, how fine its grids are, and what was left out for want of what.

    Its pictures that were not drawn are named instead of shown.
    """
    if OUTPUT is None:
        write(page, "stamp", stamped)
        return
    grids = "Grids are as in docs/" if IS_WHOLE else "Grids are coarse; with `--whole` they have all points"
    lines = [f"{stamped} It took {seconds}. {grids}.", *(f"Left out: {name}: {why}." for name, why in left_out.items())]
    write(page, "stamp", "\n\n".join(lines))
    text = page.read_text(encoding="utf-8").replace(_NOT_YET, "*Left out, as the end of this page says.*")
    page.write_text(_PICTURE.sub(_drawn_or_named, text), encoding="utf-8")


def _drawn_or_named(picture: re.Match[str]) -> str:
    return picture[0] if (IMAGES / picture[2]).is_file() else f"*{picture[1]}: the picture was left out.*"


def made(page: Path, name: str) -> str:
    """Return what now stands between the marks called `name`."""
    return _split(page, name)[1].strip("\n")


def write(page: Path, name: str, text: str) -> None:
    """Put `text` between the marks called `name`; a page in OUTPUT that lacks them gets them at its end."""
    if OUTPUT is not None and f"<!-- made: {name} -->" not in page.read_text(encoding="utf-8"):
        with open(page, "a", encoding="utf-8") as file:
            file.write(f"\n## {name}\n\n<!-- made: {name} -->\n<!-- end: {name} -->\n")
    before, _, after = _split(page, name)
    page.write_text(f"{before}\n{text}\n{after}", encoding="utf-8")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first are aligned to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def commit() -> str:
    """Return the commit of the checkout that an experiment runs in, for the line under its tables."""
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def stamp() -> str:
    """Return the words for where an experiment was run: a commit, or the version of an installed package."""
    return f"at commit {commit()}" if (ROOT / "pyproject.toml").is_file() else f"with takifugu {tf.__version__}"


def release_file(name: str, folder: Path) -> Path:
    """Copy a release file that lies beside the experiments into a folder."""
    return Path(shutil.copy(Path(__file__).resolve().parent / name, folder / name))


def pyplot() -> Any:
    """Return matplotlib's pyplot, set up to write SVG that changes only when the picture does."""
    try:
        import matplotlib
    except ModuleNotFoundError as missing:
        raise Absent('this needs matplotlib: pip install "takifugu[plots]"') from missing

    matplotlib.use("svg")
    from matplotlib import pyplot as plots

    plots.rcParams.update({"svg.hashsalt": "takifugu", "font.size": 10})
    return plots


def save(figure: Any, name: str, command: str) -> None:
    """Write a figure into docs/images, with the command and the commit that made it."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    about = {"Date": None, "Description": f"made by `{command}` {stamp()}"}
    figure.savefig(IMAGES / f"{name}.svg", metadata=about)
    pyplot().close(figure)


def _split(page: Path, name: str) -> tuple[str, str, str]:
    begin, end = f"<!-- made: {name} -->", f"<!-- end: {name} -->"
    text = page.read_text(encoding="utf-8")
    start, stop = text.index(begin) + len(begin), text.index(end)
    return text[:start], text[start:stop], text[stop:]
