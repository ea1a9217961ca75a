"""The probability of each value of an entry of a chain, a network and a clique."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from takifugu.analysis.questions.marginal import Marginal
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.contacts import Clique
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.atoms import Array, Floats
from takifugu.numbers.extended.floats import UNIT
from takifugu.numbers.log_ratios import TRUSTED


class CliqueMarginal(Marginal[Clique]):
    known = True

    def of(self, entry: int) -> tuple[list[Fraction], float]:
        clique = self.belief
        ill = sum((Fraction(n) * Fraction(p) for n, p in clique.number.items()), Fraction(0)) / clique.size
        return [sum((Fraction(p) for _, p in clique.number.items()), Fraction(0)) - ill, ill], 0.0


class NetworkMarginal(Marginal[BayesianNetwork]):
    known = True

    def of(self, entry: int) -> tuple[list[Fraction], float]:
        table, error = self.belief.law([entry])
        return _trusted(table, np.asarray(self.belief.possible(entry))), error


class ChainMarginal(Marginal[PeriodicChain]):
    @property
    def known(self) -> bool:
        return self.belief.initial != "any"

    def of(self, entry: int) -> tuple[list[Fraction], float]:
        chain = self.belief
        if not self.known:
            raise Unsupported(
                "a choice among outputs sees the whole answer, and with an unknown initial distribution what the other "
                "pieces add has no single distribution",
                fix='state it, or use additive noise, mechanism="laplace-exact"',
            )
        rounded = 1.01 * (len(chain.states) + 1) * (entry + 1) * UNIT
        if chain.initial == "stationary":
            law = chain.stationary_laws[entry % chain.period]
            if chain.period > 1:  # of a product over a period
                rounded += 2.02 * len(chain.states) * (3 * len(chain.states) + 4) * chain.period * UNIT
            shares = zip(law.mantissas.tolist(), law.exponents.tolist(), strict=True)
            return [Fraction(m) * Fraction(2) ** e if m else Fraction(0) for m, e in shares], rounded
        return _trusted(chain.marginal(entry), np.asarray(chain.possible(entry))), rounded


def _trusted(masses: Floats, possible: Array) -> list[Fraction]:
    """Return float masses as they are; Unsupported where one that is possible may have lost digits or vanished."""
    if (possible & (masses < TRUSTED)).any():
        raise Unsupported(
            "a value has a probability below 1e-270, too small for the distribution of what independent "
            "components add",
            fix='use additive noise, mechanism="laplace-exact"',
        )
    return [Fraction(p) for p in masses.tolist()]
