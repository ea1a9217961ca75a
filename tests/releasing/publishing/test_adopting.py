"""What a folder shows to be published is charged as its certificates say, and never where they were changed."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.commands import refused
from tests.support.ledger_edits import debit, missing, pay
from tests.support.ledger_histories import released, series
from tests.support.ledger_tools import with_delta, worst_joint_loss
from tests.support.statements import publish

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Amount, Debit, Ledger
from takifugu.core.errors import CompositionRefused, InputError
from takifugu.releasing.certificates.facts import checksum_of
from takifugu.releasing.publishing.adopting import Adopted, adopt, certificates_in, price_in_words
from takifugu.releasing.publishing.statements import for_entering, in_certificate, statements_of

MATRIX, START = [[0.9, 0.1], [0.4, 0.6]], [0.8, 0.2]


def yes(_: object) -> bool:
    return True


def entered(ledger: Ledger | Path, folder: Path) -> tuple[Adopted, ...]:
    book = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
    return adopt(book, certificates_in([folder]), yes)


def lost(folder: Path, payments: Sequence[Sequence[Debit]], **options: Any) -> tuple[Ledger, Ledger]:
    """Publish some payments, and return the ledger as it was before the last one, and as it is."""
    whole = Ledger.open(folder / "whole.db")
    for debits in payments:
        shutil.copy(folder / "whole.db", folder / "ledger.db")
        publish(whole, pay(whole, *debits, **options), folder / "out")
    return Ledger.open(folder / "ledger.db"), whole


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A folder with a ledger that lacks the release `again`."""
    lost(tmp_path, [[debit(name="first")], [debit(name="again")]], budget=9)
    return tmp_path


def certificate_of(folder: Path, name: str = "again") -> Path:
    return folder / "out" / f"{name}.certificate.json"


def rewrite(path: Path, change: Callable[[Any], Any]) -> None:
    """Change a certificate as one who knows how checksums are made."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps({**data, "checksum": checksum_of(data)}))


def test_what_was_lost_costs_what_it_cost(tmp_path: Path) -> None:
    """To everybody who is or will be in the source: the certificate names nobody."""
    book, whole = lost(tmp_path, [[debit(name=name)] for name in ("a", "b", "c")], budget=9)
    assert price_in_words(book, tmp_path / "out") == "the source 'data' would have spent epsilon 0.3"
    (prices,) = entered(book, tmp_path / "out")
    assert (prices.source, prices.releases) == ("data", ("c",))
    assert (prices.before.epsilon, prices.spent) == (Fraction(2, 10), whole.spent("data"))
    assert book.spent("data") == whole.spent("data")
    assert book.spent("data", "nobody yet") == Amount(Fraction(1, 10))
    before = book.store.after(0)
    assert entered(book, tmp_path / "out") == ()
    assert book.store.after(0) == before
    assert book.check() == missing(book, certificates_in([tmp_path / "out"]).statements) == ()
    assert pay(book, debit(name="d")).spent == pay(whole, debit(name="d")).spent


def test_all_tables_are_priced_one_after_the_other(tmp_path: Path) -> None:
    """The certificates of two folders, the oldest first; tables of one payment together."""
    whole = Ledger.open(tmp_path / "whole.db")
    for number, folder in enumerate(("one", "other", "one")):
        debits = [debit(name=f"t{number}"), debit(name=f"u{number}", epsilon="2/10")]
        publish(whole, pay(whole, *debits, budget=9), tmp_path / folder)
    fresh, certificates = Ledger.open(tmp_path / "fresh.db"), certificates_in([tmp_path / "one", tmp_path / "other"])
    offers = list[Sequence[Adopted]]()
    assert adopt(fresh, certificates, lambda offered: bool(offers.append(offered))) == ()
    assert fresh.show() == ()
    ((prices,),) = offers
    assert sorted(prices.releases) == ["t0, u0", "t1, u1", "t2, u2"]
    assert [one.epsilon for one in prices.after] == [Fraction(3, 10), Fraction(6, 10), Fraction(9, 10)]
    assert adopt(fresh, certificates, yes) == (prices,)
    assert fresh.spent("data") == whole.spent("data") == prices.spent
    assert len(fresh.payments()) == 3


def test_the_true_loss_is_never_above_what_is_adopted(tmp_path: Path) -> None:
    """Two windows of one recording of six steps, by enumeration of all paths."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(MATRIX, 3, states=["calm", "busy"]))
    calibration = tf.calibrate(framework, tf.Count("busy"), 1, mechanism="group-dp")
    windows = [[Debit(framework, replace(charge_of(calibration), at=at), None, f"at-{at}")] for at in (0, 3)]
    book, whole = lost(tmp_path, windows, budget=9, entries="steps")
    ((prices,), scale) = entered(book, tmp_path / "out"), float(calibration.scale)
    law = {}
    for number in range(2**6):
        states = tuple(number >> k & 1 for k in range(6))
        law[states] = START[states[0]] * np.prod([MATRIX[a][b] for a, b in pairwise(states)])
    read = [[[0, int(begin <= k < begin + 3)] for k in range(6)] for begin in (0, 3)]
    true = worst_joint_loss(law, [(one, scale) for one in read], 6)
    assert prices.spent == whole.spent("data")
    assert 0.9 < true <= float(prices.spent.epsilon) <= 2


def test_of_another_reading_is_a_table_of_its_own(tmp_path: Path) -> None:
    """What its certificate says of the rows is not what this ledger knows: each counts beside the other as a whole."""
    framework, made = released(0, 12, "count", 0.1, "influence")  # type: ignore[misc]
    first, second = ([Debit(framework, replace(made, at=at), ["ann"], f"at-{at}")] for at in (0, 12))
    whole = Ledger.open(tmp_path / "whole.db")
    publish(whole, pay(whole, *second, budget=9, reading="value: state", entries="hours"), tmp_path / "out")
    spent = []
    for number, reading in enumerate(("value: state", "value: lower(state)")):
        book = Ledger.open(tmp_path / f"{number}.db")
        pay(book, *first, budget=99, reading=reading, entries="hours")
        spent.append(entered(book, tmp_path / "out")[0].spent.epsilon)
    assert spent[0] < Fraction("0.11")
    assert spent[1] >= made.change / made.scale + made.epsilon


@pytest.mark.mutants
def test_a_series_is_entered_as_one(tmp_path: Path) -> None:
    """All tables of its first payment begin it; what the copy had never known is not dearer, or is refused."""
    framework, made = series("count", 0.3, True)  # type: ignore[misc]
    first = [Debit(framework, replace(made, at=0), ["ann"], name) for name in ("one", "two")]
    whole = Ledger.open(tmp_path / "whole.db")
    publish(whole, pay(whole, *first, budget=(99, "1/2"), entries="hours"), tmp_path / "out")
    fresh = Ledger.open(tmp_path / "fresh.db")
    (prices,) = entered(fresh, tmp_path / "out")
    assert prices.releases in (("one, two",), ("two, one",))
    assert prices.spent == whole.spent("data")


@pytest.mark.parametrize("is_lost", [True, False])
def test_where_order_decides_no_less_is_charged(tmp_path: Path, is_lost: bool) -> None:
    """Nobody knows when it was chosen: with a delta it counts as chosen first, after which all else costs most."""
    framework, made = released(0, 12, "count", 0.1, "influence")  # type: ignore[misc]
    odd, plain = Debit(framework, with_delta(framework, "1/4"), ["ann"], "odd"), Debit(framework, made, ["ann"])
    book, whole = lost(tmp_path, [[plain], [odd]] if is_lost else [[odd], [plain]], budget=(99, "1/2"))
    (prices,) = entered(book, tmp_path / "out")
    assert whole.spent("data").fits(prices.spent)


def test_a_release_that_was_drawn_twice_is_paid_for_twice(tmp_path: Path) -> None:
    one = Ledger.open(tmp_path / "one.db")
    paid = pay(one, debit(name="drawn"), budget=9)
    shutil.copy(tmp_path / "one.db", tmp_path / "other.db")
    publish(one, paid, tmp_path / "ours", "ours")
    other = Ledger.open(tmp_path / "other.db")
    publish(other, paid, tmp_path / "theirs", "theirs")
    assert entered(one, tmp_path / "ours") == entered(other, tmp_path / "theirs") == ()
    for book, folder in ((one, "theirs"), (other, "ours")):
        (prices,) = entered(book, tmp_path / folder)
        assert prices.releases == ("drawn",)
        assert prices.spent == book.spent("data") == Amount(Fraction(2, 10))
        assert entered(book, tmp_path / folder) == ()
        assert book.check() == ()
    fresh = Ledger.open(tmp_path / "fresh.db")
    assert adopt(fresh, certificates_in([tmp_path / "ours", tmp_path / "theirs"]), yes)[0].spent == prices.spent
    assert [again.fate for again in fresh.payments("data")] == ["adopted", "adopted"]


def test_other_values_under_a_known_id_are_charged_once_more(there: Path) -> None:
    """Whoever writes them anew, with a new checksum, gains nothing: they were published, and never paid for."""
    rewrite(certificate_of(there, "first"), lambda data: data["answers"][0]["values"].update({"count": "7"}))
    ((prices,),) = (entered(there / "ledger.db", there / "out"),)
    assert sorted(prices.releases) == ["again", "first"]
    assert prices.spent == Amount(Fraction(3, 10))


def test_a_certificate_of_before_is_refused_by_name(there: Path) -> None:
    """It does not say what was charged; whoever goes on without it counts it by hand."""
    former = shutil.copy(certificate_of(there), there / "out" / "former.certificate.json")
    rewrite(former, lambda data: data.update(format="takifugu-certificate/4"))
    with pytest.raises(InputError, match=r"former\.certificate\.json has the format 'takifugu-certificate/4'"):
        certificates_in([there / "out"])


#: What a certificate may say of its ledger after somebody changed it, and its checksum with it.
NONSENSE: dict[str, Callable[[Any], Any]] = {
    "no lines": lambda said: said.pop("lines"),
    "lines of another": lambda said: said["lines"][0].update(release="other"),
    "no charge": lambda said: said["lines"][0].update(charge={}),
    "no framework": lambda said: said["lines"][0].update(framework=7),
    "another framework": lambda said: said["lines"][0]["framework"]["secrets"].clear(),
    "named units": lambda said: said["lines"][0].update(units="ann"),
    "no place": lambda said: said["lines"][0].update(at="now"),
    "no source": lambda said: said.update(source=" "),
    "ids": lambda said: said.update(ids=[1]),
    "no ids": lambda said: said.update(ids={}),
    "no head": lambda said: said.update(head=None),
    "no entries": lambda said: said.update(entries=5),
    "a line of text": lambda said: said.update(lines=["each"]),
    "a framework that is not there": lambda said: said["lines"][0].update(framework="another"),
    "a noise of no kind": lambda said: said["lines"][0]["charge"]["randomiser"].pop("kind"),
    "entries that are none": lambda said: said["lines"][0]["charge"]["query"].update(entries=-1),
    "half a letter": lambda said: said.update(source="\ud800"),
    "beyond all years": lambda said: said["lines"][0].update(at=10**29),
    "an epsilon of nothing": lambda said: said["lines"][0]["charge"].update(epsilon="0"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NONSENSE)
def test_what_says_nothing_of_a_charge_is_refused(there: Path, name: str) -> None:
    rewrite(certificate_of(there), lambda data: NONSENSE[name](data["ledger"]))
    book = Ledger.open(there / "ledger.db")
    before = book.store.after(0)
    with pytest.raises(tf.TakifuguError) as caught:
        entered(book, there / "out")
    assert "Traceback" not in caught.value.message
    assert book.store.after(0) == before
    assert "which cannot be done" in price_in_words(book, there / "out")
    (there / "out" / "first.certificate.json").unlink()
    with pytest.raises(tf.TakifuguError):  # also where it is the only one, and counts beside nothing
        entered(Ledger.blank(), there / "out")


@pytest.mark.parametrize("content", ["", "{}", "null", "[]", '{"release_id": 1}', '{"source": "study"', "\0"])
def test_a_certificate_that_cannot_be_read_is_not_passed_over(content: str, tmp_path: Path) -> None:
    """A release whose certificate was half copied is not said to be known."""
    (tmp_path / "flu.certificate.json").write_text(content)
    with pytest.raises(InputError, match=r"flu\.certificate\.json is not (a Takifugu certificate|JSON)"):
        certificates_in([tmp_path])


def test_a_folder_without_certificates_is_no_agreement(there: Path) -> None:
    """Who names the folder above is not told that the ledger knows all that was published."""
    for command in ("verify", "import-certificates"):
        assert "holds no certificate" in refused("ledger", command, there / "ledger.db", there)


def test_where_nothing_bounds_what_a_release_costs_nothing_is_entered(there: Path) -> None:
    """A source that names nobody, beside people of whom nobody knows how many a certificate tells of."""
    book = Ledger.open(there / "nobody.db")
    pay(book, debit(None), budget=9, source="all")
    before = book.store.after(0)
    with pytest.raises(CompositionRefused, match="of how many an adopted release tells is not known"):
        entered(book, there / "out")
    assert book.store.after(0) == before
    assert "of how many" in price_in_words(book, there / "out")


def test_a_release_of_many_kinds_is_entered_whole_or_not_at_all(tmp_path: Path) -> None:
    """Nine people with chains of their own lengths; nothing bounds the normal noise of the longest."""
    made = list[Any]()
    for length in range(1, 10):
        framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(MATRIX, length))
        mechanism, delta = ("group-dp", 0) if length < 9 else ("influence-gaussian", "0.01")
        made.append(tf.calibrate(framework, tf.Count(1), 3, delta, mechanism=mechanism))
    debits = [Debit(one.framework, charge_of(one), [f"p{number}"]) for number, one in enumerate(made)]
    paid = (book := Ledger.blank()).reserve("s", debits, (9, "0.1"), entries="hours")
    statement = in_certificate(statements_of(book, paid)["release"], made, {}, worst=False)
    with pytest.raises(InputError, match="no lines of a release"):
        Ledger.blank().adopt([for_entering(statement, {})])
