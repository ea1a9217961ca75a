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
from takifugu.model.beliefs.chains.chain import MarkovChain, ReversibleChains
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan as planning
from takifugu.releasing.planning.notices import Notice
from takifugu.releasing.publishing import run
from takifugu.releasing.publishing.choosing import Choice


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


def test_units_of_the_same_lengths_share_a_calibration(tmp_path: Path) -> None:
    table = files.data({"a": (20, 10), "b": (20, 10), "c": (10,)})
    calibrations = planned(tmp_path, table=table).tables[0].calibrations
    assert calibrations[0] is calibrations[1]
    assert calibrations[0] is not calibrations[2]


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
    run.publish(planned(tmp_path, once))
    once_more = Choice(replace=("time-use",), idempotency_key="K")  # the door was left open
    run.publish(planned(tmp_path, once), wanted=once_more)
    other = tmp_path / "other"
    path = files.write(other, least.replace("single_release = true", ""))
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
    with warnings.catch_warnings():
        warnings.simplefilter("error", Notice)
        other = tmp_path / "declared"
        other.mkdir()
        Ledger.open(other / "ledger.db")
        run.release_file(files.write(other))


@pytest.mark.slow
def test_several_releases_are_paid_together_or_not_at_all(tmp_path: Path) -> None:
    more = '\n[[table]]\nname = "walking"\nquery = "count"\nstates = ["walking"]\nepsilon = 0.5\n'
    outcome = run.publish(planned(tmp_path, files.SPEC + more))
    assert [t.name for t in outcome.tables] == ["time-use-units", "time-use-pooled", "walking"]
    other = tmp_path / "second"
    other.mkdir()
    with pytest.raises(tf.errors.BudgetExceeded):
        run.publish(planned(other, (files.SPEC + more).replace("budget = 10", "budget = 1.2")))
    assert Ledger.open(other / "ledger.db").show() == ()
    assert not (other / "out").exists()


def test_a_source_without_units(tmp_path: Path) -> None:
    table = "minute,état; raw\n" + "".join(f"{2 * t},{'walking' if t % 3 else 'still'}\n" for t in range(40))
    spec = changed(
        ('unit = "Who is it?"\n', ""), ('recording = "run no."\n', ""), ('order = "t [min]"', 'order = "minute"'),
        ('per = "both"', ""), ("recordings_independent = true\n", ""), ("units_independent = true\n", ""),
    )  # fmt: skip
    outcome = run.publish(planned(tmp_path, spec, table))
    assert [(t.name, t.scope) for t in outcome.tables] == [("time-use", "all")]
    assert outcome.tables[0].certificate.units == ()


MATRIX = "matrix = [[0.8, 0.2], [0.3, 0.7]]"


@pytest.mark.slow
def test_other_beliefs(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("0.8,0.2\n0.3,0.7\n", encoding="utf-8")
    from_file = planned(tmp_path, changed((MATRIX, 'matrix = "m.csv"')))
    inline = planned(tmp_path)
    assert [c.scale for c in from_file.tables[0].calibrations] == [c.scale for c in inline.tables[0].calibrations]
    (tmp_path / "public.csv").write_text(files.data({"p": (300,), "q": (200,)}), encoding="utf-8")
    fit = planned(tmp_path, changed((MATRIX, 'fit = { file = "public.csv", smoothing = 2 }')))
    belief = fit.tables[1].calibrations[0].framework.beliefs[0]
    assert belief.source == "a test; estimated from public.csv with smoothing 2; a point estimate"
    of_class = changed((MATRIX, "pi = 0.3\ng = 0.4"), ('kind = "markov-chain"', 'kind = "markov-chain-class"'))
    plan = planned(tmp_path, of_class)
    belief = plan.tables[1].calibrations[0].framework.beliefs[0]
    assert isinstance(belief, IndependentPieces)
    assert isinstance(belief.chain, ReversibleChains)
    run.publish(plan)


def test_a_belief_from_the_private_file_says_so(tmp_path: Path) -> None:
    plan = planned(tmp_path, changed((MATRIX, 'fit = { file = "data.csv", private = true }')))
    assert any("private data" in c for c in plan.tables[0].calibrations[0].guarantee.conditions)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("old", "new"), [
    ('query = "histogram"', 'query = "sum"\ncodes = {still = 0, walking = 1.5}'),
    ('query = "histogram"', 'query = "mean"\ncodes = {still = 0, walking = 1}'),
    ('query = "histogram"', 'query = "histogram"\nstates = ["walking"]\ntotal = 100'),
])  # fmt: skip
def test_other_queries(tmp_path: Path, old: str, new: str) -> None:
    assert len(run.publish(planned(tmp_path, changed((old, new)))).tables) == 2


@pytest.mark.slow
def test_refusals_leave_everything_as_it_was(tmp_path: Path) -> None:
    spec = changed(("budget = 10", "budget = 0.5"))
    with pytest.raises(tf.errors.BudgetExceeded, match="this release would cost epsilon"):
        run.publish(planned(tmp_path, spec))
    assert Ledger.open(tmp_path / "ledger.db").show() == ()
    assert not (tmp_path / "out").exists()
    with pytest.raises(tf.errors.CalibrationRefused, match="optimal does not apply"):
        planned(tmp_path, changed(("epsilon = 1.0", 'epsilon = 1.0\nmechanism = "optimal"')))
    alone = 'query = "count"\nstates = ["walking"]\nmechanism = "gaussian-analytic"\ndelta = 1e-6'
    with pytest.raises(tf.errors.CompositionRefused, match="no joint promise"):
        run.publish(planned(tmp_path, changed(('query = "histogram"', alone))))
    (tmp_path / "ledger.db").write_bytes(b"not a ledger" * 100)
    with pytest.raises(tf.errors.LedgerError):
        run.publish(planned(tmp_path))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_second_source_is_asked_about_and_what_is_declared_is_on_the_certificate(tmp_path: Path) -> None:
    """Equal content is no reason to refuse, as that would tell that people's data are equal."""
    more = ("budget = 10", "budget = 100")
    run.publish(planned(tmp_path, changed(more)))
    name = ('name = "study"', 'name = "study 2"')
    with pytest.raises(tf.errors.PeopleUndeclared, match="same_people = true"):
        run.publish(planned(tmp_path, changed(more, name)), output=tmp_path / "b")
    assert not (tmp_path / "b").exists()
    also = planned(tmp_path, changed(more, (name[0], f"{name[1]}\nsame_people = true")))
    other = run.publish(also, output=tmp_path / "b")
    said = "The people of the source 'study' are the same people. Each release"
    assert any(said in sentence for sentence in map(str, other.tables[0].certificate.assumptions))
    assert Ledger.open(tmp_path / "ledger.db").spent("study").epsilon >= 2
