"""Draw what explains noise, plans and quilts, in docs/images: `python tools/pictures.py` (`make figures` does).

Colours are those of Okabe and Ito; nothing is conveyed by colour alone.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import dukpy

import takifugu as tf
from takifugu.core.text.marks import INK, drawing, words
from takifugu.core.text.pictures import Bar, bar_chart
from takifugu.core.text.scales import Axis
from takifugu.pages.explorer import SCRIPTS

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#9aa3ab"

#: The example of docs/concepts/how-it-works.md: the education of 100 people from the north and 100 from the south.
NORTH = tf.numbers.Pmf.from_counts([1, 2, 3], [40, 35, 25])
SOUTH = tf.numbers.Pmf.from_counts([1, 2, 3], [15, 45, 40])
LEVELS = {1: "basic", 2: "school", 3: "degree"}

#: The example of docs/networks.md: where each person stands, who infects whom, and the quilt {ben, dora} of cem.
PLACES = {
    "ana": (60, 100), "ben": (180, 100), "cem": (300, 100), "dora": (420, 100), "eli": (540, 100), "finn": (540, 185),
}  # fmt: skip
ARCS = (("ana", "ben"), ("ben", "cem"), ("cem", "dora"), ("dora", "eli"), ("dora", "finn"))
ROLES = {"cem": "near", "ben": "quilt", "dora": "quilt"}

#: The first page: how often a minute is like the one before, and how many minutes there are.
STAYS, MINUTES = (0.5, 0.8, 0.9, 0.95, 0.99), 100


def plan_picture() -> str:
    """Draw the monotone plan as bands from one distribution to the other; a band that slopes is a move."""
    height, top, gap, left, right = 260, 60, 22, 190, 450
    plan = tf.numbers.monotone_coupling(NORTH, SOUTH)
    moves = [(int(a), int(b), float(mass)) for a, b, mass in plan.items()]
    shapes: list[str] = []
    out: dict[int, float] = {}
    into: dict[int, float] = {}
    for place, values in ((left, out), (right, into)):
        y = float(top)
        for level in LEVELS:
            share = sum(mass for a, b, mass in moves if (a if values is out else b) == level)
            values[level], tall = y, height * share
            at, anchor = (place - 18, "end") if values is out else (place + 18, "start")
            shapes.append(f'<rect x="{place - 8}" y="{y:g}" width="16" height="{tall:g}" fill="{INK}"/>')
            shapes.append(words(at, y + tall / 2 + 4, f"{LEVELS[level]} ({level}): {share:.0%}", anchor))
            y += tall + gap
    bands = []
    for a, b, mass in moves:
        tall, y, z = height * mass, out[a], into[b]
        out[a], into[b] = y + tall, z + tall
        start, end, middle = left + 8, right - 8, (left + right) / 2
        path = (
            f"M {start} {y:g} C {middle:g} {y:g} {middle:g} {z:g} {end} {z:g} L {end} {z + tall:g} "
            f"C {middle:g} {z + tall:g} {middle:g} {y + tall:g} {start} {y + tall:g} Z"
        )
        colour, says = (GREY, "stays") if a == b else (ORANGE, f"moves by {abs(a - b)}")
        bands.append(f'<path d="{path}" fill="{colour}" fill-opacity="0.45" stroke="{colour}"/>')
        bands.append(words(middle, (y + z + tall) / 2 + 4, f"{mass:.0%} {says}", "middle"))
    heads = [words(left, 46, "from the north", "middle"), words(right, 46, "from the south", "middle")]
    return drawing(640, 380, "The plan that moves one distribution to the other", [*heads, *bands, *shapes])


def quilt_picture() -> str:
    """Draw a network with one secret node, the quilt that shields it, and what is remote."""
    fills = {"near": ORANGE, "quilt": BLUE, "remote": GREY}
    dashes = {"near": "", "quilt": ' stroke-dasharray="6 3"', "remote": ' stroke-dasharray="2 3"'}
    shapes = [
        f'<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M 0 0 L 8 4 L 0 8 Z" fill="{INK}"/></marker></defs>'
    ]
    for one, other in ARCS:
        (x, y), (u, v) = PLACES[one], PLACES[other]
        long = ((u - x) ** 2 + (v - y) ** 2) ** 0.5
        dx, dy = 34 * (u - x) / long, 34 * (v - y) / long
        shapes.append(
            f'<line x1="{x + dx:g}" y1="{y + dy:g}" x2="{u - dx:g}" y2="{v - dy:g}" stroke="{INK}" '
            'stroke-width="1.5" marker-end="url(#head)"/>'
        )
    for name, (x, y) in PLACES.items():
        role = ROLES.get(name, "remote")
        shapes.append(
            f'<circle cx="{x}" cy="{y}" r="30" fill="{fills[role]}" fill-opacity="0.25" stroke="{fills[role]}" '
            f'stroke-width="2.5"{dashes[role]}/>'
        )
        shapes += [words(x, y, name, "middle"), words(x, y + 15, {"near": "secret"}.get(role, role), "middle")]
    shapes += [
        words(30, 44, "near: the secret, covered by noise"),
        words(30, 180, "quilt: charged for what the two tell about cem"),
        words(30, 205, "remote: tells nothing that the quilt does not"),
    ]
    return drawing(620, 230, "A secret person, the quilt around them, and the rest", shapes)


def noise_picture() -> str:
    """Draw the least noise that hides each of 100 minutes, by how often a minute is like the one before."""
    bars = []
    for stay in STAYS:
        belief = tf.MarkovChain([[stay, 1 - stay], [1 - stay, stay]], length=MINUTES, states=["still", "walking"])
        framework = tf.Pufferfish(tf.every_entry(), belief)
        scale = tf.calibrate(framework, tf.Count("walking"), epsilon=1, mechanism="influence").scale
        bars.append(Bar(f"like the last in {100 * stay:.0f} %", float(f"{scale:.1f}")))
    axis = Axis(
        f"noise of a count of {MINUTES} minutes that hides every single one; 1 is enough if no minute tells of "
        f"another, and {MINUTES} hides all at once"
    )
    return bar_chart(bars, axis, "The least noise that hides one minute grows as minutes resemble each other")


#: The explorer's picture has no style sheet of its own in a file; it is dark by night, as the page is.
STEPS_STYLE = """
text { font: 13px sans-serif; fill: #1c2430 } .soft { fill: #56606e } .axis { stroke: #d9d6cd } .ink { fill: #1c2430 }
.stroke { fill: none } .bad-hue { stroke: #b23a1e; stroke-width: 1.2 } .fish-hue { stroke: #0b6e75; stroke-width: 3 }
.lid { stroke: #0b6e75; stroke-dasharray: 4 4 }
text.fish { fill: #0b6e75 }
@media (prefers-color-scheme: dark) {
text { fill: #e9e6df } .soft { fill: #a8b0ba } .axis { stroke: #38414b } .ink { fill: #e9e6df }
.bad-hue { stroke: #ff9273 } .fish-hue { stroke: #5cc4c9 } .lid { stroke: #5cc4c9 }
text.fish { fill: #5cc4c9 } }
"""


def steps_picture() -> str:
    """Draw what a reader thinks of each minute of one person, as the explorer does for its first example."""
    folder = files("takifugu.pages").joinpath("explorer")
    scripts = "\n".join(folder.joinpath(name).read_text("utf-8") for name in SCRIPTS[:-1])
    drawn: str = dukpy.evaljs(f"""{scripts}
        const settings = exampleSettings(Object.keys(EXAMPLES)[0]), model = modelOf(settings), seed = 7;
        stepsChart(WIDE, thoughtsOf(settings, model, madeUpTable(settings, model, seed), seed));""")
    head, _, body = drawn.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg" width="760" height="190"><style>{STEPS_STYLE}</style>{body}\n'


PICTURES = {
    "explorer-steps.svg": steps_picture, "noise.svg": noise_picture, "plan.svg": plan_picture,
    "quilt.svg": quilt_picture,
}  # fmt: skip

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
