"""`adjust = true`: consistent values beside the noisy ones, made of them and of public numbers alone."""

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.test_release_files import EXAMPLES
from tests.releasing import files
from tests.releasing.report.test_report import other_data
from tests.releasing.test_windows import written
from tests.support.pages import check_page
from tests.support.release_files import changed
from tests.support.releases import refusal_of

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.model.queries import resolved
from takifugu.releasing.certificates.checksum import read_certificate, table_state
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.postprocess.adjust import nearest
from takifugu.releasing.publishing.run import publish, release_file
from takifugu.releasing.report.published import Published

SPEC = files.SPEC.replace('per = "both"', 'per = "both"\nadjust = true\nmechanism = "group-dp"')
CHAIN = tf.MarkovChain([[0.6, 0.2, 0.2]] * 3, 3, states=["a", "b", "c"])

QUERIES = st.one_of(
    st.builds(tf.Count, st.sampled_from(["a", ("a", "b"), ("a", "b", "c")])),
    st.builds(tf.Histogram, st.sampled_from([None, ("a",), ("a", "b"), ("c", "a", "b")]), st.sampled_from([None, 7])),
    st.builds(lambda e: tf.Histogram(entries=e), st.sampled_from([(0,), (2, 0), (0, 1, 2)])),
    st.builds(tf.Linear, st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any),
              st.builds(lambda a, b, c: {"a": a, "b": b, "c": c}, *[st.integers(-1, 1)] * 3)),
)  # fmt: skip


@given(QUERIES)
def test_a_sum_is_called_constant_where_it_is_the_same_for_all_data(query: Any) -> None:
    answer = resolved(query, CHAIN)
    sums = {sum(answer.evaluate(np.array(data))) * answer.grid for data in product(range(3), repeat=3)}
    assert answer.constant_sum() == (sums.pop() if len(sums) == 1 else None)


def test_columns_with_other_values_have_a_constant_sum_of_their_own() -> None:
    table = tf.JointTable([("x", 0), ("y", 1)], [0.5, 0.5], ["one", "two"])
    assert resolved(tf.Histogram(("x", "y"), entries=("one",)), table).constant_sum() == 1
    assert resolved(tf.Histogram(("x",), entries=("one",)), table).constant_sum() is None


def published(folder: Path, table: str | None = None) -> tuple[Published, ...]:
    folder.mkdir(exist_ok=True)
    return publish(plan(load(files.write(folder, SPEC, table)))).tables


@pytest.mark.slow
def test_each_answer_sums_to_its_public_length(tmp_path: Path) -> None:
    units, pooled = published(tmp_path)
    for unit, lengths in files.LENGTHS.items():
        mine = [row for row in units.rows if row["unit"] == unit]
        assert sum(row["adjusted"] for row in mine) == sum(lengths)
    assert sum(row["adjusted"] for row in pooled.rows) == sum(map(sum, files.LENGTHS.values()))
    for table in (units, pooled):
        assert min(row["adjusted"] for row in table.rows) >= 0
        assert [dict(row) for row in tf.read_table(table.files[0])] == [dict(row) for row in table.rows]
        certificate = read_certificate(table.files[1])
        assert table_state(table.files[1], certificate) == "the same"
        for answer in certificate.answers:
            values, grid = [Fraction(v) for v in answer.values.values()], Fraction(certificate.grid)
            total = sum(map(sum, files.LENGTHS.values())) if answer.unit is None else sum(files.LENGTHS[answer.unit])
            adjusted = [Fraction(v) for v in (answer.adjusted or {}).values()]
            assert adjusted == list(nearest(values, grid, Fraction(total)))  # so anybody can find them from the rest
        text = " ".join(certificate.text().split())
        assert "Post-processing of the noisy values" in text
        assert "introduces bias" in text
        assert "adjusted" in table.files[3].read_text(encoding="utf-8")


def tables_of(folder: Path, content: str) -> list[str]:
    return [table.files[0].read_text(encoding="utf-8") for table in published(folder, content)]


@pytest.mark.slow
def test_data_with_the_same_noisy_values_have_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = (Fraction(-31), Fraction(90))
    monkeypatch.setattr(DiscreteLaplace, "draw", lambda self, answer, entropy: noisy)
    assert tables_of(tmp_path / "one", files.data()) == tables_of(tmp_path / "other", other_data())


@pytest.mark.slow
def test_values_adjusted_to_the_true_total_would_be_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a total that is computed from the data, of a count whose total is not public."""
    from takifugu.releasing.publishing import publish as module

    exact, answers = module.answer_of, list[Any]()
    monkeypatch.setattr(module, "answer_of", lambda *about: answers.append(exact(*about)) or answers[-1])
    monkeypatch.setattr(DiscreteLaplace, "draw", lambda self, answer, entropy: (Fraction(-31), Fraction(90)))
    true = lambda values, grid, total: (Fraction(0), Fraction(answers[-1][1]))  # noqa: E731
    monkeypatch.setattr("takifugu.releasing.publishing.sheets.nearest", true)
    assert tables_of(tmp_path / "one", files.data()) != tables_of(tmp_path / "other", other_data())


def total_of(path: Path) -> Any:
    (table,) = plan(load(path, window="2026-W02")).tables
    ((total,),) = table.totals or ()
    return total


@pytest.mark.slow
def test_a_total_that_is_not_public_is_not_used(tmp_path: Path) -> None:
    histogram = ('query = "count"\nstates = ["busy"]', 'query = "histogram"\nadjust = true')
    assert total_of(written(tmp_path, histogram)) is None  # which steps were observed is hidden
    public = ("until = 2026-02-02", 'until = 2026-02-02\ngaps = "public"')
    lines = (tmp_path / "ward.csv").read_text(encoding="utf-8").splitlines()
    observed = sum("2026-01-05" <= line[:10] < "2026-01-12" for line in lines)
    assert total_of(written(tmp_path, histogram, public)) == observed
    (tmp_path / "count").mkdir()
    count = ('query = "count"', 'query = "count"\nadjust = true')
    assert total_of(written(tmp_path / "count", count, public)) is None  # what a count leaves out is not public


def test_units_with_gaps_have_no_pooled_total(tmp_path: Path) -> None:
    spec = SPEC.replace('value = "état; raw"', 'value = "état; raw"\nstep = 2')
    lines = files.data().splitlines()
    with_gap = "\n".join([*lines[:5], *lines[6:]]) + "\n"
    units, pooled = plan(load(files.write(tmp_path, spec, with_gap))).tables
    known = sorted(total for (total,) in units.totals or () if total is not None)
    assert known == sorted(sum(of) - (name == "zoë") for name, of in files.LENGTHS.items())
    assert pooled.totals == ((None,),)


#: A kind, its query, the one in its place, and the public total, of which parameters and absent people have none.
RECORDS = [
    ("users", 'query = "count"\nstates = ["yes"]', 'query = "histogram"', 30),
    ("users", 'query = "count"\nstates = ["yes"]', 'presence = 0.5\nabsence = "removed"', None),
    ("contacts", 'query = "count"\nstates = ["ill"]', 'query = "histogram"', 12),
    ("network", 'query = "count"\nstates = ["yes"]', 'query = "histogram"', 2),
    ("independent-records", 'query = "count"\nattribute = "ill"\nstates = [1]',
     'query = "histogram"\nby = ["group", "ill"]', 40),
    ("parameters", 'query = "count"\nattribute = "height"\nstates = ["big"]',
     'query = "histogram"\nattribute = "height"', None),
]  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("kind", "before", "after", "total"), RECORDS)
def test_records_sum_to_their_public_number(
    kind: str, before: str, after: str, total: int | None, tmp_path: Path
) -> None:
    """A histogram of all values does; a count, of which nobody knows the total, is only not negative."""
    (example,) = (example for example in EXAMPLES if example.kind == kind)
    text = example.text.replace('mechanism = "wasserstein"', 'mechanism = "group-dp"')
    where = example.write(tmp_path)
    if "presence" in after:
        text, after = changed(text, ("[[table]]", f"{after}\n[[table]]")), 'query = "histogram"'
    for query, goal in ((before, None), (after, total)):
        where.write_text(changed(text, (before, f"{query}\nadjust = true")), encoding="utf-8")
        (planned,) = plan(load(where)).tables
        assert planned.totals == ((goal,),)
    (table,) = release_file(where, allow_useless=True).tables
    pairs = [(row["value"], row["adjusted"]) for row in table.rows]
    assert min(adjusted for _, adjusted in pairs) >= 0
    if total is None:
        assert pairs == [(value, max(value, 0)) for value, _ in pairs]
    else:
        assert sum(adjusted for _, adjusted in pairs) == total
    check_page(table.files[3].read_text(encoding="utf-8"))


@pytest.mark.parametrize("query", ['"sum"', '"mean"'])
def test_what_may_be_negative_or_is_no_count_is_not_adjusted(query: str, tmp_path: Path) -> None:
    spec = SPEC.replace('query = "histogram"', f"query = {query}\ncodes = {{ still = 0, walking = 1 }}")
    assert "adjust" in str(refusal_of(files.write(tmp_path, spec)))
