"""Every remedy that is printed for a faulty file is pasted into it: the message goes, or another one comes.

`advise` tells all faults of the data at once, and `release` refuses nothing that it did not tell.
"""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.releasing.advice.test_advice import of_example
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.releases import put

import takifugu as tf
from takifugu.core.errors import TakifuguError
from takifugu.data.times import moments
from takifugu.releasing.advice.checking import check

TIMES = ("2026-01-05T00:00", "2026-01-05T01:00", "2026-01-05T02:00")
GOOD = [("p", TIMES[0], "y"), ("p", TIMES[1], "n"), ("q", TIMES[0], "y"), ("q", TIMES[2], "n")]
#: Rows that break a rule, beside good ones.
FLAWS = {
    "no name": ("", TIMES[2], "y"),
    "no state": ("p", TIMES[2], ""),
    "two in one step": ("p", TIMES[1], "y"),
    "another state": ("q", TIMES[1], "maybe"),
    "no time": ("q", "", "y"),
    "before the calendar": ("q", "2026-01-04T00:00", "y"),
}  # fmt: skip
#: What rows say, and the keys that go with it.
ROWS = {
    "samples": {},
    "changes": {"roster": ["p", "q"], "default_state": "n"},
    "events": {"roster": ["p", "q"], "default_state": "n"},
    "stays": {"roster": ["p", "q"], "default_state": "n", "duration": ["minutes", "1min"]},
}
LINE = re.compile(r"""(?<![\w.])([a-z_]+) = (\{[^{}]*\}|\[[^\[\]]*\]|"[^"]*"|[\d.]+|true|false)(?: or "[^"]*")?""")


def sequences(folder: Path, rows: str, flaws: list[str]) -> Path:
    lines = [*GOOD, *map(FLAWS.__getitem__, flaws)]
    if rows == "stays":
        header = "who,when,state,minutes"
        table = "\n".join([header, *(",".join([*line, "30"]) for line in lines)])
    else:
        table = "\n".join(["who,when,state", *map(",".join, lines)])
    text = release_text(
        read_from("s", "data.csv", rows=rows, unit="who", value="state", step="1h", from_="2026-01-05",
                  until="2026-01-06", budget=5, order="when", **ROWS[rows]),
        believe("markov-chain", states=["y", "n"], matrix=[[0.5, 0.5], [0.5, 0.5]], source="a test",
                units_independent=True),
        publish("t", "count", states=["y"], epsilon=1, per="pooled"), expect=EXPECT,
    )  # fmt: skip
    return put(folder, {"release.toml": text, "data.csv": table + "\n"})


USERS = release_text(
    read_from("s", "data.csv", value="answer", group="ward", budget=5),
    '[belief]\nkind = "users"\nsource = "a test"\n\n'
    '[[belief.groups]]\nname = "A"\nsize = 3\nvalues = ["y", "n", "no answer"]\nprobabilities = [0.5, 0.3, 0.2]\n\n'
    '[[belief.groups]]\nname = "B"\nsize = 3\nvalues = ["y", "n", "no answer"]\nprobabilities = [0.5, 0.3, 0.2]',
    publish("t", "count", states=["y"], epsilon=1), expect=EXPECT,
)  # fmt: skip
ANSWERS = ["A,y", "A,n", "A,y", "B,n", "B,y", "B,n"]
#: Files of users with a fault: rows, and how many faults there are.
OF_USERS = {
    "a missing answer": ([*ANSWERS[:5], "B,"], 1),
    "several answers in one": ([*ANSWERS[:5], "B,y;n"], 1),
    "one row too few": (ANSWERS[:5], 1),
    "another group": ([*ANSWERS[:5], "C,y"], 1),
    "all at once": (["A,", "A,y;n", "C,y", "B,n"], 4),
}  # fmt: skip

PEOPLE = release_text(
    read_from("people", "data.csv", unit="person", budget=5),
    believe("joint-table", source="a test", units_independent=True, columns=["origin", "level"],
            rows=[["n", 1], ["n", 2], ["s", 1], ["s", 2]], counts=[4, 3, 3, 4]),
    publish("level", "identity", attribute="level", epsilon=1), expect={**EXPECT, "matters": 9},
)  # fmt: skip
OF_PEOPLE = {
    "no name": "Ana,n,1\nBo,s,2\n,s,1",
    "a missing value": "Ana,n,1\nBo,,2",
    "another value": "Ana,n,1\nBo,x,2",
    "twice": "Ana,n,1\nAna,s,2",
}


def problems_of(path: Path, ask=tf.advise) -> list[str]:
    """Return what a command says is wrong with a file, a line for each fault."""
    try:
        ask(path)
    except TakifuguError as error:
        return list(getattr(error, "problems", None) or [error.line])
    return []


def remedies_in(line: str) -> list[tuple[str, str, str]]:
    """Return what a message says to write: the section, the key and its value."""
    remedies = []
    for match in LINE.finditer(line):
        section = "[belief]" if "under [belief]" in line[match.end() : match.end() + 40] else "[source]"
        remedies.append((section, match[1], match[2]))
    return remedies


def pasted(path: Path, section: str, key: str, value: str, folder: Path) -> Path:
    """Return the file with a key of a section written, in place of what it said there."""
    text = path.read_text(encoding="utf-8")
    before, header, after = text.partition(f"{section}\n")
    within, blank, rest = after.partition("\n\n")
    within = re.sub(rf"(?m)^{key} = .*\n?", "", within).rstrip("\n")
    text = f"{before}{header}{within}\n{key} = {value}{blank}{rest}"
    return put(folder, {"release.toml": text, "data.csv": path.with_name("data.csv").read_text(encoding="utf-8")})


def check_remedies(path: Path, folder: Path) -> int:
    """Paste each remedy of each message alone, and see that this message is gone; return how many there were."""
    many = 0
    for line in problems_of(path):
        for number, (section, key, value) in enumerate(remedies_in(line)):
            if key in PLACEHOLDERS:
                continue
            many += 1
            after = problems_of(pasted(path, section, key, value, folder / f"{many}-{number}"))
            problem = line.split(";")[0]
            assert not any(other.startswith(problem) for other in after), (line, key, value, after)
            assert not any(f".{key}: " in other and "missing values" not in other for other in after), (key, after)
    return many


#: Keys whose printed value is an example to be filled in.
PLACEHOLDERS = ("missing", "map", "order_format", "step", "header", "timezone", "columns")


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("flaw", FLAWS)
def test_what_is_printed_for_sequences_helps(rows: str, flaw: str, tmp_path: Path) -> None:
    check_remedies(sequences(tmp_path / "file", rows, [flaw]), tmp_path)


def test_some_remedies_were_pasted(tmp_path: Path) -> None:
    """The suite reads what is printed: it would notice if messages lost their remedies."""
    many = 0
    for number, flaw in enumerate(("no name", "no state", "two in one step")):
        folder = tmp_path / str(number)
        folder.mkdir()
        many += check_remedies(sequences(folder / "file", "samples", [flaw]), folder)
    assert many >= 3


@pytest.mark.parametrize("name", OF_USERS)
def test_all_that_is_wrong_with_users_is_told_at_once(name: str, tmp_path: Path) -> None:
    rows, many = OF_USERS[name]
    path = put(tmp_path / "file", {"release.toml": USERS, "data.csv": "\n".join(["ward,answer", *rows]) + "\n"})
    lines = problems_of(path)
    assert len(lines) == many, lines
    assert {line.split(": ")[1] for line in problems_of(path, lambda file: tf.release_file(file, anyway=True))} == {
        line.split(": ")[1] for line in lines
    }


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_what_is_wrong_with_people_is_told_before_a_release(name: str, tmp_path: Path) -> None:
    path = put(tmp_path / "file", {"release.toml": PEOPLE, "data.csv": f"person,origin,level\n{OF_PEOPLE[name]}\n"})
    assert problems_of(path)
    check_remedies(path, tmp_path)


def test_a_replaced_value_that_is_printed_is_accepted(tmp_path: Path) -> None:
    rows, _ = OF_USERS["a missing answer"]
    path = put(tmp_path / "file", {"release.toml": USERS, "data.csv": "\n".join(["ward,answer", *rows]) + "\n"})
    (line,) = problems_of(path)
    ((section, key, value),) = [remedy for remedy in remedies_in(line) if remedy[1] == "missing"]
    assert not problems_of(pasted(path, section, key, value, tmp_path / "after"))


@pytest.mark.parametrize("rows", ROWS)
def test_all_faults_of_sequences_are_told_at_once(rows: str, tmp_path: Path) -> None:
    lines = problems_of(sequences(tmp_path, rows, ["no name", "no state"]))
    assert [line.split(": ")[0] for line in lines] == ["source.null_keys", "source.nulls"]


def test_what_is_good_is_published(tmp_path: Path) -> None:
    path = sequences(tmp_path, "samples", [])
    assert problems_of(path) == problems_of(path, check) == []
    assert tf.release_file(path, anyway=True).tables


def test_a_window_that_has_not_ended_is_told_before_a_release(tmp_path: Path, monkeypatch) -> None:
    path = sequences(tmp_path, "samples", [])
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('per = "pooled"', 'per = "pooled"\nfrom = "2026-01-05"\nto = "2026-01-06"'), "utf-8")
    assert "has not ended" not in " ".join(tf.advise(path).notices)
    monkeypatch.setattr(moments, "now", lambda: datetime(2026, 1, 5, 12, tzinfo=UTC))
    assert "has not ended" in " ".join(tf.advise(path).notices)
    assert "has not ended" in " ".join(check(path).notices)


@pytest.mark.parametrize("row", [",library", "p1,", "p1,moon"])
def test_what_is_wrong_with_visits_is_told_before_a_release(row: str, tmp_path: Path) -> None:
    path = of_example("venues", tmp_path)
    data = path.with_name("venues.csv")
    data.write_text(f"{data.read_text(encoding='utf-8')}{row}\n", encoding="utf-8")
    lines = problems_of(path)
    assert lines
    assert problems_of(path, lambda file: tf.release_file(file, anyway=True)) == lines
    text = path.read_text(encoding="utf-8")
    for section, key, value in [remedy for line in lines for remedy in remedies_in(line)]:
        path.write_text(text.replace(f"{section}\n", f"{section}\n{key} = {value}\n"), encoding="utf-8")
        assert not problems_of(path), key
