"""How a report looks: its colours by day and by night, its measures on screens and on paper.

Colours have names (variables of the style sheet), so that both palettes are read in one place. Pictures are drawn in
the colours of the day; the sheet overrides each of them by name. Print is always by day.
"""

from __future__ import annotations

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

_LAYOUT = """
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI",
  Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
main { max-width: 56rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
header { border-bottom: 3px solid var(--accent); padding-bottom: 1rem; margin-bottom: 1.5rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: .2rem 0 .4rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.6rem 0 .7rem; padding-top: .9rem;
  border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
p, ul { margin: .6rem 0; max-width: 44rem; }
ul { padding-left: 1.3rem; }
li { margin: .25rem 0; }
.kind { color: var(--faint); margin: 0; font-size: .9rem; }
.lead { font-size: 1.1rem; margin: 0; }
.note, figcaption, footer { color: var(--faint); font-size: .88rem; }
.warning { border-left: 4px solid var(--warn); background: var(--warned); color: var(--warning); padding: .6rem .9rem;
  margin: 1rem 0; max-width: none; }
.danger { border-color: var(--danger); background: var(--endangered); color: var(--endanger); font-weight: 600; }
.verdict { font-size: 1.15rem; font-weight: 600; border-left: 4px solid var(--accent); padding: .5rem .9rem;
  background: var(--tint); margin: 1.2rem 0 .6rem; max-width: none; }
.rough { border-color: var(--warn); }
.useless { border-color: var(--danger); background: var(--endangered); color: var(--endanger); }
.files { display: flex; flex-wrap: wrap; gap: .5rem .6rem; list-style: none; padding: 0; max-width: none; }
.files a { display: inline-block; border: 1px solid var(--accent); border-radius: 6px; padding: .3rem .7rem;
  color: var(--accent); text-decoration: none; }
.files a:hover { background: var(--tint); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; margin: 1.2rem 0;
  padding: 0; list-style: none; max-width: none; }
.facts li { background: var(--tint); border-radius: 6px; padding: .6rem .8rem; margin: 0; }
.facts b { display: block; font-size: 1.15rem; line-height: 1.3; }
.facts span { color: var(--faint); font-size: .85rem; }
dl { display: grid; grid-template-columns: 9.5rem 1fr; gap: .45rem 1.2rem; margin: .8rem 0; }
dt { color: var(--faint); }
dd { margin: 0; min-width: 0; }
dd + dd { grid-column: 2; }
details { margin: 2.6rem 0 .7rem; border-top: 1px solid var(--rule); padding-top: .9rem; }
details + details { margin-top: 1.2rem; }
summary { cursor: pointer; }
summary h2 { display: inline; margin: 0; padding: 0; border: 0; }
summary:focus-visible, .scroll:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
/* A shade at the side where a table goes on; at its end paper, which scrolls along, covers the shade. */
.scroll { overflow-x: auto; margin: 1rem 0 .6rem; background-repeat: no-repeat; background-image:
  linear-gradient(90deg, var(--paper) 30%, transparent), linear-gradient(270deg, var(--paper) 30%, transparent),
  linear-gradient(90deg, var(--rule), transparent), linear-gradient(270deg, var(--rule), transparent);
  background-position: 0, 100%, 0, 100%; background-size: 2.4rem 100%, 2.4rem 100%, .8rem 100%, .8rem 100%;
  background-attachment: local, local, scroll, scroll; }
table { border-collapse: collapse; font-size: .93rem; min-width: min(26rem, 100%); }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem 1.1rem .35rem 0; border-bottom: 1px solid var(--rule); }
thead th { color: var(--faint); font-weight: 600; font-size: .85rem; border-bottom: 2px solid var(--rule); }
tbody th { font-weight: 600; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.noise { color: var(--faint); font-style: italic; }
tr.chosen th, tr.chosen td { background: var(--chosen); }
tr.chosen th { box-shadow: inset 3px 0 0 var(--accent); padding-left: .6rem; }
figure { margin: 1rem 0; }
figure svg { display: block; }
.narrow { display: none; }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 0 1.5rem; }
footer { margin-top: 3rem; border-top: 1px solid var(--rule); padding-top: .8rem; }
@media (max-width: 700px) {
  main { padding: 1.2rem 1rem 2rem; }
  h1 { font-size: 1.45rem; }
  .wide { display: none; }
  .narrow { display: block; }
  .spare { display: none; }
  dl { grid-template-columns: 1fr; gap: .1rem; }
  dt { margin-top: .6rem; }
  dd + dd { grid-column: 1; }
  .gallery { grid-template-columns: 1fr; }
  dd + dd { margin-top: .4rem; }
  table { font-size: .86rem; }
  th, td { padding-right: .7rem; }
  tbody th, thead .number { white-space: normal; }
}
@page { margin: 18mm 16mm; }
@media print {
  html { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  h2 { margin-top: 1.6rem; break-after: avoid; }
  h3, caption { break-after: avoid; }
  figure, tr, li, .facts, .warning, dd, .short { break-inside: avoid; }
  .note { break-before: avoid; }
  article + article { break-before: page; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; }
  nav { display: none; }
  details::details-content { content-visibility: visible; height: auto; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def style() -> str:
    """Return the style sheet of a report."""
    night = "\n".join([_variables(NIGHT, "dark"), *night_rules()])
    by_night = f"@media screen and (prefers-color-scheme: dark) {{\n{night}\n}}"
    return "\n".join(["", _variables(DAY, "light"), _LAYOUT.strip(), *day_rules(), by_night, ""])


def _variables(colours: dict[str, str], scheme: str) -> str:
    variables = " ".join(f"--{name}: {colour};" for name, colour in colours.items())
    return f":root {{ color-scheme: {scheme}; {variables} }}"
