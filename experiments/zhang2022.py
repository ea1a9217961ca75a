"""Zhang22, attribute privacy: its examples and tables reproduced, with the least noise drawn beside the printed one.

Example 1 is quilts over the parameters of five columns, Examples 2 and 3 with Tables 1 and 2 the distributions of a sum
given a sensitive sum or a parameter, Section 4.3 normal columns: noise against correlation, records and epsilon. Then
Adult (`adult_attributes`). It writes the tables of experiments/zhang2022.md and its pictures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

import adult_attributes
import takifugu as tf
from normality import draw_normality, linear_parts, normality
from pages import PAGES, make, pyplot, save, table
from research_data import needed_file
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.core.errors import CalibrationRefused
from takifugu.influence.quilts.network.influence import influences
from takifugu.numbers.after_noise.gaussian import shifted_delta
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.normal.printed import printed_per_shift
from takifugu.numbers.rationals import as_delta, as_epsilon

REPRODUCES = "Zhang, Ohrimenko and Cummings 2022 (Attribute Privacy), Examples 1 to 3, Tables 1 and 2, Section 4.3"

PAGE = PAGES / "zhang2022.md"
COMMAND = "takifugu reproduce zhang2022"

#: Figure 1 has arcs and no probabilities; these are ours. The places are those of its picture.
ARCS: dict[str, tuple[str, ...]] = {
    "gender": (), "income": ("gender",), "sat": ("income",), "height": ("gender",), "weight": ("height",),
}  # fmt: skip
CHANCES: dict[str, list[Any]] = {
    "gender": [0.5, 0.5], "income": [[0.6, 0.4], [0.45, 0.55]], "sat": [[0.7, 0.3], [0.4, 0.6]],
    "height": [[0.3, 0.7], [0.65, 0.35]], "weight": [[0.8, 0.2], [0.25, 0.75]],
}  # fmt: skip
PLACES = {"gender": (1.0, 2.0), "income": (0.0, 1.0), "sat": (0.0, 0.0), "height": (2.0, 1.0), "weight": (2.0, 0.0)}
ROLES = {"secret": "tab:red", "near": "tab:orange", "quilt": "tab:blue", "remote": "0.45"}
STUDENTS = 500
#: How likely a record is "high" in a column, by the column's parameter: quilts do not depend on it.
HIGH = {0: "0.2", 1: "0.8"}
COUNTED = {
    "tall": (tf.Count("high", entries=["height"]), ("height",)),
    "tall and with a high SAT score": (tf.CountRows({"height": "high", "sat": "high"}), ("height", "sat")),
    "tall, plus those with a high score": (tf.Count("high", entries=["height", "sat"]), ("height", "sat")),
}

#: Tables 1 and 2 as printed: the sum of X_1 given the two extreme secrets.
PRINTED = {
    "1": ("0.0256 0.1536 0.3456 0.3456 0.1296", "0.1296 0.3456 0.3456 0.1536 0.0256"),
    "2": ("0.0983 0.3091 0.3643 0.1908 0.0375", "0.0375 0.1908 0.3643 0.3091 0.0983"),
}
PEOPLE = 4

#: Section 4.3: students, of whom the mean weight (kg) is published and the mean income hidden, up to d(U) apart.
WEIGHT, INCOME = 12, 9
RANGES = {"weight": (30, 200), "income": (0, 200)}
NORMAL_RECORDS, APART, DELTA, CORRELATION, WEAK = 500, 5, "1e-5", 0.5, 0.1
CORRELATIONS = tuple(float(r) for r in np.round(np.arange(-1, 1.001, 0.05), 2))
RECORDS = tuple(int(n) for n in np.unique(np.round(np.logspace(0.4, 4, 25)).astype(int)))
NORMAL_EPSILONS = tuple(float(e) for e in np.round(np.logspace(-1, math.log10(20), 25), 3))


def network() -> tf.BayesianNetwork:
    return tf.BayesianNetwork([(name, [0, 1], list(above), CHANCES[name]) for name, above in ARCS.items()])


def students() -> tf.Parameters:
    """Return Example 1: 500 students, whose columns follow the parameters of Figure 1."""
    given = {value: {"high": chance, "low": 1 - Fraction(chance)} for value, chance in HIGH.items()}
    return tf.Parameters(network(), dict.fromkeys(ARCS, given), STUDENTS)


def quilts() -> Iterator[tuple[tuple[str, ...], frozenset[str], float]]:
    """Yield the quilts of income in Figure 1: the nodes Q, the near set N, and exp of the max-influence."""
    net, others = network(), [name for name in ARCS if name != "income"]
    place = net.position("income")
    for bits in range(2 ** len(others)):
        chosen = tuple(name for k, name in enumerate(others) if bits >> k & 1)
        numbers = [net.position(name) for name in chosen]
        near = frozenset(str(net.names[i]) for i in net.near_set(place, numbers))
        yield chosen, near, math.exp(float(influences(net, place, numbers).max()))


def scale(framework: Any, query: Any, epsilon: Any, mechanism: str, delta: Any = 0) -> float | None:
    """Return the scale that a mechanism needs, or None where it refuses."""
    try:
        calibration = tf.calibrate(framework, query, epsilon, delta=delta, mechanism=mechanism, allow_zero_noise=True)
    except CalibrationRefused:
        return None
    return 0.0 if calibration.randomiser.kind == "none" else calibration.scale


def draw_quilts() -> None:
    """Draw Figure 1 three times: without a quilt, with {gender}, and with {gender, sat}."""
    plots = pyplot()
    figure, axes = plots.subplots(1, 3, figsize=(9.6, 3.4), layout="constrained")
    by_quilt = {chosen: (near, e) for chosen, near, e in quilts()}
    for axis, chosen in zip(axes, ((), ("gender",), ("gender", "sat")), strict=True):
        near, influence = by_quilt[chosen]
        for name, (x, y) in PLACES.items():
            role = "secret" if name == "income" else "quilt" if name in chosen else "near" if name in near else "remote"
            dashes = {"quilt": "--", "remote": ":"}.get(role, "-")
            axis.add_patch(plots.Circle((x, y), 0.38, facecolor="white", edgecolor=ROLES[role], linestyle=dashes, lw=2))
            axis.text(x, y + 0.06, name, ha="center", va="center", fontsize=9)
            axis.text(x, y - 0.16, role, ha="center", va="center", fontsize=7, color=ROLES[role])
        for name, above in ARCS.items():
            for parent in above:
                arrow = {"arrowstyle": "->", "shrinkA": 29, "shrinkB": 29, "color": "0.3"}
                axis.annotate("", PLACES[name], PLACES[parent], arrowprops=arrow)
        title = " and ".join(chosen) if chosen else "nothing"
        axis.set(xlim=(-0.5, 2.5), ylim=(-0.5, 2.5), aspect="equal")
        axis.set_title(f"quilt: {title}; e(Q) = {math.log(influence):.3f}", fontsize=9)
        axis.axis("off")
    save(figure, "zhang2022-figure1", COMMAND)


def quilt_table() -> str:
    """Return what each quilt of income needs for the three counts of Example 1, at epsilon 1."""
    belief, rows = students(), []
    for chosen, near, influence in quilts():
        left = 1 - math.log(influence)
        cells = []
        for query, columns in COUNTED.values():
            moved = set(columns) & near
            reach = STUDENTS * (bool(moved) if isinstance(query, tf.CountRows) else len(moved))
            cells.append("0" if not reach and left >= 0 else "-" if left <= 0 else f"{reach / left:.2f}")
        rows.append([", ".join(chosen) or "nothing", ", ".join(sorted(near)), f"{influence:.4f}", *cells])
    framework = tf.Pufferfish(tf.distribution_parameter("income"), belief)
    for epsilon in ("1", "0.5"):
        scales = [scale(framework, query, epsilon, "attribute-quilt") for query, _ in COUNTED.values()]
        rows.append([f"**`attribute-quilt`, ε = {epsilon}**", "", "", *(f"{s:.2f}" for s in scales if s is not None)])
    return table(["quilt of income", "near", "exp e(Q)", *COUNTED], rows)


def pair(one: Any, zero: Any, records: int = PEOPLE) -> tf.Records:
    """Return Example 2: X_2 is a fair coin, and P(X_1 = 1 | X_2) is `one` or `zero`."""
    p, q = Fraction(one) / 2, Fraction(zero) / 2
    rows = [(1, 1), (0, 1), (1, 0), (0, 0)]
    common = [p, Fraction(1, 2) - p, q, Fraction(1, 2) - q]
    return tf.Records(tf.JointTable(rows, common, names=["x1", "x2"]), records)


def sensitive_sum() -> Any:
    return tf.dataset_property("x2", "sum")


def bernoulli(chances: Mapping[str, str]) -> tf.Parameters:
    """Return Example 3: phi_1 follows from phi_2, and each column is Bernoulli."""
    rows = [(present, other) for other, present in chances.items()]
    prior = tf.JointTable(rows, [Fraction(1, len(rows))] * len(rows), names=["x1", "x2"])
    columns = {
        "x1": {present: {1: present, 0: 1 - Fraction(present)} for present in chances.values()},
        "x2": {present: {1: present, 0: 1 - Fraction(present)} for present in chances},
    }
    return tf.Parameters(prior, columns, PEOPLE)


#: Example 3 at its two extremes: phi_1 = 0.6 - 0.2 phi_2.
EXTREMES = {"0.8": "0.44", "0.2": "0.56"}


def laws(belief: Any, secret: Any, query: Any = None) -> dict[str, Pmf]:
    """Return the distribution of an answer given each value of a secret, by the words for the value."""
    (part,) = Problem(tf.Pufferfish(secret, belief), query or tf.Sum("x1"), Fraction(1)).parts
    (family,) = answer_law(part).families()
    known = part.belief.alphabet(family.entry)
    return {str(known[value]): hull[0] for value, hull in family.hulls.items()}


def check_tables() -> None:
    """Compare Tables 1 and 2 with the printed numbers."""
    first = laws(pair("0.4", "0.6"), sensitive_sum())
    second = laws(bernoulli(EXTREMES), tf.distribution_parameter("x2"), tf.Count(1, entries=["x1"]))
    for number, computed in (("1", (first["0"], first["4"])), ("2", (second["0.8"], second["0.2"]))):
        for law, printed in zip(computed, PRINTED[number], strict=True):
            assert " ".join(f"{float(p):.4f}" for _, p in law.items()) == printed, f"Table {number}"


def examples() -> str:
    """Return what Examples 2 and 3 need: noise for all records, the printed scale W/epsilon, the least."""
    cases = {
        "Example 2": (tf.Pufferfish(sensitive_sum(), pair("0.4", "0.6")), tf.Sum("x1")),
        "Example 3": (
            tf.Pufferfish(tf.distribution_parameter("x2"), bernoulli(EXTREMES)), tf.Count(1, entries=["x1"]),
        ),
    }  # fmt: skip
    mechanisms = ("group-dp", "wasserstein", "laplace-exact")
    rows = []
    for (name, (framework, query)), epsilon in product(cases.items(), ("0.2", "0.5", "1")):
        scales = [scale(framework, query, epsilon, mechanism) for mechanism in mechanisms]
        rows.append([f"{name}, ε = {epsilon}", *("-" if s is None else f"{s:.4f}" for s in scales)])
    return table(["scale", *(f"`{m}`" for m in mechanisms)], rows)


#: The boxes of Example 2 and the longest move that the paper gives for each.
BOXES = {("0.4", "0.6"): 1, ("0.3", "0.7"): 2, ("0", "1"): 4}


def box(low: str, high: str) -> tf.Records:
    """Return Example 2 where p1 and p2 are known to lie between two numbers: a class of tables."""
    rows = [(1, 1), (0, 1), (1, 0), (0, 0)]
    fair = tf.JointTable(rows, [Fraction(1, 4)] * 4, names=["x1", "x2"])
    return tf.Records(fair, PEOPLE, within=[(Fraction(low) / 2, Fraction(high) / 2)] * 4)


def boxes() -> str:
    """Return what Example 2 needs at epsilon 1 where p1 and p2 lie in a box."""
    rows = []
    for (low, high), claimed in BOXES.items():
        framework = tf.Pufferfish(sensitive_sum(), box(low, high))
        scales = [
            scale(framework, tf.Sum("x1"), 1, mechanism) for mechanism in ("group-dp", "wasserstein", "laplace-exact")
        ]
        rows.append([f"p₁, p₂ between {low} and {high}", str(claimed), *(f"{s:.4f}" for s in scales if s is not None)])
    return table(["scale at ε = 1", "printed W", "`group-dp`", "`wasserstein`", "`laplace-exact`"], rows)


def tables() -> str:
    """Return Tables 1 and 2, recomputed."""
    first = laws(pair("0.4", "0.6"), sensitive_sum())
    second = laws(bernoulli(EXTREMES), tf.distribution_parameter("x2"), tf.Count(1, entries=["x1"]))
    named = {
        "Table 1, g(X₂) = 0": first["0"], "Table 1, g(X₂) = 4": first["4"],
        "Table 2, φ₂ = 0.8": second["0.8"], "Table 2, φ₂ = 0.2": second["0.2"],
    }  # fmt: skip
    rows = [[name, *(f"{float(p):.4f}" for _, p in law.items())] for name, law in named.items()]
    return table(["P(F(X) = j)", *(f"j = {j}" for j in range(PEOPLE + 1))], rows)


def normal(correlation: float, records: int) -> Any:
    """Return the framework of Section 4.3: hide the mean income, where weight and income are jointly normal."""
    shared = Fraction(str(correlation)) * WEIGHT * INCOME
    belief = tf.MultivariateNormal(
        [65, 50], [[WEIGHT**2, shared], [shared, INCOME**2]], ["weight", "income"], records, ranges=RANGES
    )
    return tf.Pufferfish(tf.dataset_property("income", "mean", max_difference=APART), belief)


def printed(correlation: float, records: int, epsilon: float) -> float:
    """Return the deviation of the noise of Section 4.3, whatever its delta really is."""
    slope = Fraction(str(correlation)) * WEIGHT / INCOME
    conditional = (1 - Fraction(str(correlation)) ** 2) * WEIGHT**2 / records
    needed = (slope * APART) ** 2 * printed_per_shift(as_epsilon(epsilon), as_delta(DELTA))
    return math.sqrt(max(0.0, float(needed - conditional)))


CASES_IN_TABLE = ((0.5, 500, 1.0), (0.1, 500, 1.0), (0.05, 20, 1.0), (0.5, 500, 5.0), (0.5, 500, 10.0))
#: What the expected absolute error of normal noise is, in deviations.
MEAN_ERROR = math.sqrt(2 / math.pi)
LINES = {
    "group-dp": ("all records (group-dp)", "0.5", ":"),
    "printed": ("Algorithm 1, as printed", "tab:red", "--"),
    "attribute-gaussian-exact": ("the least normal noise (ours)", "tab:blue", "-"),
    "wasserstein": ("Laplace noise for the shift, δ = 0", "tab:green", "-."),
}


def normal_errors(correlation: float, records: int, epsilon: float) -> dict[str, float]:
    """Return the expected absolute error of each line, in kg."""
    framework, query = normal(correlation, records), tf.Mean("weight")

    def needed(mechanism: str, delta: Any = 0) -> float:
        noise = scale(framework, query, epsilon, mechanism, delta)
        return math.nan if noise is None else noise

    return {
        "group-dp": needed("group-dp"), "printed": MEAN_ERROR * printed(correlation, records, epsilon),
        "attribute-gaussian-exact": MEAN_ERROR * needed("attribute-gaussian-exact", DELTA),
        "wasserstein": needed("wasserstein"),
    }  # fmt: skip


def draw_normal() -> None:
    """Draw the expected error against the correlation, the number of records, and epsilon."""
    plots = pyplot()
    figure, axes = plots.subplots(1, 3, figsize=(9.6, 3.4), sharey=True, layout="constrained")
    panels = {
        "correlation": [(r, normal_errors(r, NORMAL_RECORDS, 1.0)) for r in CORRELATIONS],
        "records": [(n, normal_errors(WEAK, n, 1.0)) for n in RECORDS],
        "ε": [(e, normal_errors(CORRELATION, NORMAL_RECORDS, e)) for e in NORMAL_EPSILONS],
    }
    titles = (f"{NORMAL_RECORDS} records, ε = 1", f"correlation {WEAK}, ε = 1", f"correlation {CORRELATION}")
    for axis, title, (name, points) in zip(axes, titles, panels.items(), strict=True):
        for line, (label, colour, style) in LINES.items():
            curve = [(x, at_point[line] or math.nan) for x, at_point in points]
            axis.semilogy(*zip(*curve, strict=True), style, color=colour, label=label)
        axis.set(xlabel=name, **({} if name == "correlation" else {"xscale": "log"}))
        axis.set_title(title, fontsize=9)
    axes[0].set_ylabel("expected error of the mean weight, kg")
    axes[2].legend(frameon=False, fontsize=7, loc="lower left")
    save(figure, "zhang2022-normal", COMMAND)


def normal_table() -> str:
    """Return the errors at some points of the picture, and the exact delta of the printed constant."""
    rows = []
    for correlation, records, epsilon in CASES_IN_TABLE:
        by_line = normal_errors(correlation, records, epsilon)
        shift = Fraction(str(correlation)) * WEIGHT / INCOME * APART
        credit = (1 - Fraction(str(correlation)) ** 2) * WEIGHT**2 / records
        whole = max(credit, shift**2 * printed_per_shift(Fraction(str(epsilon)), Fraction(DELTA)))
        real = shifted_delta(shift**2 / whole, epsilon)
        case = f"correlation {correlation:g}, n = {records}, ε = {epsilon:g}"
        rows.append([case, *(f"{by_line[line]:.3f}" for line in LINES), f"{real:.3g}"])
    return table(["expected error, kg", *(label for label, _, _ in LINES.values()), "exact δ of the printed"], rows)


def quilted() -> dict[str, str]:
    """Draw Figure 1, and return the table of its quilts."""
    draw_quilts()
    return {"quilts": quilt_table()}


def printed_tables() -> dict[str, str]:
    """Return Tables 1 and 2 beside ours, Examples 1 to 3, and the laws of a sum in a box."""
    check_tables()
    return {"tables": tables(), "examples": examples(), "boxes": boxes()}


def normal_columns() -> dict[str, str]:
    """Draw the noise of normal columns, Section 4.3, and return its table."""
    draw_normal()
    return {"normal": normal_table()}


def on_adult() -> dict[str, str]:
    """Draw how often a guess about Adult is right and how normal its columns are; return what their noise costs."""
    others = adult_attributes.people(needed_file(adult_attributes.OTHERS))
    chosen = adult_attributes.cases(others)
    curves, guesses = adult_attributes.guesses(others, chosen)
    adult_attributes.draw_guesses(curves, COMMAND)
    parts = linear_parts(adult_attributes.numbers(others), "hours", "education")
    draw_normality(parts, "zhang2022-normality", COMMAND)
    normal_or_not = normality(parts, adult_attributes.RECORDS)
    return {"adult": adult_attributes.errors(chosen), "normality": normal_or_not, "guesses": guesses}


def main() -> None:
    make(PAGE, COMMAND, {
        "Figure 1": quilted, "Tables 1 and 2": printed_tables, "Section 4.3": normal_columns, "Adult": on_adult,
    })  # fmt: skip


if __name__ == "__main__":
    main()
