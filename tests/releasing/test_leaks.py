"""Nothing of the data but the noisy value: a search through every file, message, exception, table and object."""

import hashlib
import re
import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import ended, invoke, succeed
from tests.support.failing import FULL, failing
from tests.support.release_files import changed

import takifugu as tf
from takifugu.core.plain import toml_of
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan as planning
from takifugu.releasing.publishing import folder as folders
from takifugu.releasing.publishing import publish, run

SPARE = "SPARE-SENTINEL"
START = 7_300_191  # the first minute on the clock: an order value that must not be told
SHORT = 17  # rows of pieces that are left out: they make the number of rows a secret of the operator
LENGTHS = {"Ana": (1210, 835), "Ben": (1423,)}


def table() -> str:
    lines = ["Who is it?,run no.,t [min],spare,état; raw"]
    for unit, pieces in LENGTHS.items():
        for run_number, length in enumerate((*pieces, SHORT)):
            for t in range(length):
                posture = ["sitting", "walking", "lying"][(t * t + run_number + len(unit) * t // 7) % 3]
                lines.append(f"{unit},{9 if length == SHORT else run_number},{START + t},{SPARE},{posture}")
    return "\n".join(lines) + "\n"


def secrets_of(text: str) -> list[str]:
    """Return what must appear nowhere: true counts by unit and pooled, row counts, order values, hashes of the data."""
    rows = [line.split(",") for line in text.splitlines()[1:]]
    remaining = [(r[0], r[4]) for r in rows if int(r[1]) < len(LENGTHS[r[0]])]
    numbers = {len(rows)}
    for unit in (*LENGTHS, None):
        mine = [posture for who, posture in remaining if unit in (who, None)]
        numbers |= {mine.count(p) for p in ("sitting", "lying", "walking")} | {len(mine) - mine.count("walking")}
        numbers |= {sum(1 for r in rows if unit in (r[0], None) and r[4] == p) for p in ("sitting", "lying", "walking")}
        numbers |= {sum(1 for r in rows if unit in (r[0], None))}
    raw = text.encode()
    hashes = [hashlib.new(name, raw).hexdigest()[:12] for name in ("md5", "sha1", "sha256", "blake2b")]
    return [str(n) for n in sorted(numbers)] + hashes + [SPARE, str(START)]


def secrets_in(secrets: list[str], text: str) -> list[str]:
    """Return the secrets that a text tells: numbers as whole words (with or without separators), the rest anywhere."""
    text = re.sub(r"pytest-\d+", "", text)  # a folder of this run, whose number may be any
    plain = text.replace(",", "").replace("_", "")
    return [s for s in secrets if re.search(rf"(?<![\w.]){s}(?!\w)" if s.isdigit() else re.escape(s), plain + text)]


def words_of(path: Path) -> str:
    """Return a file's text, a page's without its marks: coordinates of pictures are numbers, too (see test_report)."""
    text = path.read_text(encoding="utf-8")
    is_markup = path.suffix in (".html", ".svg")
    return re.sub(r"<style>.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL) if is_markup else text


#: Leaves short pieces out, whose number is 9.
WHERE = """"run no." <> '9'"""
SPEC = changed(
    files.SPEC, ("budget = 10", f"budget = 3\nwhere = {toml_of(WHERE)}"), ("step = 2", "step = 1"),
    ("IN ('sitting', 'lying')", "= 'sitting'"),
    ('states = ["still", "walking"]', 'states = ["still", "walking", "lying"]'),
    ("matrix = [[0.8, 0.2], [0.3, 0.7]]", "matrix = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.1, 0.6]]"),
)  # fmt: skip
#: How often the chain above is in each state in the long run: its means are public, and must be no secret by chance.
LONG_RUN = {"still": 0.55, "walking": 0.25, "lying": 0.2}


def means() -> dict[tuple[str, str], float]:
    """Return what the chain expects of each unit and of both, by unit ("" for both) and state."""
    steps = {"": sum(map(sum, LENGTHS.values())), **{unit: sum(pieces) for unit, pieces in LENGTHS.items()}}
    return {(unit, state): share * n for unit, n in steps.items() for state, share in LONG_RUN.items()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release whose noise is 100,003 and more, so that no published number is near a secret one by chance."""
    from takifugu.analysis.randomisers import DiscreteLaplace

    drawn = iter(range(100_003, 10**9, 7_919))
    monkeypatch.setattr(DiscreteLaplace, "draw", lambda self, answer, entropy: tuple(
        int(x) + next(drawn) + 0 * self.grid for x in answer
    ))  # fmt: skip
    files.write(tmp_path, SPEC, table())
    return tmp_path


def test_the_secrets_are_many_and_the_search_finds_them(folder: Path) -> None:
    secrets = secrets_of(table())
    assert len(secrets) > 15
    for secret in secrets:
        assert secrets_in(secrets, f"there are {secret} rows") == [secret]
    grouped = f"{len(table().splitlines()) - 1:,}"
    assert secrets_in(secrets, f"{grouped} rows")
    for mean in means().values():
        assert secrets_in(secrets, f"the model expected {mean:.2f}, about {int(mean)} or {int(mean) + 1}") == []


def test_no_public_file_and_nothing_printed_tells_a_secret(folder: Path) -> None:
    secrets = secrets_of(table())
    toml, outputs = str(folder / "release.toml"), []
    for command in (
        ["cost", toml], ["cost", "--all", toml], ["cost", "--json", toml], ["cost", "--all", "--json", toml],
        ["release", toml], ["release", toml],
        ["release", "--replace", "time-use", "--idempotency-key", "1", "--json", toml],
        ["release", "--replace", "time-use", "--idempotency-key", "2", toml],
        ["ledger", "show", str(folder / "ledger.db")], ["ledger", "show", "--json", str(folder / "ledger.db")],
    ):  # fmt: skip
        outcome = invoke(*command)
        outputs.append(outcome.output + outcome.stderr)
    assert "already published" in outputs[5]
    assert "would cost" in outputs[7]
    public = {p.name: words_of(p) for p in (folder / "out").iterdir()}
    assert len(public) == 10
    for name, text in [*public.items(), *((f"command {i}", t) for i, t in enumerate(outputs))]:
        assert secrets_in(secrets, text) == [], name


@pytest.mark.mutants
@pytest.mark.parametrize("turned", [(), ("sitting", "walking"), ("lying", "walking")])
def test_what_the_model_expected_is_made_of_public_numbers(folder: Path, turned: tuple[str, ...]) -> None:
    """A doubt compares a published value with a mean of the chain, whatever was counted."""
    old, new = turned or ("lying", "lying")
    other = {old: new, new: old}
    files.write(folder, SPEC, re.sub(rf"\b({old}|{new})$", lambda m: other[m[0]], table(), flags=re.MULTILINE))
    outcome = run.publish(planning.plan(load(folder / "release.toml")))
    said = [doubt for one in outcome.tables for doubt in one.certificate.doubts]
    assert len(said) == 2
    for doubt in said:
        match = re.match(r"In (?:'(\w+)', )?'(\w+)' the model expected ([\d,]+); published ", doubt)
        assert match, doubt
        assert abs(int(match[3].replace(",", "")) - means()[match[1] or "", match[2]]) < 1


@pytest.mark.mutants
def test_the_ledger_holds_no_secret_and_no_unit_in_clear(folder: Path) -> None:
    run.publish(planning.plan(load(folder / "release.toml")))
    content = b"".join(p.read_bytes() for p in folder.glob("ledger.db*")).decode("latin-1")
    assert secrets_in([*secrets_of(table()), "Ana", "Ben"], content) == []


@pytest.mark.mutants
def test_objects_that_hold_data_do_not_print_it(folder: Path) -> None:
    plan = planning.plan(load(folder / "release.toml"))
    outcome = run.publish(plan)
    things = [plan, plan.unit_names, plan.tables, plan.tables[0].questions, outcome, outcome.tables[0].certificate]
    things += [c for t in plan.tables for c in t.calibrations]
    for thing in things:
        for text in (repr(thing), str(thing)):
            assert secrets_in([*secrets_of(table()), "'walking', 'still', 'walking'"], text) == []


AT = f"{START + 3},"


@pytest.mark.parametrize(("old", "new"), [
    (AT, f"{START + 2},"), (AT, f"{SPARE},"), (AT, ","), (f"Ana,0,{AT}", f",0,{AT}"),
    *((f"{AT}{SPARE},walking", new) for new in (
        f"{AT}{SPARE},SECRET-POSTURE", f"{AT}{SPARE},walkign", f"{AT}{SPARE},", f"{START + 3}.5,{SPARE},walking",
        f"{AT}{SPARE},walking,more", f'{AT}{SPARE},"walking',
    )),
])  # fmt: skip
def test_messages_about_broken_data_tell_no_secret(folder: Path, old: str, new: str) -> None:
    text = table()
    place = text.index(old)
    files.write(folder, SPEC, text[:place] + new + text[place + len(old) :])
    outcome = ended(2, "release", folder / "release.toml")
    assert outcome.stderr.startswith("takifugu: ")
    assert "Traceback" not in outcome.stderr
    secrets = [*secrets_of(text), "SECRET-POSTURE", "walkign", str(START + 3)]
    assert secrets_in(secrets, outcome.output + outcome.stderr) == []
    assert not (folder / "ledger.db").exists()
    assert not (folder / "out").exists()


@pytest.mark.mutants
def test_a_fault_of_ours_tells_its_place_and_not_its_message(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with failing(monkeypatch, publish, "answer_of", KeyError(SPARE, START)):
        outcome = ended(3, "release", folder / "release.toml")
    assert "a fault of Takifugu itself (KeyError at failing.py:" in outcome.stderr
    assert secrets_in(secrets_of(table()), outcome.output + outcome.stderr) == []


@pytest.mark.mutants
def test_a_certificate_that_counted_rows_would_be_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant of this file: one more innocent-looking sentence, and the search must find it."""
    rows = len(table().splitlines()) - 1
    honest = Certificate.text
    monkeypatch.setattr(Certificate, "text", lambda self: f"{honest(self)}\nmade from {rows:,} rows")
    run.publish(planning.plan(load(folder / "release.toml")))
    text = (folder / "out" / "time-use-pooled.certificate.txt").read_text(encoding="utf-8")
    assert secrets_in(secrets_of(table()), text) == [str(rows)]


def test_errors_are_all_of_one_family() -> None:
    from takifugu.core import errors

    kinds = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    kinds = [kind for kind in kinds if not issubclass(kind, Warning)]  # a notice is none
    assert all(issubclass(kind, tf.TakifuguError) for kind in kinds)


#: Names that are never in a ledger, nor in what SQLite leaves behind, but in tables that wait to be published.
PEOPLE = {"Zoraida": (8, 9), "Bartholomew": (7,), "Wilhelmina": (8, 4)}


def named(ledger: Path, *tables: str) -> set[str]:
    """Return the names in some tables of a ledger, each value unpacked where it is packed; without any in its bytes."""
    contents = [path.read_bytes() for path in ledger.parent.glob(f"{ledger.name}*") if not tables]
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        for table in tables:
            for row in connection.execute(f"select * from {table}"):
                for value in row:
                    contents.append(value if isinstance(value, bytes) else str(value).encode())
                    with suppress(zlib.error):
                        contents.append(zlib.decompress(contents[-1]))
    return {name for content in contents for name in PEOPLE if name.encode() in content}


def packed(ledger: Path) -> list[bytes]:
    """Return what waits, as it stands in the file."""
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        return [body for (body,) in connection.execute("select body from waiting")]


@pytest.mark.mutants
@pytest.mark.parametrize("how", ["release", "resume"])
def test_names_are_in_the_ledger_in_what_waits_alone_and_no_longer_than_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    toml = files.write(tmp_path, files.SPEC.replace("epsilon = 1.0", "epsilon = 4.0"), files.data(PEOPLE))
    ledger = tmp_path / "ledger.db"
    with failing(monkeypatch, folders.os, "replace", FULL):
        ended(4, "release", "--allow-useless", toml)
    assert named(ledger, "events", "contents") == named(ledger) == set()
    assert named(ledger, "waiting") == {*PEOPLE}  # as they will be published, until they are
    assert ledger.stat().st_mode & 0o777 == 0o600
    (waiting,) = packed(ledger)
    assert waiting[:50] in ledger.read_bytes()
    if how == "release":
        succeed("release", "--allow-useless", toml)
    else:
        assert [one.problem for one in tf.resume(ledger)] == [""]
    assert named(ledger, "events", "contents", "waiting") == named(ledger) == set()
    assert waiting[:50] not in ledger.read_bytes()  # it is overwritten
