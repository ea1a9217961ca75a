"""Kawamoto19, distribution privacy: where a person is, without telling which population they come from (our data).

Our text of the paper ends before its experiments, so that these are ours: check-ins in New York on a 15 x 15 grid, four
attributes of a check-in that the receiver must not learn, and for every mechanism the expected loss in metres against
the epsilon of distribution privacy. It writes kawamoto2019.md and its pictures. No numbers of single users
are shown. Table 1 as printed is set beside what holds for an example, which needs no research data.
"""

from __future__ import annotations

import csv
import gzip
import math
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kawamoto.channels import planar_normals
from kawamoto.printed_sums import printed_sums
from kawamoto.rappor import rappor
from pages import EXAMPLES, IS_WHOLE, PAGES, make, pyplot, save, table, whole_command
from research_data import needed_file
from takifugu.mechanisms.local.choosing import Mechanism, largest_strength, mechanisms, optimum, strongest
from takifugu.mechanisms.local.held_out import measured_on
from takifugu.mechanisms.local.hiding import hidden_at
from takifugu.mechanisms.local.measuring import success
from takifugu.mechanisms.local.populations import Populations, populations_of
from takifugu.mechanisms.local.senders import Sender
from takifugu.model.beliefs.counted_populations import samples_of
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import calibrated

REPRODUCES = "Kawamoto and Murakami 2019 (Local Obfuscation Mechanisms for Hiding Probability Distributions), our data"

FILE = "checkins/foursquare_nyc.csv.gz"
PAGE = PAGES / "kawamoto2019.md"
COMMAND = whole_command("takifugu reproduce kawamoto2019")

#: Cells along each side of the box.
SIDE = 15 if IS_WHOLE else 10
#: The box is declared, not read off the data: degrees, and metres per degree of latitude and longitude here.
SOUTH, NORTH, WEST, EAST = 40.55, 40.99, -74.27, -73.68
METRES = (111_200.0, 84_400.0)
#: Added to the count of every cell in both populations: their supports differ otherwise.
SMOOTHING = "1/2"
HEAVIEST = 10
SOURCE = "check-ins of a research data set"
#: Noise inside tupling moves no place farther than this.
RADIUS = 10_000
DELTA = Fraction(1, 1000)
EPSILONS = tuple(Fraction(e) for e in ("1/4", "1/2", "1", "2", "4"))
DUMMIES = (1, 2, 5, 10, 20, 50) if IS_WHOLE else (1, 2, 5)
EPSILON_IN_TABLE = Fraction(1)

Row = Mapping[str, str]
ATTRIBUTES: dict[str, tuple[str, str, Callable[[Row], bool]]] = {
    "residence": ("residence", "elsewhere", lambda row: row["category"] == "Residence"),
    "weekend": ("weekend", "weekday", lambda row: row["day"] in ("Saturday", "Sunday")),
    "night": ("night", "day", lambda row: not 6 <= int(row["hour"]) < 22),
}
HEAVY = "heavy users"
#: The better of the two is shown where one of them stands for planar Laplace noise.
PLANAR = ["planar-laplace", "planar-laplace-remapped"]
FIRST = "residence"

#: How a curve is drawn: its words, colour and dashes.
LINES = {
    "exponential": ("exponential", "lightgreen", "-"),
    "randomised-response": ("randomised response", "tab:purple", "-"),
    "planar-normal": ("planar normal, renormalised", "tab:brown", "-"),
    "planar-normal-remapped": ("planar normal, remapped", "tab:brown", "--"),
    "planar-laplace": ("planar Laplace, renormalised", "tab:orange", "-"),
    "planar-laplace-remapped": ("planar Laplace, remapped", "tab:orange", "--"),
    "rappor": ("RAPPOR (sends a set of cells)", "tab:red", "-"),
    "optimal": ("optimal, the floor for one cell", "black", "-"),
}


#: The exponential mechanism lies under planar Laplace noise, which is the same family on these outputs.
WIDTHS = {"exponential": 5.0, "optimal": 2.2}


@dataclass(frozen=True, eq=False)
class LossAndGuess:
    """A mechanism at the largest strength that keeps the promise: its expected loss and who guesses the population."""

    loss: float
    guess: float


def places() -> list[tuple[float, float]]:
    """Return the middles of all cells in metres from the south-west corner, row by row from the south."""
    height, width = (NORTH - SOUTH) * METRES[0] / SIDE, (EAST - WEST) * METRES[1] / SIDE
    return [((column + 0.5) * width, (row + 0.5) * height) for row in range(SIDE) for column in range(SIDE)]


def cell(latitude: float, longitude: float) -> int:
    """Return the number of a check-in's cell; what lies outside the box goes to its border."""
    row = min(max(math.floor((latitude - SOUTH) / (NORTH - SOUTH) * SIDE), 0), SIDE - 1)
    column = min(max(math.floor((longitude - WEST) / (EAST - WEST) * SIDE), 0), SIDE - 1)
    return row * SIDE + column


@lru_cache(maxsize=1)
def rows(path: Path) -> tuple[Row, ...]:
    """Return the check-ins."""
    with gzip.open(path, "rt", encoding="utf-8") as text:
        return tuple(csv.DictReader(text))


def split(path: Path, attribute: str) -> tuple[str, str, Callable[[Row], bool]]:
    """Return the names of the two populations of an attribute, and which rows are of the first."""
    if attribute != HEAVY:
        return ATTRIBUTES[attribute]
    heavy = {user for user, _ in Counter(row["user"] for row in rows(path)).most_common(HEAVIEST)}
    return f"the {HEAVIEST} heaviest users", "the others", lambda row: row["user"] in heavy


def populations(path: Path, attribute: str) -> Populations:
    """Return the two smoothed populations of an attribute, taken for what people there are: declared, not a class."""
    return declared(counted(path, attribute, lambda user: True)[0].laws)


def counted(path: Path, attribute: str, whose: Callable[[int], bool]) -> tuple[Populations, Populations]:
    """Return the two populations of an attribute among some users: by rows, and by people, each of whom counts once."""
    where, (one, other, chosen) = places(), split(path, attribute)
    seen = [row for row in rows(path) if whose(int(row["user"]))]
    listed = [(one if chosen(row) else other, cell(float(row["lat"]), float(row["lon"]))) for row in seen]
    people = [row["user"] for row in seen]
    samples = [samples_of(listed, len(where), of) for of in (None, people)]
    by_rows, by_people = (
        populations_of(FromPopulations.counted(of, where, smoothing=SMOOTHING, source=SOURCE)) for of in samples
    )
    return by_rows, by_people


def declared(laws: Mapping[str, Mapping[Any, Fraction]]) -> Populations:
    """Return populations that are taken for what people there are."""
    return populations_of(FromPopulations(laws, source=SOURCE, supports="align"))


def held_out_table(path: Path) -> str:
    """Return what is found from the users with odd numbers, and what it gives away of those with even ones."""
    lines = []
    for attribute in ATTRIBUTES:
        by_rows, by_people = counted(path, attribute, lambda user: user % 2 == 1)
        others = as_they_are(path, attribute)
        known = declared(by_rows.laws)
        for words, people, names in (
            ("optimal, the estimate taken for the truth", known, ["optimal"]),
            ("optimal, class, rows as independent", by_rows, ["optimal"]),
            ("optimal, class, people counted once", by_people, ["optimal"]),
            ("planar Laplace, the estimate taken for the truth", known, PLANAR),
            ("planar Laplace, class, people counted once", by_people, PLANAR),
        ):
            made = [strongest(people, Fraction(EPSILON_IN_TABLE), Fraction(0), name) for name in names]
            sender = min(made, key=lambda channel: channel.expected_loss).sender
            seen = measured_on(sender, others, EPSILON_IN_TABLE)
            epsilon = "∞" if math.isinf(seen.epsilon) else f"{seen.epsilon:.2f}"
            loss, guess = f"{sender.expected_loss(others):,.0f} m", f"{100 * seen.guess:.1f} %"
            lines.append([f"{attribute}: {words}", loss, epsilon, f"{seen.delta:.3f}", guess])
        lines.append([f"{attribute}: the place itself", "0 m", "∞", "-", f"{100 * seen.before:.1f} %"])
    return table(["found from 89 users, at ε = 1", "loss", "held-out ε", "held-out δ(1)", "guess"], lines)


def as_they_are(path: Path, attribute: str) -> Populations:
    """Return the populations of the users with even numbers, unsmoothed."""
    one, other, chosen = split(path, attribute)
    seen, where = {one: Counter[int](), other: Counter[int]()}, places()
    for row in rows(path):
        if int(row["user"]) % 2 == 0:
            seen[one if chosen(row) else other][cell(float(row["lat"]), float(row["lon"]))] += 1
    laws = {
        name: {place: Fraction(counts[n], counts.total()) for n, place in enumerate(where)}
        for name, counts in seen.items()
    }
    return declared(laws)


def at_best(people: Populations, way: Mechanism, epsilon: Fraction, delta: Fraction) -> LossAndGuess | None:
    """Return a mechanism at its largest strength; None where no strength keeps the promise."""
    strength = largest_strength(way, people, epsilon, delta)
    return None if strength is None else loss_and_guess(people, way.make(strength))


def loss_and_guess(people: Populations, sender: Sender) -> LossAndGuess:
    # Delta at epsilon 0 is the total variation distance: the better of two guesses is right with (1 + TV)/2. It is
    # enclosed from above, and what is made of the value tells no more than the value.
    guess = (1 + sender.delta(people, Fraction(0))) / 2
    return LossAndGuess(sender.expected_loss(people), min(guess, success(None, *people.laws.values())))


def singles(people: Populations, epsilon: Fraction, delta: Fraction) -> dict[str, LossAndGuess]:
    """Return every mechanism that sends one value for one, and the floor of them."""
    ways = {**mechanisms(people), **planar_normals(people), "rappor": rappor(people)}
    known = {name: way for name, way in ways.items() if way is not None and name != "tupling"}
    result = {name: at_best(people, way, epsilon, delta) for name, way in known.items()}
    result["optimal"] = loss_and_guess(people, optimum(people, epsilon, delta))
    return {name: of for name, of in result.items() if of is not None}


def tuples(people: Populations, epsilon: Fraction) -> dict[int, float]:
    """Return the loss of restricted Laplace noise inside tupling by the number of dummies, where any noise suffices."""
    result = {}
    for dummies in DUMMIES:
        way = mechanisms(people, dummies, RADIUS)["tupling"]
        assert way is not None
        strength = largest_strength(way, people, epsilon, DELTA)
        if strength is not None:
            result[dummies] = way.make(strength).expected_loss(people)
    return result


Curves = dict[tuple[str, Fraction], dict[str, LossAndGuess]]


def losses_table(curves: Curves) -> str:
    """Return the expected loss of every mechanism for every attribute at epsilon 1, in metres."""
    names = list(dict.fromkeys(name for name, _ in curves))
    lines = [[LINES[m][0], *(f"{curves[name, EPSILON_IN_TABLE][m].loss:,.0f}" for name in names)] for m in LINES]
    return table([f"expected loss in metres at ε = {EPSILON_IN_TABLE}", *names], lines)


def guesses_table(before: Mapping[str, float], curves: Curves) -> str:
    """Return how often the better of two guesses is right, before and after."""
    lines = [["the place itself", *(f"{100 * guess:.1f} %" for guess in before.values())]]
    for mechanism in LINES:
        cells = [f"{100 * curves[name, EPSILON_IN_TABLE][mechanism].guess:.1f} %" for name in before]
        lines.append([LINES[mechanism][0], *cells])
    most = 100 / (1 + math.exp(-EPSILON_IN_TABLE))
    lines.append([f"at most, at ε = {EPSILON_IN_TABLE}", *[f"{most:.1f} %"] * len(before)])
    return table(["the better guess is right", *before], lines)


def tupling_table(
    tupled: Mapping[Fraction, Mapping[int, float]], loose: Mapping[Fraction, Mapping[str, LossAndGuess]]
) -> str:
    """Return the loss of tupling by k and epsilon, with the floor of those that send one value."""
    lines = []
    for dummies in DUMMIES:
        cells = [tupled[e].get(dummies) for e in EPSILONS]
        lines.append([f"k = {dummies}", *("-" if of is None else f"{of:,.0f}" for of in cells)])
    lines.append(["`optimal`, one value for one", *(f"{loose[e]['optimal'].loss:,.0f}" for e in EPSILONS)])
    return table([f"expected loss in metres at δ = {float(DELTA):g}", *(f"ε = {float(e):g}" for e in EPSILONS)], lines)


def draw_tradeoff(
    curves: Curves, loose: Mapping[Fraction, Mapping[str, LossAndGuess]], tupled: Mapping[Fraction, Mapping[int, float]]
) -> None:
    """Draw loss against epsilon for residences: without a delta, and with one and tuples."""
    plots = pyplot()
    figure, axes = plots.subplots(1, 2, figsize=(9.6, 5.6), sharey=True)
    at = [float(e) for e in EPSILONS]
    for mechanism, (words, colour, dashes) in LINES.items():
        for axis, of in zip(axes, ([curves[FIRST, e] for e in EPSILONS], [loose[e] for e in EPSILONS]), strict=True):
            drawn = [point[mechanism].loss if mechanism in point else math.nan for point in of]
            label = words if axis is axes[0] else None
            axis.plot(at, drawn, dashes, color=colour, marker=".", lw=WIDTHS.get(mechanism, 1.3), label=label)
    for number, dummies in enumerate(DUMMIES):
        drawn = [tupled[e].get(dummies, math.nan) for e in EPSILONS]
        colour = plots.get_cmap("Blues")(0.35 + 0.65 * number / (len(DUMMIES) - 1))
        axes[1].plot(at, drawn, "-", color=colour, marker="s", ms=3.5, label=f"tupling, k = {dummies}")
    for axis, title in zip(axes, ("δ = 0", f"δ = {float(DELTA):g}, with tuples of k + 1 values"), strict=True):
        axis.set(xscale="log", xlabel="ε of distribution privacy")
        axis.set_xticks(at, [f"{e:g}" for e in at])
        axis.set_xticks([], minor=True)
        axis.set_yscale("symlog", linthresh=500)
        axis.set_title(title, fontsize=10)
        axis.grid(alpha=0.25)
    ticks = [0, 250, 500, 1_000, 2_000, 5_000, 10_000, 20_000]
    axes[0].set_yticks(ticks, [f"{tick:,}" for tick in ticks])
    axes[0].set_yticks([], minor=True)
    axes[0].set_ylim(-30, 26_000)
    axes[0].set_ylabel("expected loss of the place, metres")
    figure.legend(loc="lower center", ncols=3, frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.16, 1, 1))
    save(figure, "kawamoto2019-tradeoff", COMMAND)


def draw_attributes(curves: Curves) -> None:
    """Draw loss against epsilon for each attribute."""
    plots = pyplot()
    names = list(dict.fromkeys(name for name, _ in curves))
    figure, axes = plots.subplots(1, len(names), figsize=(9.6, 3.9), sharey=True)
    at = [float(e) for e in EPSILONS]
    for axis, name in zip(axes, names, strict=True):
        for mechanism, (words, colour, dashes) in LINES.items():
            drawn = [curves[name, e][mechanism].loss for e in EPSILONS]
            label = words if axis is axes[0] else None
            axis.plot(at, drawn, dashes, color=colour, marker=".", lw=WIDTHS.get(mechanism, 1.3), label=label)
        axis.set(xscale="log", xlabel="ε")
        axis.set_xticks(at, [f"{e:g}" for e in at])
        axis.set_xticks([], minor=True)
        axis.set_title(name, fontsize=10)
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("expected loss of the place, metres")
    axes[0].set_ylim(bottom=0)
    axes[0].yaxis.set_major_formatter("{x:,.0f}")
    figure.legend(loc="lower center", ncols=3, frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.17, 1, 1))
    save(figure, "kawamoto2019-attributes", COMMAND)


@lru_cache(maxsize=1)
def people_by_attribute() -> dict[str, Populations]:
    path = needed_file(FILE)
    return {name: populations(path, name) for name in (*ATTRIBUTES, HEAVY)}


@lru_cache(maxsize=1)
def curves_without_delta() -> Curves:
    return {(name, e): singles(of, e, Fraction(0)) for name, of in people_by_attribute().items() for e in EPSILONS}


def attributes() -> dict[str, str]:
    """Draw loss against epsilon for each attribute."""
    curves = curves_without_delta()
    before = {name: success(None, *of.laws.values()) for name, of in people_by_attribute().items()}
    draw_attributes(curves)
    return {"losses": losses_table(curves), "guesses": guesses_table(before, curves)}


def tuples_of_residences() -> dict[str, str]:
    """Draw what one value costs, and tuples of values."""
    people = people_by_attribute()[FIRST]
    loose = {e: singles(people, e, DELTA) for e in EPSILONS}
    tupled = {e: tuples(people, e) for e in EPSILONS}
    draw_tradeoff(curves_without_delta(), loose, tupled)
    return {"tupling": tupling_table(tupled, loose)}


def of_street() -> dict[str, str]:
    """Return Table 1 and the theorems as printed, beside what holds, for what the example `street` sends of one row."""
    with TemporaryDirectory() as folder:
        for path in EXAMPLES.glob("street.*"):
            shutil.copy(path, folder)
        calibration: Any = calibrated(load(Path(folder) / "street.toml")).tables[0].calibrations[0]
    (belief,), (secret,) = calibration.framework.beliefs, calibration.framework.secrets
    people = hidden_at(secret, belief, populations_of(belief))
    epsilon, delta = calibration.guarantee.epsilon / belief.rows, calibration.guarantee.delta / belief.rows
    lines = printed_sums(calibration.randomiser.sender, people, epsilon, delta, belief.adds_up)
    return {"table 1": table(["statement", "as printed", "holds here", ""], [line.cells for line in lines])}


def held_out() -> dict[str, str]:
    return {"held out": held_out_table(needed_file(FILE))}


def main() -> None:
    make(PAGE, COMMAND, {
        "Table 1": of_street, "attributes": attributes, "users held out": held_out, "tupling": tuples_of_residences,
    })  # fmt: skip


if __name__ == "__main__":
    main()
