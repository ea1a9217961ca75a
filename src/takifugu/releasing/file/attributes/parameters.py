"""Parameters of a population: their joint distribution, and how each column follows its own parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from takifugu.core.errors import InputError, SpecError, TakifuguError
from takifugu.model.beliefs.networks.network_files import read_network
from takifugu.model.beliefs.records.parameter_box import Affine, ParameterBox
from takifugu.model.beliefs.records.parameters import Parameters
from takifugu.model.beliefs.table import JointTable
from takifugu.model.queries import State
from takifugu.model.queries.sections import spelled, values_by_column
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.file.attributes.beliefs import BoxColumnSpec, ColumnSpec, ParameterBoxSpec, ParametersSpec
from takifugu.releasing.file.attributes.build import Known, known_values
from takifugu.releasing.file.attributes.kind import Attributes
from takifugu.releasing.file.attributes.reading import counted
from takifugu.releasing.file.columns import Column
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.records.kind import mass
from takifugu.releasing.file.same_data import GIVE_PUBLIC, IS_PRIVATE, is_one_of
from takifugu.releasing.file.source import private_files


class _Parameters(Attributes):
    names, hides = ("parameters",), ("parameter",)

    def shape_faults(self, spec: Any, folder: Path, data: Any) -> Iterator[TakifuguError]:
        prior = spec.belief.prior
        declared = [key for key in ("columns", "rows", "probabilities") if getattr(prior, key) is not None]
        if prior.network is not None:
            for key in declared:
                yield fault(("belief", "prior", key), "is given beside network", "write only one of them")
            if is_one_of(folder / prior.network, private_files(spec.source, folder, data)):
                yield fault(("belief", "prior", "network"), IS_PRIVATE, GIVE_PUBLIC)
        elif len(declared) < 3:
            yield fault(("belief", "prior"), "is incomplete", "write columns, rows and probabilities, or network")

    def belief(self, spec: Any, folder: Path) -> Parameters:
        """Return the belief; SpecError names every column that is faulty."""
        given: ParametersSpec = spec.belief
        try:
            prior = _prior(given, folder)
        except TakifuguError as error:
            key = ("network",) if given.prior.network is not None else ()
            raise SpecError([blamed(error, "belief", "prior", *key)]) from None
        columns, faults = dict[str, Any](), list[TakifuguError]()
        for name, column in given.columns.items():
            try:
                columns[name] = _column(name, column, prior)
                Parameters(prior, {name: columns[name]}, given.records, given.source)
            except TakifuguError as error:
                faults.append(blamed(error, "belief", "columns", name))
        if faults:
            raise SpecError(faults)
        return Parameters(prior, columns, given.records, given.source)

    def hidden(self, belief: Parameters) -> Known:
        return known_values({str(name): belief.alphabet(belief.position(name)) for name in belief.names})

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        return _listed_columns(file)


def _prior(given: ParametersSpec, folder: Path) -> Any:
    prior = given.prior
    if prior.network is not None:
        return read_network(folder / prior.network, given.source)
    return JointTable(prior.rows or (), list(map(mass, prior.probabilities or ())), prior.columns, given.source)


def _column(name: str, column: ColumnSpec, prior: Any) -> dict[State, dict[State, Any]]:
    """Return the distribution of a column for each value of its parameter, as the prior spells it."""
    if name not in prior.names:
        raise InputError(
            "has no parameter", rule="each column follows the parameter of its name",
            fix=f"the parameters are {[str(one) for one in prior.names]}",
        )  # fmt: skip
    values = spelled(prior.alphabet(prior.position(name)))
    laws = dict[State, dict[State, Any]]()
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
        shares = [as_fraction(chance, "a probability") for chance in chances]
        laws[values[text]] = dict(zip(column.values, shares, strict=True))
    return laws


class _ParameterBox(Attributes):
    names, hides = ("parameter-box",), ("parameter",)

    def belief(self, spec: Any, folder: Path) -> ParameterBox:
        """Return the belief; SpecError names every column that is faulty."""
        given: ParameterBoxSpec = spec.belief
        columns = {name: _two_states(column) for name, column in given.columns.items()}
        return ParameterBox(given.intervals, columns, given.records, given.source)

    def draft(self, data: Path, output: Path, columns: Sequence[Column], kind: str) -> str:
        return Kind.draft(self, data, output, columns, kind)

    def hidden(self, belief: ParameterBox) -> Known:
        return {}

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        return _listed_columns(file)


def _two_states(column: BoxColumnSpec) -> dict[State, Any]:
    first, other = column.values
    chance = column.chance if isinstance(column.chance, dict) else {"constant": column.chance}
    slopes = {name: slope for name, slope in chance.items() if name != "constant"}
    return {first: Affine(chance.get("constant", 0), slopes), other: None}


def _listed_columns(file: ReleaseFile) -> tuple[Unit, ...]:
    """Return the records as columns, listed by their values."""
    rows = counted(file.table, values_by_column(file.belief), {}, file.belief.records)
    listed = [row for row, times in rows for _ in range(times)]
    return (Unit(None, dict(zip(file.belief.columns, map(list, zip(*listed, strict=True)), strict=True))),)


PARAMETERS, PARAMETER_BOX = _Parameters(), _ParameterBox()
