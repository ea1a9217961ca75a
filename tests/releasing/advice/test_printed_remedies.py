"""Every remedy that is printed for a faulty file is pasted into it: the message goes, or another one comes.

`advise` tells all faults of the data at once, and `release` refuses nothing that it did not tell.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.advice.test_advice import of_example
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.releases import put

import takifugu as tf
from takifugu.core.errors import TakifuguError
from takifugu.data.sql.faults import CAUSES, RowFault
from takifugu.data.times import moments
from takifugu.releasing.advice.checking import check

TIMES = ("2026-01-05T00:00", "2026-01-05T01:00", "2026-01-05T02:00")
GOOD = [("p", TIMES[0], "y"), ("p", TIMES[1], "n"), ("q", TIMES[0], "y"), ("q", TIMES[2], "n")]
#: Rows without a name and without a state.
FLAWS = ("", TIMES[2], "y"), ("p", TIMES[2], "")
#: What rows say, and the keys that go with it.
ROWS = {
    "samples": {},
    "changes": {"roster": ["p", "q"], "default_state": "n"},
    "events": {"roster": ["p", "q"], "default_state": "n"},
    "stays": {"roster": ["p", "q"], "default_state": "n", "end": "ended"},
}
#: A line that is printed to be pasted: a key, and its value as TOML has it.
LINE = re.compile(
    r"""(?<![\w.])([a-z_]+) = (\'\'\'.*?\'\'\'|'[^']*'|\{[^{}]*\}|\[[^\[\]]*\]|"(?:[^"\\]|\\.)*"|[\d.]+|true|false)"""
)
#: What is to be filled in.
BLANKS = ("...", "%d.%m.%Y")


def study(lines: list[list[str]], header: str, states: list[str], /, **keys: Any) -> dict[str, str]:
    text = release_text(
        read_from("s", "data.csv", budget=5, **keys),
        believe("markov-chain", states=states, matrix=[[0.5, 0.5], [0.5, 0.5]], source="a test",
                units_independent=True, recordings_independent=True),
        publish("t", "count", states=states[:1], epsilon=1, per="pooled"), expect=EXPECT,
    )  # fmt: skip
    return {"release.toml": text, "data.csv": "\n".join([header, *map(",".join, lines)]) + "\n"}


def sequences(folder: Path, rows: str, *flaws: tuple[str, ...]) -> Path:
    """Write a file of four good rows and some flawed ones; stays end half an hour after they start."""
    lines = [[*line] for line in (*GOOD, *flaws)]
    header = "who,when,state"
    if rows == "stays":
        header = f"{header},ended"
        lines = [[*line, line[1][:-2] + "30" if line[1] else "2026-01-05T09:30"] for line in lines]
    times = {"step": "1h", "from_": "2026-01-05", "until": "2026-01-06"}
    keys = {"rows": rows, "unit": "who", "value": "state", "order": "when", **times, **ROWS[rows]}
    return put(folder, study(lines, header, ["y", "n"], **keys))


USERS = release_text(
    read_from("s", "data.csv", value="answer", group="ward", budget=5),
    '[belief]\nkind = "users"\nunits_independent = true\nsource = "a test"\n\n'
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
    """Return the file with a key of a section written, in place of what it said there; `sql` takes that of `file`."""
    text = path.read_text(encoding="utf-8")
    before, header, after = text.partition(f"{section}\n")
    within, blank, rest = after.partition("\n\n")
    for gone in (key, "file") if key == "sql" else (key,):
        within = re.sub(rf"(?m)^{gone} = .*\n?", "", within).rstrip("\n")
    text = f"{before}{header}{within}\n{key} = {value}{blank}{rest}"
    return put(folder, {"release.toml": text, "data.csv": path.with_name("data.csv").read_text(encoding="utf-8")})


def check_remedies(path: Path, folder: Path, filled: tuple[tuple[str, str], ...] = ()) -> int:
    """Paste each remedy of each message alone, and see that this message is gone; return how many there were.

    `filled` is what is written in place of what a remedy leaves open; one that is still open is not pasted.
    """
    many = 0
    for line in problems_of(path):
        for number, (section, key, value) in enumerate(remedies_in(line)):
            for blank, text in filled:
                value = value.replace(blank, text)
            if key in PLACEHOLDERS or any(blank in value for blank in BLANKS if not filled):
                continue
            many += 1
            after = problems_of(pasted(path, section, key, value, folder / f"{many}-{number}"))
            problem = re.sub(r"row [\d,]+.*?: ", "", line.split(";")[0])
            problems_left = [re.sub(r"row [\d,]+.*?: ", "", other) for other in after]
            assert not any(other.startswith(problem) for other in problems_left), (line, key, value, after)
            assert not any(f".{key}: " in other and "nothing in" not in other for other in after), (key, after)
    return many


#: Keys whose printed value is an example to be filled in.
PLACEHOLDERS = ("missing", "step", "timezone")


FEW = [["p", "1", "0", "y"], ["p", "1", "1", "n"], ["q", "1", "0", "y"], ["q", "1", "2", "n"]]
OFTEN = {"unit": "who", "recording": "run", "order": "t", "value": "state", "step": 1}
HOURS = {"unit": "who", "order": "t", "value": "state", "step": "1h"}
BEDS = {"unit": "who", "order": "t", "end": "end", "value": "state", "rows": "stays", "roster": ["p", "q"],
        "default_state": "n", "step": 1, "from_": 0, "until": 9}  # fmt: skip
WARDS = {**BEDS, "step": "1h", "from_": "2026-01-05", "until": "2026-01-06"}
#: For each cause of a fault the columns, the keys, the rows, and what is filled into the line that is printed.
OF_CAUSES: dict[str, tuple[str, dict[str, Any], list[list[str]], tuple[tuple[str, str], ...]]] = {
    "where unknown": ("who,run,t,state,kind", {**OFTEN, "where": "kind <> 'sum'"},
                      [[*FEW[0], "row"], [*FEW[1], "sum"], [*FEW[2], ""]], ()),
    "no order": ("who,run,t,state", OFTEN, [*FEW, ["q", "1", "", "y"]], ()),
    "no time": ("who,t,state", HOURS, [["p", f"05.01.2026 0{n}:00", "y"] for n in range(4)], (("?", "?"),)),
    "no end time": ("who,t,end,state", WARDS, [["p", TIMES[0], "05.01.2026 03:00", "y"]], (("?", "?"),)),
    "no whole number": ("who,run,t,state", OFTEN, [["p", "1", "1.0", "y"], ["p", "1", "2.0", "n"]], ()),
    "no whole end": ("who,t,end,state", BEDS, [["p", "1", "3.0", "y"]], ()),
    "no unit": ("who,run,t,state", OFTEN, [*FEW, ["", "1", "0", "y"]], ()),
    "no recording": ("who,run,t,state", OFTEN, [*FEW, ["q", "", "0", "y"]], ()),
    "no value": ("who,run,t,state", OFTEN, [*FEW, ["q", "1", "3", ""]], (("...", "n"),)),
    "unknown state": ("who,run,t,state", OFTEN, [*FEW, ["q", "1", "3", " Y"]], ()),
    "no number": ("who,run,t,state", {**OFTEN, "bins": {"y": [0, 5], "n": [5, 9]}},
                  [["p", "1", "0", "2.5"], ["p", "1", "1", "7"], ["p", "1", "2", "NA"]], ()),
    "no measurement": ("who,run,t,state", {**OFTEN, "bins": {"y": [0, 5], "n": [5, 9]}},
               [["p", "1", "0", "2.5"], ["p", "1", "1", "7"], ["p", "1", "2", "NaN"]], ()),
    "blanks around": ("who,run,t,state", OFTEN, [*FEW, [" q", "1", "3", "y"]], ()),
    "number with a point": ("who,run,t,state", OFTEN, [["7.0", "1", "0", "y"], ["8.0", "1", "1", "n"]], ()),
    "fields as a name": ("who,run,t,state", OFTEN,
                         [['"{""id"": 7}"', "1", "0", "y"], ['"{""id"": 8}"', "1", "1", "n"]], ()),
    "between steps": ("who,t,state", HOURS, [["p", TIMES[0], "y"], ["p", "2026-01-05T01:20", "n"]], ()),
    "tie": ("who,run,t,state,line", OFTEN, [[*row, str(n)] for n, row in enumerate([*FEW, ["q", "1", "2", "y"]])],
            (("ORDER BY ...", "ORDER BY line"),)),
    "backwards": ("who,t,end,state", BEDS, [["p", "1", "3", "y"], ["p", "5", "4", "y"], ["q", "2", "", "y"]], ()),
    "overlap": ("who,t,end,state", WARDS, [["p", TIMES[0], TIMES[2], "y"], ["p", TIMES[1], "2026-01-05T05:00", "y"]],
                ()),
    "open": ("who,t,end,state", BEDS, [["p", "1", "", "y"], ["p", "3", "5", "y"]], (("...", "'2'"),)),
}  # fmt: skip
#: Causes without a line: only the owner knows what is meant; and those of answers, of which rows have no time.
WITHOUT_A_LINE = {
    "control character", "year", "end year", "outside", "stranger", "no bin", "no longitude",
    "no latitude",
}  # fmt: skip
OF_VISITS = {"no place", "no coordinate", "elsewhere"}
OF_ANSWERS = {"second answer"}


def test_every_cause_is_tried() -> None:
    assert {cause.name for cause in CAUSES} == {*OF_CAUSES} | WITHOUT_A_LINE | OF_ANSWERS | OF_VISITS
    for cause in CAUSES:
        assert bool(remedies_in(cause.fix)) == (cause.name not in WITHOUT_A_LINE), cause.name


@pytest.mark.parametrize("cause", OF_CAUSES)
def test_what_is_printed_for_each_cause_helps(cause: str, tmp_path: Path) -> None:
    header, keys, rows, filled = OF_CAUSES[cause]
    path = put(tmp_path / "file", study(rows, header, ["y", "n"], **keys))
    with pytest.raises(RowFault) as caught:
        tf.advise(path)
    assert caught.value.cause == cause
    assert check_remedies(path, tmp_path, filled) >= 1


def test_the_first_of_several_events_in_one_step_is_a_line_to_paste(tmp_path: Path) -> None:
    """Rows of one moment were told apart, and events of one hour remained."""
    rows = [["p", TIMES[0], "y"], ["p", "2026-01-05T00:20", "y"], ["q", TIMES[1], "y"]]
    keys = {name: value for name, value in WARDS.items() if name != "end"} | {"rows": "events"}
    path = put(tmp_path / "file", study(rows, "who,t,state", ["y", "n"], **keys))
    assert check_remedies(path, tmp_path, (("ORDER BY ...", "ORDER BY t"),)) >= 1


def test_a_second_row_of_one_step_is_one_of_its_recording_and_one_blank_is_left(tmp_path: Path) -> None:
    """The same step of another recording was once taken for a second row, and left out by what was printed."""
    rows = [*FEW, ["q", "2", "0", "y"], ["q", "1", "2", "y"]]
    path = put(tmp_path / "file", study(rows, "who,run,t,state", ["y", "n"], **OFTEN))
    (line,) = problems_of(path)
    assert 'PARTITION BY "who", "run", "t" ORDER BY ...' in line
    assert line.count("...") == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", OF_USERS)
def test_all_that_is_wrong_with_users_is_told_at_once(name: str, tmp_path: Path) -> None:
    rows, many = OF_USERS[name]
    path = put(tmp_path / "file", {"release.toml": USERS, "data.csv": "\n".join(["ward,answer", *rows]) + "\n"})
    lines = problems_of(path)
    assert len(lines) == many, lines
    refusals = problems_of(path, lambda file: tf.release_file(file, allow_useless=True))
    assert {line.split(": ")[1] for line in refusals} == {
        line.split(": ")[1] for line in lines
    }


@pytest.mark.sampled(2)
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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", ROWS)
def test_all_faults_of_sequences_are_told_at_once(rows: str, tmp_path: Path) -> None:
    lines = problems_of(sequences(tmp_path, rows, *FLAWS))
    assert [line.split(": ")[0] for line in lines] == ["source.unit", "source.value"]


def test_what_is_good_is_published(tmp_path: Path) -> None:
    path = sequences(tmp_path, "samples")
    assert problems_of(path) == problems_of(path, check) == []
    assert tf.release_file(path, allow_useless=True).tables


def test_a_window_that_has_not_ended_is_told_before_a_release(tmp_path: Path, monkeypatch) -> None:
    path = sequences(tmp_path, "samples")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('per = "pooled"', 'per = "pooled"\nfrom = "2026-01-05"\nto = "2026-01-06"'), "utf-8")
    assert "has not ended" not in " ".join(tf.advise(path).notices)
    monkeypatch.setattr(moments, "now", lambda: datetime(2026, 1, 5, 12, tzinfo=UTC))
    assert "has not ended" in " ".join(tf.advise(path).notices)
    assert "has not ended" in " ".join(check(path).notices)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", [",library", "p1,", "p1,moon"])
def test_what_is_wrong_with_visits_is_told_before_a_release(row: str, tmp_path: Path) -> None:
    path = of_example("venues", tmp_path)
    data = path.with_name("venues.csv")
    data.write_text(f"{data.read_text(encoding='utf-8')}{row}\n", encoding="utf-8")
    lines = problems_of(path)
    assert lines
    assert problems_of(path, lambda file: tf.release_file(file, allow_useless=True)) == lines
    text = path.read_text(encoding="utf-8")
    for section, key, value in [remedy for line in lines for remedy in remedies_in(line)]:
        path.write_text(text.replace(f"{section}\n", f"{section}\n{key} = {value}\n"), encoding="utf-8")
        assert not problems_of(path), key
