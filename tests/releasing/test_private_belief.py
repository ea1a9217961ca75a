"""A belief from the private data, by whatever name: the same file, or the same integers in it, undeclared."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pytest
from tests.releasing import files, test_records
from tests.releasing.file import test_contact_files
from tests.support.releases import put, refused

from takifugu.core.errors import SpecError
from takifugu.core.plain import toml_of
from takifugu.core.sections import PublicFile
from takifugu.model.beliefs.chains.declared_chain import ChainFit
from takifugu.releasing.file import loading as spec
from takifugu.releasing.file.kinds import KINDS

FIT = 'fit = { file = "public.csv" }'
CHAIN = files.SPEC.replace("matrix = [[0.8, 0.2], [0.3, 0.7]]", FIT)
OTHER = files.data({"Una": (9, 17), "Vic": (31,)})


def chain(folder: Path, public: str = files.data(), text: str = CHAIN) -> Path:
    (folder / "public.csv").write_text(public, encoding="utf-8")
    return files.write(folder, text)


def problems(path: Path, data: Any = None) -> tuple[str, ...]:
    try:
        spec.load(path, data)
    except SpecError as error:
        return error.problems
    return ()


def made_as(name: str, make: Callable[[Path, Path], object]) -> Callable[[Path], Path]:
    """Return how another form of the data is made beside them, under another name."""
    def made(data: Path) -> Path:
        make(data, data.with_name(name))
        return data.with_name(name)

    return made


#: The private data as they are given, in place of data.csv: none of them is called public.csv.
GIVEN: dict[str, Callable[[Path], Any]] = {
    "the file": lambda data: data,
    "a text": str,
    "a hard link": made_as("link.csv", os.link),
    "a symbolic link": made_as("link.csv", os.symlink),
    "packed": made_as("d.csv.gz", lambda data, path: path.write_bytes(gzip.compress(data.read_bytes()))),
    "Parquet": made_as("d.parquet", lambda data, path: polars.read_csv(data).write_parquet(path)),
    "pandas": pandas.read_csv,
    "pandas, units in another order": lambda data: pandas.read_csv(data).sort_values(
        "Who is it?", ascending=False, kind="stable"),
    "Polars": polars.read_csv,
    "DuckDB": lambda data: duckdb.read_csv(str(data)),
}


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("given", GIVEN)
def test_a_chain_fitted_to_the_data_that_are_given_is_refused(tmp_path: Path, given: str) -> None:
    path = chain(tmp_path, OTHER, CHAIN.replace("public.csv", "d.csv"))
    (tmp_path / "d.csv").write_text(files.data(), encoding="utf-8")
    data = GIVEN[given](tmp_path / "d.csv")
    (problem,) = problems(path, data)
    assert problem.startswith("belief.fit.file: ")
    assert "write private = true" in problem
    refused(path, data, SpecError)
    said = path.read_text(encoding="utf-8").replace('"d.csv" }', '"d.csv", private = true }')
    path.write_text(said, encoding="utf-8")
    assert not problems(path, data)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["copied", "hard link", "packed", "renamed columns"])
def test_a_chain_fitted_to_another_form_of_the_named_file_is_refused(tmp_path: Path, how: str) -> None:
    path = chain(tmp_path)
    public = tmp_path / "public.csv"
    if how == "hard link":
        public.unlink()
        os.link(tmp_path / "data.csv", public)
    elif how == "packed":
        public.write_bytes(gzip.compress(public.read_bytes()))
    elif how == "renamed columns":
        public.write_text(files.data().replace("état; raw", "doing", 1), encoding="utf-8")
        value = toml_of(files.STATE.replace("état; raw", "doing"))
        path.write_text(CHAIN.replace('csv" }', f'csv", value = {value} }}'), encoding="utf-8")
    assert [p.split(":")[0] for p in problems(path)] == ["belief.fit.file"]


def test_a_matrix_in_the_private_file_is_refused(tmp_path: Path) -> None:
    path = chain(tmp_path, text=files.SPEC.replace("[[0.8, 0.2], [0.3, 0.7]]", '"data.csv"'))
    assert any(p.startswith("belief.matrix: is the private data itself") for p in problems(path))


def table(folder: Path) -> Path:
    rows = [",".join(pair) for pair, times in test_records.COUNTS.items() for _ in range(times)]
    (folder / "census.csv").write_text("\n".join(["origin,education", *rows]) + "\n", encoding="utf-8")
    return put(folder, {"release.toml": test_records.TABLE})


def test_a_table_that_counts_the_private_rows_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path)
    public = pandas.read_csv(tmp_path / "census.csv", dtype=str)
    rows = public.assign(person=[f"p{i}" for i in range(len(public))])
    assert "belief.fit.file: has the rows of the private data" in problems(path, rows)[0]
    assert "belief.fit.file: has the rows" in problems(path, rows.sample(frac=1, random_state=2))[0]
    assert not problems(path, rows.iloc[:-1])
    os.link(tmp_path / "census.csv", tmp_path / "data.csv")
    assert "belief.fit.file: is the private data itself" in problems(path)[0]


def test_every_section_of_a_public_file_says_which_columns_are_counted() -> None:
    """A section that forgets it lets the private rows pass under another name; of transitions the fit looks itself."""
    for kind in KINDS:
        assert kind.section
    sections = [PublicFile]
    for section in sections:
        sections += section.__subclasses__()
    ours = [section for section in sections if section.__module__.startswith("takifugu.")]
    silent = [section for section in ours if section.counted is PublicFile.counted]
    assert silent == [PublicFile, ChainFit]
    assert len(ours) > 6


@pytest.mark.parametrize("files", ["data.csv", "*.csv"])
def test_a_select_over_the_private_file_is_refused(tmp_path: Path, files: str) -> None:
    path = table(tmp_path)
    (tmp_path / "data.csv").write_bytes((tmp_path / "census.csv").read_bytes())
    select = f"from read_csv('{files}', all_varchar = true)"
    path.write_text(path.read_text().replace('"census.csv"', f'"{select}"'))
    assert any("is the private data itself" in line for line in problems(path)), problems(path)


def test_a_pattern_that_names_the_private_file_among_others_is_refused(tmp_path: Path) -> None:
    """The rows of others hid those of the private file, and its transitions were in the belief, without noise."""
    path = chain(tmp_path)
    lines = (tmp_path / "public.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "public.csv").write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace('"public.csv"', '"*.csv"'), encoding="utf-8")
    assert "belief.fit.file: is the private data itself" in problems(path)[0]


def test_meetings_from_the_private_file_are_refused(tmp_path: Path) -> None:
    path = test_contact_files.written(tmp_path)
    assert not problems(path)
    meetings = pandas.read_csv(tmp_path / "meetings.csv").assign(who="ana", state="well")
    assert "belief.file: has the rows of the private data" in problems(path, meetings)[0]
    (tmp_path / "data.csv").unlink()
    os.link(tmp_path / "meetings.csv", tmp_path / "data.csv")
    assert "belief.file: is the private data itself" in problems(path)[0]
