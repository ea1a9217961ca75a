"""Release files over files of every format: drafted, checked, released twice, one layout to the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.data_files import SOURCES
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.starting import init
from tests.support.workbooks import ERROR, write_workbook

from takifugu.cli import main
from takifugu.core.errors import SpecError
from takifugu.releasing.file.loading import load

SPEC = release_text(
    read_from("study", "{file}", unit="who", order="minute", value="state", budget=10),
    believe("markov-chain", states=["still", "walk"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True),
    publish("{name}", "histogram", epsilon=2),
)
ROWS = {
    "who": [who for who in ("Ana", "Ben") for _ in range(400)],
    "minute": [minute for _ in ("Ana", "Ben") for minute in range(400)],
    "state": [("still", "walk")[minute % 3 == 0] for _ in ("Ana", "Ben") for minute in range(400)],
}


def run(folder: Path, *words: str) -> str:
    done = CliRunner().invoke(main, [word.replace("@", f"{folder}/") for word in words])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", SOURCES)
def test_from_init_to_a_second_release(kind: str, tmp_path: Path) -> None:
    name, write = SOURCES[kind]
    write(tmp_path / name, ROWS)
    assert f'file = "{name}"' in init(tmp_path / name, "-o", tmp_path / "draft.toml", "--kind", "markov-chain").output
    draft = (tmp_path / "draft.toml").read_text()
    assert all(f'{role} = "{column}"' in draft for role, column in zip(("unit", "order", "value"), ROWS, strict=True))
    (tmp_path / "one.toml").write_text(SPEC.format(file=name, name="first"))
    assert "differences" in run(tmp_path, "advise", "@one.toml")
    run(tmp_path, "release", "@one.toml")
    SOURCES["CSV"][1](tmp_path / "same.csv", ROWS)  # the same rows in another file are the same source and layout
    (tmp_path / "two.toml").write_text(SPEC.format(file="same.csv", name="second"))
    assert "layout" not in run(tmp_path, "release", "@two.toml")
    assert {"first", "second"} <= set(run(tmp_path, "ledger", "show", "@ledger.db").replace(",", " ").split())


def test_a_faulty_part_is_a_fault_of_its_key(tmp_path: Path) -> None:
    write_workbook(tmp_path / "d.xlsx", {"a": [tuple(ROWS)], "b": [tuple(ROWS), ("Ana", 1, ERROR)]})
    for line, place, words in (
        ("", "source.sheet", "2 sheets, and none is named"), ('sheet = "c"', "source.sheet", "no sheet 'c'"),
        ('sheet = "b"', "source.file", "cells that show an error"),
        ('sheet = "a"\ntable = "x"', "source.table", "which has no tables"),
    ):  # fmt: skip
        spec = SPEC.format(file="d.xlsx", name="t").replace("unit =", f"{line}\nunit =")
        (tmp_path / "r.toml").write_text(spec)
        with pytest.raises(SpecError) as caught:
            load(tmp_path / "r.toml")
        assert [(fault.place, words in fault.line) for fault in caught.value.faults] == [(place, True)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.xlsx", "r.toml"]


@pytest.mark.parametrize("name", ["d.jsonl", "d.xlsx", "d.geojson", "d.duckdb", "d.sqlite", "d.csv"])
def test_data_given_as_a_release_file_are_named_as_such(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(SpecError, match="starts a release file about it"):
        load(tmp_path / name)
