"""The checker: what it says of certificates that hold, that were changed, and that it does not know; it asks nobody."""

import copy
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.conformance.corpus import corpus
from tests.releasing import files
from tests.support.commands import invoke, json_of, refused, succeed
from tests.support.forged import Certificate, certificate_from, random_calibration, random_matrix, rewritten
from tests.support.javascript import Scripts
from tests.support.pages import check_asks_nobody
from tests.support.rounds import samples

import takifugu as tf
from takifugu.core.errors import TakifuguError
from takifugu.model.frameworks import Framework
from takifugu.numbers.rationals import to_text
from takifugu.pages.checker import SCRIPTS, TITLE, checker

CHECKED = "Computed again"
#: Calls the page, and says in words what it would show: the findings, the verdict, and what cannot be read.
SAID = """(() => {
  try {
    const given = bytes && {bytes: new Uint8Array(bytes), text: table};
    const {findings} = checked(text, given);
    return {verdict: verdictOf(findings), findings};
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return {verdict: "fails", findings: [{state: "fails", words: error.message}]};
  }
})()"""


@pytest.fixture(scope="module")
def scripts() -> Scripts:
    return Scripts("checker", SCRIPTS[:-1])


class Said:
    """What the page says of a certificate, and of its table."""

    def __init__(self, scripts: Scripts, text: str, table: bytes | None = None) -> None:
        content = None if table is None else list(table)
        said = scripts.call(SAID, text=text, bytes=content, table=None if table is None else table.decode())
        self.verdict: str = said["verdict"]
        self.findings: list[tuple[str, str]] = [(one["state"], one["words"]) for one in said["findings"]]

    def words(self, state: str) -> list[str]:
        return [words for one, words in self.findings if one == state]

    @property
    def is_computed(self) -> bool:
        """Whether a guarantee was computed again, and holds."""
        return any(words.startswith(CHECKED) for words in self.words("holds"))


def said_of(scripts: Scripts, certificate: Certificate) -> Said:
    return Said(scripts, json.dumps(certificate))


# Many certificates


@pytest.mark.mutants
@pytest.mark.parametrize(("seed", "count"), samples((1, 3), (1, 6), *((seed, 50) for seed in range(20, 30))))
def test_sound_certificates_hold(scripts: Scripts, seed: int, count: int) -> None:
    chance = Random(seed)
    for _ in range(count):
        said = said_of(scripts, certificate_from(random_calibration(chance)))
        assert said.words("fails") == []
        assert said.is_computed, said.findings


@pytest.mark.mutants
@pytest.mark.parametrize(("seed", "count"), samples((3, 4), (3, 8), *((seed, 25) for seed in range(40, 44))))
def test_a_billionth_less_noise_is_refused(scripts: Scripts, seed: int, count: int) -> None:
    """A billionth less noise, with the witness that belongs to it and a checksum that fits, is refused.

    In the middle of a long recording the library may take the loss of an endless one: then its noise is up to some
    millionths more than is needed, as the page finds, which follows the steps (tests of its mathematics).
    """
    chance, at_once = Random(seed), 0
    for _ in range(count):
        enough = random_calibration(chance)
        for less in (10**9, 10**8, 10**7, 10**6, 10**5):
            said = with_less_noise(scripts, enough, Fraction(1, less))
            if said.verdict == "fails":
                at_once += less == 10**9
                break
        assert any("too small" in words for words in said.words("fails")), said.findings
        assert not said.is_computed
    assert at_once >= 0.9 * count


def with_less_noise(scripts: Scripts, enough: Any, share: Fraction) -> Said:
    """Say what the page does of a share less noise, as a certificate that states the same epsilon."""
    less = tf.with_scale(enough.framework, enough.query, enough.randomiser.scale * (1 - share))
    return said_of(scripts, rewritten(certificate_from(less), lambda c: claim(c, enough.epsilon)))


def claim(certificate: Certificate, epsilon: Fraction) -> None:
    """Let a certificate state another epsilon, everywhere."""
    certificate["epsilon"] = to_text(epsilon)
    for answer in certificate["answers"]:
        answer["epsilon"] = to_text(epsilon)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where single values of nested data are."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not isinstance(value, dict | list):
        yield path
    for key, part in parts:
        yield from leaves(part, (*path, key))


def changed_at(certificate: Certificate, path: tuple[Any, ...]) -> Certificate:
    """Return a certificate with one value changed."""
    changed = copy.deepcopy(certificate)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    value = place[path[-1]]
    other: Any = f"{value}0" if isinstance(value, str) else not value
    if isinstance(value, int | float) and not isinstance(value, bool):
        other = value + 1
    place[path[-1]] = other
    return changed


@pytest.mark.mutants
@pytest.mark.parametrize(("seed", "count"), samples((5, 15), (5, 30), (6, 200)))
def test_changed_fields_are_refused(scripts: Scripts, seed: int, count: int) -> None:
    chance = Random(seed)
    certificates = [certificate_from(random_calibration(chance)) for _ in range(5)]
    for _ in range(count):
        certificate = chance.choice(certificates)
        path = chance.choice(list(leaves(certificate)))
        said = said_of(scripts, changed_at(certificate, path))
        assert said.verdict == "fails", path


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("matrix", "length", "secret"), [
    ([[0.3, 0.7], [0.3, 0.7]], 50, tf.every_entry()), ([[0.9, 0.1], [0.4, 0.6]], 1, tf.every_entry()),
    ([[0.3, 0.7], [0.3, 0.7]], 50, tf.every_run(3)), ([[0.9, 0.1], [0.4, 0.6]], 4, tf.every_run(9)),
])  # fmt: skip
def test_a_loss_of_exactly_epsilon_holds(scripts: Scripts, matrix: Any, length: int, secret: Any) -> None:
    framework = tf.Pufferfish(secret, tf.MarkovChain(matrix, length))
    certificate = certificate_from(tf.calibrate(framework, tf.Histogram(), 1))
    assert said_of(scripts, certificate).is_computed
    less = rewritten(certificate, lambda c: claim(c, Fraction(999, 1000)))
    assert not said_of(scripts, less).is_computed


FORGERIES: dict[str, tuple[Callable[[Certificate], object], str]] = {
    "epsilon": (lambda c: claim(c, Fraction(1, 2)), "The noise is too small"),
    "epsilon of the whole": (lambda c: c.update(epsilon="0.5"), "not the largest of its answers"),
    "scale": (lambda c: c["answers"][0].update(scale="99"), "not that of the noise"),
    "half-width": (lambda c: c["answers"][0].update(half_width="3"), "half-width is too small"),
    "coverage": (lambda c: c["answers"][0].update(coverage="0.99"), "half-width is too small"),
    "off the grid": (lambda c: c["answers"][0].update(half_width="9.5"), "not a whole number of steps"),
    "settled bound": (lambda c: c["answers"][0]["witness"]["after"][0].__setitem__(1, "0.01"), "a step exceeds it"),
    "another query": (
        lambda c: c["answers"][0].update(query={"kind": "count", "states": ["still"], "entries": None}),
        "its query has 1",
    ),
    "rehearsal": (lambda c: c.update(rehearsal=7), "rehearsal"),
    "seed": (lambda c: c.update(private=False), "not private"),
    "matrix": (lambda c: chain_of(c)["matrix"].__setitem__(0, [0.99, 0.01]), "too small"),
}  # fmt: skip

UNKNOWN: dict[str, tuple[Callable[[Certificate], object], str]] = {
    "no witness": (lambda c: c["answers"][0].update(witness=None), "no witness"),
    "another curve": (lambda c: c["answers"][0]["witness"].update(curve="magic"), "no curve"),
    "a jump too long": (lambda c: c["answers"][0]["witness"].update(jumps=[1, 10**6]), "not a whole number"),
    "no jumps": (lambda c: c["answers"][0]["witness"].update(jumps=[]), "no jumps"),
    "a new key of noise": (lambda c: c["answers"][0]["noise"].update(shared=True), "does not know"),
    "a new key of the belief": (lambda c: chain_of(c).update(trend=1), "does not know"),
    "a new key of the query": (lambda c: c["answers"][0]["query"].update(twice=True), "does not know"),
    "a start": (lambda c: chain_of(c).update(initial="any"), "a start of its own"),
    "an absorbing state": (lambda c: chain_of(c).update(matrix=[[1.0, 0.0], [0.5, 0.5]]), "for ever"),
    "a row without mass": (lambda c: chain_of(c).update(matrix=[[0.0, 0.0], [0.5, 0.5]]), "no probability"),
    "a negative probability": (lambda c: chain_of(c).update(matrix=[[-1, 2], [0.5, 0.5]]), "not a number from 0"),
    "delta": (lambda c: (c.update(delta="0.1"), c["answers"][0].update(delta="0.1")), "delta is above 0"),
    "no noise": (lambda c: c["answers"][0]["noise"].update(kind="none"), "not computed here"),
    "an unknown secret": (lambda c: framework_of(c)["secrets"][0].update(kind="presence"), "not every single step"),
    "two beliefs": (lambda c: framework_of(c)["beliefs"].append(chain_of(c)), "not one belief"),
    "epsilon in another form": (lambda c: c["answers"][0].update(epsilon="1.0"), "in the form"),
    "no framework": (lambda c: c.update(frameworks={}), "not described"),
    "another definition": (lambda c: framework_of(c).update(definition="asymmetric"), "not Pufferfish"),
    "a step of less than no time": (lambda c: with_less(c)["query"].update(duration="-1"), "no time"),
    "a step of no time": (lambda c: with_less(c)["query"].update(duration="0"), "no time"),
    "a grid so coarse that noise is 0": (lambda c: on_grid(c, 1000), "whole steps of the noise's grid"),
    "a grid below 0": (lambda c: on_grid(c, -1), "no grid"),
    "half the noise, in two answers": (lambda c: in_two(c, "all"), "several answers about the same people"),
    "half the noise, in two answers of somebody": (lambda c: in_two(c, "unit"), "several answers about the same"),
}  # fmt: skip


def framework_of(certificate: Certificate) -> Any:
    return next(iter(certificate["frameworks"].values()))


def chain_of(certificate: Certificate) -> Any:
    return framework_of(certificate)["beliefs"][0]


def with_less(certificate: Certificate) -> Any:
    """Give the first answer a hundredth of the noise that it needs, and return it."""
    (answer,) = certificate["answers"]
    answer.update(scale="0.03", half_width="9")
    answer["noise"].update(units="0.03")
    return answer


def on_grid(certificate: Certificate, grid: int) -> None:
    """Put noise of the same scale on multiples of a number."""
    (answer,) = certificate["answers"]
    answer["noise"].update(units=to_text(Fraction(answer["noise"]["units"]) / grid), grid=str(grid))
    answer.update(half_width="0")


def in_two(certificate: Certificate, scope: str) -> None:
    """Give each state its own answer, with half the noise of both together."""
    answers = list[Any]()
    for state in ("still", "walking"):
        answer = copy.deepcopy(certificate["answers"][0])
        answer.update(unit="Ana", values={state: "1"}, half_width="99")
        answer["query"] = {"kind": "count", "states": [state], "entries": None}
        answers.append(answer)
    certificate.update(answers=answers, scope=scope)


@pytest.fixture(scope="module")
def sound() -> Certificate:
    chain = tf.MarkovChain([[0.7, 0.3], [0.6, 0.4]], 200, states=["still", "walking"])
    return certificate_from(tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Histogram(), 1))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_with_a_checksum_that_fits_is_refused(scripts: Scripts, sound: Certificate, name: str) -> None:
    change, words = FORGERIES[name]
    said = said_of(scripts, rewritten(sound, change))
    assert said.verdict == "fails"
    assert any(words in one for one in said.words("fails")), said.findings
    assert any("as it was written" in one for one in said.words("holds"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", UNKNOWN)
def test_what_the_page_does_not_know_is_not_computed(scripts: Scripts, sound: Certificate, name: str) -> None:
    change, words = UNKNOWN[name]
    said = said_of(scripts, rewritten(sound, change))
    assert said.verdict != "holds"
    assert not said.is_computed
    assert any(words in one for one in said.words("open")), said.findings


# What is not computed


def is_known(framework: Framework, query: Any) -> bool:
    """Return whether the page may know a problem: chains of two to six states, counts, every single step."""
    plain, kind = framework.to_dict(), query.to_dict()
    chains = [belief.get("chain", belief) for belief in plain["beliefs"]]
    is_chain = [c["kind"] == "markov-chain" and len(c["states"]) < 7 and c["initial"] == "stationary" for c in chains]
    is_counted = kind["kind"] in ("count", "histogram") or kind.get("query", {}).get("kind") in ("count", "histogram")
    kinds = ("every-entry", "every-run")
    is_every = [secret["kind"] in kinds and not secret.get("attribute") for secret in plain["secrets"]]
    return len(chains) == 1 and is_chain == is_every == [True] and is_counted and plain["definition"] == "pufferfish"


def unsupported(chance: Random, count: int) -> Iterator[Certificate]:
    """Yield certificates of all kinds that the page does not know."""
    made = 0
    cases = [case for case in corpus() if not is_known(case.framework, case.query)]
    for case, delta in [(case, delta) for case in cases for delta in (0, Fraction(1, 50))]:
        if made >= count // 2:
            break
        try:
            calibration = tf.calibrate(case.framework, case.query, 1, delta, allow_zero_noise=True)
            yield certificate_from(calibration)
        except (TakifuguError, ValueError, TypeError, AttributeError):
            continue  # what is published are no numbers
        made += 1
    while made < count:
        chain = tf.MarkovChain(
            random_matrix(chance, states := chance.choice([2, 3, 7, 8])), chance.choice([12, 60, 300]),
            chance.choice(["any", [1.0, *[0.0] * (states - 1)]]) if states < 4 else "stationary",
        )  # fmt: skip
        query = chance.choice([tf.Count(1), tf.Histogram()])
        framework = tf.Pufferfish(tf.every_entry(), chain)
        yield certificate_from(tf.calibrate(framework, query, chance.choice(["0.5", "1", "2"]), allow_zero_noise=True))
        made += 1


@pytest.mark.mutants
@pytest.mark.parametrize(("seed", "count"), samples((7, 3), (7, 8), (8, 100)))
def test_no_unsupported_certificate_is_called_sound(scripts: Scripts, seed: int, count: int) -> None:
    certificates = list(unsupported(Random(seed), count))
    assert len(certificates) == count
    for certificate in certificates:
        said = said_of(scripts, certificate)
        assert said.verdict == "open", said.findings
        assert not said.is_computed
        assert any("not computed again: " in words for words in said.words("open"))


@pytest.mark.parametrize(("text", "words"), [
    ("", "not JSON"), ("[]", "not a certificate of Takifugu"), ("{}", "not a certificate of Takifugu"),
    ('{"format": "takifugu-certificate/8"}', "takifugu-certificate/10: take the page of the version"),
    ('{"format": "takifugu-certificate/10"}', "no answers"), ('{"format": 1}', "not a certificate"),
    ('{"format": "takifugu-certificate/10", "answers": [1]}', "no answers"), ('{"a": 1, "a": 1}', "twice"),
    ("who,night\nAna,1\n", "not JSON"), ('{"format": "a"' * 5000, "not JSON"),
])  # fmt: skip
def test_what_is_no_certificate_is_said(scripts: Scripts, text: str, words: str) -> None:
    assert words in Said(scripts, text).findings[0][1]


# With its table


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables about one source, in a folder: one for each person, and one over all."""
    folder = tmp_path_factory.mktemp("published")
    succeed("release", files.write(folder))
    return folder / "out"


TABLES = ("time-use-units", "time-use-pooled")


def files_of(folder: Path, name: str) -> tuple[str, bytes]:
    """Return a certificate and its table."""
    return (folder / f"{name}.certificate.json").read_text("utf-8"), (folder / f"{name}.csv").read_bytes()


@pytest.mark.mutants
@pytest.mark.parametrize("name", TABLES)
def test_a_table_beside_its_certificate_holds(scripts: Scripts, published: Path, name: str) -> None:
    text, table = files_of(published, name)
    said = Said(scripts, text, table)
    assert said.verdict == "holds", said.findings
    assert [words for words in said.words("holds") if words.startswith("Its ")] != []
    assert Said(scripts, text).verdict == "open"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("change", "words"), [
    (lambda t: t.replace(b"still,", b"still,1", 1), "not the one that was certified"),
    (lambda t: b"who,night\nAna,1\n", "not a published table"), (lambda t: b"", "not a published table"),
    (lambda t: b'"', "a quotation mark is not closed"), (lambda t: t + b"more,1\n", "values are not those"),
])  # fmt: skip
def test_another_table_is_refused(
    scripts: Scripts, published: Path, change: Callable[[bytes], bytes], words: str
) -> None:
    text, table = files_of(published, TABLES[1])
    said = Said(scripts, text, change(table))
    assert said.verdict != "holds"
    assert any(words in one for _, one in said.findings), said.findings


@pytest.mark.parametrize(("column", "words"), [
    ("value", "values are not those"), ("low", "minus and plus"), ("high", "minus and plus"),
])  # fmt: skip
def test_a_table_with_its_own_digest_is_compared_cell_by_cell(
    scripts: Scripts, published: Path, column: str, words: str
) -> None:
    certificate = json.loads((published / f"{TABLES[1]}.certificate.json").read_text("utf-8"))
    header, *lines = (published / f"{TABLES[1]}.csv").read_text("utf-8").splitlines()
    cells = lines[0].split(",")
    place = header.split(",").index(column)
    cells[place] = str(int(cells[place]) + 1)
    said = with_its_digest(scripts, certificate, [header, ",".join(cells), *lines[1:]])
    assert said.verdict == "fails"
    assert any(words in one for one in said.words("fails"))


def test_what_was_not_compared_is_named(scripts: Scripts, published: Path) -> None:
    """Any other column could be changed with its digest, and the page said nothing of it."""
    certificate = json.loads((published / f"{TABLES[1]}.certificate.json").read_text("utf-8"))
    header, *lines = (published / f"{TABLES[1]}.csv").read_text("utf-8").splitlines()
    others = [name for name in header.split(",") if name not in ("cell", "value", "low", "high")]
    said = with_its_digest(scripts, certificate, [f"{header},mark", *(f"{line},7" for line in lines)])
    listed = ", ".join(f"“{name}”" for name in [*others, "mark"])
    assert f"Only the checksum covers its other columns, which were not compared: {listed}." in said.words("note")
    bare = ["cell,value", *(",".join(line.split(",")[:2]) for line in lines)]
    assert header.startswith("cell,value,")
    assert not any("Only the checksum" in words for words in with_its_digest(scripts, certificate, bare).words("note"))


def with_its_digest(scripts: Scripts, certificate: Certificate, lines: list[str]) -> Said:
    """Return what is said of a table whose certificate was written for it."""
    table = "\r\n".join([*lines, ""]).encode()
    digest = f"sha256:{hashlib.sha256(table).hexdigest()}"
    return Said(scripts, json.dumps(rewritten(certificate, lambda c: c.update(table=digest))), table)


@pytest.mark.mutants
def test_a_table_says_each_value_once(scripts: Scripts, published: Path) -> None:
    """Of a row or a column that is there twice a reader may take either."""
    for name in TABLES:
        certificate = json.loads((published / f"{name}.certificate.json").read_text("utf-8"))
        header, first, *others = (published / f"{name}.csv").read_text("utf-8").splitlines()
        assert with_its_digest(scripts, certificate, [header, first, *others]).verdict == "holds"
        cells = first.split(",")
        cells[header.split(",").index("value")] = "77777"
        said = with_its_digest(scripts, certificate, [header, ",".join(cells), first, *others])
        assert "Its values are not those of the certificate." in said.words("fails")
        for column in ("value", "Value", "value "):
            lines = [f"{column},{header}", *(f"77777,{line}" for line in (first, *others))]
            assert any("a column twice" in one for one in with_its_digest(scripts, certificate, lines).words("fails"))


def test_a_lone_text_is_not_utf_8(scripts: Scripts, published: Path) -> None:
    text = (published / f"{TABLES[1]}.certificate.json").read_text("utf-8")
    said = scripts.call("checked(t, {bytes: new Uint8Array([255, 254]), text: null}).findings", t=text)
    assert any("not even text" in one["words"] for one in said)


# Several together

JOINT = "together(texts.map(t => checked(t, null)))"


@pytest.mark.mutants
def test_tables_about_one_source_are_computed_together(scripts: Scripts, published: Path) -> None:
    texts = [(published / f"{name}.certificate.json").read_text("utf-8") for name in TABLES]
    (said,) = scripts.call(JOINT, texts=texts)
    assert said["state"] == "holds"
    lost = float(re.search(r"ε = ([0-9.]+)", said["words"])[1])  # type: ignore[index]
    answers = [json.loads(text)["answers"] for text in texts]
    assert [len(of_table) for of_table in answers] == [3, 1]
    chain = tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 10**6, states=["still", "walking"])
    rate = sum(max(1 / Fraction(answer["scale"]) for answer in of_table) for of_table in answers)
    joint = float(tf.with_scale(tf.Pufferfish(tf.every_entry(), chain), tf.Histogram(), 1 / rate).guarantee.epsilon)
    assert lost == pytest.approx(joint, rel=1e-9)
    assert scripts.call(JOINT, texts=[texts[0], texts[0]]) == []  # one certificate, given twice


@pytest.mark.mutants
def test_what_is_not_known_of_one_is_not_known_of_all(scripts: Scripts, published: Path) -> None:
    texts = [(published / f"{name}.certificate.json").read_text("utf-8") for name in TABLES]
    other = json.loads(texts[1])
    changes: list[Callable[[Certificate], object]] = [
        lambda c: c["answers"][0].update(witness=None), lambda c: c.update(ledger=None),
        lambda c: c["ledger"].update(reading="step: 1h"), lambda c: c["ledger"].update(ledger="0" * 16),
    ]  # fmt: skip
    for change in changes:
        (said,) = scripts.call(JOINT, texts=[texts[0], json.dumps(rewritten(other, change))])
        assert said["state"] == "open"
        assert "joint loss was not computed" in said["words"]


# The page


def test_the_page_is_one_file_that_asks_nobody() -> None:
    page = checker()
    assert len(page.encode()) < 70_000
    assert TITLE in page
    assert re.findall(r"https?://", page) == []
    assert "innerHTML" not in page
    check_asks_nobody(page)


def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert json_of("verify", "--page", "-o", "page.html")["page"] == "page.html"
    assert Path("page.html").read_text("utf-8") == checker()
    assert "would be overwritten" in invoke("verify", "--page", "-o", "page.html").output
    json_of("verify", "--page", "-o", "page.html", "--force")
    Path("mine.html").write_text("mine")
    shutil.copy("mine.html", "kept.txt")
    assert "not what this command writes" in refused("verify", "--page", "-o", "kept.txt", "--force", code=2)
    assert "leave the file out" in refused("verify", "--page", "page.html")
    assert "add --page" in refused("verify", "page.html", "-o", "x.html")
    assert "name a certificate" in refused("verify")


@pytest.mark.mutants
def test_a_certificate_has_decimals_only() -> None:
    """A witness is made by calibration alone: equal calibrations have equal ones, whatever is published."""
    chance = Random(9)
    calibration = random_calibration(chance)
    certificate = certificate_from(calibration)
    assert certificate_from(calibration) == certificate
    numbers = np.array([len(text) for row in certificate["answers"][0]["witness"]["after"] or [] for text in row])
    assert (numbers < 30).all()
