"""How a report looks: its colours by day and by night, its measures on screens and on paper.

Colours have names (variables of the style sheet), so that both palettes are read in one place. Pictures are drawn in
the colours of the day; the sheet overrides each of them by name. Print is always by day.
"""

from __future__ import annotations

from pathlib import Path

from takifugu.core.text.plot import day_rules, night_rules

#: The colours of the page: text, fainter text, rules, grounds, and what is marked; by day and by night.
DAY = {
    "paper": "#ffffff", "ink": "#1d2329", "faint": "#59626b", "rule": "#d8dde2", "tint": "#f3f6f8",
    "accent": "#0072b2", "chosen": "#e8f2f9", "warn": "#8a3b00", "warned": "#fdf3ea", "warning": "#5c2700",
    "danger": "#b00020", "endangered": "#fdecef", "endanger": "#7a0016",
}  # fmt: skip
NIGHT = {
    "paper": "#14181c", "ink": "#e4e8ec", "faint": "#a9b3bd", "rule": "#3a444e", "tint": "#1f262d",
    "accent": "#5db4ea", "chosen": "#17344a", "warn": "#f0a35e", "warned": "#38260f", "warning": "#fbdcb8",
    "danger": "#ff8a96", "endangered": "#451a20", "endanger": "#ffd3d7",
}  # fmt: skip
#: What is written on, of the colours above: every pair is told apart by eyes that see little.
WRITTEN = (
    ("ink", "paper"), ("ink", "tint"), ("ink", "chosen"), ("faint", "paper"), ("faint", "tint"), ("accent", "paper"),
    ("warning", "warned"), ("endanger", "endangered"),
)  # fmt: skip


def style() -> str:
    """Return the style sheet of a report."""
    layout = (Path(__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")
    night = "\n".join([_variables(NIGHT, "dark"), *night_rules()])
    by_night = f"@media screen and (prefers-color-scheme: dark) {{\n{night}\n}}"
    return "\n".join(["", _variables(DAY, "light"), layout.strip(), *day_rules(), by_night, ""])


def _variables(colours: dict[str, str], scheme: str) -> str:
    variables = " ".join(f"--{name}: {colour};" for name, colour in colours.items())
    return f":root {{ color-scheme: {scheme}; {variables} }}"
