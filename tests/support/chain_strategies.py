"""Hypothesis strategies for chains, tables and queries, and the exact joint laws that belong to them."""

from fractions import Fraction

from hypothesis import assume
from hypothesis import strategies as st
from tests.support.chain_oracles import Joint, exact_rows, joint_law, stationary_vector, table_law

from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.table import JointTable
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Additive, Linear
from takifugu.model.secrets.of_entries import every_entry


@st.composite
def rows(draw: st.DrawFn, size: int, zeros: bool = True, largest: int = 9) -> list[float]:
    """One law on `size` states with small integer weights, some zero."""
    weights = draw(st.lists(st.integers(0 if zeros else 1, largest), min_size=size, max_size=size))
    if not any(weights):
        weights[draw(st.integers(0, size - 1))] = 1
    return [w / sum(weights) for w in weights]


@st.composite
def chains(
    draw: st.DrawFn,
    states: tuple[int, int] = (2, 3),
    length: tuple[int, int] = (1, 6),
    starts: tuple[str, ...] = ("stationary", "given", "any"),
    zeros: bool = True,
) -> MarkovChain:
    """Chains of a stationary (where it is unique), given or any initial law, zero transitions among them."""
    size = draw(st.integers(*states))
    matrix = [draw(rows(size, zeros)) for _ in range(size)]
    steps = draw(st.integers(*length))
    start = draw(st.sampled_from(starts))
    if start == "stationary" and _closed_classes(matrix) > 1:
        start = "given" if "given" in starts else "any"
    return MarkovChain(matrix, steps, draw(rows(size)) if start == "given" else start)


@st.composite
def tables(draw: st.DrawFn, exact: bool = True) -> JointTable:
    """Joint tables of 2 or 3 numeric columns with up to 8 rows."""
    columns = draw(st.integers(2, 3))
    row = st.tuples(*[st.integers(-2, 3)] * columns)
    distinct = draw(st.lists(row, min_size=2, max_size=8, unique=True))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(distinct), max_size=len(distinct)))
    shares = [Fraction(w, sum(weights)) for w in weights]
    return JointTable(distinct, shares if exact else [float(s) for s in shares])


def with_secrets(belief: MarkovChain | JointTable) -> Framework:
    """Return the framework of every entry, of which some entry has several possible values."""
    assume(any(sum(belief.possible(i)) > 1 for i in range(belief.size)))
    return Pufferfish(every_entry(), belief)


def weights(size: int, largest: int = 3) -> st.SearchStrategy[list[int]]:
    """Integer weights of a query, zero and negative ones among them."""
    return st.lists(st.integers(-largest, largest), min_size=size, max_size=size)


def linear(chain: MarkovChain, chosen: list[int]) -> Additive:
    """Return the answer sum_i weights[i] x_i of a chain whose states are numbers."""
    return Linear(chosen, grid=1).resolve(chain)


def joint_laws(chain: MarkovChain, as_typed: bool = False) -> list[Joint]:
    """Return the exact joint law, or for any initial law that of each point start.

    `as_typed` takes the rationals that the strategies drew in place of their floats, so that ties are ties.
    """
    size = len(chain.states)

    def read(row: list[float]) -> list[Fraction]:
        return [Fraction(p).limit_denominator(1000) if as_typed else Fraction(p) for p in row]

    matrix = exact_rows([read(row) for row in chain.matrix.tolist()])
    if chain.initial == "any":
        return [joint_law(matrix, chain.length, [Fraction(int(u == v)) for v in range(size)]) for u in range(size)]
    start = stationary_vector(matrix) if chain.initial == "stationary" else read(list(chain.initial))
    return [joint_law(matrix, chain.length, start)]


def table_joint(table: JointTable) -> Joint:
    """Return the joint law of a table over value indices."""
    total = table.total or 1
    return table_law(table.indices.tolist(), [Fraction(m) / total for m in table.masses])


def contributions(answer: Additive) -> list[list[int]]:
    """Return c_i(s) for a scalar answer, in grid units."""
    return [answer.contribution(i)[:, 0].tolist() for i in range(answer.size)]


def _closed_classes(matrix: list[list[float]]) -> int:
    size = len(matrix)
    reach = [{j for j in range(size) if matrix[i][j] > 0} | {i} for i in range(size)]
    for _ in range(size):
        reach = [set().union(*(reach[j] for j in reach[i])) for i in range(size)]
    return len({frozenset(r) for i, r in enumerate(reach) if all(i in reach[j] for j in r)})
