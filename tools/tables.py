"""Write the generated parts of the reference pages to build/reference: `python -m tools.tables` (`make docs` does).

Commands come from click, keys from the schemas of release files, mechanisms from the registry, Python names from their
docstrings, cases of a release from its table of states, papers and theorems from the lists that tests check. The pages
include them as snippets.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click
from tools import reference

from takifugu.calibration.registry import REGISTRY, Line
from takifugu.cli import main as takifugu
from takifugu.releasing.file.kinds import DRAFTED, SEQUENCES, UNLISTED
from takifugu.releasing.file.loading import json_schema
from takifugu.releasing.file.schema import listed_keys
from takifugu.releasing.publishing.states import RELEASE, RESUME, InFolder, InLedger, Row

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "reference"
#: Kinds of release files, as `takifugu init --kind` takes them.
KINDS = (SEQUENCES, *sorted(UNLISTED), *(name for name in DRAFTED if name != SEQUENCES))
#: A page that the source of a mechanism cites.
_PAGE = re.compile(r"docs/(theory/[\w-]+)(?:\.md)?")


def row(*cells: str) -> str:
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(header)
    yield row(*names)
    yield f"|{'---|' * len(names)}"
    for cells in rows:
        yield row(*cells)
    yield ""


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; one that click leaves as it is stays as it is."""
    for block in text.split("\n\n"):
        if block.startswith("\b\n"):
            yield f"```text\n{block[2:]}\n```"
        else:
            yield " ".join(block.split())
        yield ""


def commands(group: click.Group = takifugu, before: str = "takifugu") -> Iterator[str]:
    """Yield a section for every command: usage, help and options."""
    for name in group.list_commands(click.Context(group)):
        command, path = group.commands[name], f"{before} {name}"
        if isinstance(command, click.Group):
            yield from commands(command, path)
            continue
        context = click.Context(command, info_name=path)
        yield f"## {path}\n"
        yield f"`{path} {' '.join(command.collect_usage_pieces(context))}`\n"
        yield from paragraphs(command.help or "")
        options = [option for option in command.params if isinstance(option, click.Option)]
        records = [option.get_help_record(context) for option in options]
        rows = [(f"`{record[0]}`", record[1]) for record in records if record is not None]
        if rows:
            yield from table(("option", "meaning"), rows)


def exit_codes() -> Iterator[str]:
    lines = re.findall(r"^ *(\d+) +(\S.*)$", takifugu.help or "", re.MULTILINE)
    yield from table(("exit code", "meaning"), lines)


def keys() -> Iterator[str]:
    """Yield a table for every section of a release file: each key once for each sentence that kinds have about it."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for kind in KINDS:
        for key in listed_keys(kind, json_schema(kind), is_deep=True):
            place = key.section, key.key, key.type, key.default, key.words
            kinds.setdefault(place, []).append(kind)
    sections = dict.fromkeys(place[0] for place in kinds)
    for section in sorted(sections, key=_rank):
        yield f"### {f'`{section}`' if section else 'Top level'}\n"
        yield from table(("key", "type", "default", "kinds", "meaning"), (
            (
                f"`{name}`", type_, "**required**" if not default else "–" if default == "none" else f"`{default}`",
                "all" if len(of_kinds) == len(KINDS) else ", ".join(of_kinds), words,
            )
            for (of_section, name, type_, default, words), of_kinds in kinds.items() if of_section == section
        ))  # fmt: skip


def _rank(section: str) -> tuple[int, str]:
    order = ["", "source", "belief", "hide", "table", "expect"]
    first = section.strip("[]").partition(".")[0]
    return (order.index(first) if first in order else len(order), section.strip("[]"))


def mechanisms() -> Iterator[str]:
    """Yield a row for every mechanism of the registry."""
    yield from table(("mechanism", "noise", "definitions", "uses δ", "composes", "from"), (
        (
            f"`{line.name}`" + (" (by name only)" if line.baseline else ""), line.noise,
            ", ".join(line.definitions), "yes" if line.takes_delta else "no", "no" if line.alone else "yes",
            _source(line),
        )
        for line in REGISTRY if not line.package
    ))  # fmt: skip


def _source(line: Line) -> str:
    """Return the origin of a mechanism, and the names that papers give it."""
    linked = _PAGE.sub(r"[\1](../\1.md)", str(line.load().source))
    return "; ".join([linked, *(f"*{alias}*" for alias in line.aliases)])


def states() -> Iterator[str]:
    """Yield what `release` and `ledger resume` do in every state of ledger and folder."""
    for of_command, command in ((RELEASE, "`release FILE`"), (RESUME, "`ledger resume LEDGER`")):
        header = ("the ledger says", "in the folder lies", command, "and says", "exit code")
        yield from table(header, map(_of_state, of_command))


def _of_state(state: Row) -> tuple[str, ...]:
    done = f"{state.does} (`--force`: {state.forced})" if state.forced else str(state.does)
    done = f"{done} (`--idempotency-key`: {state.keyed})" if state.keyed else done
    words = re.sub(r"\{[^}]*\}", "…", state.words).strip()
    said = "anything" if len(state.ledger) == len(InLedger) else "; ".join(state.ledger)
    there = "anything" if len(state.folder) == len(InFolder) else "; ".join(state.folder)
    return said, there, done, f"“{words}”", str(state.exits)


def papers() -> Iterator[str]:
    """Yield a table for every paper: its items, the code and the command of each."""
    for paper, items in tomllib.loads((ROOT / "tests" / "papers.toml").read_text(encoding="utf-8")).items():
        yield f"### {paper}\n"
        yield from table(("item", "where", "shown by", "against the print"), (
            (
                item["item"], _from_docs(item["where"]), _from_docs(item.get("command", f"– ({item.get('none', '')})")),
                _from_docs(item["difference"]),
            )
            for item in items
        ))  # fmt: skip


def theorems() -> Iterator[str]:
    """Yield a row for every statement that code relies on."""
    statements = tomllib.loads((ROOT / "tests" / "theorems.toml").read_text(encoding="utf-8"))["statement"]
    yield from table(("statement", "proof", "code", "test", "without it"), (
        (
            statement["claim"], statement["proof"], f"`{statement['code']}`", f"`{statement['test']}`",
            statement["without"],
        )
        for statement in statements
    ))  # fmt: skip


def _from_docs(text: str) -> str:
    """Return links relative to docs/ as a page in docs/reference has them."""
    return re.sub(r"\]\((?!https?:|#)", "](../", text).replace("](../reference/", "](")


FRAGMENTS: dict[str, Callable[[], Iterable[str]]] = {
    "commands": commands, "exit-codes": exit_codes, "keys": keys, "mechanisms": mechanisms,
    "python": reference.lines, "states": states, "papers": papers, "theorems": theorems,
}  # fmt: skip


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, lines in FRAGMENTS.items():
        (FOLDER / f"{name}.md").write_text("\n".join(lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
