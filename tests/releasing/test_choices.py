"""Medians, quantiles, modes and top-k in release files: published, paid, certified; what does not fit is told."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import files
from tests.support.release_files import believe, group, read_from, release_text
from tests.support.releases import assert_refused, put, spent

import takifugu as tf
from takifugu.core.errors import CalibrationRefused

USERS = release_text(
    read_from("stays", "stays.csv", value="days", bins={"short": [0, 2], "middle": [2, 7], "long": [7, 400]},
              budget=1000),
    believe("users", size=60, values=["short", "middle", "long"], probabilities=["0.3", "0.5", "0.2"]),
    output="out",
)  # fmt: skip
DAYS = ["days", *[1] * 17, *[3] * 31, *[20] * 12]
CODES = "codes = { short = 1, middle = 4, long = 14 }"
ORDER = 'states = ["short", "middle", "long"]'
ITEM = '\n[[table]]\nname = "{name}"\nepsilon = {epsilon}\n{keys}\n'


def written(folder: Path, *questions: str, epsilon: object = 200, text: str = USERS, rows: list[object] = DAYS) -> Path:
    """Write a file that asks some questions, and its data; return the file's path."""
    items = [ITEM.format(name=f"t{number}", keys=keys, epsilon=epsilon) for number, keys in enumerate(questions)]
    return put(folder, {"release.toml": text + "".join(items), "stays.csv": "\n".join(map(str, rows)) + "\n"})


def published(folder: Path, *questions: str, **more: Any) -> list[dict[str, object]]:
    """Publish a table for each question, and return the values of each."""
    tf.release_file(written(folder, *questions, **more))
    tables = [tf.read_table(folder / "out" / f"t{number}.csv") for number in range(len(questions))]
    return [{row["cell"]: row["value"] for row in rows} for rows in tables]


#: What the days of all people are: questions, and the answer to each.
ANSWERS = [
    (f'query = "median"\n{ORDER}', {"median": "middle"}),
    (f'query = "median"\n{CODES}', {"median": 4}),
    (f'query = "quantile"\nshare = 0.9\n{ORDER}', {"0.9 quantile": "long"}),
    (f'query = "quantile"\nshare = [0.1, "1/2"]\n{CODES}', {"0.1 quantile": 1, "median": 4}),
    ('query = "quantile"\nshare = 0.3\nstates = ["middle", "long"]', {"0.3 quantile": "middle"}),
    ('query = "mode"', {"mode": "middle"}),
    ('query = "mode"\nstates = ["long", "short"]', {"mode": "short"}),
    (f'query = "count-above"\nthresholds = [1, 4]\n{CODES}', {"above 1": 43, "above 4": 12}),
    ('query = "top-k"\nk = 2', {"rank 1": "middle", "rank 2": "short"}),
]  # fmt: skip


@pytest.mark.mutants
def test_with_next_to_no_noise_the_right_values_are_published(tmp_path):
    text = USERS.replace("budget = 1000", "budget = 10000")
    assert published(tmp_path, *(keys for keys, _ in ANSWERS), text=text) == [values for _, values in ANSWERS]
    for number, (keys, values) in enumerate(ANSWERS):
        read = json.loads((tmp_path / "out" / f"t{number}.certificate.json").read_text())
        assert set(read["answers"][0]["values"]) == set(values)
        chosen = "more probable the better it fits" in (tmp_path / "out" / f"t{number}.certificate.txt").read_text()
        assert chosen == ("count-above" not in keys)
        page = (tmp_path / "out" / f"t{number}.report.html").read_text()
        assert all(str(value) in page for value in values.values())


def test_it_is_paid_like_a_count_and_never_drawn_again(tmp_path):
    first = published(tmp_path, 'query = "mode"', epsilon=1)
    assert published(tmp_path, 'query = "mode"', epsilon=1) == first
    assert spent(tmp_path, "stays").epsilon == 1


def test_the_forecast_says_how_far_it_may_be_off_and_a_choice_that_is_blind_is_refused(tmp_path):
    (table,) = tf.dry_run(written(tmp_path, 'query = "mode"', epsilon=1)).tables
    assert "occurs at most 5 times less than the best one (of 60)" in table.words()
    assert not table.hopeless
    with pytest.raises(CalibrationRefused, match="nothing but noise"):
        published(tmp_path, f'query = "median"\n{ORDER}', epsilon="1e-3")
    assert not (tmp_path / "out").exists()


@pytest.mark.mutants
def test_units_and_pieces_of_sequences(tmp_path):
    text = files.SPEC.replace('query = "histogram"', 'query = "top-k"\nk = 2')
    where = files.write(tmp_path, text.replace("budget = 10", "budget = 600").replace("epsilon = 1.0", "epsilon = 200"))
    tf.release_file(where)
    values = {p.name: [row["value"] for row in tf.read_table(p)] for p in (tmp_path / "out").glob("*.csv")}
    assert values.pop("time-use-pooled.csv") == ["walking", "still"]
    assert len(values) == 1


GROUPS = release_text(
    read_from("stays", "stays.csv", value="days", group="ward", budget=1000),
    believe("users"),
    group("A", 20, ["short", "middle", "long"], ["0.3", "0.5", "0.2"]),
    group("B", 30, ["short", "long"], ["0.5", "0.5"]),
    output="out",
)  # fmt: skip
#: The stays of two wards, of which each has another median and another mode than the other one, and than both.
WARDS = {"A": ["short"] * 4 + ["middle"] * 7 + ["long"] * 9, "B": ["short"] * 25 + ["long"] * 5}


#: What the days of each ward are.
ANSWERS_BY_WARD = [
    (f'query = "median"\n{ORDER}', {"A": "middle", "B": "short"}),
    (f'query = "quantile"\nshare = [0.1, 0.9]\n{CODES}',
     {"A, 0.1 quantile": 1, "A, 0.9 quantile": 14, "B, 0.1 quantile": 1, "B, 0.9 quantile": 14}),
    ('query = "mode"', {"A": "long", "B": "short"}),
    ('query = "top-k"\nk = 2', {"A, rank 1": "long", "A, rank 2": "middle", "B, rank 1": "short", "B, rank 2": "long"}),
    (f'query = "count-above"\nthresholds = [1, 4]\n{CODES}',
     {"A, above 1": 16, "A, above 4": 9, "B, above 1": 5, "B, above 4": 5}),
    (f'query = "count-above"\nthresholds = [4]\n{CODES}', {"A": 9, "B": 5}),
]  # fmt: skip


@pytest.mark.mutants
def test_each_ward_has_its_value_and_all_are_paid_once(tmp_path):
    rows = ["ward,days", *(f"{ward},{stay}" for ward, stays in WARDS.items() for stay in stays)]
    questions, text = [f'{keys}\nby = "ward"' for keys, _ in ANSWERS_BY_WARD], GROUPS.replace("1000", "10000")
    foreseen = tf.dry_run(written(tmp_path, *questions, text=text, rows=rows))
    assert not any(table.hopeless for table in foreseen.tables)
    right = [values for _, values in ANSWERS_BY_WARD]
    assert published(tmp_path, *questions, text=text, rows=rows) == right
    assert spent(tmp_path, "stays").epsilon == 200 * len(questions)
    for number, values in enumerate(right):
        page = (tmp_path / "out" / f"t{number}.report.html").read_text()
        assert all(str(value) in page for value in values.values())


@pytest.mark.parametrize(("keys", "where", "says"), [
    ('query = "median"', "table[0].states", "list the states from the lowest"),
    ('query = "quantile"', "table[0].share", "is missing"),
    (f'query = "quantile"\nshare = 1\n{ORDER}', "table[0].share", "above 0 and below 1"),
    (f'query = "quantile"\nshare = [0.5, "1/2"]\n{ORDER}', "table[0].share", "none is repeated"),
    (f'query = "quantile"\nshare = []\n{ORDER}', "table[0].share", "above 0 and below 1"),
    (f'query = "quantile"\nshare = "half"\n{ORDER}', "table[0].share", "a share"),
    ('query = "top-k"', "table[0].k", "is missing"),
    ('query = "top-k"\nk = 0', "table[0].k", "1"),
    ('query = "top-k"\nk = 4', "table[0].k", "smaller"),
    ('query = "mode"\nk = 2', "table[0].k", "does not belong to a mode"),
    ('query = "mode"\nshare = 0.5', "table[0].share", "does not belong to a mode"),
    (f'query = "mode"\n{CODES}', "table[0].codes", "does not belong to a mode"),
    ('query = "mode"\nstates = ["shrt"]', "table[0].states", "shrt"),
    ('query = "mode"\nstates = ["short"]', "table[0].states", "two values"),
    ('query = "mode"\nstates = ["short", "short"]', "table[0].states", "once"),
    (f'query = "median"\n{ORDER}\n{CODES}', "table[0].codes", "codes"),
    ('query = "median"\ncodes = { short = 1 }', "table[0].codes", "middle"),
    (f'query = "median"\n{ORDER}\ngrid = 1', "table[0].grid", "does not belong to a median"),
    ('query = "mode"\nby = "ward"', "table[0].by", ""),
    ('query = "count-above"\nthresholds = [1, 4]', "table[0].codes", "not a number"),
    (f'query = "count-above"\n{CODES}', "table[0].thresholds", "is missing"),
    (f'query = "count-above"\nthresholds = []\n{CODES}', "table[0].thresholds", ""),
    (f'query = "count-above"\nthresholds = [1, 1.0]\n{CODES}', "table[0].thresholds", "repeated"),
    ('query = "mode"\nthresholds = [1]', "table[0].thresholds", "does not belong to a mode"),
    ('query = "p50"', "table[0].query", 'write query = "median"'),
    ('query = "percentile"', "table[0].query", "share = 0.9"),
    ('query = "topk"', "table[0].query", 'write query = "top-k"'),
])  # fmt: skip
def test_what_does_not_fit_is_told_with_its_place(keys, where, says, tmp_path):
    assert_refused(written(tmp_path, keys, epsilon=1), where, says)
