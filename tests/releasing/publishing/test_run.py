"""A release file from rows to files: beliefs of public lengths, debits, outputs; and every refusal before and after."""

import csv
import json
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support import release_files

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import Notice
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan as planning
from takifugu.releasing.publishing import run


def planned(folder: Path, spec: str = files.SPEC, table: str | None = None) -> planning.Plan:
    return planning.plan(load(files.write(folder, spec, table)))


changed = partial(release_files.changed, files.SPEC)


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_end_to_end_with_odd_names_that_pooled_tables_do_not_tell(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    assert plan.unit_names == ("007", "Bob, jr.", "zoë")
    units, pooled = plan.tables
    assert [c.framework.beliefs[0].size for c in units.calibrations] == [42, 25, 71]
    assert isinstance(units.calibrations[0].framework.beliefs[0], IndependentPieces)
    assert isinstance(units.calibrations[1].framework.beliefs[0], MarkovChain)
    lengths = pooled.calibrations[0].framework.beliefs[0].to_dict()["lengths"]
    assert lengths == [[30, 1], [12, 1], [25, 1], [30, 1], [41, 1]]
    outcome = run.publish(plan)
    names = sorted(p.name for p in (tmp_path / "out").iterdir())
    ends = ("certificate.json", "certificate.txt", "csv", "report.html", "svg")
    assert names == [f"time-use-{scope}.{end}" for scope in ("pooled", "units") for end in ends]
    table = rows_of(tmp_path / "out" / "time-use-units.csv")
    columns = ["cell", "value", "low", "high", "estimate", "estimate_low", "estimate_high", "possible", "readable"]
    assert list(table[0]) == ["unit", *columns]
    assert [(r["unit"], r["cell"]) for r in table] == [*product(("007", "Bob, jr.", "zoë"), ("still", "walking"))]
    pooled = rows_of(tmp_path / "out" / "time-use-pooled.csv")
    assert list(pooled[0]) == columns
    certificate = json.loads((tmp_path / "out" / "time-use-units.certificate.json").read_text(encoding="utf-8"))
    assert [a["unit"] for a in certificate["answers"]] == ["007", "Bob, jr.", "zoë"]
    assert len(certificate["frameworks"]) == 3
    assert {"kind": "world", "text": "The people are independent of each other."} in certificate["assumptions"]
    book = Ledger.open(tmp_path / "ledger.db")
    paid = {name: payment.fate for payment in book.payments("study") for name in payment.ids}
    assert paid == {"time-use-units": "published", "time-use-pooled": "published"}
    assert 1 < book.spent("study").epsilon <= 2
    assert outcome.reservation.ids["time-use-units"] == certificate["ledger"]["ids"]["time-use-units"]
    for end in (".csv", ".certificate.json", ".certificate.txt", ".report.html"):
        text = (tmp_path / "out" / f"time-use-pooled{end}").read_text(encoding="utf-8")
        assert not [name for name in ("zoë", "Bob", '"007"', " 007", "zo\\u00eb") if name in text], end
        assert "zoë" in (tmp_path / "out" / f"time-use-units{end}").read_text(encoding="utf-8")
        assert end == ".csv" or "3 people" in text or '"unit_count": 3' in text
    assert read_certificate(tmp_path / "out" / "time-use-pooled.certificate.json").units == ()


@pytest.mark.slow
def test_lengths_by_rule(tmp_path: Path) -> None:
    plan = planned(tmp_path, changed(('source = "a test"', 'source = "a test"\nmax_length = 41')))
    shapes = [("007", (30, 12)), ("Bob, jr.", (25,)), ("zoë", (30, 41))]
    assert [(u.name, u.shape) for u in plan.file.kind.units(plan.file)] == shapes
    with pytest.raises(tf.errors.DataError, match=r"belief\.max_length: a recording has more steps than max_length"):
        planned(tmp_path, changed(('source = "a test"', 'source = "a test"\nmax_length = 40')))


@pytest.mark.slow
def test_steps_leave_unobserved_entries(tmp_path: Path) -> None:
    lines = files.data({"a": (20,), "b": (9,)}).splitlines()
    table = "\n".join(line for i, line in enumerate(lines) if i not in (5, 6)) + "\n"
    spec = changed(("budget = 10", "budget = 9999"))
    plan = planned(tmp_path, spec.replace("epsilon = 1.0", "epsilon = 2000"), table)
    assert plan.file.kind.units(plan.file)[0].shape == (20,)
    outcome = run.publish(plan, entropy=InsecureSeededEntropyForTests(1))
    certificate = outcome.tables[0].certificate
    assert certificate.statistic == "how often each state occurs"
    assert [a.query["entries"] for a in certificate.answers] == [[[0, 3], [6, 19]], None]
    assert sum(r["value"] for r in outcome.tables[0].rows if r["unit"] == "a") == 18
    assert "Which steps were observed is public." in map(str, outcome.tables[0].certificate.assumptions)


@pytest.mark.slow
def test_auto_composes_unless_it_is_the_only_release(tmp_path: Path) -> None:
    once = changed(('query = "histogram"', 'query = "count"\nstates = ["walking"]'), ('per = "both"', 'per = "unit"'))
    only = once.replace("budget = 10", "budget = 10\nsingle_release = true")
    least = only.replace("epsilon = 1.0", 'epsilon = 1.0\nmechanism = "laplace-exact"')
    for text, is_only in ((once, False), (only, False), (least, True)):  # the least noise of all composes here
        assert any(c.is_only_release for c in planned(tmp_path, text).tables[0].calibrations) is is_only
    path = files.write(tmp_path, least.replace("single_release = true", ""))
    with pytest.warns(Notice, match="^time-use: this release is alone"):
        made = run.release_file(path, single_release=True)
    page = " ".join(made.tables[0].certificate.text().split())
    assert "The release does not compose: the guarantee is about this output only" in page
    again = run.release_file(path, replace="time-use", idempotency_key="K")
    assert 1 < again.reservation.spent.epsilon < 10  # both by their noise


def test_several_tables_cannot_each_be_the_only_release(tmp_path: Path) -> None:
    """Nor can the two of units and of all of them; see test_sharing.py for two of one file."""
    with pytest.raises(tf.errors.SpecError, match=r"source\.single_release: is true, and several tables"):
        planned(tmp_path, changed(("budget = 10", "budget = 10\nsingle_release = true")))


@pytest.mark.slow
def test_no_budget_is_said_before_the_first_draw(tmp_path: Path) -> None:
    path = files.write(tmp_path, files.SPEC.replace("budget = 10", ""))
    with pytest.warns(Notice, match="no budget is declared for the source 'study'") as warned:
        run.release_file(path)
    notices = [str(w.message) for w in warned if w.category is Notice]
    assert sum("no budget is declared" in words for words in notices) == 1
    assert all("new ledger at" in words for words in notices if "no budget" not in words)
    (tmp_path / "declared").mkdir()
    Ledger.open(tmp_path / "declared" / "ledger.db")
    with warnings.catch_warnings():
        warnings.simplefilter("error", Notice)
        run.release_file(files.write(tmp_path / "declared"))


MATRIX = "matrix = [[0.8, 0.2], [0.3, 0.7]]"


def test_a_belief_from_the_private_file_says_so(tmp_path: Path) -> None:
    plan = planned(tmp_path, changed((MATRIX, 'fit = { file = "data.csv", private = true }')))
    assert any("private data" in c for c in plan.tables[0].calibrations[0].guarantee.conditions)
