"""Starting a release file as somebody does who takes whatever is offered first."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from tests.support.commands import json_of, succeed
from tests.support.release_files import filled

from takifugu.cli import main


def init(*words: object) -> Result:
    """Run `takifugu init`, and again with the first choice of each error that lists some."""
    line = ["init", *map(str, words)]
    while True:
        done = CliRunner().invoke(main, line, catch_exceptions=False)
        if done.exit_code != 2:
            return done
        refused = CliRunner().invoke(main, [*line, "--json"], catch_exceptions=False)
        choice = re.match(r'write (--\w+) ("(.*?)"|\S+) \(', json.loads(refused.stdout)["error"]["fix"] or "")
        if choice is None or choice[1] in line:
            return done
        line += [choice[1], choice[2] if choice[3] is None else choice[3]]


def begin(*words: object) -> Result:
    """Run `takifugu init`, which must write a draft."""
    done = init(*words)
    assert done.exit_code == 0, done.output
    return done


def published(file: Path, **lines: str) -> Any:
    """Fill a draft in, compare, calibrate and release it, and return what its ledger says of the source."""
    text = filled(file.read_text(encoding="utf-8"), **lines)
    file.write_text(text, encoding="utf-8")
    for command in ("compare", "calibrate", "release"):
        succeed(command, file)
    (source,) = json_of("ledger", "show", file.parent / tomllib.loads(text)["ledger"])["sources"]
    assert [table["state"] for table in source["releases"]] == ["published"]
    return source
