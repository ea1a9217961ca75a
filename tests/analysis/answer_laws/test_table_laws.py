"""Laws of an answer given an entry of a joint table, against sums in Fractions."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from tests.support.chain_oracles import answer_law_given
from tests.support.chain_strategies import contributions, table_joint, tables

from takifugu.analysis.questions.answer_law import answer_law
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.beliefs.table import JointTable
from takifugu.model.queries import Sum
from takifugu.model.secrets.families import Family
from takifugu.numbers.distributions.pmf import Pmf


@given(st.booleans().flatmap(lambda exact: tables(exact)))
def test_every_law_is_the_sum_over_rows(table: JointTable) -> None:
    share = SimpleNamespace(belief=table, answer=Sum().resolve(table), family=Family(range(table.size)))
    joint, contribution = table_joint(table), contributions(share.answer)
    for family in answer_law(share).families():
        for value, (law,) in family.hulls.items():
            expected = answer_law_given(joint, contribution, family.entry, value)
            assert law.exact == (table.total is not None)
            assert law.values.tolist() == list(expected)
            if law.exact:
                assert dict(law.items()) == expected
            else:
                pairs = zip(law.probabilities.tolist(), expected.values(), strict=True)
                assert all(abs(m - p) <= Fraction(family.relative_error) * p for m, p in pairs)


def test_rows_without_mass_are_skipped() -> None:
    table = JointTable([(0, 0), (1, 1), (2, 5)], [Fraction(1, 2), Fraction(1, 2), Fraction(0)])
    share = SimpleNamespace(belief=table, answer=Sum().resolve(table), family=Family(range(2)))
    assert [sorted(family.hulls) for family in answer_law(share).families()] == [[0, 1], [0, 1]]


def test_two_given_laws_are_one_family() -> None:
    p, q = Pmf([0], [1]), Pmf([1], [1])
    share = SimpleNamespace(belief=LawPair(p, q), answer=SimpleNamespace(cells=1), family=Family((0,)))
    (family,) = answer_law(share).families()
    assert family.compared == ((0, 0, 1, 0),)
    assert family.hulls == {0: (p,), 1: (q,)}
    assert family.reach(0) == 1
