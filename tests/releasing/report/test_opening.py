"""What a report says first: the verdict of the advice, a number in its unit, and an exact suspicion about no person."""

import math
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.conformance.test_release_files import EXAMPLES
from tests.releasing import files
from tests.releasing.report.test_words_for_readers import SPEC, worded
from tests.support.pages import check_page
from tests.support.release_files import believe, publish, read_from, release_text

import takifugu as tf
from takifugu.cli.samples.examples import write_example
from takifugu.releasing.postprocess.release import releases_of

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=40, states=["still", "walking"])
DATA = ["still"] * 30 + ["walking"] * 10


def opening(markup: str) -> list[str]:
    """Return the paragraphs between a page's head and its first section, without warnings."""
    body = markup.split("</header>")[1].split("<h2>")[0]
    page = check_page(f"{markup.split('</header>')[0]}</header>{body}</article></main></body></html>")
    return [p.text for p in page.all("p") if not p.within("header") and "warning" not in p.attributes.get("class", "")]


@pytest.mark.slow
def test_a_hopeless_table_says_first_that_its_rows_are_not_to_be_compared(tmp_path: Path) -> None:
    path = files.write(tmp_path, worded(SPEC.replace("epsilon = 1.0", "epsilon = 0.01")))
    sentence = next(t.sentence for t in tf.advise(path).tables if t.name == "time-use-pooled")
    (table,) = (t for t in tf.release_file(path, anyway=True).tables if t.name == "time-use-pooled")
    first, number, _ = opening(table.files[3].read_text(encoding="utf-8"))
    assert first == f"{sentence[:1].upper()}{sentence[1:]}: do not compare these rows."
    assert re.match(r"Useless: differences below [\d,]+ minutes are noise, and .* are expected: do not", first)
    row = table.rows[0]
    assert f"{row['cell']} is {row['value']:,} ± {row['high'] - row['value']:,} minutes" in number


def test_what_the_file_expects_decides(tmp_path: Path) -> None:
    spec = SPEC.replace('per = "both"', 'per = "pooled"')  # it says what matters
    spec = spec.replace('unimportant = ["still", "walking"]\n', "")
    (table,) = tf.release_file(files.write(tmp_path, spec), anyway=True).tables
    verdict = opening(table.files[3].read_text(encoding="utf-8"))[0]
    noise = "differences below 337 rows are noise, and from 55.2 to 82.8 rows are expected"
    assert verdict == f"Useless: {noise}: do not compare these rows."
    assert tf.report_html(table) == table.files[3].read_text(encoding="utf-8")


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_odds_of_the_suspicion_move_by_e_to_the_epsilon(epsilon: float) -> None:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), epsilon, mechanism="group")
    noisy = tf.release(calibration, DATA)
    said = opening(tf.report_html(noisy))[-1]
    assert "that one step is 'still' rather than 'walking' can become" in said
    high = float(re.search(r"become ([\d.]+) % sure", said)[1]) / 100  # type: ignore[index]
    exact = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert exact <= high < exact + 0.001, "rounded up to a tenth of a per cent"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("step", "start", "said"), [
    ("1h", "2026-01-05", "2026-01-05 00:00"), ("30min", "2026-01-05T10:30", "2026-01-05 10:30"),
    ("1d", "2026-01-05", "2026-01-05"),
])  # fmt: skip
@pytest.mark.parametrize("unit", ["", "Ana"])
def test_a_suspicion_says_the_time_by_the_clock(step: str, start: str, said: str, unit: str, tmp_path: Path) -> None:
    at = datetime.fromisoformat(start)
    length = {"1h": timedelta(hours=1), "30min": timedelta(minutes=30), "1d": timedelta(days=1)}[step]
    rows = [f"{unit or 'x'},{(at + n * length).isoformat()},{'busy' if n % 3 else 'calm'}" for n in range(20)]
    (tmp_path / "w.csv").write_text("\n".join(["who,when,state", *rows]))
    keys, independent, per = ({"unit": "who"}, {"units_independent": True}, {"per": "unit"}) if unit else ({}, {}, {})
    text = release_text(
        read_from("w", "w.csv", value="state", order="when", step=step, **keys, from_=start,
                  until=(at + 20 * length).isoformat()),
        believe("markov-chain", states=["calm", "busy"], matrix=[[0.6, 0.4], [0.4, 0.6]], **independent),
        publish("t", "histogram", epsilon=1, **per),
    )  # fmt: skip
    (tmp_path / "w.toml").write_text(text)
    (table,) = tf.release_file(tmp_path / "w.toml", anyway=True).tables
    words = opening(table.files[3].read_text(encoding="utf-8"))[-1]
    assert f"sure that {unit or 'the state'} at {said} is 'calm' rather than 'busy' can become" in words


def test_a_release_that_is_read_back_says_from_where_on_differences_show() -> None:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), 1, mechanism="group")
    certificate = tf.release(calibration, DATA).certificate
    assert re.match(r"Differences below \d+ are noise\.$", opening(tf.report_html(releases_of(certificate)[None]))[0])


def test_a_median_says_how_far_in_rank_and_rows_that_were_sent_say_why_there_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text("\n".join(["days", *["short", "long", "long"] * 40]), encoding="utf-8")
    text = release_text(
        read_from("s", "stays.csv", value="days"),
        believe("users", size=120, values=["short", "long"], probabilities=[0.5, 0.5]),
        publish("m", "median", states=["short", "long"], epsilon=2),
    )
    (tmp_path / "stays.toml").write_text(text, encoding="utf-8")
    (table,) = tf.release_file(tmp_path / "stays.toml", anyway=True).tables
    said = opening(table.files[3].read_text(encoding="utf-8"))
    assert any(re.search(r"How to read it: with probability 95 %, .* off by at most \d+ rows in rank", s) for s in said)
    example = next(example for example in EXAMPLES if example.kind == "populations")
    (table,) = tf.release_file(example.write(tmp_path), anyway=True).tables
    said = opening(table.files[3].read_text(encoding="utf-8"))
    assert said[0].startswith("No verdict: each row")
    assert said[1].startswith("How to read a row: by the declared populations, another value than the true one is sent")


def test_values_of_people_are_read_by_the_error_of_one_value(tmp_path: Path) -> None:
    (table,) = tf.release_file(write_example("people", tmp_path)[0], new_ledger=True).tables
    verdict, number, _ = opening(tf.report_html(table))
    assert "any one value is off by" in verdict
    assert re.search(r" ± 2, with probability 95 % for all 5 values at once\.$", number)
    assert "<title>The value of &#x27;education&#x27;, coded" in tf.report_html(table), "not only 'value'"
