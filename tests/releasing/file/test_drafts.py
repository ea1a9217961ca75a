"""What `takifugu init` writes: few lines, each in force and with a reason; what it says is missing is all that is."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from tests.support.commands import invoke, succeed
from tests.support.release_files import filled

from takifugu.releasing.file.kinds import KINDS

#: A draft has no more keys, the id of its ledger among them.
MOST_KEYS = 25
ODD = 'Wer?;Uhr [min];"Zu = stand";Puls'
TABLES = {
    "times": "person,when,state,weight\n" + "".join(
        f"{who},2026-01-0{1 + t // 24}T{t % 24:02}:00,{'still' if t % 3 else 'walking'},{t}.5\n"
        for who in "ab" for t in range(48)
    ),
    "numbered": "person,bout,minute,state\n" + "".join(
        f"{who},{bout},{t},{'still' if t % 3 else 'walking'}\n" for who in "ab" for bout in (1, 2) for t in range(30)
    ),
    "days": "pupil,day 1,day 2,day 3,day 4,day 5\n" + "".join(
        f"p{t},{','.join('xo'[t * k % 3 > 1] for k in range(5))}\n" for t in range(40)
    ),
    "one column": "minute,state\n" + "".join(f"{t},{'still' if t % 3 else 'walking'}\n" for t in range(40)),
    "odd names": ODD + "\n" + "".join(
        f"{who};{t};{'still' if t % 3 else 'walking'};{60 + t % 5}.5\n" for who in "ab" for t in range(30)
    ),
    "two numbers": "x,y\n" + "".join(f"{t}.5,{t % 7}.25\n" for t in range(40)),
    "people": "person,sex,smokes,age,height\n" + "".join(
        f"p{i},{'fm'[i % 2]},{'yes' if i % 3 else 'no'},{20 + i % 5},{160 + i}.5\n" for i in range(40)
    ),
    "visits": "who,lat,lon,hour\n" + "".join(
        f"u{t % 9},{48 + t / 1000:.5f},{11 + t % 17 / 1000:.5f},{t % 24}\n" for t in range(60)
    ),
}  # fmt: skip
#: What an owner answers of each table of rows with a time.
TIMED = {
    "times": {"rows": "samples", "unit": "person", "order": "when", "step": "1h", "value": "state"},
    "numbered": {"rows": "samples", "unit": "person", "recording": "bout", "order": "minute", "step": "1",
                 "value": "state"},
    "days": {"rows": "wide", "unit": "pupil", "order": "cast(substr(time, 5) AS bigint)", "step": "1"},
    "one column": {"rows": "samples", "unit": "-", "order": "minute", "step": "1", "value": "state"},
    "odd names": {"rows": "samples", "unit": "Wer?", "order": "Uhr [min]", "step": "1", "value": "Zu = stand"},
}  # fmt: skip
#: And of each table of people: whose a row is, and what is published where the belief names no columns.
ANSWERED = {"people": ("person", "smokes"), "two numbers": ("-", "x, y"), "odd names": ("Wer?", "Zu = stand")}
BIF = """network n {}
variable a { type discrete [ 2 ] { a, yes }; }
variable b { type discrete [ 2 ] { yes, no }; }
probability ( a ) { table 0.4, 0.6; }
probability ( b | a ) { (a) 0.4, 0.6; (yes) 0.5, 0.5; }
"""
ROWS = 'rows = [["a"], ["yes"]]\nprobabilities = ["0.75", "0.25"]'
#: What a person writes for each key that is missing, by kind; the others of a kind come with the first of them.
MISSING = {
    "markov-chain": {
        "source.value": 'value = "{0}"', "belief.states": 'states = ["still", "walking"]',
        "belief.matrix": "matrix = [[0.9, 0.1], [0.4, 0.6]]",
        "belief.units_independent": "units_independent = true",
        "belief.recordings_independent": "recordings_independent = true",
    },
    "joint-table": {"belief.rows": f'columns = ["{{0}}"]\n{ROWS}', "table.states": 'states = ["yes"]',
              "belief.units_independent": "units_independent = true"},
    "network": {"belief.file": 'file = "n.bif"', "table.states": 'states = ["yes"]',
                "belief.units_independent": "units_independent = true"},
    "users": {
        "source.value": 'value = "{0}"', "source.bins": "bins = {{ yes = [0, 50], no = [50, inf] }}",
        "belief.size": "size = 25", "belief.values": 'values = ["yes", "no"]',
        "belief.probabilities": "probabilities = [0.5, 0.5]", "belief.units_independent": "units_independent = true",
    },
    "contacts": {
        "source.file": 'file = "people.csv"', "source.unit": 'unit = "{0}"', "source.value": 'value = "{1}"',
        "belief.file": 'file = "meetings.csv"', "belief.columns": 'columns = ["one", "other"]',
        "belief.states": 'states = ["well", "ill"]', "belief.outside": "outside = 0.1", "belief.inside": "inside = 0.3",
        "table.states": 'states = ["ill"]',
    },
    "independent-records": {
        "belief.records": "records = 500", "belief.rows": f'columns = ["{{0}}"]\n{ROWS}',
        "hide": 'property = {{ attribute = "{0}", function = "share", of = "a", max_difference = "0.1" }}',
        "table.attribute": 'attribute = "{0}"', "table.states": 'states = ["yes"]',
    },
    "normal": {
        "belief.records": "records = 500", "belief.columns": 'columns = ["{0}"]',
        "belief.ranges": 'ranges = {{ "{0}" = [0, 200] }}', "belief.resolution": 'resolution = "0.1"',
        "belief.mean": "mean = [70]\ncovariance = [[100]]",
        "hide": 'property = {{ attribute = "{0}", function = "mean", max_difference = 5 }}',
        "table.attribute": 'attribute = "{0}"',
    },
    "density": {
        "belief.records": "records = 500", "belief.column": 'column = "{0}"', "belief.about": 'about = "{0}"',
        "belief.given": "given = [{{ value = 0, mean = 0, deviation = 1 }}, {{ value = 1, mean = 1, deviation = 1 }}]",
        "belief.ranges": 'ranges = {{ "{0}" = [0, 200] }}', "belief.resolution": 'resolution = "0.1"',
        "hide": 'property = {{ attribute = "{0}", function = "mean" }}', "table.attribute": 'attribute = "{0}"',
    },
    "parameters": {
        "belief.records": "records = 500",
        "belief.prior": 'prior = {{ columns = ["{0}"], rows = [["low"], ["high"]], probabilities = ["0.5", "0.5"] }}',
        "belief.columns": 'columns."{0}" = {{ values = ["no", "yes"], given = {{ low = ["0.9", "0.1"], '
        'high = ["0.6", "0.4"] }} }}',
        "hide": 'parameter = {{ attribute = "{0}" }}', "table.attribute": 'attribute = "{0}"',
        "table.states": 'states = ["yes"]',
    },
    "populations": {
        "source.value": 'value = "{0}"', "source.rows_per_person": "rows_per_person = 1",
        "belief.values": 'values = ["shop", "street"]',
        "belief.laws": 'laws = {{ home = ["0.9", "0.1"], out = ["0.2", "0.8"] }}',
        "belief.rows_independent": "rows_independent = true", "belief.units_independent": "units_independent = true",
        "belief.box": "box = {{ first = [0, 10], second = [0, 10], cells = [4, 4], metres = [2500, 2500] }}",
        "belief.reference": 'reference = {{ file = "public.csv", population = "population", smoothing = 1, '
        'confidence = 0.99 }}',
    },
    "asymmetric": {
        "source.unit": 'unit = "{0}"', "source.value": 'value = "{1}"', "belief": 'places = ["bar", "shop"]',
        "table.at_most": "at_most = 5",
    },
}  # fmt: skip
MISSING["markov-chain-class"] = MISSING["markov-chain"] | {"belief.pi": "pi = 0.1", "belief.g": "g = 0.05"}
#: Kinds whose rows are everybody's, or nobody's by name.
NAMELESS = ("users", "independent-records", "normal", "density", "parameters")


def answers(kind: str, table: str) -> dict[str, str]:
    """Return what an owner answers, as options."""
    if kind.startswith("markov-chain"):
        return TIMED[table]
    if kind == "asymmetric":
        return {"rows": "visits", "unit": "who", "value": "lon, lat" if table == "visits" else "hour"}
    unit, value = ANSWERED[table]
    if kind in ("users", "contacts"):
        value = value.partition(",")[0]  # one column
    published = {"value": value} if kind in ("users", "contacts", "populations") else {}
    return {"rows": "answers", "unit": "-" if kind in NAMELESS else unit, **published}


CASES = [
    (kind, table) for kind in MISSING
    for table in (TIMED if kind.startswith("markov-chain") else ["visits"] if kind == "asymmetric" else ANSWERED)
]  # fmt: skip


def drafted(folder: Path, kind: str, table: str) -> tuple[str, list[str]]:
    """Draft a file of this kind; return its text, and what `init` says is missing."""
    (folder / "d.csv").write_text(TABLES[table], encoding="utf-8")
    words = [part for key, word in answers(kind, table).items() for part in (f"--{key}", word)]
    done = succeed("init", folder / "d.csv", "-o", folder / "r.toml", "--kind", kind, "--yes", "--json", *words)
    return (folder / "r.toml").read_text(encoding="utf-8"), json.loads(done.stdout)["fill_in"]


def test_every_kind_is_drafted_or_refused() -> None:
    assert {*KINDS.names} == {*MISSING}


@pytest.mark.sampled(22)
@pytest.mark.parametrize(("kind", "table"), CASES)
def test_a_draft_is_short_and_every_line_in_force(tmp_path: Path, kind: str, table: str) -> None:
    text, _ = drafted(tmp_path, kind, table)
    schema, *lines = (line for line in text.splitlines() if line)
    assert schema.startswith("#:schema ")
    keys = [line for line in lines if not re.fullmatch(r"\[+\w+\]+", line)]
    keys = [key for key in keys if not key.startswith(("# ", "FROM ", "SELECT "))]  # a reason above, and lines of sql
    assert all(re.match(r"[\w.]+ = ", key) for key in keys), "a line that is not in force"
    assert len(keys) <= MOST_KEYS
    above = {line for line, before in zip(lines[1:], lines, strict=False) if before.startswith("# ")}
    unexplained = {key.partition(" ")[0] for key in keys if " # " not in key and key not in above}
    assert unexplained <= {"file"}
    said = answers(kind, table)["rows"].replace("wide", "samples")  # of columns a SELECT makes rows
    assert tomllib.loads(text)["source"].get("rows", "visits") == said
    assert not re.search(r"\b(?:walking|p7|u7|48[.]0)", text), "a value of the data"


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("kind", "table"), CASES)
def test_what_init_lists_is_all_that_is_missing(tmp_path: Path, kind: str, table: str) -> None:
    """Whoever fills in the listed keys, and nothing else, has a file that can be released."""
    (tmp_path / "n.bif").write_text(BIF, encoding="utf-8")
    people = "".join(f"p{i},{'ill' if i % 3 else 'well'}\n" for i in range(40))
    (tmp_path / "people.csv").write_text(f"person,state\n{people}", encoding="utf-8")
    (tmp_path / "meetings.csv").write_text("one,other\na,b\np1,p2\n", encoding="utf-8")
    text, missing = drafted(tmp_path, kind, table)
    draft = tomllib.loads(text)
    names = [name.strip('"') for name in TABLES[table].split("\n")[0].split(";" if table == "odd names" else ",")]
    read = [str(word) for word in draft["source"].values()]
    free = [name for name in names if name not in read] or names
    free = free if "file" in draft["source"] else ["person", "state"]  # the table of people is another one
    value = draft["source"].get("value")
    places = value if isinstance(value, list) and kind == "populations" else None
    header = ",".join(["population", *(places or ["shop"])])
    (tmp_path / "public.csv").write_text(f"{header}\n" + "a,1.5,2.5\nb,2.5,7.5\n" * 20, encoding="utf-8")
    lines: dict[str, str] = {}
    for place in {line.partition(": ")[0].replace("[0]", "") for line in missing}:
        section, *_ = place.split(".")
        words = 'source = "assumed"' if place == "belief.source" else MISSING[kind][place]
        if place == "belief" and isinstance(value, list):
            words = "grid = {{ x = [-74.3, -73.7], y = [40.5, 41.0], columns = 70, rows = 70 }}"
        if place == "belief.laws" and places:
            words = MISSING[kind]["belief.reference"]
        if place == "belief.file" and "columns" in draft["belief"]:
            words = 'file = "d.csv"'
        lines[section] = lines.get(section, "") + words.format(free[0], free[-1]) + "\n"
    (tmp_path / "x.toml").write_text(filled(text, **lines), encoding="utf-8")
    done = invoke("check", tmp_path / "x.toml", "--allow-useless")
    assert done.exit_code == 0, (missing, done.stderr)
