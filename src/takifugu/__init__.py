"""Publish statistics about correlated data with the least noise that provably hides what must stay secret.

The public names load their modules when they are first used, so `import takifugu` itself loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from takifugu._version import __version__
from takifugu.core.errors import TakifuguError
from takifugu.core.moved import no_attribute
from takifugu.core.nearest import did_you_mean

if TYPE_CHECKING:
    from takifugu.accounting.composition import compose
    from takifugu.accounting.ledger import Ledger, Session
    from takifugu.analysis.bounds import Mechanism
    from takifugu.analysis.guarantee import Guarantee
    from takifugu.analysis.robustness import robust_guarantee
    from takifugu.audit import exact_delta, exact_loss
    from takifugu.calibration import calibrate, compare, with_scale
    from takifugu.calibration.costs import cost
    from takifugu.calibration.event_level import event_level_loss
    from takifugu.calibration.jointly import calibrate_jointly
    from takifugu.calibration.record_epsilon import record_epsilon
    from takifugu.calibration.result import Calibration
    from takifugu.core import errors
    from takifugu.model.beliefs import Belief
    from takifugu.model.beliefs.chains.chain import BinaryChains, MarkovChain, ReversibleChains
    from takifugu.model.beliefs.chains.interval_chain import IntervalMarkovChain
    from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
    from takifugu.model.beliefs.chains.pieces import IndependentPieces
    from takifugu.model.beliefs.contacts import CliqueInfection, household_infection
    from takifugu.model.beliefs.density import Density
    from takifugu.model.beliefs.derived.hidden_chain import hidden_markov_chain
    from takifugu.model.beliefs.meetings import cliques_of
    from takifugu.model.beliefs.networks.network import BayesianNetwork
    from takifugu.model.beliefs.networks.network_files import read_network
    from takifugu.model.beliefs.populations import FromPopulations
    from takifugu.model.beliefs.records.autoregressive import AutoregressiveNormal
    from takifugu.model.beliefs.records.counted_parameters import CountedParameters
    from takifugu.model.beliefs.records.normal import MultivariateNormal
    from takifugu.model.beliefs.records.normal_region import NormalRegion
    from takifugu.model.beliefs.records.parameters import Parameters
    from takifugu.model.beliefs.records.records import Records
    from takifugu.model.beliefs.table import JointTable
    from takifugu.model.beliefs.users import IndependentUsers
    from takifugu.model.frameworks import Framework, Pufferfish, distribution_pair
    from takifugu.model.queries import (
        AtMost,
        Count,
        CountAbove,
        CountRows,
        CrossTable,
        GroupBy,
        Histogram,
        Identity,
        JointQuery,
        Linear,
        LocalValue,
        Mean,
        Median,
        Mode,
        Quantile,
        Query,
        Statistic,
        Sum,
        TopK,
        Visitors,
    )
    from takifugu.model.secrets.declared_properties import dataset_property, distribution_parameter
    from takifugu.model.secrets.of_entries import attribute, entry, every_entry, every_run, presence
    from takifugu.model.secrets.of_populations import population_membership
    from takifugu.model.secrets.properties import NamedFunction
    from takifugu.numbers.densities.normal import Normal, NormalMixture
    from takifugu.numbers.densities.truncated import Truncated
    from takifugu.releasing.advice.advice import advise
    from takifugu.releasing.certificates.cells import read_table
    from takifugu.releasing.draft.text import draft
    from takifugu.releasing.postprocess.marginals import marginals
    from takifugu.releasing.postprocess.reconcile import reconcile
    from takifugu.releasing.postprocess.release import Release
    from takifugu.releasing.publishing.library import charge_external, release
    from takifugu.releasing.publishing.resuming import resume
    from takifugu.releasing.publishing.run import release_file
    from takifugu.releasing.report.document import report_html
    from takifugu.releasing.steps import dry_run
    from takifugu.releasing.study import open_study

__all__ = [
    "AtMost",
    "AutoregressiveNormal",
    "BayesianNetwork",
    "Belief",
    "BinaryChains",
    "Calibration",
    "CliqueInfection",
    "Count",
    "CountAbove",
    "CountRows",
    "CountedParameters",
    "CrossTable",
    "Density",
    "Framework",
    "FromPopulations",
    "GroupBy",
    "Guarantee",
    "Histogram",
    "Identity",
    "IndependentPieces",
    "IndependentUsers",
    "IntervalMarkovChain",
    "JointQuery",
    "JointTable",
    "Ledger",
    "Linear",
    "LocalValue",
    "MarkovChain",
    "Mean",
    "Mechanism",
    "Median",
    "Mode",
    "MultivariateNormal",
    "NamedFunction",
    "Normal",
    "NormalMixture",
    "NormalRegion",
    "Parameters",
    "PeriodicChain",
    "Pufferfish",
    "Quantile",
    "Query",
    "Records",
    "Release",
    "ReversibleChains",
    "Session",
    "Statistic",
    "Sum",
    "TakifuguError",
    "TopK",
    "Truncated",
    "Visitors",
    "__version__",
    "advise",
    "attribute",
    "calibrate",
    "calibrate_jointly",
    "charge_external",
    "cliques_of",
    "compare",
    "compose",
    "cost",
    "dataset_property",
    "distribution_pair",
    "distribution_parameter",
    "draft",
    "dry_run",
    "entry",
    "errors",
    "event_level_loss",
    "every_entry",
    "every_run",
    "exact_delta",
    "exact_loss",
    "hidden_markov_chain",
    "household_infection",
    "marginals",
    "open_study",
    "population_membership",
    "presence",
    "read_network",
    "read_table",
    "reconcile",
    "record_epsilon",
    "release",
    "release_file",
    "report_html",
    "resume",
    "robust_guarantee",
    "with_scale",
]

_MODULES = {
    "takifugu.model.beliefs.chains.chain": ("BinaryChains", "MarkovChain", "ReversibleChains"),
    "takifugu.model.beliefs.chains.interval_chain": ("IntervalMarkovChain",),
    "takifugu.model.beliefs.contacts": ("CliqueInfection", "household_infection"),
    "takifugu.model.beliefs.density": ("Density",),
    "takifugu.model.beliefs.meetings": ("cliques_of",),
    "takifugu.model.beliefs.derived.hidden_chain": ("hidden_markov_chain",),
    "takifugu.model.beliefs.networks.network": ("BayesianNetwork",),
    "takifugu.model.beliefs.networks.network_files": ("read_network",),
    "takifugu.model.beliefs.records.autoregressive": ("AutoregressiveNormal",),
    "takifugu.model.beliefs.records.normal": ("MultivariateNormal",),
    "takifugu.model.beliefs.records.normal_region": ("NormalRegion",),
    "takifugu.model.beliefs.records.counted_parameters": ("CountedParameters",),
    "takifugu.model.beliefs.records.parameters": ("Parameters",),
    "takifugu.model.beliefs.chains.periodic_chain": ("PeriodicChain",),
    "takifugu.model.beliefs.chains.pieces": ("IndependentPieces",),
    "takifugu.model.beliefs.populations": ("FromPopulations",),
    "takifugu.model.beliefs.records.records": ("Records",),
    "takifugu.model.beliefs.table": ("JointTable",),
    "takifugu.model.beliefs.users": ("IndependentUsers",),
    "takifugu.calibration": ("calibrate", "compare", "with_scale"),
    "takifugu.calibration.costs": ("cost",),
    "takifugu.calibration.record_epsilon": ("record_epsilon",),
    "takifugu.calibration.event_level": ("event_level_loss",),
    "takifugu.calibration.jointly": ("calibrate_jointly",),
    "takifugu.accounting.composition": ("compose",),
    "takifugu.accounting.ledger": ("Ledger", "Session"),
    "takifugu.analysis.bounds": ("Mechanism",),
    "takifugu.analysis.guarantee": ("Guarantee",),
    "takifugu.calibration.result": ("Calibration",),
    "takifugu.model.beliefs": ("Belief",),
    "takifugu.releasing.postprocess.release": ("Release",),
    "takifugu.model.frameworks": ("Framework", "Pufferfish", "distribution_pair"),
    "takifugu.numbers.densities.normal": ("Normal", "NormalMixture"),
    "takifugu.numbers.densities.truncated": ("Truncated",),
    "takifugu.model.queries": (
        "AtMost", "GroupBy", "Count", "CountAbove", "CountRows", "CrossTable", "LocalValue", "Histogram", "Identity",
        "Linear", "Mean", "Median", "Mode", "Quantile", "Query", "Statistic", "Sum", "JointQuery", "TopK", "Visitors",
    ),
    "takifugu.releasing.advice.advice": ("advise",),
    "takifugu.releasing.steps": ("dry_run",),
    "takifugu.releasing.certificates.cells": ("read_table",),
    "takifugu.releasing.draft.text": ("draft",),
    "takifugu.releasing.publishing.library": ("charge_external", "release"),
    "takifugu.releasing.postprocess.marginals": ("marginals",),
    "takifugu.releasing.postprocess.reconcile": ("reconcile",),
    "takifugu.releasing.report.document": ("report_html",),
    "takifugu.releasing.publishing.resuming": ("resume",),
    "takifugu.releasing.publishing.run": ("release_file",),
    "takifugu.releasing.study": ("open_study",),
    "takifugu.analysis.robustness": ("robust_guarantee",),
    "takifugu.audit": ("exact_delta", "exact_loss"),
    "takifugu.model.secrets.of_entries": ("attribute", "entry", "every_entry", "every_run", "presence"),
    "takifugu.model.secrets.of_populations": ("population_membership",),
    "takifugu.model.secrets.declared_properties": ("dataset_property", "distribution_parameter"),
    "takifugu.model.secrets.properties": ("NamedFunction",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


#: Modules that are used by a name of their own: `takifugu.asymmetric.visits()`.
_NAMED = {
    "asymmetric": "takifugu.mechanisms.one_sided",
    "audit": "takifugu.audit",
    "errors": "takifugu.core.errors",
    "local": "takifugu.mechanisms.local",
    "numbers": "takifugu.numbers",
}
#: Names of before, and what they are called now.
_FORMER = {
    "BinaryChainInterval": "BinaryChains", "By": "GroupBy", "ChainRegion": "IntervalMarkovChain",
    "EachValue": "LocalValue", "MarkovChainClass": "ReversibleChains", "Named": "NamedFunction", "Pmf": "numbers.Pmf",
    "Tabulated": "numbers.PiecewiseLinear", "Together": "JointQuery", "UniformMean": "numbers.Bates",
    "between": "distribution_pair", "charge": "charge_external", "clique_infection": "CliqueInfection",
    "entry_budget": "record_epsilon", "forecast": "dry_run", "monotone_plan": "numbers.monotone_coupling",
    "promise_if_belief_off": "robust_guarantee", "true_delta": "exact_delta", "true_loss": "exact_loss",
    "w_infinity": "numbers.w_infinity", "which_population": "population_membership",
}  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _NAMED:
        return import_module(_NAMED[name])
    if name in _FORMER:
        raise AttributeError(f"takifugu.{name} is now takifugu.{_FORMER[name]}")
    if name not in _HOME:
        nearest = "" if name.startswith("__") else did_you_mean(name, __all__)
        raise no_attribute("takifugu", name, nearest)
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
