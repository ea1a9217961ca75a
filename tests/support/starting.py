"""Starting a release file as somebody does who takes whatever is offered first."""

import json
import shlex
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from tests.support.commands import json_of, succeed
from tests.support.release_files import filled

from takifugu.cli import main


def table_in(folder: Path, header: str, rows: Iterable[str]) -> Path:
    """Write a table of lines, and return its path."""
    path = folder / "d.csv"
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return path


def init(*words: object) -> Result:
    """Run `takifugu init`, and again with the first choice of each error that lists some, as it is pasted."""
    line = ["init", *map(str, words)]
    while True:
        done = CliRunner().invoke(main, line, catch_exceptions=False)
        if done.exit_code != 2:
            return done
        refused = CliRunner().invoke(main, [*line, "--json"], catch_exceptions=False)
        fix = json.loads(refused.stdout)["error"]["fix"] or ""
        if not fix.startswith("--"):
            return done
        option, word = shlex.split(fix.partition(" (")[0] if " (" in fix else fix)[:2]
        if option in line:
            return done
        line += [option, word]


def source_in(draft: Path) -> Any:
    """Return the keys of a draft's source."""
    return tomllib.loads(draft.read_text(encoding="utf-8"))["source"]


def begin(*words: object) -> Result:
    """Run `takifugu init`, which must write a draft."""
    done = init(*words)
    assert done.exit_code == 0, done.output
    return done


def drafted(data: Path, *words: object) -> tuple[str, str, dict[str, Any]]:
    """Draft a release file about a table; return what was said, in one line, the draft, and its [source]."""
    output = data.with_name("r.toml")
    done = begin(data, "-o", output, "--force", *words)
    draft = output.read_text(encoding="utf-8")
    return " ".join(done.output.split()), draft, tomllib.loads(draft)["source"]


def published(file: Path, **lines: str) -> Any:
    """Fill a draft in, compare, calibrate and release it, and return what its ledger says of the source."""
    text = filled(file.read_text(encoding="utf-8"), **lines)
    file.write_text(text, encoding="utf-8")
    for command in ("cost", "release"):
        succeed(command, file)
    (source,) = json_of("ledger", "show", file.parent / tomllib.loads(text)["ledger"])["sources"]
    assert [table["state"] for table in source["releases"]] == ["published"]
    return source
