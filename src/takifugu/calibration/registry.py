"""The registry: one line per mechanism, in the order that breaks the last ties."""

from __future__ import annotations

from dataclasses import dataclass, replace

from takifugu.analysis.bounds import Mechanism
from takifugu.core.errors import InputError
from takifugu.core.moved import MECHANISMS
from takifugu.core.nearest import did_you_mean, nearest
from takifugu.core.plugins import promise_of_package, registered_by
from takifugu.core.registry import Registry, loaded
from takifugu.model.frameworks import OF_ROWS


@dataclass(frozen=True)
class Line:
    """A mechanism's name, itself or its place, and what "auto" and comparisons do with it."""

    #: Mechanisms of different definitions may share it.
    name: str
    #: The mechanism, or "module:attribute" (MECHANISM) of a module of `mechanisms`.
    place: str | Mechanism
    takes_delta: bool = False
    #: Why "auto" leaves it to be requested by name; comparisons show it for reference.
    baseline: str = ""
    #: The definitions of the frameworks for which its bound is proved.
    definitions: tuple[str, ...] = ("pufferfish",)
    #: Whether it is asked, unless by name, only where a belief is over records with columns.
    of_columns: bool = False
    #: Whether it always promises something about one output only: "auto" asks it for an only release.
    alone: bool = False
    #: The mechanism than which it is proved never to need less noise.
    not_below: str = ""
    #: What papers call it, and the one of these names that comparisons print.
    aliases: tuple[str, ...] = ()
    also: str = ""
    #: Whether it may choose by a declared distance.
    takes_metric: bool = False
    #: The reference page's phrase on the noise and why it is enough.
    noise: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the name and its aliases, in small letters."""
        return (self.name, *map(str.casefold, self.aliases))

    def named_as(self, name: str) -> str:
        """Return a name with the mechanism it stands for: ALap (= asymmetric-laplace)."""
        return name if name == self.name else f"{name} (= {self.name})"

    @property
    def package(self) -> str:
        """Return the package that registered the mechanism, "" for ours."""
        if isinstance(self.place, str):
            return ""
        return registered_by(self.place)

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
_A_CHOICE = "by name only: it publishes one of finitely many values"
_PRINTED = "a printed baseline"
_A_RULE = "by name only: gaussian-exact never needs more noise"

_OURS = (
    Line(
        "group-dp", "group_dp", definitions=_ANY_HYPOTHESES,
        noise="Laplace, b = D(component)/ε: everything that depends on a secret may change at once",
    ),
    Line(
        "record-dp", "record_dp",
        noise="Laplace, b = D(one value)/ε: one value changes and nothing else. Does not protect correlated data",
    ),
    Line(
        "influence", "influence",
        noise="the least Laplace b for which a recursion or a tree of bags bounds the loss by ε",
    ),
    Line(
        "quilt-exact", "quilts:EXACT", baseline=_PRINTED,
        aliases=("MQMExact", "Algorithm 2 of Song", "Algorithm 5 of Zhang"),
        noise="Laplace, b = D(near)/(ε − e(Q)): values beyond a quilt Q reveal at most e(Q)",
    ),
    Line(
        "quilt-approx", "quilts:APPROX", baseline=_PRINTED, aliases=("MQMApprox", "Algorithm 3 of Song"),
        noise="the same, with e(Q) bounded by the smallest mass and the eigengap of a reversible chain",
    ),
    Line(
        "wasserstein", "wasserstein", definitions=_ANY_HYPOTHESES, alone=True,
        aliases=(
            "Algorithm 1 of Song", "Algorithm 4 of Zhang", "kantorovich", "Kantorovich-Laplace", "Lemma 1 of Ding",
        ),
        also="= kantorovich (Lemma 1 of Ding22)",
        noise="Laplace, b = W∞/ε: the answer's distributions under the secrets are at most W∞ apart",
    ),
    Line(
        "laplace-exact", "laplace_exact", definitions=_ANY_HYPOTHESES, alone=True,
        noise="the least Laplace b after which no log-ratio exceeds ε",
    ),
    Line(
        "kantorovich-relaxed", "kantorovich_relaxed", definitions=_ANY_HYPOTHESES, alone=True,
        not_below="laplace-exact", aliases=("Theorem 2 of Ding",),
        noise="Laplace; the moves of the plan are averaged, not taken at their largest",
    ),
    Line(
        "wasserstein-delta", "wasserstein_delta", takes_delta=True, definitions=_ANY_HYPOTHESES, alone=True,
        noise="Laplace, b = w/ε: all but δ of the mass moves by at most w",
    ),
    Line(
        "kantorovich-gaussian-a", "normal_by_rule:RULE_A", takes_delta=True, baseline=_A_RULE, alone=True,
        definitions=_ANY_HYPOTHESES, aliases=("Theorem 3a of Ding",),
        noise="normal, by rule (a) of Ding22 as printed, for ε ≤ 1",
    ),
    Line(
        "kantorovich-gaussian-b", "normal_by_rule:RULE_B", takes_delta=True, baseline=_A_RULE, alone=True,
        definitions=_ANY_HYPOTHESES, aliases=("Theorem 3b of Ding",),
        noise="normal, by rule (b) of Ding22 with the constant of its proof, 0.41866 (E1)",
    ),
    Line(
        "gaussian-analytic", "normal_by_rule:ANALYTIC", takes_delta=True, definitions=_ANY_HYPOTHESES, alone=True,
        noise="the least normal noise that hides a shift by W∞",
    ),
    Line(
        "influence-gaussian", "influence_gaussian", takes_delta=True, alone=True,
        noise="the least normal noise by the recursion of influence; a change counts by its L2 length",
    ),
    Line(
        "gaussian-exact", "gaussian_exact", takes_delta=True, definitions=_ANY_HYPOTHESES, alone=True,
        noise="the least normal noise after which no comparison breaks (ε, δ)",
    ),
    Line(
        "attribute-gaussian", "attribute.gaussian", takes_delta=True, definitions=_ANY_HYPOTHESES,
        of_columns=True, alone=True, aliases=("APGM", "Algorithm 1 of Zhang"),
        noise="normal, variance (cΔ/ε)² less the answer's own; used where its exact δ is kept",
    ),
    Line(
        "attribute-gaussian-exact", "attribute.gaussian_exact", takes_delta=True, definitions=_ANY_HYPOTHESES,
        of_columns=True, alone=True,
        noise="the least normal noise that keeps the exact δ, with credit for the answer's own variance",
    ),
    Line(
        "process-gaussian", "attribute.gaussian_exact:PROCESS", takes_delta=True, of_columns=True,
        noise="the least normal noise that hides every move of a value of a Gaussian process",
    ),
    Line(
        "attribute-gaussian-approx", "attribute.gaussian_approx", takes_delta=True, definitions=("attribute",),
        of_columns=True, alone=True, aliases=("Algorithm 2 of Zhang",),
        noise="normal, for a nearly normal answer: ε and δ pay for its distance from a normal one",
    ),
    Line(
        "kantorovich-exponential", "kantorovich_exponential", baseline=_A_CHOICE, definitions=_ANY_HYPOTHESES,
        aliases=("Theorem 1 of Ding",), takes_metric=True, alone=True,
        noise="one of finitely many values, with probability in proportion to e^(−η·distance)",
    ),
    Line(
        "attribute-quilt", "quilts:OF_COLUMNS", definitions=("attribute",), of_columns=True,
        aliases=("APMQM", "Algorithm 3 of Zhang"),
        noise="Laplace, b = D(columns near)/(ε − e(Q)), Q a quilt of parameters",
    ),
    Line(
        "optimal", "optimal", baseline=_A_CHOICE, definitions=_ANY_HYPOTHESES, alone=True,
        noise="the physical limit: the table of probabilities with the least mean error",
    ),
    Line(
        "asymmetric-geometric", "one_sided.asymmetric:GEOMETRIC", definitions=("asymmetric",),
        aliases=("AGeo", "Mangat"),
        noise="geometric, scale D/ε, on the side that is not dangerous",
    ),
    Line(
        "asymmetric-laplace", "one_sided.asymmetric:LAPLACE", definitions=("asymmetric",), aliases=("ALap",),
        noise="exponential, mean D/ε, rounded once away from the danger",
    ),
    Line(
        "asymmetric-sparse", "one_sided.asymmetric:SPARSE", definitions=("asymmetric",), aliases=("SALap",),
        noise='geometric, scale min(c, m)/ε, on every count: "safe" is free and never wrong, c other answers at most',
    ),
    *(
        Line(
            name, f"local.hiding:{attribute}", takes_delta=True, definitions=OF_ROWS, aliases=tuple(aliases),
            noise=noise,
        )
        for name, attribute, noise, *aliases in (
            ("randomised-response", "RESPONSE", "the value, or with some probability another one"),
            ("exponential", "EXPONENTIAL", "a value, with probability falling with its distance"),
            ("planar-laplace", "LAPLACE", "a place, with probability falling with its distance"),
            ("restricted-laplace", "RESTRICTED", "planar Laplace, cut at a radius", "restricted Laplace", "RL"),
            ("planar-laplace-remapped", "LAPLACE_REMAPPED", "planar Laplace, remapped into the box"),
            ("tupling", "TUPLING", "the value among dummies"),
            ("optimal", "OPTIMAL", "the table of probabilities with the least expected loss"),
        )
    ),
)
REGISTRY: Registry[Line] = Registry("the mechanism", {})


def _take(line: Line) -> None:
    """Register a line; InputError for an alias used by another mechanism."""
    for other in REGISTRY:
        taken = {*other.names} & {*line.names} - ({line.name} & {other.name})
        if taken:
            message = f"{min(taken)!r} would be an alias of two mechanisms, {other.name} and {line.name}"
            raise InputError(message, fix="choose another alias").at("aliases")
    REGISTRY.register(line.key, line)


for _line in _OURS:
    _take(_line)


def register(
    mechanism: Mechanism, takes_delta: bool = False, definitions: tuple[str, ...] = ("pufferfish",),
    aliases: tuple[str, ...] = (),
) -> None:  # fmt: skip
    """Register a mechanism from elsewhere, after all others; it is taken by name only.

    Raises InputError for a name or alias that is taken, and for what lacks a part of a mechanism.
    """
    missing = [part for part in ("name", "source", "cost", "bound") if not hasattr(mechanism, part)]
    if missing:
        raise InputError(f"{mechanism!r} lacks {', '.join(missing)}", rule="every mechanism has them", fix="add them")
    if mechanism.name in ("auto", *(line.name for line in REGISTRY)):
        raise InputError(f"the mechanism {mechanism.name!r} is registered already", fix="choose another name")
    line = Line(mechanism.name, mechanism, takes_delta, definitions=definitions, aliases=aliases)
    _take(replace(line, baseline=f"by name only: {promise_of_package(line.package)}"))


def find(name: str, definition: str = "") -> Line:
    """Return a mechanism's line by its name or alias; of a shared name that of the definition."""
    lines, names = list[Line](), dict.fromkeys(["auto"])
    for line in REGISTRY:
        names |= dict.fromkeys((line.name, *line.aliases))
        if name in (line.name, *line.aliases) or str(name).casefold() in line.names:
            lines.append(line)
    if lines:
        return next((line for line in lines if definition in line.definitions), lines[0])
    before = str(name).casefold()
    if before in MECHANISMS:
        file, other = MECHANISMS[before]
        what, rule = f'mechanism "{before}" is now "{other}"', ""
        if file:
            what, rule = f"the mechanism {name!r} left the package", f"experiments/{file} of a checkout has it"
        raise InputError(what, rule=rule, fix=f'write mechanism = "{other}"').at("mechanism")
    raise InputError(
        f"the mechanism is {name!r}", fix=f"write {nearest(name, names)}{did_you_mean(name, names)}"
    ).at("mechanism")
