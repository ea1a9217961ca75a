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
    from takifugu.analysis.robustness import promise_if_belief_off
    from takifugu.audit import true_delta, true_loss
    from takifugu.calibration import calibrate, compare, with_scale
    from takifugu.calibration.entry_budget import entry_budget
    from takifugu.calibration.event_level import event_level_loss
    from takifugu.calibration.jointly import calibrate_jointly
    from takifugu.core import errors
    from takifugu.model.beliefs.chains.chain import BinaryChainInterval, MarkovChain, MarkovChainClass
    from takifugu.model.beliefs.chains.chain_region import ChainRegion
    from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
    from takifugu.model.beliefs.chains.pieces import IndependentPieces
    from takifugu.model.beliefs.contacts import CliqueInfection, clique_infection, household_infection
    from takifugu.model.beliefs.density import Density
    from takifugu.model.beliefs.meetings import cliques_of
    from takifugu.model.beliefs.networks.network import BayesianNetwork
    from takifugu.model.beliefs.networks.network_files import read_network
    from takifugu.model.beliefs.populations import FromPopulations
    from takifugu.model.beliefs.records.counted_parameters import CountedParameters
    from takifugu.model.beliefs.records.normal import MultivariateNormal
    from takifugu.model.beliefs.records.normal_region import NormalRegion
    from takifugu.model.beliefs.records.parameters import Parameters
    from takifugu.model.beliefs.records.records import Records
    from takifugu.model.beliefs.table import JointTable
    from takifugu.model.beliefs.users import IndependentUsers
    from takifugu.model.frameworks import Pufferfish, between
    from takifugu.model.queries import (
        AtMost,
        By,
        Count,
        CountAbove,
        CountRows,
        CrossTable,
        EachValue,
        Histogram,
        Identity,
        Linear,
        Mean,
        Median,
        Mode,
        Quantile,
        Statistic,
        Sum,
        Together,
        TopK,
        Visitors,
    )
    from takifugu.model.secrets.declared_properties import dataset_property, distribution_parameter
    from takifugu.model.secrets.of_entries import attribute, entry, every_entry, presence
    from takifugu.model.secrets.of_populations import which_population
    from takifugu.model.secrets.properties import Named
    from takifugu.numbers.densities.normal import Normal, NormalMixture
    from takifugu.numbers.densities.tabulated import Tabulated
    from takifugu.numbers.densities.truncated import Truncated
    from takifugu.numbers.densities.uniform_mean import UniformMean
    from takifugu.numbers.distributions.pmf import Pmf
    from takifugu.numbers.transport.on_the_line import monotone_plan, w_infinity
    from takifugu.releasing.advice.advice import advise
    from takifugu.releasing.advice.forecast import forecast
    from takifugu.releasing.certificates.cells import read_table
    from takifugu.releasing.draft.text import draft
    from takifugu.releasing.postprocess.marginals import marginals
    from takifugu.releasing.postprocess.reconcile import reconcile
    from takifugu.releasing.publishing.library import charge, release
    from takifugu.releasing.publishing.resuming import resume
    from takifugu.releasing.publishing.run import release_file
    from takifugu.releasing.report.document import report_html
    from takifugu.releasing.study import open_study

__all__ = [
    "AtMost",
    "BayesianNetwork",
    "BinaryChainInterval",
    "By",
    "ChainRegion",
    "CliqueInfection",
    "Count",
    "CountAbove",
    "CountRows",
    "CountedParameters",
    "CrossTable",
    "Density",
    "EachValue",
    "FromPopulations",
    "Histogram",
    "Identity",
    "IndependentPieces",
    "IndependentUsers",
    "JointTable",
    "Linear",
    "MarkovChain",
    "MarkovChainClass",
    "Mean",
    "Median",
    "Mode",
    "MultivariateNormal",
    "Named",
    "Normal",
    "NormalMixture",
    "NormalRegion",
    "Parameters",
    "PeriodicChain",
    "Pmf",
    "Pufferfish",
    "Quantile",
    "Records",
    "Statistic",
    "Sum",
    "Tabulated",
    "TakifuguError",
    "Together",
    "TopK",
    "Truncated",
    "UniformMean",
    "Visitors",
    "__version__",
    "advise",
    "attribute",
    "between",
    "calibrate",
    "calibrate_jointly",
    "charge",
    "clique_infection",
    "cliques_of",
    "compare",
    "compose",
    "dataset_property",
    "distribution_parameter",
    "draft",
    "entry",
    "entry_budget",
    "errors",
    "event_level_loss",
    "every_entry",
    "forecast",
    "household_infection",
    "marginals",
    "monotone_plan",
    "open_study",
    "presence",
    "promise_if_belief_off",
    "read_network",
    "read_table",
    "reconcile",
    "release",
    "release_file",
    "report_html",
    "resume",
    "true_delta",
    "true_loss",
    "w_infinity",
    "which_population",
    "with_scale",
]

_MODULES = {
    "takifugu.model.beliefs.chains.chain": ("BinaryChainInterval", "MarkovChain", "MarkovChainClass"),
    "takifugu.model.beliefs.chains.chain_region": ("ChainRegion",),
    "takifugu.model.beliefs.contacts": ("CliqueInfection", "clique_infection", "household_infection"),
    "takifugu.model.beliefs.density": ("Density",),
    "takifugu.model.beliefs.meetings": ("cliques_of",),
    "takifugu.model.beliefs.networks.network": ("BayesianNetwork",),
    "takifugu.model.beliefs.networks.network_files": ("read_network",),
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
    "takifugu.calibration.entry_budget": ("entry_budget",),
    "takifugu.calibration.event_level": ("event_level_loss",),
    "takifugu.calibration.jointly": ("calibrate_jointly",),
    "takifugu.accounting.composition": ("compose",),
    "takifugu.model.frameworks": ("Pufferfish", "between"),
    "takifugu.numbers.densities.normal": ("Normal", "NormalMixture"),
    "takifugu.numbers.densities.tabulated": ("Tabulated",),
    "takifugu.numbers.densities.truncated": ("Truncated",),
    "takifugu.numbers.densities.uniform_mean": ("UniformMean",),
    "takifugu.numbers.distributions.pmf": ("Pmf",),
    "takifugu.numbers.transport.on_the_line": ("monotone_plan", "w_infinity"),
    "takifugu.model.queries": (
        "AtMost", "By", "Count", "CountAbove", "CountRows", "CrossTable", "EachValue", "Histogram", "Identity",
        "Linear", "Mean", "Median", "Mode", "Quantile", "Statistic", "Sum", "Together", "TopK", "Visitors",
    ),
    "takifugu.releasing.advice.advice": ("advise",),
    "takifugu.releasing.advice.forecast": ("forecast",),
    "takifugu.releasing.certificates.cells": ("read_table",),
    "takifugu.releasing.draft.text": ("draft",),
    "takifugu.releasing.publishing.library": ("charge", "release"),
    "takifugu.releasing.postprocess.marginals": ("marginals",),
    "takifugu.releasing.postprocess.reconcile": ("reconcile",),
    "takifugu.releasing.report.document": ("report_html",),
    "takifugu.releasing.publishing.resuming": ("resume",),
    "takifugu.releasing.publishing.run": ("release_file",),
    "takifugu.releasing.study": ("open_study",),
    "takifugu.analysis.robustness": ("promise_if_belief_off",),
    "takifugu.audit": ("true_delta", "true_loss"),
    "takifugu.model.secrets.of_entries": ("attribute", "entry", "every_entry", "presence"),
    "takifugu.model.secrets.of_populations": ("which_population",),
    "takifugu.model.secrets.declared_properties": ("dataset_property", "distribution_parameter"),
    "takifugu.model.secrets.properties": ("Named",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


#: Modules that are used by a name of their own: `takifugu.asymmetric.visits()`.
_NAMED = {
    "asymmetric": "takifugu.mechanisms.one_sided",
    "audit": "takifugu.audit",
    "errors": "takifugu.core.errors",
    "local": "takifugu.mechanisms.local",
}


def __getattr__(name: str) -> object:
    if name in _NAMED:
        return import_module(_NAMED[name])
    if name not in _HOME:
        nearest = "" if name.startswith("__") else did_you_mean(name, __all__)
        raise no_attribute("takifugu", name, nearest)
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
