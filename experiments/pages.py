"""Tables and pictures of an experiment; a table goes between `<!-- made: name -->` and `<!-- end: name -->`.

They are those of experiments/ and docs/, or of the folder that TAKIFUGU_OUTPUT names (`takifugu reproduce --output`).
There, the page has the words of the committed one; parts that need what is absent are left out, and the page says why.
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

ROOT = Path(__file__).resolve().parent.parent
#: The folder of other pages than those of the checkout, if one is wanted.
OUTPUT = Path(os.environ["TAKIFUGU_OUTPUT"]).resolve() if os.environ.get("TAKIFUGU_OUTPUT") else None
PAGES = OUTPUT or ROOT / "experiments"
DOCS = OUTPUT or ROOT / "docs"
EXAMPLES = ROOT / "examples"
IMAGES = PAGES / "images"
#: Whether the grids are those of the checkout; elsewhere a tenth of their points, unless `--all` is written.
IS_WHOLE = OUTPUT is None or os.environ.get("TAKIFUGU_WHOLE") == "1"

_BLOCK = re.compile(r"(<!-- made: ([^\n]+) -->\n).*?(\n<!-- end: \2 -->)", re.DOTALL)
_PICTURE = re.compile(r"!\[(.*?)\]\(images/([^)]+)\)")
#: A link to another page, none of which lies beside a page that is made elsewhere.
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?://|#)[^)]+\)")
#: What stands for what is not there, while parts are made and in the end.
_NOT_YET, _LEFT_OUT = "*Not made yet: this page is not complete.*", "*Left out, as the end of this page says.*"


class Absent(Exception):
    """What a part of an experiment needs, and is not here: the message says what, and where to get it."""


#: A part of an experiment: it draws pictures, and returns tables by their names.
Part = Callable[[], Mapping[str, str]]


#: The pictures that this run has drawn; those of a run before it are not shown.
_DRAWN: set[str] = set()


def make(page: Path | None, command: str, parts: Mapping[str, Part]) -> None:
    """Run the parts of an experiment, and write each one's tables when it ends; without a page, pictures only.

    A part that needs what is absent is left out with OUTPUT; without it the program ends, as a failure in CI. With
    OUTPUT the page is readable after each part and says what is missing, whatever ends the program then.
    """
    started = time.perf_counter()
    left_out: dict[str, str] = {}
    tables: dict[str, str] = {}
    for number, (name, run) in enumerate(parts.items(), 1):
        print(f"{number} of {len(parts)}: {name} ...", file=sys.stderr, flush=True)
        began = time.perf_counter()
        try:
            tables_of_part = run()
        except Absent as absent:
            if OUTPUT is None:
                print(absent, file=sys.stderr)
                sys.exit(1 if os.environ.get("CI") == "true" else 0)
            left_out[name] = str(absent)
            print(f"left out: {name}: {absent}")
            continue
        print(f"  {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        tables |= tables_of_part
        missing = ", ".join(list(parts)[number:])
        if page is not None and OUTPUT is not None and missing:
            stamped = f"Not complete: `{command}` was stopped, or still runs. Missing: {missing}."
            _write_anew(page, {**tables, "stamp": _stamped([stamped], left_out)}, _NOT_YET, stamped)
        elif page is not None and OUTPUT is None:
            for table_name, text in tables_of_part.items():
                write(page, table_name, text)
    seconds = f"{time.perf_counter() - started:.0f} s"
    if len(left_out) == len(parts):
        print("nothing is left to make")
        return
    stamped = f"Made by `{command}` {stamp()}."
    if page is not None and OUTPUT is not None:
        grids = "Grids are whole" if IS_WHOLE else "Grids are coarse; with `--all` they have all points"
        lines = [f"{stamped} It took {seconds}. {grids}."]
        _write_anew(page, {**tables, "stamp": _stamped(lines, left_out)}, _LEFT_OUT)
    elif page is not None:
        write(page, "stamp", stamped)
    where = page or IMAGES
    path = where.relative_to(ROOT) if where.is_relative_to(ROOT) else where
    print(f"wrote {path} and its pictures in {seconds}")


def _stamped(lines: Sequence[str], left_out: Mapping[str, str]) -> str:
    return "\n\n".join([*lines, *(f"Left out: {name}: {why}." for name, why in left_out.items())])


def _write_anew(page: Path, tables: Mapping[str, str], otherwise: str, first: str = "") -> None:
    """Write a page elsewhere with the words of the committed one.

    `otherwise` stands for tables and pictures that it lacks; `first` is said below its title.
    """
    places = [path for folder in ("experiments", "docs") if (path := ROOT / folder / page.name).is_file()]
    text = places[0].read_text(encoding="utf-8") if places else f"# {page.stem}\n"
    for name in tables:
        if f"<!-- made: {name} -->" not in text:
            text += f"\n## {name}\n\n<!-- made: {name} -->\n\n<!-- end: {name} -->\n"
    text = _LINK.sub(r"\1", text)
    text = _BLOCK.sub(lambda block: f"{block[1]}{tables.get(block[2], otherwise)}{block[3]}", text)
    text = _PICTURE.sub(lambda picture: picture[0] if picture[2] in _DRAWN else f"*{picture[1]}: {otherwise[1:]}", text)
    if first:
        title, _, body = text.partition("\n")
        text = f"{title}\n\n**{first}**\n{body}"
    _write_whole(page, text)


def _write_whole(path: Path, text: str) -> None:
    """Write a file in one step, so that nobody reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def made(page: Path, name: str) -> str:
    """Return what now stands between the marks called `name`."""
    return _split(page, name)[1].strip("\n")


def write(page: Path, name: str, text: str) -> None:
    """Put `text` between the marks called `name`."""
    before, _, after = _split(page, name)
    _write_whole(page, f"{before}\n{text}\n{after}")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first are aligned to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def commit() -> str:
    """Return the commit of the checkout that an experiment runs in, for the line under its tables."""
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def whole_command(command: str) -> str:
    """Return the command that makes the same tables and pictures elsewhere: with all points, where these have them."""
    return f"{command} --all" if IS_WHOLE else command


def stamp() -> str:
    """Return the words for where an experiment was run."""
    return f"at commit {commit()}"


def release_file(name: str, folder: Path) -> Path:
    """Copy a release file that lies beside the experiments into a folder."""
    return Path(shutil.copy(Path(__file__).resolve().parent / name, folder / name))


def pyplot() -> Any:
    """Return matplotlib's pyplot, set up to write SVG that changes only when the picture does."""
    try:
        import matplotlib
    except ModuleNotFoundError as missing:
        raise Absent("this needs matplotlib: pip install matplotlib") from missing

    matplotlib.use("svg")
    from matplotlib import pyplot as plots

    plots.rcParams.update({"svg.hashsalt": "takifugu", "font.size": 10})
    return plots


def save(figure: Any, name: str, command: str) -> None:
    """Write a figure into the folder of pictures, with the command and the commit that made it."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    about = {"Date": None, "Description": f"made by `{command}` {stamp()}"}
    part = IMAGES / f".{name}.svg.part"
    figure.savefig(part, metadata=about, format="svg")
    part.replace(IMAGES / f"{name}.svg")
    _DRAWN.add(f"{name}.svg")
    pyplot().close(figure)


def _split(page: Path, name: str) -> tuple[str, str, str]:
    begin, end = f"<!-- made: {name} -->", f"<!-- end: {name} -->"
    text = page.read_text(encoding="utf-8")
    start, stop = text.index(begin) + len(begin), text.index(end)
    return text[:start], text[start:stop], text[stop:]
