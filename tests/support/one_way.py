"""A tiny definition from outside: rows of a table compared one way only, no belief, a label as output.

Hidden is that a person is ill, not that they are well: for each two tables that differ in one person, ill in x and well
in x', Pr[M(x) in S] <= e^epsilon Pr[M(x') in S]. The mechanism says "all are well" with probability 1 - e^-epsilon
where that is true, and "cannot say" otherwise: it is never wrong about the dangerous side.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from takifugu.accounting.composition.losses import Joint
from takifugu.analysis.guarantee import Charge
from takifugu.core.errors import InputError
from takifugu.extending import (
    LABEL,
    Bound,
    Cost,
    Covers,
    Definition,
    Direction,
    Problem,
    Randomiser,
    RandomiserKind,
    Refusal,
    Witness,
    register_definition,
    register_mechanism,
    register_randomiser,
    register_secret,
)
from takifugu.model.beliefs.domain import Domain
from takifugu.model.frameworks import Framework
from takifugu.model.secrets.hypotheses import Comparison, EntryIs
from takifugu.numbers.noise import choose

NAME = "test-one-way"
WELL, UNKNOWN = "all are well", "cannot say"
PARTS = 2**40


@dataclass(frozen=True)
class HasValue:
    """Hide that a row has a value, from whoever could otherwise rule out that it has another one."""

    value: str
    other: str

    def family(self, belief: Any) -> Any:
        raise InputError("this secret is not about a belief", fix="use the definition that it belongs to")

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "test-has-value", "value": self.value, "other": self.other}

    def describe(self) -> str:
        return f"that a row is {self.value!r} (not that it is {self.other!r})"


@dataclass(frozen=True)
class OneWay(Definition):
    name: str = NAME
    one_way: bool = True
    without_noise: str = "nothing would be hidden"

    def comparisons(self, framework: Framework) -> Iterator[Comparison]:
        for secret in framework.secrets:
            assert isinstance(secret, HasValue)
            for row in range(framework.domain.size):
                yield Comparison(None, EntryIs(row, secret.value), EntryIs(row, secret.other), one_way=True)

    def joint(self, view: Any, charges: Sequence[Charge], is_alone: bool) -> Joint:
        epsilon = sum((charge.epsilon for charge in charges), Fraction(0))
        return Joint(epsilon, Fraction(0), "one-way sum", Covers.EVERYTHING)

    def hides_one_entry(self, problem: Problem, bound: Bound) -> bool:
        return True

    def promise(self, epsilon: Fraction, delta: Fraction) -> str:
        return f"'{WELL}' is never wrong; that a row is ill becomes at most e^{float(epsilon):g} times as likely"

    def in_numbers(self, epsilon: Fraction, delta: Fraction) -> list[str]:
        return []


@dataclass(frozen=True)
class NeverWrong(Randomiser):
    """ "all are well" with `parts` of PARTS where the answer is 0, else "cannot say"."""

    parts: int
    epsilon: Fraction
    grid: Fraction = Fraction(1)
    cells: int = 1
    kind = "test-never-wrong"
    output = LABEL
    outputs = (WELL, UNKNOWN)

    def mass(self, answer: int | Fraction, output: str) -> Fraction:
        well = Fraction(self.parts if answer <= 0 else 0, PARTS)
        return well if output == WELL else 1 - well

    def draw(self, answer: Any, entropy: Any) -> tuple[str, ...]:
        masses = [int(self.mass(answer[0], output) * PARTS) for output in self.outputs]
        return (self.outputs[int(choose(masses, 1, entropy)[0])],)

    def log_density(self, answer: Any, output: Sequence[str]) -> float:
        mass = self.mass(answer[0], output[0])
        return math.log(mass) if mass else -math.inf

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Fraction | float:
        return Fraction(0) if change == 0 else self.epsilon if direction is Direction.DOWN else math.inf

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "parts": self.parts, "epsilon": str(self.epsilon)}

    @staticmethod
    def read(data: Mapping[str, Any]) -> Any:
        return NeverWrong(int(data["parts"]), Fraction(data["epsilon"]))


@dataclass(frozen=True)
class Cautious:
    name: str = "test-cautious"
    source: str = "the tests"

    def cost(self, problem: Problem) -> Cost:
        return Cost(1.0)

    def bound(self, problem: Problem) -> Bound | Refusal:
        answer = problem.answers[0]
        if problem.cells > 1 or problem.grid != 1 or min(answer.tables[0].min(), answer.weights.min()) < 0:
            return Refusal("it answers whether a count is 0")
        parts = math.floor(PARTS * (1 - Fraction(math.exp(-problem.epsilon) * (1 + 2**-40))))
        comparison = next(iter(problem.framework.comparisons()))
        noise: Any = NeverWrong(max(0, parts), problem.epsilon)
        return Bound(noise, problem.epsilon, Fraction(0), Covers.EVERYTHING, Witness(comparison.label))


def framework(people: int = 3) -> Framework:
    """Return the framework that hides who is ill among so many people."""
    return Framework((HasValue("ill", "well"),), (), NAME, Domain.of(people, ["well", "ill"]))


def registered() -> None:
    """Register everything, once per process."""
    from takifugu.model.frameworks import DEFINITIONS

    if NAME not in DEFINITIONS:
        register_definition(OneWay())
        register_secret("test-has-value", lambda data: HasValue(data["value"], data["other"]))
        words = RandomiserKind(NeverWrong.read, "a cautious label", "'all are well' or 'cannot say'", has_scale=False)
        register_randomiser("test-never-wrong", words)
        register_mechanism(Cautious(), definitions=(NAME,))
