"""What `takifugu init` offers in comments works when it is uncommented: for every kind of file, each line and all."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from takifugu.cli import main
from takifugu.releasing.file.kinds import KINDS
from takifugu.releasing.file.loading import load

#: A line that is valid once `# ` is removed, and what its comment says beside it.
HINT = re.compile(r'# (?P<line>(?P<key>[\w."-]+) = [^#]*?)\s*(?:# (?P<words>.*))?')
WITH = re.compile(r"(?i)\bwith ([\w, ]+?)(?::|$)")
INSTEAD = re.compile(r"(?i)\binstead of ([\w, ]+?)(?:, with .*)?(?::|$)")
ODD = 'Wer?;Uhr [min];"Zu = stand";Puls'
TABLES = {
    "times": "person,when,state,weight\n" + "".join(
        f"{who},2026-01-0{1 + t // 24}T{t % 24:02}:00,{'still' if t % 3 else 'walking'},{t}.5\n"
        for who in "ab" for t in range(48)
    ),
    "numbered": "person,bout,minute,state\n" + "".join(
        f"{who},{bout},{t},{'still' if t % 3 else 'walking'}\n" for who in "ab" for bout in (1, 2) for t in range(30)
    ),
    "two numbers": "x,y\n" + "".join(f"{t}.5,{t % 7}.25\n" for t in range(40)),
    "people": "person,sex,smokes,age,height\n" + "".join(
        f"p{i},{'fm'[i % 2]},{'yes' if i % 3 else 'no'},{20 + i % 5},{160 + i}.5\n" for i in range(40)
    ),
    "visits": "who,lat,lon,hour\n" + "".join(
        f"u{t % 9},{48 + t / 1000:.5f},{11 + t % 17 / 1000:.5f},{t % 24}\n" for t in range(60)
    ),
    "pairs": "id_a,id_b,minutes\n" + "".join(f"p{t},p{(t * 7 + 1) % 40},{t % 9}\n" for t in range(40)),
    "one column": "state\n" + "still\nwalking\n" * 20,
    "odd names": ODD + "\n" + "".join(
        f"{who};{t};{'still' if t % 3 else 'walking'};{60 + t % 5}.5\n" for who in "ab" for t in range(30)
    ),
}  # fmt: skip
BIF = """network n {{}}
variable {0} {{ type discrete [ 2 ] {{ a, yes }}; }}
variable {1} {{ type discrete [ 2 ] {{ yes, no }}; }}
probability ( {0} ) {{ table 0.4, 0.6; }}
probability ( {1} | {0} ) {{ (a) 0.4, 0.6; (yes) 0.5, 0.5; }}
"""
LEVELS = BIF.replace("a, yes", "low, high").replace("yes, no", "low, high")
LEVELS = LEVELS.replace("(a)", "(low)").replace("(yes)", "(high)")
#: Kinds that a draft is written for, and `init` says of the others that it writes none.
NOT_DRAFTED = {"parameter-box"}
#: What a kind of file cannot be about: names that no BIF file has, a visit without a place, no numbers, pairs.
UNFIT = {("network", "odd names"), ("parameters", "odd names"), ("normal", "one column"), ("normal", "visits"),
         ("asymmetric", "one column"), ("contacts", "one column"), ("network", "one column"),
         ("markov-chain", "pairs"), ("markov-chain-class", "pairs")}  # fmt: skip


def public_file(kind: str, table: str, draft: str) -> str:
    """Return rows like those of the data, of other people, with the values that the draft declares."""
    separator = ";" if table == "odd names" else ","
    header, *rows = [row.split(separator) for row in TABLES[table].splitlines()[:-1]]
    names = [name.strip('"') for name in header]
    value, listed, places = (
        re.search(rf"^(?:# )?({key} = [^#\n]*)", draft, re.MULTILINE) for key in ("value", "columns", "coordinates")
    )
    declared: dict[str, tuple[str, ...]] = {}
    if kind in ("table", "independent-records"):
        assert listed is not None
        one, *other = tomllib.loads(listed[1])["columns"]
        declared = {one: ("a", "b"), other[0]: ("yes", "no")} if other else {one: ("a", "yes")}
        declared |= {name: ("10", "30") for name in declared if f"# classes = {{ {json.dumps(name)} = " in draft}
    elif value is not None:
        states = ("shop", "street") if kind == "populations" else ("still", "walking")
        declared = {tomllib.loads(value[1])["value"]: states}
    if kind == "populations" and places is not None:
        declared |= dict.fromkeys(tomllib.loads(places[1])["coordinates"], ("1.5", "2.5", "7.5"))
    if kind == "populations" and 'population = "population"' in draft:
        names, rows = [*names, "population"], [[*row, "ab"[number % 2]] for number, row in enumerate(rows)]
        header = [*header, "population"]
    declared = {name: values for name, values in declared.items() if name in names}
    for number, row in enumerate(rows):
        for name, values in declared.items():
            row[names.index(name)] = values[number % len(values)]
    return "\n".join(separator.join(row) for row in [header, *rows]) + "\n"


class Draft:
    """The draft of a release file, and the lines in it that are offered."""

    def __init__(self, folder: Path, kind: str, table: str) -> None:
        self.folder = folder
        (folder / "d.csv").write_text(TABLES[table], encoding="utf-8")
        (folder / "places.csv").write_text("place\nbar\nshop\n", encoding="utf-8")
        people = "".join(f"p{i},{'ill' if i % 3 else 'well'}\n" for i in range(40))
        (folder / "people.csv").write_text(f"person,state\n{people}", encoding="utf-8")
        (folder / "meetings.csv").write_text("one,other\na,b\np1,p2\n", encoding="utf-8")
        words = ["init", str(folder / "d.csv"), "-o", str(folder / "r.toml"), "--kind", kind, "--json"]
        done = CliRunner().invoke(main, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        self.fill_in: list[str] = json.loads(done.stdout)["fill_in"]
        self.lines = (folder / "r.toml").read_text(encoding="utf-8").splitlines()
        (folder / "public.csv").write_text(public_file(kind, table, "\n".join(self.lines)), encoding="utf-8")
        self.hints = {number: match for number, row in enumerate(self.lines) if (match := HINT.fullmatch(row))}
        assert self.hints

    def words(self, number: int) -> str:
        """What is said of a hint: beside it, or in the lines above it where the last of them ends with a colon."""
        above, one = list[str](), number - 1
        while self.lines[one].startswith("# ") and one not in self.hints:
            above.insert(0, self.lines[one].removeprefix("# "))
            one -= 1
        return self.hints[number]["words"] or (" ".join(above) if above and above[-1].endswith((":", ".")) else "")

    def named(self, pattern: re.Pattern[str], number: int) -> set[str]:
        match = pattern.search(self.words(number))
        return set(re.findall(r"[\w]+", match[1])) - {"and"} if match else set()

    def is_base(self, number: int) -> bool:
        """Whether a line is to be filled in: it stands below a comment that says so, and replaces nothing."""
        if self.words(number) and (self.named(WITH, number) or self.named(INSTEAD, number)):
            return False
        while number and (self.lines[number].startswith("# ") or not self.lines[number]):
            number -= 1
            if not self.lines[number] and not self.lines[number + 1].startswith("# "):
                return False
            if "FILL IN" in self.lines[number]:
                return True
        return False

    def with_what_it_takes(self, number: int, base: set[int]) -> set[int]:
        chosen, new = set(base), [number]
        while new:
            one = new.pop()
            gone = self.named(INSTEAD, one)
            chosen = {n for n in chosen if self.hints[n]["key"] not in gone or n == one} | {one}
            wanted = self.named(WITH, one)
            new += [n for n in self.hints if self.hints[n]["key"] in wanted and n not in chosen
                    and not (self.named(INSTEAD, n) and self.hints[n]["key"] in self.named(INSTEAD, n))]  # fmt: skip
        return chosen

    def section(self, number: int) -> str:
        return next(match[1] for row in reversed(self.lines[:number]) if (match := re.match(r"\[+(\w+)", row)))

    def is_listed(self, number: int) -> bool:
        """Whether `init` lists the key of a line as missing, or names it as what another one lacks."""
        key, section = self.hints[number]["key"].split(".")[0], self.section(number)
        lines = (line.partition(": ") for line in self.fill_in)
        return any(
            place.startswith(section) and (place.split(".")[-1] == key or re.search(rf"\b{key}\b", words))
            for place, _, words in lines
        )

    def write(self, chosen: set[int]) -> None:
        rows = [self.hints[n]["line"] if n in chosen else row for n, row in enumerate(self.lines)]
        (self.folder / "x.toml").write_text("\n".join(rows), encoding="utf-8")

    def loads(self, chosen: set[int]) -> None:
        self.write(chosen)
        load(self.folder / "x.toml")

    def write_networks(self, kind: str, table: str) -> None:
        names = [*TABLES[table].splitlines()[0].split(","), "other"]
        if kind == "network":
            offered = re.findall(r'^# variables? = \[?"(\w+)"', "\n".join(self.lines), re.MULTILINE)
            names = [*dict.fromkeys(offered), "other"]
        (self.folder / "network.bif").write_text(BIF.format(*names[:2]), encoding="utf-8")
        (self.folder / "parameters.bif").write_text(LEVELS.format(*names[:2]), encoding="utf-8")


CASES = [(kind, table) for kind in KINDS.names for table in TABLES if kind not in NOT_DRAFTED]


#: Every kind of file with two of the tables, and every table with some kinds; the others are slow together.
SOON = {
    (kind, list(TABLES)[(number + after) % len(TABLES)])
    for number, kind in enumerate(KINDS.names) for after in (0, 3)
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kind", "table"), [
    pytest.param(*case, marks=() if case in SOON else pytest.mark.slow) for case in CASES if case not in UNFIT
])  # fmt: skip
def test_every_line_that_a_draft_offers_works_when_it_is_uncommented(tmp_path: Path, kind: str, table: str) -> None:
    draft = Draft(tmp_path, kind, table)
    draft.write_networks(kind, table)
    base = {number for number in draft.hints if draft.is_base(number)}
    draft.loads(base)
    plain = set(base)
    for number in draft.hints:
        if number in base:
            continue
        chosen = draft.with_what_it_takes(number, base)
        draft.loads(chosen)
        if not draft.named(INSTEAD, number) and all(not draft.named(INSTEAD, n) for n in chosen):
            plain |= chosen
    draft.loads(plain)


#: Every place is searched for its strongest noise: two seconds, where the other kinds take a tenth of one.
PLACES = {("populations", "two numbers")}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kind", "table"), [
    pytest.param(*case, marks=() if case in SOON - PLACES else pytest.mark.slow) for case in CASES if case not in UNFIT
])  # fmt: skip
def test_what_init_lists_is_all_that_is_missing(tmp_path: Path, kind: str, table: str) -> None:
    """Whoever fills in the listed keys as the draft offers them, and nothing else, has a file that can be released."""
    draft = Draft(tmp_path, kind, table)
    draft.write_networks(kind, table)
    listed = {number for number in draft.hints if draft.is_base(number) and draft.is_listed(number)}
    draft.write(listed)
    done = CliRunner().invoke(main, ["check", str(tmp_path / "x.toml"), "--anyway"])
    assert done.exit_code == 0, done.stderr
    assert "file" in tomllib.loads((tmp_path / "x.toml").read_text(encoding="utf-8"))["source"]
