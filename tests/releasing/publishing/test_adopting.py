"""What a copy of this ledger wrote is adopted as what it is; anything else at its worst, or not at all."""

import copy
import json
import shutil
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from takifugu.accounting.ledger.facts import facts, request_in
from takifugu.releasing.publishing.billing import published_in
from tests.releasing import files
from tests.releasing.publishing.test_restored_copies import AGAIN, SMALL
from tests.support.commands import invoke, words_of
from tests.support.ledger_tools import copied, copies_of_each_state, forge, restored, unchanged, worst_joint_loss
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.composition.losses import any_change
from takifugu.accounting.log import Amount, Ledger
from takifugu.core.errors import InputError, LedgerError, TakifuguError
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.certificates.facts import checksum_of
from takifugu.releasing.publishing.adopting import Adopted, adopt

WEEKS = release_text(
    read_from("study", "data.csv", value="state", order="t", step="6h", from_="2026-01-05", budget=3) + "\n{unit}",
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    publish("busy", "count", states=["busy"], epsilon=0.5, every="week") + "\n{per}",
    output="out", expect=EXPECT,
)  # fmt: skip
WARD = WEEKS.format(unit="", per="").replace("units_independent = true\n", "")
POOLED, EACH, BOTH = (WEEKS.format(unit='unit = "m"', per=f'per = "{per}"') for per in ("pooled", "unit", "both"))
UNITS = files.SPEC.replace('per = "both"', 'per = "unit"')
WALKS = UNITS.replace('"histogram"', '"count"\nstates = ["walking"]\nmechanism = "group"')
UNITS_AGAIN = UNITS.replace('"time-use"', '"again"')


def weeks(meters: int, first: int = 0) -> str:
    """Return four weeks of so many meters, every six hours."""
    times = [f"2026-{1 + (d + 4) // 31:02}-{1 + (d + 4) % 31:02}T{h:02}:00" for d in range(28) for h in (0, 6, 12, 18)]
    if not meters:
        return "t,state\n" + "".join(f"{t},{'busy' if n % 5 else 'calm'}\n" for n, t in enumerate(times))
    return "t,state,m\n" + "".join(
        f"{t},{'busy' if (n + m) % 5 else 'calm'},m{m}\n"
        for m in range(first, first + meters)
        for n, t in enumerate(times)
    )


def yes(_: object) -> bool:
    return True


def lost(
    folder: Path, *specs: str, windows: tuple[str | None, ...] = (None, None), table: str | None = None,
    other_entries: bool = False,
) -> Ledger:  # fmt: skip
    """Publish files one after the other, and return the ledger as it was before the last one."""
    ledger = folder / "ledger.db"
    for spec, window in zip(specs, windows, strict=True):
        others = other_entries and ledger.exists()
        where = files.write(folder, spec, table)
        if ledger.exists():
            copied(ledger, folder / "copy.db")
        tf.release_file(where, window=window, other_entries=others)
    copied(ledger, folder / "whole.db")
    restored(ledger, folder / "copy.db")
    return Ledger.open(ledger)


def spent(book: Ledger, source: str = "study") -> dict[str, Fraction]:
    return {one.unit: one.spent.epsilon for one in book.spent(source).units}


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("spec", "meters", "most"), [(WARD, 0, "1.5"), (POOLED, 12, "2.71"), (EACH, 12, "2.71")])
def test_weekly_tables_cost_the_same_and_the_study_goes_on(tmp_path: Path, spec: str, meters: int, most: str) -> None:
    """T4: 32.16 for a ward and 702.6 for twelve meters."""
    table = weeks(meters)
    book = lost(tmp_path, spec, spec, spec, windows=("2026-W02", "2026-W03", "2026-W04"), table=table)
    ((prices,), whole) = adopt(book, tmp_path / "out", yes), Ledger.open(tmp_path / "whole.db")
    assert prices.as_paid == (True,)
    assert prices.spent.epsilon <= Fraction(most)
    assert spent(book) == spent(whole)
    before = (tmp_path / "out" / "busy-2026-W04.csv").read_bytes()
    for window in ("2026-W04", "2026-W05"):
        tf.release_file(tmp_path / "release.toml", window=window)
    assert (tmp_path / "out" / "busy-2026-W04.csv").read_bytes() == before
    assert max(spent(book).values()) < Fraction("0.501")
    assert book.check() == ()


def paid_in(book: Ledger) -> list[dict[bytes, list[str]]]:
    """Return of every payment what each unit is debited, as texts."""
    with book.store.reading() as connection:
        requests = [request_in(connection, fact) for fact in facts(connection) if fact.kind == "paid"]
    return [
        {tag: sorted(part.text + part.body for part in one.shapes[shape]) for tag, shape in one.units.items()}
        for one in requests
    ]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("spec", "window"), [(WARD, "2026-W03"), (EACH, "2026-W03"), (UNITS, None), (WALKS, None)])
def test_every_debit_is_the_one_that_was_paid(tmp_path: Path, spec: str, window: str | None) -> None:
    table = {WARD: weeks(0), EACH: weeks(3)}.get(spec)
    first = spec if window else spec.replace('"time-use"', '"first"')
    book = lost(tmp_path, first, spec, windows=("2026-W02" if window else None, window), table=table)
    adopt(book, tmp_path / "out", yes)
    assert paid_in(book) == paid_in(Ledger.open(tmp_path / "whole.db"))


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "shares"), [(POOLED, 1), (SMALL, 3)])
def test_a_pooled_table_is_charged_to_everybody(tmp_path: Path, spec: str, shares: int) -> None:
    """Each share that somebody was charged is charged to all, whoever they are, to those who come later, too."""
    windows = ("2026-W02", "2026-W03") if spec is POOLED else (None, None)
    table = weeks(3) if spec is POOLED else None
    book = lost(tmp_path, spec, spec if spec is POOLED else AGAIN, windows=windows, table=table)
    adopt(book, tmp_path / "out", yes)
    ours, theirs = paid_in(book), paid_in(Ledger.open(tmp_path / "whole.db"))
    ((everybody,), paid) = ours[-1].values(), theirs[-1]
    assert len(everybody) == shares
    assert set(everybody) == {text for texts in paid.values() for text in texts}
    whole = spent(Ledger.open(tmp_path / "whole.db"))
    assert all(spent(book)[unit] >= epsilon for unit, epsilon in whole.items())
    more = weeks(1, first=7) if spec is POOLED else files.data({"somebody new": (30,)})
    where = files.write(tmp_path, spec.replace('"busy"\nquery', '"more"\nquery').replace('"time-use"', '"more"'), more)
    tf.release_file(where, window=windows[1], anyway=True)
    (new,) = spent(book).keys() - whole.keys()
    assert spent(book)[new] >= 1


def lost_of(folder: Path, calibrations: Sequence[Any], data: list[str], **account: Any) -> tuple[Ledger, Amount]:
    """Release one after the other; return the ledger as it was before the last one, and what it had spent after it."""
    path, out = folder / "ledger.db", folder / "out"
    out.mkdir()
    for n, calibration in enumerate(calibrations):
        if path.exists():
            copied(path, folder / "copy.db")
        more = {key: value[n] if key == "at" else value for key, value in account.items()}
        release = tf.release(calibration, data, ledger=path, entries="steps", **more)
        (out / f"{n}.certificate.json").write_text(release.certificate.to_json())
    whole = Ledger.open(path).spent("data")
    restored(path, folder / "copy.db")
    return Ledger.open(path), whole


def test_the_true_loss_is_never_above_what_is_adopted(tmp_path: Path) -> None:
    """Two windows of one recording of six steps, by enumeration of all paths."""
    matrix, start = [[0.9, 0.1], [0.4, 0.6]], [0.8, 0.2]
    chain = tf.MarkovChain(matrix, 3, states=["calm", "busy"])
    framework = tf.Pufferfish(tf.every_entry(), chain)
    calibration = tf.calibrate(framework, tf.Count("busy"), 1, mechanism="group")
    book, whole = lost_of(tmp_path, [calibration] * 2, ["calm", "busy", "calm"], budget=9, at=(0, 3))
    ((prices,), scale) = adopt(book, tmp_path / "out", yes), float(calibration.scale)
    law = {}
    for number in range(2**6):
        states = tuple(number >> k & 1 for k in range(6))
        law[states] = start[states[0]] * np.prod([matrix[a][b] for a, b in pairwise(states)])
    windows = [[[0, int(begin <= k < begin + 3)] for k in range(6)] for begin in (0, 3)]
    true = worst_joint_loss(law, [(one, scale) for one in windows], 6)
    assert prices.as_paid == (True,)
    assert prices.spent == whole
    assert 0.9 < true <= float(prices.spent.epsilon) <= 2


def written(folder: Path, name: str = "again") -> Path:
    return folder / "out" / f"{name}.certificate.json"


def rewrite(path: Path, change: Callable[[Any], Any]) -> None:
    """Change a certificate as one who knows how checksums are made."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps({**data, "checksum": checksum_of(data)}))


def wider(answer: Any) -> None:
    answer["noise"]["scale"] = answer["scale"] = "100000"


ATTACKS: dict[str, Callable[[Any], Any]] = {
    "values": lambda c: c["answers"][0]["values"].update(walking="-700000"),
    "noise": lambda c: [wider(answer) for answer in c["answers"]],
    "promise": lambda c: [answer.update(epsilon="0.001") for answer in c["answers"]],
    "units": lambda c: c["answers"][0].update(unit="somebody else"),
    "fewer units": lambda c: (c["answers"].pop(), c["bill"]["places"].pop()),
    "belief": lambda c: c["frameworks"][c["answers"][0]["framework"]]["beliefs"][0].update(matrix=[[0.5, 0.5]] * 2),
    "query": lambda c: c["answers"][0]["query"].update(kind="count", states=["walking"]),
    "place": lambda c: c["bill"]["places"].__setitem__(0, 9),
    "layout": lambda c: c["bill"].update(layout=""),
    "payment": lambda c: c["bill"].update(payment="0" * 16),
    "flags": lambda c: c["bill"].update(begins_series=True),
    "same people": lambda c: c["bill"].update(same_people=False),
    "source": lambda c: c.update(source="another study"),
    "release id": lambda c: c.update(release_id="0" * 16),
    "no digest": lambda c: c.update(digest=None),
    "digest": lambda c: c.update(digest="0" * 64),
    "words": lambda c: c.update(title="nicer"),
}


@pytest.fixture(scope="module")
def lacking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adopting")
    lost(folder, UNITS, UNITS_AGAIN)
    return folder


@pytest.fixture
def there(lacking: Path, tmp_path: Path) -> Path:
    """A folder of its own, with a ledger that lacks the release `again`."""
    folder = tmp_path / "there"
    shutil.copytree(lacking, folder)
    return folder


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_certificate_of_this_ledger_that_was_changed_is_refused(there: Path, attack: str) -> None:
    rewrite(written(there), ATTACKS[attack])
    refusal = r"not what this ledger or a copy of it wrote|is not a certificate|cannot read"
    with unchanged(there / "ledger.db"), pytest.raises(TakifuguError, match=refusal):
        adopt(there / "ledger.db", there / "out", yes)


def test_the_digest_of_another_release_is_no_evidence(there: Path) -> None:
    digest = json.loads(written(there, "time-use").read_text())["digest"]
    rewrite(written(there), lambda c: c.update(digest=digest))
    with pytest.raises(InputError, match="is not of what it says"):
        adopt(there / "ledger.db", there / "out", yes)


def worst_of(folder: Path, book: Ledger) -> Adopted:
    (prices,) = adopt(book, folder / "out", yes)
    assert prices.as_paid == (False,)
    assert prices.spent.epsilon > 10
    return prices


def from_another_ledger(folder: Path) -> None:
    tf.release_file(files.write(folder / "other", UNITS.replace('"time-use"', '"theirs"')))
    shutil.copy(written(folder / "other", "theirs"), written(folder, "theirs"))
    written(folder).unlink()


#: What makes the one certificate that the ledger lacks a foreign one.
FOREIGN: dict[str, Callable[[Path], object]] = {
    "no bill": lambda folder: rewrite(written(folder), lambda c: c.update(bill=None, digest=None)),
    "the mark of another ledger": lambda folder: rewrite(written(folder), lambda c: c["bill"].update(book="0" * 16)),
    "of another ledger": from_another_ledger,
    "an earlier format": lambda folder: shutil.copy(EARLIER, written(folder)),
}
EARLIER = Path(__file__).parents[1] / "certificates" / "format-4.certificate.json"


@pytest.mark.parametrize("attack", FOREIGN)
def test_a_foreign_certificate_counts_at_its_worst(there: Path, attack: str) -> None:
    """Whoever takes the marks of this ledger off, or writes those of another, gains nothing."""
    FOREIGN[attack](there)
    prices = worst_of(there, Ledger.open(there / "ledger.db"))
    assert min(spent(Ledger.open(there / "ledger.db")).values()) == prices.spent.epsilon or len(prices.releases) == 1
    assert adopt(there / "ledger.db", there / "out", yes) == ()


def test_of_another_key_nothing_is_adopted(there: Path) -> None:
    forge(Ledger.open(there / "ledger.db"), f"update meta set key = '{'ab' * 32}'")
    with pytest.raises((LedgerError, InputError)):
        adopt(Ledger.open(there / "ledger.db"), there / "out", yes)


def test_a_reading_that_the_ledger_does_not_know_counts_at_its_worst(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "ledger.db").source("study", 10)
    worst_of(tmp_path, lost(tmp_path, UNITS, windows=(None,)))


@pytest.mark.slow
def test_in_another_reading_every_answer_counts(tmp_path: Path) -> None:
    """Its people may be parts of one person of the reading that is known: the runs are people there."""
    runs = UNITS_AGAIN.replace('unit = "Who is it?"\nrecording = "run no."', 'unit = "run no."')
    rows = [f"{u},{u}{r},{t},x,sitting" for u in "ab" for r in (1, 2) for t in range(0, 20, 2)]
    table = "\n".join(["Who is it?,run no.,t [min],spare,état; raw", *rows, ""])
    specs = [text.replace("budget = 10", "budget = 999") for text in (UNITS, runs)]
    book = lost(tmp_path, *specs, table=table, other_entries=True)
    (prices,) = adopt(book, tmp_path / "out", yes)
    assert prices.as_paid == (False,)
    certificate = read_certificate(written(tmp_path))
    whole = [any_change(charge_of(one)) for one in published_in(certificate)]
    assert len(whole) == 4
    assert prices.spent.epsilon >= prices.before.epsilon + sum(cost or 0 for cost in whole)


def drawn_twice(folder: Path) -> tuple[Ledger, Path]:
    """Publish one payment from two copies of the ledger: the second certificate lies in a folder of its own."""
    where = files.write(folder, UNITS)
    with copies_of_each_state(folder / "copies") as copies:
        tf.release_file(where)
    shutil.move(folder / "out", folder / "theirs")
    restored(folder / "ledger.db", copies["paid"])
    tf.release_file(where)
    return Ledger.open(folder / "ledger.db"), folder / "theirs"


@pytest.mark.slow
def test_a_release_that_was_drawn_twice_is_paid_for_twice(tmp_path: Path) -> None:
    book, theirs = drawn_twice(tmp_path)
    ids = {json.loads((f / "time-use.certificate.json").read_text())["release_id"] for f in (theirs, tmp_path / "out")}
    assert len(ids) == 1
    before = spent(book)
    assert adopt(book, tmp_path / "out", yes) == ()
    (prices,) = adopt(book, theirs, yes)
    assert prices.as_paid == (True,)
    assert all(spent(book)[unit] > epsilon for unit, epsilon in before.items())
    assert adopt(book, theirs, yes) == adopt(book, tmp_path / "out", yes) == ()
    assert book.check() == ()


@pytest.mark.slow
def test_both_draws_of_one_payment_count_where_neither_is_known(tmp_path: Path) -> None:
    drawn_twice(tmp_path)
    (tmp_path / "all").mkdir()
    for origin in ("theirs", "out"):
        shutil.copy(tmp_path / origin / "time-use.certificate.json", tmp_path / "all" / f"{origin}.certificate.json")
    fresh = Ledger.open(tmp_path / "fresh.db")
    (prices,) = adopt(fresh, tmp_path / "all", yes)
    assert len(prices.releases) == 2
    assert prices.after[0].epsilon < prices.after[1].epsilon
    assert adopt(fresh, tmp_path / "all", yes) == ()


DELTA = ("influence-gaussian", {"delta": 1e-4})
ALONE = ("laplace-exact", {"only_release": True})


@pytest.mark.parametrize("mechanism", [DELTA, ALONE])
@pytest.mark.parametrize("is_lost", [True, False])
def test_where_order_decides_the_worst_is_charged(tmp_path: Path, mechanism: tuple[str, Any], is_lost: bool) -> None:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 8, states=["calm", "busy"]))
    name, more = mechanism
    odd = tf.calibrate(framework, tf.Count("busy"), 1, mechanism=name, **more)
    plain = tf.calibrate(framework, tf.Count("busy"), "0.5", mechanism="group")
    order = (plain, odd) if is_lost else (odd, plain)
    book, whole = lost_of(tmp_path, order, ["calm", "busy"] * 4, budget=(99, 0.5))
    try:
        (prices,) = adopt(book, tmp_path / "out", yes)
    except TakifuguError:
        return
    assert prices.as_paid == (False,)
    assert whole.fits(prices.spent)


def test_the_refusal_names_merge_restore_and_adopt_with_their_prices(there: Path) -> None:
    files.write(there, UNITS.replace('"time-use"', '"third"'))
    refused = words_of(invoke("release", there / "release.toml"))
    whole = Ledger.open(there / "whole.db").spent("study")
    remedies = ("ledger merge", "restore the newest", "ledger adopt")
    merged, restoring, adopting = (refused.index(word) for word in remedies)
    assert merged < restoring < adopting
    assert f"would have spent at most {whole}" in refused[merged:restoring]
    assert f"would have spent {whole}" in refused[adopting:]
    FOREIGN["no bill"](there)
    refused = words_of(invoke("release", there / "release.toml"))
    assert "add --dry-run, and it is printed" in refused
    rewrite(written(there), lambda c: c.update(answers=copy.deepcopy(c["answers"])[:1]))
    assert "a copy from before" in words_of(invoke("release", there / "release.toml"))


def test_a_certificate_tells_nothing_of_readings_and_people(there: Path) -> None:
    """Its bill holds keyed hashes, random ids, places and flags; of a pooled table no name."""
    bill = json.loads(written(there).read_text())["bill"]
    assert bill["readers"] == []
    assert set(bill) == {
        "book", "payment", "layout", "calendar", "places", "readers", "begins_series", "as_composing", "same_people"
    }  # fmt: skip
    for text in ("Who is it", "état", "zoë"):
        assert text not in json.dumps(bill, ensure_ascii=False)


def test_what_was_adopted_is_not_merged_a_second_time(there: Path) -> None:
    """The whole copy pays for it, too: nothing says that it is the same payment, so the copies are not merged."""
    book = Ledger.open(there / "ledger.db")
    adopt(book, there / "out", yes)
    with unchanged(there / "ledger.db"), pytest.raises(LedgerError, match="entered it from its certificate"):
        book.merge(there / "whole.db")


@pytest.mark.parametrize("content", ["", "{}", "null", "[]", '{"release_id": 1}', '{"source": "study"', "\0"])
def test_a_certificate_that_cannot_be_read_is_not_passed_over(content: str, tmp_path: Path) -> None:
    """A release whose certificate was half copied is not said to be known."""
    book = Ledger.open(tmp_path / "ledger.db")
    (tmp_path / "flu.certificate.json").write_text(content)
    with pytest.raises(InputError, match=r"flu\.certificate\.json is not (a Takifugu certificate|JSON)"):
        adopt(book, tmp_path, yes)
    assert book.show() == ()
