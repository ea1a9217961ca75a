"""The generated parts of the reference pages name everything that is there, and the pages include them all."""

import re
from pathlib import Path

from click.testing import CliRunner
from tests.support.commands import all_commands
from tools import tables

from takifugu.calibration.registry import REGISTRY
from takifugu.cli import main
from takifugu.releasing.file.keys import STEPS
from takifugu.releasing.file.loading import json_schema
from takifugu.releasing.publishing.states import RELEASE, RESUME

DOCS = Path(__file__).resolve().parents[1] / "docs"


def text_of(name: str) -> str:
    return "\n".join(tables.FRAGMENTS[name]())


def test_each_fragment_is_on_one_page() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert sorted(re.findall(r'^--8<-- "([\w-]+)\.md"$', pages, re.MULTILINE)) == sorted(tables.FRAGMENTS)


def test_every_command_option_and_exit_code_is_listed() -> None:
    page = text_of("commands")
    for path in all_commands():
        section = page.partition(f"## takifugu {' '.join(path)}\n")[2].partition("\n## ")[0]
        words = CliRunner().invoke(main, [*path, "--help"]).output
        options = set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", words, re.MULTILINE)) - {"--help"}
        assert options == set(re.findall(r"`(?:-\w, )?(--[\w-]+)", section)) & options, path
    codes = re.findall(r"^\| (\d+) \|", text_of("exit-codes"), re.MULTILINE)
    assert codes == ["0", "1", "2", "3", "4", "5", "130", "143"]


def test_every_key_of_every_kind_is_listed() -> None:
    page = text_of("keys")
    assert [word for word in STEPS if f'"{word}"' not in page] == []
    for name in tables.KINDS:
        schema = json_schema(name)
        for section in (schema, *schema["$defs"].values()):
            for key in section["properties"]:
                assert f"| `{key}` |" in page or f"`[{key}]`" in page or f"`[[{key}]]`" in page, (name, key)


def test_every_mechanism_says_what_its_noise_is() -> None:
    page = text_of("mechanisms")
    for line in REGISTRY:
        if not line.package:
            assert line.noise, line.name
            assert f"| `{line.name}`" in page
            assert all(f"*{alias}*" in page for alias in line.aliases)


def test_every_state_of_a_release_is_listed() -> None:
    rows = [line for line in text_of("states").splitlines() if line.startswith("| ")]
    assert len(rows) == len(RELEASE) + len(RESUME) + 2


def test_no_cell_of_a_table_breaks_it() -> None:
    for name in tables.FRAGMENTS:
        for line in text_of(name).splitlines():
            if name != "python" and line.startswith("| "):
                assert line.endswith(" |"), line
                assert len(re.findall(r"(?<!\\)\|", line)) >= 3, line
    assert tables.row("a|b", "c\nd") == "| a\\|b | c d |"
