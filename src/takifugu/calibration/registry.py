"""The registry: one line per mechanism, in the order that breaks the last ties."""

from __future__ import annotations

from dataclasses import dataclass

from takifugu.analysis.problem import Mechanism
from takifugu.core.errors import InputError, did_you_mean, nearest
from takifugu.core.registry import Registry, loaded


@dataclass(frozen=True)
class Line:
    """A mechanism's name, the mechanism or "module:attribute" (MECHANISM), and whether it has a use for a delta.

    A module is one of `mechanisms`. Mechanisms of different definitions may share a name.

    "auto" leaves a `baseline` to be requested by name, for the reason given, and comparisons show it for reference.
    What is `alone` promises something about one output only, always: "auto" asks it where nothing else is released.
    It is proved that it never needs less noise than the one that `not_below` names.
    Its bound is proved for frameworks of these `definitions`; `of_columns` says that it requires a belief over records
    with columns, and is asked, unless by name, only where there is one.
    """

    name: str
    place: str | Mechanism
    takes_delta: bool = False
    baseline: str = ""
    definitions: tuple[str, ...] = ("pufferfish",)
    of_columns: bool = False
    alone: bool = False
    not_below: str = ""

    @property
    def leaves_room(self) -> bool:
        """Whether "auto" may take it although other releases follow."""
        return not (self.alone or self.baseline)

    def load(self) -> Mechanism:
        if not isinstance(self.place, str):
            return self.place
        module, _, attribute = self.place.partition(":")
        mechanism: Mechanism = loaded(f"mechanisms.{module}:{attribute or 'MECHANISM'}")
        return mechanism

    @property
    def key(self) -> str:
        return f"{self.name} for {' and '.join(self.definitions)}"


#: For mechanisms that look at nothing but the distribution of the answer, or at its largest change.
_ANY_HYPOTHESES = ("pufferfish", "attribute")
_A_CHOICE = (
    "for reference and by name only: it publishes one of finitely many values, and at a small epsilon nearly the same "
    "whatever the answer"
)

_OURS = (
    Line("group", "group", definitions=_ANY_HYPOTHESES),
    Line("entry", "entry"),
    Line("influence", "influence"),
    Line("quilt-exact", "quilt_exact"),
    Line("quilt-approx", "quilt_approx"),
    Line("wasserstein", "wasserstein", definitions=_ANY_HYPOTHESES, alone=True),
    Line("laplace-exact", "laplace_exact", definitions=_ANY_HYPOTHESES, alone=True),
    Line("inferential", "inferential", baseline="a baseline: its promise rests on a cited theorem, not proved here"),
    Line("kantorovich", "kantorovich", definitions=_ANY_HYPOTHESES, alone=True),
    Line(
        "kantorovich-relaxed", "kantorovich_relaxed", definitions=_ANY_HYPOTHESES, alone=True,
        not_below="laplace-exact",
    ),
    Line("wasserstein-delta", "wasserstein_delta", takes_delta=True, definitions=_ANY_HYPOTHESES, alone=True),
    Line("kantorovich-gaussian-a", "normal_by_rule:RULE_A", takes_delta=True, definitions=_ANY_HYPOTHESES, alone=True),
    Line("kantorovich-gaussian-b", "normal_by_rule:RULE_B", takes_delta=True, definitions=_ANY_HYPOTHESES, alone=True),
    Line("gaussian-analytic", "normal_by_rule:ANALYTIC", takes_delta=True, definitions=_ANY_HYPOTHESES, alone=True),
    Line("influence-gaussian", "influence_gaussian", takes_delta=True, alone=True),
    Line("gaussian-exact", "gaussian_exact", takes_delta=True, definitions=_ANY_HYPOTHESES, alone=True),
    Line(
        "attribute-gaussian", "attribute.gaussian", takes_delta=True, definitions=_ANY_HYPOTHESES,
        of_columns=True, alone=True,
    ),
    Line(
        "attribute-gaussian-exact", "attribute.gaussian_exact", takes_delta=True, definitions=_ANY_HYPOTHESES,
        of_columns=True, alone=True,
    ),
    Line(
        "attribute-gaussian-approx", "attribute.gaussian_approx", takes_delta=True, definitions=("attribute",),
        of_columns=True, alone=True,
    ),
    Line("kantorovich-exponential", "kantorovich_exponential", baseline=_A_CHOICE, definitions=_ANY_HYPOTHESES),
    Line("attribute-quilt", "attribute.quilt", definitions=("attribute",), of_columns=True),
    Line("optimal", "optimal", baseline=_A_CHOICE, definitions=_ANY_HYPOTHESES),
    Line("asymmetric-geometric", "one_sided.asymmetric_geometric", definitions=("asymmetric",)),
    Line("asymmetric-laplace", "one_sided.asymmetric_laplace", definitions=("asymmetric",)),
    Line("asymmetric-sparse", "one_sided.asymmetric_sparse", definitions=("asymmetric",)),
    Line(
        "rappor", "local.hiding:RAPPOR", takes_delta=True, definitions=("distribution",),
        baseline="by name only: it sends a set of values, and its loss is that of the closest one",
    ),
    *(
        Line(name, f"local.hiding:{attribute}", takes_delta=True, definitions=("distribution",))
        for name, attribute in (
            ("randomised-response", "RESPONSE"), ("exponential", "EXPONENTIAL"),
            ("planar-laplace", "LAPLACE"), ("planar-normal", "NORMAL"),
            ("planar-laplace-remapped", "LAPLACE_REMAPPED"), ("planar-normal-remapped", "NORMAL_REMAPPED"),
            ("tupling", "TUPLING"),
            ("optimal", "OPTIMAL"),
        )
    ),
)
REGISTRY: Registry[Line] = Registry("the mechanism", {})
for _line in _OURS:
    REGISTRY.register(_line.key, _line)


def register(
    mechanism: Mechanism, takes_delta: bool = False, baseline: str = "",
    definitions: tuple[str, ...] = ("pufferfish",),
) -> None:  # fmt: skip
    """Let calibration ask a mechanism written elsewhere, after those that are registered already.

    Raises InputError for a name that is taken, and for what lacks a part of a mechanism.
    """
    missing = [part for part in ("name", "source", "cost", "bound") if not hasattr(mechanism, part)]
    if missing:
        raise InputError(f"{mechanism!r} lacks {', '.join(missing)}", rule="every mechanism has them", fix="add them")
    if mechanism.name in ("auto", *(line.name for line in REGISTRY)):
        raise InputError(f"the mechanism {mechanism.name!r} is registered already", fix="choose another name")
    line = Line(mechanism.name, mechanism, takes_delta, baseline, definitions)
    REGISTRY.register(line.key, line)


def find(name: str, definition: str = "") -> Line:
    """Return the line of one mechanism, that of a definition where two share the name; InputError for an unknown one.

    >>> find("optimal", "distribution").place, find("optimal").place
    ('local.hiding:OPTIMAL', 'optimal')
    """
    known = [line for line in REGISTRY if line.name == name]
    if known:
        return next((line for line in known if definition in line.definitions), known[0])
    names = ["auto", *dict.fromkeys(line.name for line in REGISTRY)]
    raise InputError(
        f"the mechanism is {name!r}", fix=f"write {nearest(name, names)}{did_you_mean(name, names)}"
    ).at("mechanism")
