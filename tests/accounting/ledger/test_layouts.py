"""Nobody gets a cheaper ledger by describing the same data in another way: each case is charged at least its true loss.

The true losses were found by enumeration that shares no code with the library.
"""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import invoke
from tests.support.releases import paid

import takifugu as tf
from takifugu.accounting.ledger import Ledger, Spent
from takifugu.core.errors import BudgetExceeded, CompositionRefused

DAY = "2026-01-05T"
TWO = '["calm","busy"]'


def release_file(folder: Path, data: str, source: str, belief: str = "", item: str = "", states: str = TWO) -> Path:
    """Write a release file of a count under a belief in which nothing tells of anything else."""
    k = len(states.split(","))
    row = "[" + ",".join([str(1 / k)] * k) + "]"
    about = f'kind = "markov-chain"\nstates = {states}\nmatrix = [{",".join([row] * k)}]\n{belief}'
    return written(folder, f'file = "{data}"\n{source}', about, f'query = "count"\n{item}')


def written(folder: Path, source: str, belief: str, item: str) -> Path:
    path = folder / "f.toml"
    path.write_text(
        f'ledger = "a.db"\n[expect]\nsource = "a test"\nmatters = 1000\n[source]\nname = "s"\nbudget = 9999\n{source}\n'
        f'[belief]\n{belief}\n[[table]]\nname = "t"\nepsilon = 1\n{item}\n'
    )
    return path


def spent(folder: Path, *args: Any, **more: Any) -> Fraction:
    return paid(release_file(folder, *args, **more))


def hours(folder: Path) -> None:
    rows = "".join(f"{DAY}{h:02}:00,busy,calm\n" for h in range(3, 20))
    (folder / "h.csv").write_text(f"t,state,lag\n{rows}")


CALENDAR = 'order = "t"\nstep = "1h"\nfrom = "2026-01-05"\nuntil = "2026-01-06"'
ONE_HOUR = 'states = ["busy"]\nmechanism = "quilt-exact"\nfrom = "2026-01-05T{}:00"\nto = "2026-01-05T{}:00"'


def test_pieces_that_are_cut_differently(tmp_path: Path) -> None:
    chain = tf.MarkovChain([[0.999, 0.001], [0.001, 0.999]], 1)

    def cut(lengths: list[int]) -> Any:
        framework = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, lengths))
        return tf.calibrate(framework, tf.Count(1), epsilon=1, mechanism="group")

    hours, stays, data, where = cut([1] * 40), cut([20] * 2), [0] * 40, tmp_path / "a.db"
    tf.release(hours, [[s] for s in data], ledger=where, source="s", budget=99)
    with pytest.warns(UserWarning, match="no layout is declared"):
        tf.release(stays, [data[:20], data[20:]], ledger=where, source="s", budget=99)
    assert Ledger.open(where).spent("s").spent.epsilon >= 13.93


@pytest.mark.sampled(3)
@pytest.mark.parametrize("first", [0, 1, 2])
def test_another_column_of_units(tmp_path: Path, first: int) -> None:
    rows = "".join(f"p{p},w{p // 2},b{p},{t},busy\n" for p in range(4) for t in range(9))
    (tmp_path / "u.csv").write_text(f"patient,ward,bed,t,state\n{rows}")
    independent = "units_independent = true\npieces_independent = true"
    layouts = []
    for unit, piece in [("patient", ""), ("bed", ""), ("ward", 'recording = "patient"')] * 2:
        source = f'value = "state"\norder = "t"\nunit = "{unit}"\n{piece}'
        layouts.append((source, independent, 'per = "pooled"\nmechanism = "group"\nstates = ["busy"]'))
    costs = [spent(tmp_path, "u.csv", *one) for one in layouts[first : first + 3]]
    assert 0 < costs[0] < 1  # what its noise loses under the belief is less than it promises
    assert costs[1] >= 2
    assert costs[2] >= 3
    units = Ledger.open(tmp_path / "a.db").spent("s").units
    assert {unit.spent.epsilon for unit in units} == {costs[2]}  # whoever is meant by which name


def test_another_time_zone(tmp_path: Path) -> None:
    hours(tmp_path)
    zones = ("UTC", "Europe/Berlin", "Europe/Moscow", "Asia/Tokyo")
    costs = [
        spent(tmp_path, "h.csv", f'value = "state"\n{CALENDAR}\ntimezone = "{zone}"', "", ONE_HOUR.format(10, 11))
        for zone in zones
    ]
    assert all(cost >= n for n, cost in enumerate(costs, 1))
    assert costs[0] == 1


def test_another_column_of_values(tmp_path: Path) -> None:
    hours(tmp_path)
    spent(tmp_path, "h.csv", f'value = "state"\n{CALENDAR}', "", ONE_HOUR.format(10, 11))
    assert spent(tmp_path, "h.csv", f'value = "lag"\n{CALENDAR}', "", ONE_HOUR.format(11, 12)) >= 2


def test_another_step(tmp_path: Path) -> None:
    rows = [f"{DAY}{h:02}:{m:02},{DAY}{h:02}:00,{'busy' if h % 2 else 'calm'}" for h in range(24) for m in range(60)]
    (tmp_path / "m.csv").write_text("\n".join(["t,hour,state", *rows, ""]))
    whole = 'states = ["busy"]\nmechanism = "quilt-exact"'
    for order, step in (("hour", "1h"), ("t", "1min")):
        source = f'value = "state"\norder = "{order}"\nstep = "{step}"\nfrom = "2026-01-05"\nuntil = "2026-01-06"'
        cost = spent(tmp_path, "m.csv", f'{source}\nduplicates = "first"', "", whole)
    assert cost >= 61


def test_another_rule_of_which_rows_count(tmp_path: Path) -> None:
    rows = "".join(f"{DAY}{h:02}:00,{s}\n" for h in range(24) for s in ("00", "10"))
    (tmp_path / "k.csv").write_text(f"t,state\n{rows}")
    for rule, counted, start in zip(("last", "first"), ('["10","11"]', '["01","11"]'), (10, 11), strict=True):
        item, source = ONE_HOUR.format(start, start + 1).replace('["busy"]', counted), f'value = "state"\n{CALENDAR}'
        cost = spent(tmp_path, "k.csv", f'{source}\nduplicates = "{rule}"', "", item, '["00","01","10","11"]')
    assert cost >= 2


def test_another_map_of_raw_values(tmp_path: Path) -> None:
    """A raw value holds two hours: one map reads the one, another map the other."""
    rows = "".join(f"{DAY}{h:02}:00,{h % 2}{(h + 1) % 2}\n" for h in range(24))
    (tmp_path / "p.csv").write_text(f"t,state\n{rows}")
    for map_, start in ((("calm", "busy"), 10), (("busy", "calm"), 11)):
        raw = f'map = {{ "01" = "{map_[0]}", "10" = "{map_[1]}" }}'
        cost = spent(tmp_path, "p.csv", f'value = "state"\n{CALENDAR}', raw, ONE_HOUR.format(start, start + 1))
    assert cost >= 2


@pytest.mark.parametrize(("starts", "is_dear"), [((0, 2), True), ((0, 3), False)], ids=["two clocks", "one clock"])
def test_hours_of_two_clocks(tmp_path: Path, starts: tuple[int, int], is_dear: bool) -> None:
    """Summer time 00-02, then winter time 02-06: the hour that moves little occurs twice, unless places agree."""
    little, other, where = [[0.9999, 0.0001], [0.0001, 0.9999]], [[0.5, 0.5], [0.5, 0.5]], tmp_path / "b.db"
    for length, start, at in zip((3, 5), starts, (0, 3), strict=True):
        chain = tf.PeriodicChain([other, little], length, [0, 0, 1] + [0] * 21, start)
        calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count(1), 1, mechanism="quilt-exact")
        tf.release(calibration, [0] * length, ledger=where, source="s", budget=9, at=at)
    assert (Ledger.open(where).spent("s").spent.epsilon >= 2) == is_dear


LIBRARY = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 5)


def calibrated(length: int, mechanism: str = "quilt-exact", **more: Any) -> Any:
    framework = tf.Pufferfish(tf.every_entry(), LIBRARY.with_length(length))
    return tf.calibrate(framework, tf.Count(1), mechanism=mechanism, **{"epsilon": 1, **more})


def released(where: Path, unit: str = "", length: int = 5, calibration: Any = None, **more: Any) -> Spent:
    """Release about a unit, and return what was spent then."""
    account = {"ledger": where, "source": "s", "budget": 99, **({"unit": unit} if unit else {})}
    tf.release(calibration or calibrated(length), [0] * length, **account | more)
    return Ledger.open(where).spent("s")


def test_numbers_with_a_point_are_one_person(tmp_path: Path) -> None:
    for unit in ("1", "1.0", " 1.", "1.00"):
        account = released(tmp_path / "a.db", unit)
    assert len(account.units) == 1
    assert account.spent.epsilon >= 4


def test_lengths_matter_only_without_a_declared_layout(tmp_path: Path) -> None:
    assert math.isclose(calibrated(5).scale, 1)
    for rule in (None, "one row an hour"):
        for length in (5, 6):
            cost = released(tmp_path / f"{rule}.db", length=length, layout=rule).spent.epsilon
        assert cost >= 11 if rule is None else cost < 3


def test_lengths_of_other_units_do_not_matter(tmp_path: Path) -> None:
    for unit, length in (("ana", 5), ("ben", 6), ("ana", 5)):
        account = released(tmp_path / "a.db", unit, length)
    assert account.spent.epsilon == pytest.approx(2, abs=1e-3)


def test_another_layout_is_charged_to_everybody(tmp_path: Path) -> None:
    where = tmp_path / "a.db"
    for unit, layout in (("ana", "hours"), ("ben", "hours"), ("bed 1", "beds")):
        account = released(where, unit, layout=layout)
    assert len(account.units) == 3
    assert all(unit.spent.epsilon >= 15 for unit in account.units)
    with pytest.warns(UserWarning, match="in several layouts before"):
        account = released(where, "new", layout="hours")
    assert len(account.units) == 4
    assert all(unit.spent.epsilon >= 20 for unit in account.units)
    assert [e.what for e in Ledger.open(where).events("s") if "another layout" in e.what]


def test_another_layout_is_told_before_anything_is_paid(tmp_path: Path) -> None:
    hours(tmp_path)
    spent(tmp_path, "h.csv", f'value = "state"\n{CALENDAR}', "", ONE_HOUR.format(10, 11))
    other = release_file(tmp_path, "h.csv", f'value = "lag"\n{CALENDAR}', "", ONE_HOUR.format(11, 12))
    foreseen = tf.forecast(other)
    assert 'value = "lag" (before: "state")' in " ".join(str(foreseen).split())
    assert "write it as before" in " ".join(str(foreseen).split())
    assert 'value = "lag" (before: "state")' in " ".join(str(tf.open_study(other).compare()).split())
    said = invoke("compare", other, "--json").stdout
    assert "another layout than before" in json.loads(said)["notices"][0]
    assert Ledger.open(tmp_path / "a.db").spent("s").spent.epsilon == 1
    small = other.read_text().replace("budget = 9999", "budget = 1.5")
    other.write_text(small)
    Ledger.open(tmp_path / "a.db").set_budget("s", 1.5)
    with pytest.raises(BudgetExceeded, match='value = "lag"'):
        tf.release_file(other, force=True, anyway=True)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("before", "now"), [
    ("", 'encoding = "utf-8"\ntimezone = "UTC"\nheader = true\ndecimal = "."'),
    ('step = "1h"', 'step = "60min"'),
    ('until = "2026-01-06"', 'until = "2026-01-07"'),
    ('from = "2026-01-05"', 'from = "2026-01-04"'),
    ("", 'ambiguous = "refuse"'),
    ("", 'nulls = "unobserved"'),
    ("", 'gaps = "public"'),
])  # fmt: skip
def test_the_same_layout_in_other_words(tmp_path: Path, before: str, now: str) -> None:
    hours(tmp_path)
    source = f'value = "state"\n{CALENDAR}'
    spent(tmp_path, "h.csv", source, "", ONE_HOUR.format(10, 11))
    changed = source.replace(before, now) if before else f"{source}\n{now}"
    assert spent(tmp_path, "h.csv", changed, "", ONE_HOUR.format(18, 19)) < 2


def test_what_has_no_cost_for_a_change_of_everything_is_refused(tmp_path: Path) -> None:
    before = released(tmp_path / "a.db", layout="hours", budget=(99, 0.5))
    alone = calibrated(5, "gaussian-exact", delta=0.01)
    with pytest.raises(CompositionRefused, match='layout = "beds"'):
        released(tmp_path / "a.db", calibration=alone, layout="beds", budget=(99, 0.5))
    assert Ledger.open(tmp_path / "a.db").spent("s") == before
    assert before.spent.epsilon == pytest.approx(1, abs=1e-6)


def test_a_source_of_several_layouts_is_not_tied_to_another(tmp_path: Path) -> None:
    where = tmp_path / "a.db"
    released(where, "ana", layout="hours")
    released(where, "ana", source="other", layout="diary", same_people=True)
    with pytest.raises(CompositionRefused, match="keep one layout"):
        released(where, "ana", layout="beds", same_people=True)


RECORDS = "who,x,again,y,z,income\n" + "".join(
    f"p{n},{'ab'[n % 2]},{'ab'[n % 2]},{'cd'[n // 2]},{'cd'[n // 2]},{10 * n}\n" for n in range(4)
)


def record_cost(
    folder: Path, columns: tuple[str, str], read: str, source: str = "", kind: str = "joint-table"
) -> Fraction:
    """Release a column of records, or the number of records with a value in it, and return what was spent."""
    (folder / "r.csv").write_text(RECORDS)
    alphabets = [{"y": "cd", "z": "cd", "income": ("low", "high")}.get(name, "ab") for name in columns]
    rows = json.dumps([[u, v] for u in alphabets[0] for v in alphabets[1]])
    belief = f"columns = {json.dumps(columns)}\nrows = {rows}\nprobabilities = [0.25, 0.25, 0.25, 0.25]\n"
    value, other = alphabets[columns.index(read)]
    item = f'query = "identity"\nattribute = "{read}"\ncodes = {{ {value} = 0, {other} = 1 }}'
    if kind == "independent-records":
        belief += "records = 4\n"
        source, classes = "", source
        belief += f'{classes}\n[hide]\nproperty = {{ attribute = "y", function = "share", of = "c" }}'
        item = f'query = "count"\nattribute = "{read}"\nstates = ["{value}"]'
    else:
        source += '\nunit = "who"'
        belief += f'units_independent = true\n[hide]\nattribute = "{columns[0]}"'
    about = f'kind = "{kind}"\nsource = "assumed"\n{belief}'
    return paid(written(folder, f'file = "r.csv"\n{source}', about, f'mechanism = "group"\n{item}'))


def test_another_column_with_the_same_attribute(tmp_path: Path) -> None:
    """Three noisy copies of x, of scale 1: whoever changes from a to b changes all of them."""
    costs = [record_cost(tmp_path, columns, read) for columns, read in (
        (("x", "y"), "x"), (("again", "y"), "again"), (("y", "x"), "x"),
    )]  # fmt: skip
    assert costs == [1, 2, 3]


def test_another_secret_of_records_that_hold_what_was_released(tmp_path: Path) -> None:
    """x and y were published under a belief that knows neither: they are `again` and z."""
    costs = [record_cost(tmp_path, columns, read) for columns, read in (
        (("x", "y"), "y"), (("x", "y"), "x"), (("again", "z"), "again"),
    )]  # fmt: skip
    assert 0 < costs[0] < 1e-12  # y tells nothing of x
    assert costs[2] >= 3


def test_another_rule_of_which_value_a_record_has(tmp_path: Path) -> None:
    bins = "bins = {{ income = {{ low = [0, {0}], high = [{0}, 100] }} }}"
    costs = [record_cost(tmp_path, ("x", "income"), "income", bins.format(edge)) for edge in (10, 20, 30)]
    assert 0 < costs[0] < 1e-12  # the income tells nothing of x
    assert costs[2] >= 3
    assert "bins = " in Ledger.open(tmp_path / "a.db").events("s")[-1].what


def test_other_classes_of_a_column_of_numbers(tmp_path: Path) -> None:
    classes = 'classes = {{ income = {{ ends = [{}], values = ["low", "high"] }} }}'
    costs = [
        record_cost(tmp_path, ("y", "income"), "income", classes.format(end), "independent-records") for end in (10, 20)
    ]
    assert costs == [1, 2]
    assert "classes = " in Ledger.open(tmp_path / "a.db").events("s")[-1].what
