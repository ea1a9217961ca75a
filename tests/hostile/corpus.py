"""Hostile inputs, generated: files that somebody wrote by mistake or in bad faith, and that must be refused in words.

Each case is a few files, the command that reads them and what asks the library for the same. No case is right: whoever
reads one says so within seconds, and touches nothing.
"""

import gzip
import io
import itertools
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.workbooks import ERROR, Cell, write_workbook

from takifugu.releasing.certificates.facts import checksum_of

Content = bytes | Callable[[], bytes]

GIANT = "1e99999999"
TINY = "1e-99999999"
ESCAPE = "\x1b]0;pwned\x07\x1b[2J"

SPEC = release_text(
    read_from("study", "data.csv", unit="who", order="t", step=1, value="state", budget=10),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True),
    publish("time-use", "histogram", epsilon=1.0, mechanism="group-dp"),
    output="out", expect=EXPECT,
)  # fmt: skip
DATA = "who,t,state\n" + "".join(f"{who},{t},still\n" for who in ("ana", "ben") for t in range(20))

RECORDS = release_text(
    read_from("clinic", "data.csv"),
    believe("network", file="{file}"),
    publish("found", "count", states=["yes"], epsilon=1),
    output="out", expect=EXPECT,
)  # fmt: skip

USERS = release_text(
    read_from("users", "data.csv", value="state"),
    believe("users", size=2, values=["ill", "well"], probabilities=["0.1", "0.9"]),
    publish("ill", "count", states=["ill"], epsilon=1),
    output="out", expect=EXPECT,
)  # fmt: skip

TABLE = release_text(
    read_from("people", "data.csv"),
    believe("joint-table", source="assumed", columns=["flu"], rows=[["yes"], ["no"]], probabilities=["0.2", "0.8"]),
    publish("flu", "count", states=["yes"], epsilon=1),
    output="out", expect=EXPECT,
)  # fmt: skip

CONTACTS = release_text(
    read_from("office", "data.csv", unit="who", value="state"),
    believe("contacts", file="met.csv", columns=["a", "b"], at_least={"minutes": 5}, states=["well", "ill"],
            outside=0.1, inside=0.2),
    publish("ill", "count", states=["ill"], epsilon=1),
    output="out", expect=EXPECT,
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A name, the files of a folder, the command line that is to refuse them, and what the library is asked.

    `library` is the kind of question ("release", "certificate", "network", "ledger", "" for none) and its file.
    """

    name: str
    files: Mapping[str, Content] = field(repr=False)
    command: tuple[str, ...]
    library: tuple[str, str] = ("", "")


def corpus() -> list[Case]:
    """Return all cases, each under a name of its own."""
    kinds = (
        release_files, record_files, csv_files, parquet_files, other_data_files, bif_files, other_networks,
        certificates, ledgers, matrices, weights, options,
    )  # fmt: skip
    cases = [case for kind in kinds for case in kind()]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
    return cases


def content(given: Content) -> bytes:
    return given if isinstance(given, bytes) else given()


def _release(name: str, spec: str | bytes, files: Mapping[str, Content] | None = None) -> Case:
    text = spec.encode() if isinstance(spec, str) else spec
    contents: dict[str, Content] = {"data.csv": DATA.encode(), **(files or {}), "release.toml": text}
    return Case(name, contents, ("release", "release.toml"), ("release", "release.toml"))


def _of_kind(kind: str, file: str, name: str, made: Content, spec: str = SPEC) -> Case:
    return _release(f"{kind}: {name}", spec, {file: made})


def _changed(base: str, old: str, new: str) -> str:
    assert old in base, old
    return base.replace(old, new, 1)


#: Keys that a text is written to: the lines of SPEC that are changed, and what to, the text in place of {}.
TEXTS = {
    "epsilon": ("epsilon = 1.0", 'epsilon = "{}"'),
    "budget": ("budget = 10", 'budget = "{}"'),
    "delta": ("epsilon = 1.0", 'epsilon = 1\ndelta = "{}"'),
    "code": ('query = "histogram"', 'query = "sum"\ncodes = {{ still = "{}", walking = 0 }}'),
    "grid": ('query = "histogram"', 'query = "sum"\ncodes = {{ still = 1, walking = 0 }}\ngrid = "{}"'),
}
#: The same of keys that have values of their own.
VALUES = {
    "epsilon = {}": ("= 1.0", "= {}", ("1e300", "1e-300", "5e-324", '"1e-1000"', "inf", "nan", "9223372036854775808")),
    "matrix row {}": ("[0.8, 0.2]", "{}", (
        "[nan, 1]", "[inf, 0]", "[1e308, 1e308]", "[-1, 2]", "[1e-320, 0]", "[]", "[0.8, 0.2, 0]",
    )),
    "initial {}": ("units_independent", "initial = {}\nunits_independent", (
        "[nan, 1]", "[2, -1]", "[]", '"rest"', "[1e400, 0]",
    )),
    "{}": ("units_independent", "{}\nunits_independent", (
        "max_length = 0", "max_length = -1", f"max_length = {10**40}",
    )),
    "step {}": ("step = 1", "step = {}", (
        '"99999999999999999999s"', "1e300", "5e-324", "0", f'"{"9" * 5000}d"', '"1e9min"', "nan",
    )),
}  # fmt: skip


def release_files() -> Iterator[Case]:
    yield _release("toml: empty", "")
    yield _release("toml: nothing but a mark of byte order", b"\xef\xbb\xbf")
    yield _release("toml: binary", bytes(range(256)) * 40)
    yield _release("toml: UTF-16", SPEC.encode("utf-16"))
    yield _release("toml: Latin-1", _changed(SPEC, "study", "étude").encode("latin-1"))
    yield _release("toml: NUL", SPEC.replace("study", "stu\0dy"))
    yield _release("toml: cut", SPEC[: len(SPEC) // 2])
    yield _release("toml: key of 100,000 dots", "a" + ".a" * 100_000 + " = 1\n" + SPEC)
    yield _release("toml: header of 100,000 dots", SPEC + "[a" + ".a" * 100_000 + "]\n")
    yield _release("toml: value under 2,000 dots", "a" + ".a" * 2_000 + " = 1\n" + SPEC)
    yield _release("toml: brackets", "x = " + "[" * 100_000 + "]" * 100_000 + "\n" + SPEC)
    yield _release("toml: inline tables", "x = " + "{a=" * 50_000 + "1" + "}" * 50_000 + "\n" + SPEC)
    yield _release("toml: equals signs", "x = {" + "a=" * 200_000 + "\n" + SPEC)
    yield _release("toml: 100,000 sections", SPEC + "".join(f"[x{i}]\n" for i in range(100_000)))
    yield _release("toml: 20,000 releases", SPEC + "[[table]]\n" * 20_000)
    yield _release("toml: 20 MB of comment", b"#" + b"x" * 20_000_000)
    yield _release("toml: whole number of 100,000 digits", _changed(SPEC, "= 10", "= 1" + "0" * 100_000))
    yield _release("toml: hexadecimal of 100,000 digits", _changed(SPEC, "= 10", "= 0x1" + "0" * 100_000))
    yield _release("toml: float of a giant exponent", _changed(SPEC, "epsilon = 1.0", "epsilon = 1e99999999"))
    yield _release("toml: a date for a number", _changed(SPEC, "epsilon = 1.0", "epsilon = 2026-01-31"))
    yield _release("toml: states of 10 MB", _changed(SPEC, '"walking"]', f'"{"w" * 10_000_000}"]'))
    yield _release("toml: name of 1 MB", _changed(SPEC, '"study"', f'"{"n" * 1_000_000}"'))
    for text in (GIANT, TINY, "9" * 9_000, "1/0", "nan", "1e400", "1_e_1", "0x10", "١e9999", "-1"):
        short = text if len(text) < 20 else f"{text[:6]}..."
        for key, (old, new) in TEXTS.items():
            if (key, text) != ("code", "-1"):
                yield _release(f"toml: {key} {short}", _changed(SPEC, old, new.format(text)))
    for name, (old, new, values) in VALUES.items():
        for value in values:
            yield _release(f"toml: {name.format(value[:24])}", _changed(SPEC, old, new.format(value)))
    for name in ("CON", "nul", "Com1", "LPT9", "aux", "../up", "a/b", "x" * 65, "", "a b", "é", ".hidden", "prn"):
        yield _release(f"toml: table called {name[:9]!r}", _changed(SPEC, '"time-use"', f'"{name}"'))
    for code in ("\\u001b[2J", "\\u0007", "\\u202e", "\\u0000", "\\u200b", "\\u009b", "\\ud800"):
        yield _release(f"toml: source {code}", _changed(SPEC, '"study"', f'"{code}"'))
    yield _release("toml: unknown key of escapes", SPEC + f"[{json.dumps(ESCAPE)}]\nx = 1\n")
    yield _release("toml: unknown state of escapes", SPEC + f"states = [{json.dumps(ESCAPE)}]\n")
    for name, old, new in (
        ("an empty state", '["still", "walking"]', '["still", "walking", ""]'),
        ("a file with NUL", '"data.csv"', '"da\\u0000ta.csv"'),
        ("a file called 5,000 letters", '"data.csv"', f'"{"d" * 5_000}"'),
        ("a folder for a file", '"data.csv"', '"."'),
        ("a device for a file", '"data.csv"', '"/dev/full"'),
        ("a URL for a file", '"data.csv"', '"file:///etc/passwd"'),
        ("a ledger that is a folder", '"ledger.db"', '"."'),
        ("a ledger with NUL", '"ledger.db"', '"led\\u0000ger.db"'),
        ("a ledger nobody serves", '"ledger.db"', '"postgresql://nobody@127.0.0.1:1/x"'),
        ("a ledger of no kind", '"ledger.db"', '"gopher://x/y"'),
        ("a ledger of 5,000 letters", '"ledger.db"', f'"{"l" * 5_000}"'),
        ("an output with NUL", '"out"', '"o\\u0000ut"'),
        ("an output that is a file", '"out"', '"data.csv"'),
        ("an output of 5,000 letters", '"out"', f'"{"o" * 5_000}"'),
        ("an expression of no state", 'value = "state"', "value = \"CASE state WHEN 'x' THEN 'y' END\""),
        ("a role of 20,000 brackets", 'value = "state"', f'value = "{"(" * 20_000}state{")" * 20_000}"'),
    ):
        yield _release(f"toml: {name}", _changed(SPEC, old, new))
    for key in ("pi = 0.9\ng = 0.5", "pi = nan\ng = 0.1", "pi = 0.1\ng = inf"):
        kind = _changed(SPEC, 'kind = "markov-chain"', f'kind = "markov-chain-class"\n{key}')
        yield _release(f"toml: class {key!r}", _changed(kind, "matrix = [[0.8, 0.2], [0.3, 0.7]]\n", ""))
    for fit in ('file = "data.csv"', 'file = "."', 'file = "no.csv"', 'file = "fit.csv", smoothing = -1'):
        spec = _changed(SPEC, "matrix = [[0.8, 0.2], [0.3, 0.7]]", f"fit = {{ {fit} }}")
        yield _release(f"toml: fit {fit}", spec, {"fit.csv": DATA.encode()})
    entries = ((10**18, "still", "walking"), (-1, "still", "walking"), (0, "x", "walking"), (50, "still", "x"))
    for entry, a, b in entries:
        one = _changed(SPEC, 'unit = "who"\n', "")
        hide = f'[hide]\nkind = "one-entry"\nentry = {entry}\na = "{a}"\nb = "{b}"\n[[table]]'
        yield _release(f"toml: entry {entry} {a} {b}", _changed(one, "[[table]]", hide))


def record_files() -> Iterator[Case]:
    record, two = {"data.csv": b"flu\nyes\n"}, {"data.csv": b"state\nill\nwell\n"}
    met = {"met.csv": b"a,b,minutes\nx,y,9\n", "data.csv": b"who,state\nx,ill\ny,well\n"}
    present = 'kind = "users"\npresence = "{}"\nabsence = "removed"'
    for text in (GIANT, TINY, "1/0", "-0.2", "nan"):
        yield _release(f"table: probability {text}", _changed(TABLE, '"0.2"', f'"{text}"'), record)
        yield _release(f"users: probability {text}", _changed(USERS, '"0.1"', f'"{text}"'), two)
        yield _release(f"users: presence {text}", _changed(USERS, 'kind = "users"', present.format(text)), two)
        yield _release(f"contacts: outside {text}", _changed(CONTACTS, "outside = 0.1", f'outside = "{text}"'), met)
        if text != "-0.2":
            minutes = f"a,b,minutes\nx,y,{text}\n".encode()
            yield _release(f"contacts: minutes {text}", CONTACTS, {**met, "met.csv": minutes})
    for name, counts in (("of 10^300", f"[{10**300}, 1]"), ("below 0", "[-1, 2]")):
        counted = _changed(TABLE, 'probabilities = ["0.2", "0.8"]', f"counts = {counts}")
        yield _release(f"table: counts {name}", counted, record)
    yield _release("table: a row without a value", TABLE, {"data.csv": b'flu\n""\n'})
    yield _release("table: two rows", TABLE, {"data.csv": b"flu\nyes\nno\n"})
    yield _release("users: size of 10^9", _changed(USERS, "size = 2", f"size = {10**9}"))
    ill = {"data.csv": b"state\nill\n"}
    yield _release("users: size of 10 million", _changed(USERS, "size = 2", f"size = {10**7}"), ill)
    yield _release("contacts: a missing name", CONTACTS, {"met.csv": b"a,b,minutes\nx,,9\n"})
    yield _release("contacts: two spellings", CONTACTS, {"met.csv": "a,b,minutes\né,y,9\ne\u0301,y,9\n".encode()})
    chain = "a,b,minutes\n" + "".join(f"{i},{i + 1},9\n" for i in range(3000))
    yield _release("contacts: a ring of cliques", CONTACTS, {"met.csv": chain.encode()})
    everybody = "a,b,minutes\n" + "".join(f"{i},{j},9\n" for i, j in itertools.combinations(range(300), 2))
    all_met = {"met.csv": everybody.encode(), "data.csv": b"who,state\n1,ill\n"}
    yield _release("contacts: 300 who all met, and two of them", CONTACTS, all_met)


#: What stands below good rows.
MORE_LINES = {
    "open quote": 'ben,20,"still', "quote inside": 'ben,20,"sti"ll"', "a row too long": "ben,20,still,x,y",
    "a row too short": "ben,20", "missing states": "ben,20,", "missing units": ",20,still",
    "missing order": "ben,,still", "ties": "ben,19,still", "a tie far above": "ben,5,still",
    "two spellings of a unit": "zoé,1,still\nzoe\u0301,1,still",
    "a unit of 5,000 letters": f"{'u' * 5000},1,still", "a unit of 5,000 marks": f"u{chr(0x301) * 5000},1,still",
    **{f"a unit called {name!r}": f"{name},20,still" for name in ("a\x1b[2Jb", "a\u202eb", "\u200b", "a\x07")},
}  # fmt: skip


def csv_files() -> Iterator[Case]:
    case = partial(_of_kind, "csv", "data.csv")
    rows = DATA.split("\n", 1)[1]
    yield case("empty", b"")
    yield case("blanks", b" \n\n \n" * 1000)
    yield case("header only", b"who,t,state\n")
    yield case("no header", rows.encode())
    yield case("NUL bytes", b"\0" * 4096)
    yield case("binary", bytes(range(256)) * 100)
    yield case("UTF-16", DATA.encode("utf-16"))
    yield case("Latin-1", DATA.replace("ben", "bén").encode("latin-1"))
    yield case("half a character at the end", DATA.encode() + b"ben,99,\xc3")
    for name, line in MORE_LINES.items():
        yield case(name, (DATA + line + "\n").encode())
    yield case("two columns of one name", DATA.replace("who,t,state", "who,t,t").encode())
    yield case("columns of other names", DATA.replace("who,t,state", "a,b,c").encode())
    yield case("100,000 columns", lambda: (",".join(f"c{i}" for i in range(100_000)) + "\n").encode())
    yield case("a header of 20 MB", lambda: b"x" * 20_000_000 + b"\n1\n")
    begun, large = DATA.encode() + b"ben,20,", 33_000_000
    yield case("a last line of 33 MB", lambda: begun + b"s" * large)
    yield case("a last line of 33 MB with its end", lambda: begun + b"s" * large + b"\n")
    yield case("a line of 33 MB inside", lambda: begun + b"s" * large + b"\nben,21,still\n")
    yield case("a quoted line of 33 MB", lambda: begun + b'"' + b"s\n" * (large // 2) + b'"\n')
    yield case("33 MB of blanks before the last state", lambda: begun + b" " * large + b"bad\n")
    yield case("cut gzip", gzip.compress(DATA.encode() * 50)[:-30])
    yield case("damaged gzip", gzip.compress(DATA.encode() * 50)[:60] + b"\0" * 60)
    yield case("gzip in gzip", gzip.compress(gzip.compress(DATA.encode())))
    yield case("gzip of nothing", gzip.compress(b""))
    yield case("gzip of 1 GB without a line end", lambda: _bomb(b"a" * 1_000_000, 1000))
    yield case("gzip of 300 MB of line ends", lambda: _bomb(b"\n" * 1_000_000, 300))
    yield case("zip", b"PK\x03\x04" + b"\0" * 100)
    yield case("no state that is known", DATA.replace("still", "flying").encode())
    for tick in (GIANT, "1e99", "9" * 30, "-", "1e", "nan", "inf", "2026-02-30", "0x10", "1;2", "٣"):
        yield case(f"order {tick[:12]}", (DATA + f"ben,{tick},still\n").encode())
    for last in (10**9, 4 * 10**9, 10**15, 9 * 10**18):
        wide = _changed(SPEC, "step = 1", 'step = 1\nnulls = "unobserved"')
        yield case(f"two rows {last} steps apart", f"who,t,state\nana,0,still\nana,{last},still\n".encode(), wide)
    for data in ("escape.csv", "no.csv"):
        yield Case(f"init: {data}", {"escape.csv": b"\0\x1b"}, ("init", data))
    yield Case("init: folders in a folder", {"x/y/z.csv": DATA.encode()}, ("init", "x"))
    yield Case("init: a file that is there", {"data.csv": DATA.encode(), "release.toml": b"mine"}, ("init", "data.csv"))


def _bomb(piece: bytes, times: int) -> bytes:
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb", compresslevel=1, mtime=0) as file:
        for _ in range(times):
            file.write(piece)
    return made.getvalue()


def parquet_files() -> Iterator[Case]:
    case = partial(_of_kind, "parquet", "data.parquet", spec=SPEC.replace("data.csv", "data.parquet"))
    whole = _parquet({"who": ["ana"] * 20, "t": list(range(20)), "state": ["still"] * 20})
    (length,) = struct.unpack("<I", whole[-8:-4])
    yield case("magic only", b"PAR1")
    yield case("magic twice", b"PAR1PAR1")
    yield case("not Parquet", DATA.encode())
    yield case("cut", whole[: len(whole) // 2])
    yield case("without its end", whole[:-8])
    yield case("a footer of 4 GB", whole[:-8] + struct.pack("<I", 2**32 - 1) + b"PAR1")
    yield case("a footer of nothing", whole[:-8] + struct.pack("<I", 0) + b"PAR1")
    yield case("an encrypted footer", whole[:-4] + b"PARE")
    yield case("zeros in the footer", whole[: -8 - length] + b"\0" * length + whole[-8:])
    for at in range(4):
        place = len(whole) - 8 - length + at
        yield case(f"a byte changed in the footer, {at}", whole[:place] + b"\xff" + whole[place + 1 :])
    yield case("zeros in the pages", whole[:4] + b"\0" * 200 + whole[204:])
    yield case("no rows", _parquet({"who": [], "t": [], "state": []}))
    yield case("no columns", lambda: _parquet({}))
    yield case("other columns", _parquet({"a": [1], "b": [2], "c": [3]}))
    yield case("lists", _parquet({"who": [["ana"]], "t": [1], "state": [["still"]]}))
    yield case("structs", _parquet({"who": ["ana"], "t": [1], "state": [{"a": 1}]}))
    yield case("bytes", _parquet({"who": ["ana"], "t": [1], "state": [b"still\xff"]}))
    yield case("numbers for states", _parquet({"who": ["ana"], "t": [1], "state": [1.5]}))
    yield case("no number for an order", _parquet({"who": ["ana"], "t": [float("nan")], "state": ["still"]}))
    yield case("no values at all", _parquet({"who": [None], "t": [None], "state": [None]}))
    yield case("a text of 1 MB, a million times", lambda: _repeated(1_000_000, 1_000_000))
    yield case("a text of 10 KB, ten million times", lambda: _repeated(10_000, 10_000_000))
    yield case("two spellings", _parquet({"who": ["é", "e\u0301"], "t": [1, 2], "state": ["still"] * 2}))
    yield case("a control in a name", _parquet({"who": ["a\x1bb"], "t": [1], "state": ["still"]}))


def other_data_files() -> Iterator[Case]:
    def case(name: str, file: str, made: Content, keys: str = "") -> Case:
        spec = SPEC.replace('file = "data.csv"', f'file = "{file}"\n{keys}')
        return _release(f"{file}: {name}", spec, {file.replace("*", "1"): made})

    line = b'{"who": "ana", "t": 0, "state": "still"}\n'
    for name, made in {
        "nothing": b"\n", "no JSON": line + b"{", "nested": b'{"who": {"a": 1}}\n', "deep": b'{"who": ' + b"[" * 10**6,
        "two names": b'{"who": 1, "who": 2}\n', "not UTF-8": b'{"who": "\xff"}\n',
        "a command": line.replace(b"ana", b"\\u001b[2J"), "a unit without letters": line.replace(b"ana", b"\\u200b"),
        "half a character": line.replace(b"ana", b"\\ud800"), "giant": line.replace(b"0", GIANT.encode()),
        "another state": line.replace(b"still", b"\\u001b]0;pwned"),
        "digits": line.replace(b"0", b"9" * 10**6), "no end": line + b'{"who": "', "a zip": b"PK\x03\x04" + line,
    }.items():  # fmt: skip
        yield case(name, "data.jsonl", made)
    yield case("one line of 400 MB", "data.jsonl", lambda: b'{"who": "' + b"x" * 400_000_000 + b'"}')
    yield case("columns without end", "data.jsonl", lambda: b"".join(b'{"c%d": 1}\n' % n for n in range(10**5)))
    yield case("a bomb", "data.jsonl.gz", lambda: _bomb(b" " * 10**6, 2000))
    for name, make in _BOOKS.items():
        yield case(name, "data.xlsx", make)
    yield case("encrypted", "data.xlsx", b"\xd0\xcf\x11\xe0" + b"\0" * 5000)
    yield case("two tables", "data.db", _sqlite(("create table a (x)", "create table b (x)")))
    yield case("an endless view", "data.db", _sqlite(
        ("create view a as with recursive n as (select 1 x union all select x + 1 from n) select x from n",)
    ), 'sql = "from a"')  # fmt: skip
    yield case("a virtual table", "data.db", _sqlite(("create virtual table a using fts5(x)",)), 'sql = "from a"')
    yield case("cut", "data.db", _sqlite(("create table a (x)",))[:5000])
    blob = "insert into a values (x'ff', 1, 'still')"
    yield case("blobs", "data.db", _sqlite(("create table a (who, t, state)", blob)))
    yield case("no database", "data.duckdb", b"\0" * 8 + b"DUCK" + b"\xff" * 10**5)
    yield case("nothing there", "rows/*.txt", b"")
    yield case("a control in a file's name", "a\u202e*.csv", DATA.encode())
    yield _release("a folder of this and that", SPEC.replace("data.csv", "."), {"x.jsonl": line})


def _book(more: Mapping[str, Callable[[], str]], *cells: Any) -> Callable[[], bytes]:
    def made() -> bytes:
        file = io.BytesIO()
        parts = {part: make() for part, make in more.items()}
        write_workbook(file, {"a": [("who", "t", "state"), *cells]}, parts)
        return file.getvalue()

    return made


_SHEET = "xl/worksheets/sheet1.xml"
_BOOKS = {
    "an error": _book({}, ("ana", 1, ERROR)),
    "far away": _book({}, (Cell('<c r="XFD1048576"><v>1</v></c>'),)),
    "rows far away": _book({_SHEET: lambda: '<worksheet><sheetData><row r="1048576"><c r="ZZZ1"/></row></sheetData>'}),
    "300 MB of blanks": _book({_SHEET: lambda: " " * 300_000_000}),
    "entities": _book({"xl/workbook.xml": lambda: "<!DOCTYPE a [<!ENTITY b 'b'>]><a>&b;</a>"}),
    "no sheet": _book({"xl/workbook.xml": lambda: "<workbook/>"}),
    "deep": _book({"xl/workbook.xml": lambda: "<a>" * 10**6}),
    "no table": _book({_SHEET: lambda: "<worksheet/>"}),
    "a command": _book({}, ("\u202eana", 1, "still")),
}


def _parquet(columns: dict[str, list[Any]]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    made = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), made)
    return made.getvalue()


def _repeated(letters: int, rows: int) -> bytes:
    """Return a few KB that say one text of many letters in very many rows: a dictionary, and runs of its one entry."""
    import pyarrow
    import pyarrow.parquet

    zeros = pyarrow.Array.from_buffers(pyarrow.int32(), rows, [None, pyarrow.py_buffer(bytes(4 * rows))])
    states = pyarrow.DictionaryArray.from_arrays(zeros, pyarrow.array(["s" * letters]))
    made = io.BytesIO()
    table = pyarrow.table({"who": zeros, "t": zeros, "state": states})
    pyarrow.parquet.write_table(table, made, compression="zstd", row_group_size=rows)
    return made.getvalue()


COIN = "variable {name} {{ type discrete [ 2 ] {{ yes, no }}; }}\n"


def _network(kind: str, file: str, name: str, made: Content | str) -> Case:
    content = made.encode() if isinstance(made, str) else made
    files: dict[str, Content] = {file: content, "data.csv": b"a,b\nyes,no\n"}
    release = _release(f"{kind}: {name}", RECORDS.format(file=file), files)
    return replace(release, library=("network", file))


def _below(names: str) -> str:
    return f"probability ( {names} ) {{ default 0.5, 0.5; }}\n"


def bif_files() -> Iterator[Case]:
    case = partial(_network, "bif", "net.bif")
    two = COIN.format(name="a") + COIN.format(name="b")
    good = two + "probability ( a ) { table 0.5, 0.5; }\nprobability ( b | a ) { (yes) 0.1, 0.9; (no) 0.5, 0.5; }\n"
    yield case("empty", "")
    yield case("binary", bytes(range(256)) * 50)
    yield case("UTF-16", good.encode("utf-16"))
    yield case("cut", good[:-30])
    yield case("a comment without an end", "/*" * 200_000 + good)
    yield case("2 million slashes and stars", "/*/" * 700_000)
    yield case("200,000 braces", "{" * 100_000 + "}" * 100_000)
    yield case("20,000 nested types", "variable a { " + "type discrete [ 2 ] { " * 20_000 + "} ; " * 20_000 + "}\n")
    yield case("20,000 types without an end", "variable a { " + "type discrete [ 2 ] { " * 20_000 + "}" * 20_001)
    yield case("200,000 words variable", "variable " * 200_000)
    yield case("variable ( without an end", "variable (" * 50_000)
    yield case("probability ( without an end", two + "probability (" * 50_000)
    for parents in (12, 28, 60, 1000):
        names = [f"p{i}" for i in range(parents)]
        coins = "".join(COIN.format(name=n) for n in (*names, "a"))
        tables = "".join(f"probability ( {n} ) {{ table 0.5, 0.5; }}\n" for n in names)
        default = "(yes) 0.5, 0.5;" if parents == 12 else "default 0.5, 0.5;"
        yield case(f"{parents} parents", coins + tables + f"probability ( a | {', '.join(names)} ) {{ {default} }}\n")
    for number in (GIANT, TINY, "nan", "inf", "-0.5", "1e309", "0,5", "x", "9" * 5000, "0x1p3", "1_0"):
        yield case(f"probability {number[:12]}", good.replace("table 0.5, 0.5", f"table {number}, 0.5"))
    for size in ("99999999999999", "9" * 6000, "0", "-1", "1e9", "3"):
        yield case(f"{size[:15]} states", good.replace("[ 2 ]", f"[ {size} ]", 1))
    many = ", ".join(f"s{i}" for i in range(20_000))
    big = "".join(f"variable {name} {{ type discrete [ 20000 ] {{ {many} }}; }}\n" for name in "ab")
    certain = "probability ( a ) { default 1; }\nprobability ( b | a ) { default 1; }\n"
    yield case("20,000 states below 20,000", big + certain)
    rows = "".join(f"(s{i}) 0.5, 0.5;\n" for i in range(1, 20_000))
    one_missing = f"probability ( a ) {{ default 1; }}\nprobability ( b | a ) {{\n{rows}}}\n"
    yield case("a row for 19,999 of 20,000 states", big.partition("\n")[0] + COIN.format(name="b") + one_missing)
    coin = "probability ( b ) { table 0.5, 0.5; }\n"
    yield case("a cycle", two + _below("a | b") + _below("b | a"))
    yield case("a parent of its own", two + _below("a | a") + coin)
    yield case("an unknown parent", two + _below("a | c") + coin)
    yield case("two states of one name", good.replace("{ yes, no }", "{ yes, yes }"))
    yield case("a name of escapes", good.replace("variable b", f"variable b{ESCAPE}"))
    yield case("a row for a state that is not", good.replace("(no) 0.5", f"(no{ESCAPE}) 0.5"))
    yield case("rows missing", good.replace("(no) 0.5, 0.5;", ""))
    yield case("100,000 rows for one state", good.replace("(yes) 0.1, 0.9;", "(yes) 0.1, 0.8;" * 100_000))
    yield case("a folder", b"")
    chain = "".join(COIN.format(name=f"v{i}") for i in range(300))
    dense = ""
    for i in range(300):
        above = ", ".join(f"v{j}" for j in range(max(0, i - 20), i))
        dense += _below(f"v{i}{' | ' if i else ''}{above}")
    yield case("300 variables below 20 each", chain + dense)


def other_networks() -> Iterator[Case]:
    def case(name: str, file: str, made: Content) -> Case:
        return _network(file.rpartition(".")[2], file, name, made)

    uai = b"BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2\n0.5 0.5\n4\n0.1 0.9 0.5 0.5\n"
    yield case("empty", "net.uai", b"")
    yield case("binary", "net.uai", bytes(range(256)) * 10)
    for at in (6, 8, 12, 16, 24, 30, 44, 50):
        yield case(f"cut at {at}", "net.uai", uai[:at])
    for name, old, new in (
        ("a billion variables", b"BAYES\n2\n", b"BAYES\n1000000000\n"),
        ("-1 variables", b"BAYES\n2\n", b"BAYES\n-1\n"),
        ("10^30 variables", b"BAYES\n2\n", b"BAYES\n1" + b"0" * 30 + b"\n"),
        ("a billion states", b"2 2\n2\n", b"1000000000 1000000000\n2\n"),
        ("0 states", b"2 2\n2\n", b"0 0\n2\n"),
        ("a billion tables", b"2 2\n2\n", b"2 2\n1000000000\n"),
        ("a billion in a table", b"1 0\n", b"1000000000 0\n"),
        ("a variable that is not", b"2 0 1\n", b"2 0 7\n"),
        ("a table of a billion numbers", b"4\n0.1", b"1000000000\n0.1"),
        ("a giant number", b"0.5 0.5\n4", GIANT.encode() + b" 0.5\n4"),
        ("no number", b"0.5 0.5\n4", b"nan inf\n4"),
        ("another kind", b"BAYES", b"MARKOV"),
    ):
        yield case(name, "net.uai", uai.replace(old, new, 1))
    xml = b'<?xml version="1.0"?>\n'
    for suffix, word in (("bifxml", b"BIF"), ("xdsl", b"smile"), ("xmlbif", b"BIF")):
        yield case("100,000 deep", f"net.{suffix}", xml + b"<a>" * 100_000 + b"</a>" * 100_000)
        yield case("100,000 deep and cut", f"net.{suffix}", xml + b"<a>" * 100_000)
        yield case("empty root", f"net.{suffix}", xml + b"<" + word + b"/>")
        yield case("cut", f"net.{suffix}", xml + b"<" + word)
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    bomb = f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]><BIF><NETWORK><NAME>&l11;</NAME></NETWORK></BIF>'
    yield case("a billion laughs", "net.bifxml", b'<?xml version="1.0"?>' + bomb.encode())
    outside = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><BIF>&e;</BIF>'
    yield case("a file of the machine", "net.bifxml", outside)
    for suffix in ("net", "dsl", "o3prm", "xdsl", "zip", "txt"):
        yield case("100,000 braces", f"net.{suffix}", b"{" * 100_000)
        yield case("binary", f"net.{suffix}", bytes(range(256)) * 50)
    yield case("net 200,000 nodes unfinished", "net.net", b"node a { states = (" + b'"x" ' * 200_000)
    yield case("dsl nested", "net.dsl", b"net x {" + b" node a {" * 20_000)
    yield case("o3prm nested", "net.o3prm", b"class x {" * 20_000)


def a_certificate() -> dict[str, Any]:
    """Return the plain values of a good certificate, made once by the library."""
    import takifugu as tf

    chain = tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 4, states=["still", "walking"])
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("still"), 1, mechanism="group-dp")
    return tf.release(calibration, ["still"] * 4).certificate.to_dict()


def certificates() -> Iterator[Case]:
    def case(name: str, made: Content) -> Case:
        file = "x.certificate.json"
        return Case(f"certificate: {name}", {file: made}, ("verify", file), ("certificate", file))

    def forged(name: str, **changed: Any) -> Case:
        certificate = {**good, **changed}
        return case(name, json.dumps({**certificate, "checksum": checksum_of(certificate)}).encode())

    good = a_certificate()
    whole = json.dumps(good).encode()
    yield case("empty", b"")
    yield case("binary", bytes(range(256)))
    yield case("cut", whole[:-10])
    yield case("a list", b"[" + whole + b"]")
    yield case("100,000 brackets", b"[" * 100_000)
    yield case("100,000 objects", b'{"a":' * 100_000)
    yield case("a number of 100,000 digits", b'{"format": ' + b"9" * 100_000 + b"}")
    yield case("a giant float", b'{"format": 1e99999999}')
    yield case("changed", whole.replace(b'"epsilon": "1"', b'"epsilon": "0.1"'))
    yield case("UTF-16", whole.decode().encode("utf-16"))
    yield case("no format", json.dumps({k: v for k, v in good.items() if k != "format"}).encode())
    yield case("format of escapes", json.dumps({**good, "format": f"takifugu-certificate/{ESCAPE}"}).encode())
    yield case("200 MB of nothing", lambda: b" " * 200_000_000)
    for key in ("epsilon", "delta"):
        for value in (GIANT, TINY, "x", "1/0", "-1", "nan", None, 1e300, [], {}, True):
            yield forged(f"{key} {value!r}", **{key: value})
    answer = good["answers"][0]
    for key, values in (("scale", (GIANT, "x", "1/0", None, [], 10**400)), ("expected_error", ("x", None, GIANT, [1]))):
        for value in values:
            yield forged(f"{key.replace('_', ' ')} {value!r}"[:40], answers=[{**answer, key: value}])
    for key, value in (
        ("answers", []), ("answers", None), ("answers", [1]), ("answers", {}), ("answers", [{}]), ("scope", "galaxy"),
        ("scope", []), ("units", 7), ("units", [[["a"]]]), ("compositions", ["sideways"]), ("mechanisms", 3),
        ("mechanisms", ["group-dp"]), ("hidden", None), ("beliefs", [1]), ("cautions", {"a": 1}), ("definition", None),
        ("stays", [{"lasting": {}, "cells": ""}]), ("window", "now"), ("window", {"span": 1}), ("requested", "-1"),
        ("private", "yes"), ("date", 7), ("software", None), ("grid", GIANT), ("frameworks", "x"), ("query", 1),
    ):  # fmt: skip
        yield forged(f"{key} = {value!r}", **{key: value})
    yield forged("noise without a kind", answers=[{**answer, "noise": {}}])
    yield forged("a key too many in an answer", answers=[{**answer, "more": 1}])
    yield forged("values that are no texts", answers=[{**answer, "values": {"a": [1]}}])


def ledgers() -> Iterator[Case]:
    def case(name: str, made: Content) -> Case:
        return Case(f"ledger: {name}", {"bad.db": made}, ("ledger", "show", "bad.db"), ("ledger", "bad.db"))

    yield case("empty", b"")
    yield case("text", b"hello, I am a ledger\n" * 100)
    yield case("binary", bytes(range(256)) * 64)
    yield case("magic only", b"SQLite format 3\0")
    yield case("magic and zeros", b"SQLite format 3\0" + b"\0" * 8192)
    yield case("magic and noise", b"SQLite format 3\0" + bytes(range(256)) * 64)
    cats = ("create table cats (name text)", "insert into cats values ('Tom')")
    yield case("another database", lambda: _sqlite(cats))
    yield case("tables of the same names", lambda: _sqlite(tuple(f"create table {t} (x)" for t in TABLES)))
    yield case("views of the same names", lambda: _sqlite(tuple(f"create view {t} as select 1 as x" for t in TABLES)))
    yield case("an endless view", lambda: _sqlite((
        "create table cats (x)",
        "create view takifugu as with recursive r(x) as (select 1 union all select x + 1 from r) select x from r",
    )))  # fmt: skip
    yield case("a cut database", lambda: _sqlite(tuple(f"create table t{i} (x)" for i in range(50)))[:5000])
    for command in (("ledger", "show"), ("ledger", "verify")):
        yield Case(f"{' '.join(command)}: none", {}, (*command, "none.db"))
        yield Case(f"{' '.join(command)}: a folder", {"x/y": b""}, (*command, "x"))
    spec = SPEC.replace("ledger.db", "bad.db").encode()
    files: dict[str, Content] = {"bad.db": b"hello", "data.csv": DATA.encode(), "release.toml": spec}
    yield Case("ledger: text below a release", files, ("release", "release.toml"), ("release", "release.toml"))


TABLES = ("events", "contents", "waiting")


def _sqlite(statements: tuple[str, ...]) -> bytes:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as made:
        for statement in statements:
            made.execute(statement)
        made.commit()
        return made.serialize()


def matrices() -> Iterator[Case]:
    spec = _changed(SPEC, "[[0.8, 0.2], [0.3, 0.7]]", '"matrix.csv"')
    case = partial(_of_kind, "matrix", "matrix.csv", spec=spec)
    yield case("empty", b"")
    yield case("binary", bytes(range(256)))
    yield case("words", b"a,b\nc,d\n")
    yield case("one row", b"1\n")
    yield case("ragged", b"0.5,0.5\n1\n")
    yield case("open quote", b'0.5,"0.5\n0.5,0.5\n')
    yield case("a field of 20 MB", lambda: b"0.5,0." + b"5" * 20_000_000)
    yield case("10 million numbers", lambda: b"0.5,0.5\n" * 5_000_000)
    yield case("UTF-16", "0.5,0.5\n0.5,0.5\n".encode("utf-16"))
    yield case("NUL", b"0.5,0.\x005\n0.5,0.5\n")
    yield case("a formula", b"=1+1,0.5\n0.5,0.5\n")
    for number in (GIANT, TINY, "nan", "inf", "1/0", "-0.5", "9" * 9000, "1e400"):
        yield case(f"{number[:12]}", f"{number},0.5\n0.5,0.5\n".encode())


def weights() -> Iterator[Case]:
    keys = 'query = "linear"\nper = "unit"\nweights = "w.csv"\ncodes = {still = 0, walking = 1}'
    linear = SPEC.replace('query = "histogram"', keys)
    case = partial(_of_kind, "weights", "w.csv", spec=linear)
    yield case("empty", b"")
    yield case("zeros", b"0\n" * 20)
    yield case("too few", b"1\n")
    yield case("a million", lambda: b"1\n" * 1_000_000)
    yield case("words", b"one\ntwo\n")
    yield case("a line of 33 MB", lambda: b"1" * 33_000_000)
    for number in (GIANT, TINY, "nan", "inf", "1/0", "1e400", "9" * 9000):
        yield case(number[:12], (number + "\n" + "1\n" * 19).encode())
        listed = linear.replace('"w.csv"', f'["{number}"' + ", 1" * 19 + "]")
        yield _release(f"weights: listed {number[:12]}", listed)


def options() -> Iterator[Case]:
    for prior in (GIANT, TINY, "nan", "2", "-1", "x", "1e99999999%", "", "1/0"):
        yield Case(f"option: prior {prior}", {}, ("odds", "--prior", prior))
    for epsilon in (GIANT, "nan", "0", "x", "-1", "9" * 9000):
        yield Case(f"option: epsilon {epsilon[:12]}", {}, ("odds", "--epsilon", epsilon))
        yield Case(f"option: budget {epsilon[:12]}", {}, ("ledger", "set-budget", "ledger.db", "study", "--", epsilon))
    for delta in (GIANT, "1", "nan", "x"):
        yield Case(f"option: delta {delta}", {}, ("odds", "--delta", delta))
    yield Case("option: a source of escapes", {}, ("ledger", "set-budget", "ledger.db", ESCAPE, "1"))
    yield Case("option: a file of escapes", {}, ("release", ESCAPE))
    yield Case("option: a certificate of escapes", {}, ("verify", ESCAPE))
    yield Case("option: a command of escapes", {}, (ESCAPE,))
    yield Case("option: a picture over a file", {"x.svg": b"mine"}, ("odds", "--output", "x.svg"))
