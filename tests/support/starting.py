"""Starting a release file as somebody does who takes whatever is offered first."""

import json
import re

from click.testing import CliRunner, Result

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
