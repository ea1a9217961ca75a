"""A study in a notebook: the steps of the command line, shown as tables; no second pipeline, and no data in results."""

import gc
import json
import types
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import invoke, json_of
from tests.support.pages import Element, Tree, walk
from tests.support.release_files import changed

import takifugu as tf
from takifugu.core.errors import SpecError
from takifugu.data import Counts
from takifugu.data.relation.source import Table
from takifugu.releasing.file.kind import Unit
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.study import Study

SPEC = files.SPEC.replace('per = "both"', 'per = "both"\nadjust = true')
QUICK = SPEC.replace("epsilon = 1.0", 'epsilon = 1.0\nmechanism = "group-dp"')
LENGTHS = {"zoë": (12, 9), "Bob, jr.": (8,), "007": (8,)}
HOSTILE = "<script>alert(1)</script>&'"


def study(folder: Path, spec: str = QUICK, **more: Any) -> Study:
    return tf.open_study(files.write(folder, spec, files.data(LENGTHS)), **more)


def rows_as_text(thing: Any) -> Element:
    """Return what a notebook shows: well-formed, left-aligned, with nothing that runs or is fetched, and no colour.

    Pictures have colours of their own, and are left out.
    """
    root = Tree(thing._repr_html_()).root
    for element in walk(root):
        if element.tag == "svg" or element.within("svg"):
            continue
        assert element.tag not in ("script", "style", "link", "img", "iframe")
        assert not any(name.startswith("on") or name in ("src", "href", "class") for name in element.attributes)
        assert "color:" not in element.attributes.get("style", "").lower()
        if element.tag in ("th", "td", "caption"):
            assert "text-align:left" in element.attributes["style"]
        if element.tag == "th":
            assert element.text
            assert element.attributes["scope"] == "col"
        if element.tag == "details":
            assert element.children[0].tag == "summary"
            assert "open" not in element.attributes
    for table in root.all("table"):
        assert len({len(row.children) for row in table.all("tr")}) == 1
    return root


def chosen_rows(root: Element) -> list[str]:
    """Return the first cell of every row that is marked and not folded."""
    rows = [row for row in root.all("tr") if "bold" in row.children[0].attributes["style"]]
    return [row.children[0].text for row in rows if not row.within("details")]


def folded(root: Element) -> str:
    return " ".join(part.text for part in root.all("details"))


@pytest.mark.slow
def test_all_mechanisms_mark_the_choice_and_fold_what_is_refused(tmp_path: Path) -> None:
    comparison = study(tmp_path, SPEC).cost(with_all=True)
    assert [table.name for table in comparison.mechanisms] == ["time-use-units", "time-use-pooled"]
    page = rows_as_text(comparison)
    chosen = [next(row.name for row in table.rows if row.status == "chosen") for table in comparison.mechanisms]
    assert chosen_rows(page) == chosen
    open_rows = [r.children[0].text for r in page.all("tr") if not r.within("details")]
    for table in comparison.mechanisms:
        for row in table.rows:
            may_be_used = row.status in ("chosen", "possible", "if the only release", "if others follow")
            assert (row.name in open_rows) is may_be_used, row
            assert may_be_used or row.reason in folded(page)
        assert str(table.rows) in str(comparison)


def test_cost_says_what_forced_the_noise(tmp_path: Path) -> None:
    calibrated = study(tmp_path, SPEC).cost()
    page = rows_as_text(calibrated)
    for table in calibrated.tables:
        assert table.name in page.text
        assert table.noisiest.witness.comparison in folded(page)
        assert table.noisiest.witness.comparison in " ".join(str(calibrated).split())
    units, pooled = ([(whose, c.mechanism) for whose, c in table.noise] for table in calibrated.tables)
    assert units == [("2 people", "influence"), ("zoë", "influence")]  # the shorter ones, and the longest
    assert pooled == [("all people together", "influence")]


@pytest.mark.slow
def test_a_study_prints_what_the_terminal_prints_and_foresees_what_the_command_foresees(tmp_path: Path) -> None:
    made, path = study(tmp_path), tmp_path / "release.toml"
    rehearsal = made.dry_run()
    for command, printed in (
        (["cost", path, "--all"], made.cost(with_all=True)), (["cost", path], made.cost()),
        (["release", "--dry-run", path], rehearsal),
    ):  # fmt: skip
        assert invoke(*command).stdout == f"{printed}\n"
    foreseen = json_of("release", "--dry-run", path)["forecast"]
    assert foreseen == json.loads(json.dumps(rehearsal.to_dict()["forecast"]))
    assert "nothing was paid" in rows_as_text(rehearsal).text
    assert "nothing was paid" in str(rehearsal)
    assert not (tmp_path / "ledger.db").exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_what_a_person_writes_is_shown_as_it_is(tmp_path: Path) -> None:
    spec = QUICK.replace('"walking"', f'"{HOSTILE}"')
    spec = spec.replace('name = "study"', 'name = "<img src=x>"').replace("adjust = true", 'title = "<b>"')
    table = files.data({"<i>Ana</i>": (9,)}).replace("walking", HOSTILE)
    steps = tf.open_study(files.write(tmp_path, spec, table))
    costs = steps.cost(), steps.cost(with_all=True, epsilons=[2])
    for step in (steps, *costs, steps.dry_run(), steps.release(allow_useless=True)):
        assert "<script" not in step._repr_html_()
        page = rows_as_text(step)
        assert "script" not in {element.tag for element in walk(page)}
    assert "<i>Ana</i>" in page.text


FAULTY = {"epsilon = 1.0": "epsilon = -1", "[0.3, 0.7]": "[0.3, 0.8]", 'query = "histogram"': 'query = "histgram"'}


def test_a_notebook_shows_the_lines_of_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refusal:
        study(tmp_path, changed(SPEC, *FAULTY.items()))
    lines = refusal.value._render_traceback_()  # type: ignore[attr-defined]
    printed = invoke("release", tmp_path / "release.toml").stderr.splitlines()
    assert [*lines, printed[-1]] == printed  # a command that would have released says that nothing happened
    assert len(lines) == 3


def reachable(thing: Any) -> set[type]:
    """Return the types of everything that an object holds, however deep."""
    seen, waiting = dict[int, Any](), [thing]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | types.ModuleType | types.FunctionType | types.MethodType):
            continue
        seen[id(one)] = one
        waiting += gc.get_referents(one)
    return {type(one) for one in seen.values()}


@pytest.mark.slow
def test_results_hold_no_data(tmp_path: Path) -> None:
    private = {Unit, Counts, Table}
    steps = study(tmp_path)
    costs = steps.cost(), steps.cost(with_all=True, epsilons=[2])
    for result in (steps, *costs, steps.dry_run(), steps.release(allow_useless=True)):
        assert not reachable(result) & private
    assert reachable(plan(load(tmp_path / "release.toml"))) & private  # what the search would find
