"""Draw what explains noise, plans and quilts, in docs/images: `python tools/pictures.py` (`make figures` does).

Colours are those of Okabe and Ito; nothing is conveyed by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import takifugu as tf

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
BLUE, ORANGE, GREY, INK = "#0072b2", "#d55e00", "#9aa3ab", "#222222"
STYLE = 'font-family="system-ui, sans-serif" font-size="13"'

#: The example of docs/plans.md: the education of 100 people from the north and 100 from the south.
NORTH = tf.Pmf.from_counts([1, 2, 3], [40, 35, 25])
SOUTH = tf.Pmf.from_counts([1, 2, 3], [15, 45, 40])
LEVELS = {1: "basic", 2: "school", 3: "degree"}

#: The example of docs/networks.md: where each person stands, who infects whom, and the quilt {ben, dora} of cem.
PLACES = {"ana": (60, 90), "ben": (180, 90), "cem": (300, 90), "dora": (420, 90), "eli": (540, 90), "finn": (540, 175)}
ARCS = (("ana", "ben"), ("ben", "cem"), ("cem", "dora"), ("dora", "eli"), ("dora", "finn"))
ROLES = {"cem": "near", "ben": "quilt", "dora": "quilt"}

#: The first page: how often a minute is like the one before, and how many minutes there are.
STAYS, MINUTES = (0.5, 0.8, 0.9, 0.95, 0.99), 100


def picture(width: int, height: int, title: str, shapes: Iterable[str]) -> str:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" {STYLE}>',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *shapes,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def text(x: float, y: float, words: str, anchor: str = "middle", weight: str = "normal") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-weight="{weight}" fill="{INK}">{words}</text>'


def plan_picture() -> str:
    """Draw the monotone plan as bands from one distribution to the other; a band that slopes is a move."""
    height, top, gap, left, right = 260, 50, 22, 190, 450
    plan = tf.monotone_plan(NORTH, SOUTH)
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
            shapes.append(text(at, y + tall / 2 + 4, f"{LEVELS[level]} ({level}): {share:.0%}", anchor))
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
        bands.append(text(middle, (y + z + tall) / 2 + 4, f"{mass:.0%} {says}"))
    heads = [text(left, 28, "from the north", weight="bold"), text(right, 28, "from the south", weight="bold")]
    return picture(640, 370, "The plan that moves one distribution to the other", [*heads, *bands, *shapes])


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
        shapes += [text(x, y, name, weight="bold"), text(x, y + 15, {"near": "secret"}.get(role, role))]
    shapes += [
        text(30, 30, "near: the secret, covered by noise", "start"),
        text(30, 165, "quilt: charged for what the two tell about cem", "start"),
        text(30, 190, "remote: tells nothing that the quilt does not", "start"),
    ]
    return picture(620, 220, "A secret person, the quilt around them, and the rest", shapes)


def noise_picture() -> str:
    """Draw the least noise that hides each of 100 minutes, by how often a minute is like the one before."""
    left, top, width, tall, step = 190, 62, 390, 22, 36
    shapes = [text(20, 30, "Noise of a published count that hides every single one of 100 minutes", "start", "bold")]
    shapes.append(text(left - 14, top - 8, "a minute is like the last", "end"))
    for number, stay in enumerate(STAYS):
        belief = tf.MarkovChain([[stay, 1 - stay], [1 - stay, stay]], length=MINUTES, states=["still", "walking"])
        framework = tf.Pufferfish(tf.every_entry(), belief)
        scale = tf.calibrate(framework, tf.Count("walking"), epsilon=1, mechanism="influence").scale
        y, long = top + number * step, width * scale / MINUTES
        shapes.append(text(left - 14, y + tall / 2 + 5, f"in {100 * stay:.0f} %", "end"))
        shapes.append(f'<rect x="{left}" y="{y}" width="{long:.1f}" height="{tall}" fill="{BLUE}"/>')
        shapes.append(text(left + long + 8, y + tall / 2 + 5, f"{scale:.1f}", "start"))
    bottom = top + len(STAYS) * step
    ends = (1, "1: enough if no minute told of another", "start"), (MINUTES, f"{MINUTES}: for all at once", "end")
    for minutes, words, anchor in ends:
        x = left + width * minutes / MINUTES
        shapes.append(
            f'<line x1="{x:g}" y1="{top - 6}" x2="{x:g}" y2="{bottom}" stroke="{ORANGE}" stroke-width="2" '
            'stroke-dasharray="5 4"/>'
        )
        shapes.append(text(x, bottom + 18, words, anchor))
    title = "The least noise that hides one minute grows as minutes resemble each other"
    return picture(640, bottom + 34, title, shapes)


PICTURES = {"noise.svg": noise_picture, "plan.svg": plan_picture, "quilt.svg": quilt_picture}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
