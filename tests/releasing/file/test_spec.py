"""The release file: every fault at once, each with its path and what to write instead."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import invoke
from tests.support.release_files import changed
from tests.support.releases import refusal_of

from takifugu.core.plain import toml_of
from takifugu.releasing.file import loading as spec
from takifugu.releasing.file import problems as problems_module
from takifugu.releasing.file.kinds import KINDS
from takifugu.releasing.file.sequences.sections import ReleaseSpec


def problems(text: str, folder: Path) -> tuple[str, ...]:
    return refusal_of(files.write(folder, text)).problems


def fitted(keys: str) -> str:
    """Return the file with a chain that is fitted as some keys say."""
    return changed(files.SPEC, (f"{MATRIX}\n", ""), ("[[table]]", f"[belief.fit]\n{keys}\n[[table]]"))


def test_every_fault_is_reported_at_once(tmp_path: Path) -> None:
    text = changed(
        files.SPEC, ('ledger = "ledger.db"', 'ledgr = "ledger.db"'), ('name = "study"', "name = 3"),
        ("epsilon = 1.0", "epsilon = nan"), ('query = "histogram"', 'query = "histgram"'),
        ('per = "both"', 'per = "all"'), ('kind = "markov-chain"', 'kind = "markov-chain"\ninitial = "statonary"'),
    )  # fmt: skip
    assert problems(text, tmp_path) == (
        'ledger: is missing; write ledger = "ledger.db" (the ledger\'s file or URL)',
        "ledgr: is not a known key here; did you mean 'ledger'?; "
        "write one of ledger, require_ledger, publisher or 10 more (`takifugu keys markov-chain` has all)",
        'source.name: is 3, not a text; write name = "activity-study" (who these people are to the ledger)',
        "belief.initial: is 'statonary'; did you mean 'stationary'?; write \"stationary\" or \"any\"",
        "table[0].query: is 'histgram'; did you mean 'histogram'?; "
        'write "histogram" or "sum" or "linear" or 7 more',
        "table[0].epsilon: epsilon is nan; it must be a finite number; write for example 0.5 or '1/3'",
        'table[0].per: is \'all\'; write "unit" or "pooled" or "both"',
    )


MATRIX = "matrix = [[0.8, 0.2], [0.3, 0.7]]"
VALUE = f"value = {toml_of(files.STATE)}"
HIDE = '[hide]\nkind = "one-entry"\nentry = 5\na = "still"\nb = "walking"\n'


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("old", "new", "path", "words"), [
    ("epsilon = 1.0", "epsilon = 0", "table[0].epsilon", "must be above 0"),
    ("epsilon = 1.0", "epsilon = inf", "table[0].epsilon", "finite"),
    ("epsilon = 1.0", "epsilon = true", "table[0].epsilon", "not a number or a text"),
    ("epsilon = 1.0", "epsilon = 1.0\ndelta = 1", "table[0].delta", "below 1"),
    ("epsilon = 1.0", "", "table[0].epsilon", "is missing"),
    ("epsilon = 1.0", 'epsilon = 1.0\ndelta = 0.1\nmechanism = "group-dp"', "table[0].delta", "pure promise"),
    ("epsilon = 1.0", 'epsilon = 1.0\nmechanism = "grop"', "table[0].mechanism", "did you mean 'group-dp'?"),
    ('name = "time-use"', 'name = "../up"', "table[0].name", "letters, digits"),
    ('query = "histogram"', 'query = "count"', "table[0].states", "is missing"),
    ('query = "histogram"', 'query = "count"\nstates = ["walkin"]', "table[0].states", "did you mean 'walking'?"),
    ('query = "histogram"', 'query = "sum"', "table[0].codes", "give codes"),
    ('query = "histogram"', 'query = "sum"\ncodes = {still = 0, walkin = 1}', "table[0].codes", "'walkin'"),
    ('query = "histogram"', 'query = "sum"\ntotal = 3\ncodes = {still = 0}', "table[0].total", "histogram"),
    ('query = "histogram"', 'query = "histogram"\ntotal = 0', "table[0].total", "greater than or equal to 1"),
    ('query = "histogram"', 'query = "histogram"\ncodes = {still = 1}', "table[0].codes", "does not belong"),
    ('unit = "Who is it?"\n', "", "table[0].per", "no column says whose row it is"),
    (MATRIX, "matrix = [[0.8, 0.2], [0.3, 0.8]]", "belief.matrix", "row 1"),
    (MATRIX, "matrix = [[0.8, 0.2]]", "belief.matrix", "square"),
    (MATRIX, "matrix = [[1.0, 0.0], [0.0, 1.0]]", "belief.matrix", "closed classes"),
    (MATRIX, 'matrix = "none.csv"', "belief.matrix", "cannot be read"),
    (MATRIX, "", "belief.matrix", "write one of matrix"),
    ('states = ["still", "walking"]', 'states = ["still", "still"]', "belief.states", "repeats"),
    ('states = ["still", "walking"]', 'states = ["still"]', "belief.states", "too short"),
    ('states = ["still", "walking"]', 'states = ["still", "walking", ""]', "belief.states", "which no row says"),
    ("budget = 10", "bins = { still = [0, 1], walkin = [1, 2] }", "source.bins", "did you mean 'walking'?"),
    ("budget = 10", "bins = { still = [0, 1], walking = [2, 3] }", "source.bins", "a gap"),
    ("recordings_independent = true\n", "", "belief.recordings_independent", "must be declared"),
    ("units_independent = true\n", "", "belief.units_independent", "must be declared"),
    ("units_independent = true", "units_independent = 0.5", "belief.units_independent", "= true or false (declare"),
    ('file = "data.csv"', 'file = "nothing.csv"', "source.file", "there is no file 'nothing.csv'"),
    ('file = "data.csv"', 'file = "https://x.org/data.csv"', "source.file", "'https://x.org/data.csv' is an address"),
    ('file = "data.csv"', 'file = "."', "source.file", "'.' is a folder"),
    ('order = "t [min]"\n', "", "source.order", "rows have a time"),
    ("step = 2\n", "", "source.step", "steps have a length"),
    ("step = 2", 'step = "2 parsecs"', "source.step", "1min"),
    ("step = 2", "step = 2.5", "source.step", "15min"),
    ('order = "t [min]"', 'order = "run no."', "source.recording", "another meaning"),
    ("budget = 10", "budget = 0", "source.budget", "must be above 0"),
    ("budget = 10", "budget = {epsilon = 1, delta = 1}", "source.budget.delta", "below 1"),
    ("budget = 10", "budget = {delta = 0.1}", "source.budget.epsilon", "is missing"),
    ("budget = 10", "roster = []", "source.roster", "is empty; write roster"),
    ('per = "both"', 'by = ["hour", "date", "week"]', "table[0].by", "is too long; write by"),
    ("budget = 10", "roster = 5", "source.roster", "is 5, not a text or a list"),
    ("budget = 10", 'nulls = "keep"', "source.nulls", 'write "refuse" or "unobserved"'),
    ('unit = "Who is it?"', 'unit = "Who is it"', "source.unit", "its column 1 is spelt alike"),
    (VALUE, 'value = "etat; raw"', "source.value", "its column 5 is spelt alike"),
    (VALUE, 'value = "lower(etat)"', "source.value", "has no 'etat'"),
    (VALUE, 'value = "several words"', "source.value", "is neither a column nor one expression"),
    (VALUE, 'value = "random()"', "source.value", "random()"),
    ('query = "histogram"', 'query = "histogram"\nweights = [1]', "table[0].weights", "publish a linear"),
    ('query = "histogram"', 'query = "histogram"\ngrid = 2', "table[0].grid", "does not belong"),
    ('query = "histogram"', 'query = "linear"', "table[0].weights", "is missing"),
    ('query = "histogram"', 'query = "linear"\nweights = [1]', "table[0].per", 'write per = "unit"'),
    ('query = "histogram"', 'query = "linear"\nweights = [0]', "table[0].weights", "no weight differs from 0"),
    ('query = "histogram"', 'query = "linear"\nweights = "w.csv"', "table[0].weights", "cannot be read"),
    ('query = "histogram"', 'query = "histogram"\nstates = []', "table[0].states", "at least one state"),
    ("[[table]]", '[hide]\nkind = "one-entry"\n[[table]]', "hide.entry", "is missing; write entry = 6"),
    ("[[table]]", HIDE.replace("5", "-1") + "[[table]]", "hide.entry", "greater than or equal to 0"),
    ("[[table]]", HIDE.replace("walking", "walkin") + "[[table]]", "hide.b", "did you mean 'walking'?"),
    ("[[table]]", HIDE.replace("walking", "still") + "[[table]]", "hide.b", "write the other state"),
    ("[[table]]", '[[table]]\nname = "time-use"\nquery = "histogram"\nepsilon = 1\n\n[[table]]', "table[1].name",
     "'time-use' would name two tables; give each its own name"),
    ("[[table]]", HIDE.replace("one-entry", "entry") + "[[table]]", "hide", "did you mean 'one-entry'"),
])  # fmt: skip
def test_one_fault(tmp_path: Path, old: str, new: str, path: str, words: str) -> None:
    assert old in files.SPEC
    matching = [p for p in problems(files.SPEC.replace(old, new), tmp_path) if p.startswith(f"{path}: ")]
    assert len(matching) == 1, matching
    assert words in matching[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "words"), [
    ("", "ledger: is missing"),
    ("ledger = ", "is not TOML"),
    pytest.param("a = " + "[" * 100_000, "is not TOML", id="deep brackets are not a fault of ours"),
    ('belief = {kind = "tree"}', 'write kind = "parameters" or "asymmetric" or'),
    ('belief = {kind = "parameter-box"}', 'write kind = "parameters" with the values that each parameter may have'),
    ('belief = {kind = "table"}', 'write kind = "joint-table", its name now'),
    ("belief = {}", "has no kind"),
    ("source = 3\nrelease = 4", "source: is 3, not a section"),
    ("table = []", "table: is empty; add a section [[table]] with name, query, epsilon"),
    ("version = 2", "version: is 2; write 1"),
])  # fmt: skip
def test_files_that_are_far_off(tmp_path: Path, text: str, words: str) -> None:
    assert any(words in p for p in problems(text, tmp_path))


def test_no_file_and_no_text(tmp_path: Path) -> None:
    assert "cannot be read" in str(refusal_of(tmp_path / "none.toml"))
    assert "it is a folder" in str(refusal_of(tmp_path))
    (tmp_path / "latin.toml").write_bytes("ledger = 'é'".encode("latin-1"))
    assert "give the path of a TOML release file, saved as UTF-8" in str(refusal_of(tmp_path / "latin.toml"))


def test_fitting_on_the_private_file_must_be_said(tmp_path: Path) -> None:
    text = fitted('file = "data.csv"\n')
    assert any("is the private data itself" in p for p in problems(text, tmp_path))
    allowed = text.replace('file = "data.csv"\n\n[[table]]', 'file = "data.csv"\nprivate = true\n\n[[table]]')
    assert spec.load(files.write(tmp_path, allowed)).spec.belief.fit.private  # type: ignore[union-attr]


def test_the_schema_is_json_and_names_every_section() -> None:
    about = {"version", "ledger", "require_ledger", "output", "publisher", "contact", "expect"}
    sections = {"plugins", "joint_epsilon", "source", "belief", "hide", "table"}
    assert {*spec.json_schema()["properties"]} == about | sections


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS.names)
def test_every_key_of_the_schema_says_what_it_means(kind: str) -> None:
    schema = spec.json_schema(kind)
    assert json.loads(invoke("keys", kind, "--json").stdout) == json.loads(json.dumps(schema))
    sections = {"the file": schema, **schema["$defs"]}
    keys = [(name, key, node) for name, section in sections.items() for key, node in section["properties"].items()]
    assert len(keys) > 40
    assert [(name, key) for name, key, node in keys if not node.get("description")] == []
    assert [name for name, section in sections.items() if not section.get("description")] == []


def test_what_is_missing_hides_nothing_else(tmp_path: Path) -> None:
    """The states are missing, and yet everything that does not depend on them is told with them."""
    text = files.SPEC.replace('states = ["still", "walking"]\n', "").replace("units_independent = true\n", "")
    text = text.replace(f"{MATRIX}\n", "").replace('unit = "Who is it?"', 'unit = "who"')
    assert [p.split(": ")[0] for p in problems(text, tmp_path)] == [
        "belief.states", "source.unit", "belief.units_independent", "belief.matrix",
    ]  # fmt: skip


def test_one_entry_is_hidden_in_one_sequence_only(tmp_path: Path) -> None:
    reported = problems(files.SPEC.replace("[[table]]", HIDE + "[[table]]"), tmp_path)
    assert [p.split(";")[0] for p in reported] == [
        f"hide.kind: 'one-entry' hides one entry of one sequence, and source.{key} says that there are several"
        for key in ("unit", "recording")
    ]


def test_toml_is_written_as_it_reads_back() -> None:
    value = {"a b": ['it\'s "x"', "\x7f\\\n\t\x00é😀", True, 1, 0.5, {"k": []}], "": 1e300}
    assert tomllib.loads(f"v = {toml_of(value)}")["v"] == value


def test_schemas_of_older_validators_are_walked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 2.9 pydantic wrote a reference that has a description inside allOf."""
    schema = spec.json_schema()
    older = {**schema, "properties": {**schema["properties"]}}
    reference = {"$ref": "#/$defs/SourceSpec"}
    older["properties"]["source"] = {"allOf": [reference], "description": "where the private data is"}
    error: Any = {"type": "missing", "loc": ("source", "name"), "input": {}}
    for shape in (schema, older):
        monkeypatch.setattr(problems_module, "schema_of", lambda model, shape=shape: shape)
        (fault,) = problems_module.problems_of([error], ReleaseSpec, {"source": {}}, (), {})
        assert fault.line.startswith('source.name: is missing; write name = "activity-study"')


@pytest.mark.parametrize("line", ["invariant = true", "invariants = ['total']", "exact_total = 100"])
def test_an_exact_total_is_refused_with_what_it_would_cost(line: str, tmp_path: Path) -> None:
    caught = refusal_of(files.write(tmp_path, files.SPEC + line))
    assert "its epsilon would be infinite" in str(caught)
    assert caught.faults[0].place.startswith("table[0]")
    assert "a count or a sum with an epsilon of its own" in caught.faults[0].fix
