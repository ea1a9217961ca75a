"""Parameters of a population as a release file declares them: a joint distribution of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from annotated_types import MinLen

from takifugu.core.errors import InputError, SpecError, TakifuguError
from takifugu.core.rules import check_known
from takifugu.core.sections import FilePath, Key, Number, State, Text, written
from takifugu.model.beliefs import sections
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.networks.network_files import read_network
from takifugu.model.beliefs.records.counted_parameters import CountedParameters
from takifugu.model.beliefs.records.parameters import Parameters
from takifugu.model.beliefs.sections import Cited, Probabilities, Public, SureFit, mass
from takifugu.model.beliefs.table import JointTable, counted_table
from takifugu.model.queries.sections import spelled
from takifugu.numbers.rationals import as_fractions


@dataclass(frozen=True, kw_only=True)
class Prior:
    """The joint distribution of the parameters: counted in a public file, row by row, or as a Bayesian network."""

    fit: Annotated[SureFit | None, Key("count the parameters of public populations, one per row")] = None
    columns: Annotated[tuple[Text, ...] | None, Key("the parameters, named as the columns")] = None
    rows: Annotated[
        tuple[tuple[State, ...], ...] | None, Key("every combination of values", [["low", "low"], ["high", "high"]])
    ] = None
    probabilities: Probabilities = None
    network: Annotated[FilePath | None, Key("a BIF file, or another that pyAgrum reads")] = None


@dataclass(frozen=True, kw_only=True)
class Column:
    """How a column is distributed in the population, for each value of its parameter."""

    values: Annotated[tuple[State, ...], MinLen(1), Key("the values in the column", ["no", "yes"])]
    given: Annotated[
        dict[str, tuple[Number, ...]],
        MinLen(1),
        Key("their probabilities, for each value of the parameter", {"low": ["0.9", "0.1"], "high": ["0.6", "0.4"]}),
    ]


_PRIOR = {"columns": ["smokes"], "rows": [["low"], ["high"]], "probabilities": ["0.5", "0.5"]}
_COLUMN = {"values": ["no", "yes"], "given": {"low": ["0.9", "0.1"], "high": ["0.6", "0.4"]}}


@dataclass(frozen=True, kw_only=True)
class ParametersSection:
    """Columns that each follow their own parameter of the population; the parameters depend on each other."""

    kind: Annotated[Literal["parameters"], Key("parameters of the population")]
    records: sections.Records
    source: Cited
    prior: Annotated[Prior, Key("the joint distribution of the parameters", _PRIOR)]
    columns: Annotated[
        dict[str, Column], MinLen(1), Key("the distribution of each column, by its parameter", {"smokes": _COLUMN})
    ]

    hides: ClassVar = ("parameter",)

    @staticmethod
    def hidden(belief: Parameters) -> dict[str, dict[str, Hashable]]:
        """Return the parameters' values for secrets, by their texts."""
        return {str(name): spelled(belief.alphabet(belief.position(name))) for name in belief.names}

    def faults(self) -> Iterator[InputError]:
        prior = self.prior
        declared = written(prior, ("columns", "rows", "probabilities"))
        whole = written(prior, ("network", "fit"))
        if whole:
            for key in (*declared, *whole[1:]):
                yield InputError(f"is given beside {whole[0]}", fix="write only one of them").at("prior", key)
        elif len(declared) < 3:
            fix = "write columns, rows and probabilities, network, or a fit to a public file"
            yield InputError("is incomplete", fix=fix).at("prior")

    def belief(self, public: Public) -> Parameters:
        """Return the belief, or raise SpecError naming every faulty column."""
        fit = self.prior.fit
        try:
            prior, counts = self._prior(public)
        except TakifuguError as error:
            error.where = ("prior", *written(self.prior, ("network", "fit"))[:1])
            raise
        source = self.source if self.prior.fit is None else prior.source  # which says that it was counted
        columns, faults = dict[str, dict[Hashable, dict[State, Fraction]]](), list[TakifuguError]()
        for name, column in self.columns.items():
            try:
                columns[name] = _laws(name, column, prior)
                Parameters(prior, {name: columns[name]}, self.records, source)
            except TakifuguError as error:
                error.where = ("columns", name)
                faults.append(error)
        if faults:
            raise SpecError(faults)
        if fit is None or fit.confidence is None or isinstance(prior, BayesianNetwork):
            return Parameters(prior, columns, self.records, source)
        return CountedParameters(
            prior.rows, counts, fit.columns, columns, self.records,
            source=f"{self.source}; counted in {fit.file}", confidence=fit.confidence, private=fit.private,
        )  # fmt: skip

    def _prior(self, public: Public) -> tuple[JointTable | BayesianNetwork, list[int]]:
        """Return the prior, and how often each of its rows was counted."""
        prior = self.prior
        if prior.fit is not None:
            return counted_table(prior.fit, self.source, public)
        if prior.network is not None:
            return read_network(public.folder / prior.network, self.source), []
        masses = list(map(mass, prior.probabilities or ()))
        return JointTable(prior.rows or (), masses, prior.columns, self.source), []


def _laws(name: str, column: Column, prior: JointTable | BayesianNetwork) -> dict[Hashable, dict[State, Fraction]]:
    """Return a column's distribution by parameter value, spelled as in the prior."""
    check_known([name], prior.names, "each column follows the parameter of its name, and there is none")
    values = spelled(prior.alphabet(prior.position(name)))
    laws = dict[Hashable, dict[State, Fraction]]()
    for text, chances in column.given.items():
        if text not in values:
            raise InputError(
                f"has a distribution given {text!r}, which its parameter cannot be", fix=f"write one of {list(values)}"
            )
        if len(chances) != len(column.values) or len(set(map(str, column.values))) != len(column.values):
            raise InputError(
                f"has {len(column.values)} values and {len(chances)} probabilities given {text!r}",
                fix="give each value once, with one probability",
            )
        shares = as_fractions(chances, "a probability")
        laws[values[text]] = dict(zip(column.values, shares, strict=True))
    return laws
