"""Publish statistics about correlated data with the least noise that provably hides what must stay secret.

The public names load their modules when they are first used, so `import takifugu` itself loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from takifugu._version import __version__
from takifugu.errors import TakifuguError, did_you_mean

if TYPE_CHECKING:
    from takifugu import errors
    from takifugu.beliefs.chain import MarkovChain, MarkovChainClass
    from takifugu.beliefs.chain_interval import BinaryChainInterval
    from takifugu.beliefs.chain_region import ChainRegion
    from takifugu.beliefs.contacts import CliqueInfection, clique_infection, cliques_of, household_infection
    from takifugu.beliefs.density import Density
    from takifugu.beliefs.network import BayesianNetwork
    from takifugu.beliefs.network_files import read_network
    from takifugu.beliefs.normal import MultivariateNormal
    from takifugu.beliefs.parameter_box import Affine, ParameterBox
    from takifugu.beliefs.parameters import Parameters
    from takifugu.beliefs.periodic_chain import PeriodicChain
    from takifugu.beliefs.pieces import IndependentPieces
    from takifugu.beliefs.populations import FromPopulations
    from takifugu.beliefs.records import Records
    from takifugu.beliefs.table import JointTable
    from takifugu.beliefs.users import IndependentUsers
    from takifugu.calibration import calibrate, compare, with_scale
    from takifugu.calibration.entry_budget import entry_budget
    from takifugu.calibration.jointly import calibrate_jointly
    from takifugu.certificates.cells import read_table
    from takifugu.composition import compose
    from takifugu.frameworks import Pufferfish, between
    from takifugu.laws.densities.normal import Normal, NormalMixture
    from takifugu.laws.densities.truncated import Truncated
    from takifugu.laws.densities.uniform_mean import UniformMean
    from takifugu.laws.pmf import Pmf
    from takifugu.laws.transport import monotone_plan, w_infinity
    from takifugu.postprocess.marginals import marginals
    from takifugu.postprocess.reconcile import reconcile
    from takifugu.queries import (
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
    from takifugu.releasing.charging import charge
    from takifugu.releasing.forecast import forecast
    from takifugu.releasing.publish import release
    from takifugu.releasing.resuming import resume
    from takifugu.releasing.run import release_file
    from takifugu.releasing.study import open_study
    from takifugu.report.document import report_html
    from takifugu.robustness import promise_if_belief_off
    from takifugu.secrets import attribute, entry, every_entry, presence
    from takifugu.secrets.populations import which_population
    from takifugu.secrets.properties import Named, dataset_property, distribution_parameter

__all__ = [
    "Affine",
    "AtMost",
    "BayesianNetwork",
    "BinaryChainInterval",
    "By",
    "ChainRegion",
    "CliqueInfection",
    "Count",
    "CountAbove",
    "CountRows",
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
    "ParameterBox",
    "Parameters",
    "PeriodicChain",
    "Pmf",
    "Pufferfish",
    "Quantile",
    "Records",
    "Statistic",
    "Sum",
    "TakifuguError",
    "Together",
    "TopK",
    "Truncated",
    "UniformMean",
    "Visitors",
    "__version__",
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
    "entry",
    "entry_budget",
    "errors",
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
    "w_infinity",
    "which_population",
    "with_scale",
]

_MODULES = {
    "takifugu.beliefs.chain": ("MarkovChain", "MarkovChainClass"),
    "takifugu.beliefs.chain_interval": ("BinaryChainInterval",),
    "takifugu.beliefs.chain_region": ("ChainRegion",),
    "takifugu.beliefs.contacts": ("CliqueInfection", "clique_infection", "cliques_of", "household_infection"),
    "takifugu.beliefs.density": ("Density",),
    "takifugu.beliefs.network": ("BayesianNetwork",),
    "takifugu.beliefs.network_files": ("read_network",),
    "takifugu.beliefs.normal": ("MultivariateNormal",),
    "takifugu.beliefs.parameter_box": ("Affine", "ParameterBox"),
    "takifugu.beliefs.parameters": ("Parameters",),
    "takifugu.beliefs.periodic_chain": ("PeriodicChain",),
    "takifugu.beliefs.pieces": ("IndependentPieces",),
    "takifugu.beliefs.populations": ("FromPopulations",),
    "takifugu.beliefs.records": ("Records",),
    "takifugu.beliefs.table": ("JointTable",),
    "takifugu.beliefs.users": ("IndependentUsers",),
    "takifugu.calibration": ("calibrate", "compare", "with_scale"),
    "takifugu.calibration.entry_budget": ("entry_budget",),
    "takifugu.calibration.jointly": ("calibrate_jointly",),
    "takifugu.composition": ("compose",),
    "takifugu.frameworks": ("Pufferfish", "between"),
    "takifugu.laws.densities.normal": ("Normal", "NormalMixture"),
    "takifugu.laws.densities.truncated": ("Truncated",),
    "takifugu.laws.densities.uniform_mean": ("UniformMean",),
    "takifugu.laws.pmf": ("Pmf",),
    "takifugu.laws.transport": ("monotone_plan", "w_infinity"),
    "takifugu.queries": (
        "AtMost", "By", "Count", "CountAbove", "CountRows", "CrossTable", "EachValue", "Histogram", "Identity",
        "Linear", "Mean", "Median", "Mode", "Quantile", "Statistic", "Sum", "Together", "TopK", "Visitors",
    ),
    "takifugu.releasing.charging": ("charge",),
    "takifugu.releasing.forecast": ("forecast",),
    "takifugu.certificates.cells": ("read_table",),
    "takifugu.releasing.publish": ("release",),
    "takifugu.postprocess.marginals": ("marginals",),
    "takifugu.postprocess.reconcile": ("reconcile",),
    "takifugu.report.document": ("report_html",),
    "takifugu.releasing.resuming": ("resume",),
    "takifugu.releasing.run": ("release_file",),
    "takifugu.releasing.study": ("open_study",),
    "takifugu.robustness": ("promise_if_belief_off",),
    "takifugu.secrets": ("attribute", "entry", "every_entry", "presence"),
    "takifugu.secrets.populations": ("which_population",),
    "takifugu.secrets.properties": ("Named", "dataset_property", "distribution_parameter"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


#: Packages that are used by their own names: `takifugu.asymmetric.visits()`.
_PACKAGES = ("asymmetric", "local")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"takifugu.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'takifugu' has no attribute {name!r}{did_you_mean(name, __all__)}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
