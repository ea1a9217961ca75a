"""What a report says first: verdict, number and an exact suspicion about no person; and the page of all windows."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.test_release_files import EXAMPLES
from tests.releasing import files
from tests.releasing.report.test_words_for_readers import SPEC, worded
from tests.releasing.test_windows import written
from tests.support.failing import FULL, failing
from tests.support.pages import check_page
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.releases import put

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.cli.samples.examples import write_example
from takifugu.core.errors import ReleaseError
from takifugu.mechanisms.one_sided import Asymmetric, Visits, visits
from takifugu.releasing.certificates.facts import Window
from takifugu.releasing.postprocess.release import releases_of
from takifugu.releasing.publishing import every_window
from takifugu.releasing.report.outcomes import published_of
from takifugu.releasing.report.privacy import privacy_of
from takifugu.releasing.report.published import Published, number_with_error
from takifugu.releasing.report.windows import Point, change_words, windows_html

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=40, states=["still", "walking"])
DATA = ["still"] * 30 + ["walking"] * 10


def opening(markup: str) -> list[str]:
    """Return the paragraphs of a page's first screen, between its head and its numbers, without warnings."""
    body = markup.split("</header>")[1].split("<h2>The numbers</h2>")[0]
    page = check_page(f"{markup.split('</header>')[0]}</header>{body}</article></main></body></html>")
    return [p.text for p in page.all("p") if not p.within("header") and "warning" not in p.attributes.get("class", "")]


@pytest.mark.slow
def test_a_hopeless_table_says_first_that_its_rows_are_not_to_be_compared(tmp_path: Path) -> None:
    path = files.write(tmp_path, worded(SPEC.replace("epsilon = 1.0", "epsilon = 0.01")))
    sentence = next(t.sentence for t in tf.advise(path).tables if t.name == "time-use-pooled")
    (table,) = (t for t in tf.release_file(path, allow_useless=True).tables if t.name == "time-use-pooled")
    first, number = opening(table.files[3].read_text(encoding="utf-8"))[:2]
    assert first == f"{sentence[:1].upper()}{sentence[1:]}: do not compare these rows."
    assert re.match(r"Useless: differences below [\d,]+ minutes are noise, and .* are expected: do not", first)
    row = table.rows[0]
    assert f"Every value is within ±{row['high'] - row['value']:,} minutes of the exact" in number


@pytest.mark.mutants
def test_what_the_file_expects_decides(tmp_path: Path) -> None:
    spec = SPEC.replace('per = "both"', 'per = "pooled"')  # it says what matters
    spec = spec.replace('unimportant = ["still", "walking"]\n', "")
    (table,) = tf.release_file(files.write(tmp_path, spec), allow_useless=True).tables
    verdict = opening(table.files[3].read_text(encoding="utf-8"))[0]
    noise = "differences below 337 rows are noise, and from 55.2 to 82.8 rows are expected"
    assert verdict == f"Useless: {noise}: do not compare these rows."
    assert tf.report_html(table) == table.files[3].read_text(encoding="utf-8")


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_odds_of_the_suspicion_move_by_e_to_the_epsilon(epsilon: float) -> None:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), epsilon, mechanism="group-dp")
    noisy = tf.release(calibration, DATA)
    (said,) = (words for words in opening(tf.report_html(noisy)) if words.startswith("Someone"))
    high = float(re.search(r"becomes at most ([\d.]+) % sure", said)[1]) / 100  # type: ignore[index]
    exact = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert exact <= high < exact + 0.001, "rounded up to a tenth of a per cent"


def test_a_release_that_is_read_back_says_from_where_on_differences_show() -> None:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), 1, mechanism="group-dp")
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
    (table,) = tf.release_file(tmp_path / "stays.toml", allow_useless=True).tables
    said = opening(table.files[3].read_text(encoding="utf-8"))
    assert any(re.search(r"How to read it: with probability 95 %, .* off by at most \d+ rows in rank", s) for s in said)
    example = next(example for example in EXAMPLES if example.kind == "populations")
    (table,) = tf.release_file(example.write(tmp_path / "rows"), allow_useless=True).tables
    said = opening(table.files[3].read_text(encoding="utf-8"))
    assert said[0].startswith("No verdict: each row")
    assert said[1].startswith("How to read a row: by the declared populations, another value than the true one is sent")


def test_a_number_that_is_never_too_low_is_read_as_the_interval_below_it() -> None:
    framework = Asymmetric(visits(), Visits.of(["bar", "gym", "shop"], most=2))
    noisy = tf.release(tf.calibrate(framework, tf.Visitors(), epsilon=1), [("bar",), ("bar", "gym")] * 9)
    (said,) = (words for words in opening(tf.report_html(noisy)) if words.startswith("How to read"))
    (low, high), value = noisy.interval(0.95)["bar"], noisy.value["bar"]
    assert said.startswith(f"How to read a number: bar is between {low} and {high}, with probability 95 % for all 3")
    assert low < high == value


def test_values_of_people_are_read_by_the_error_of_one_value(tmp_path: Path) -> None:
    (table,) = tf.release_file(write_example("people", tmp_path)[0], new_ledger=True).tables
    verdict, number = opening(tf.report_html(table))[:2]
    assert "any one value is off by" in verdict
    assert number == "Every value is within ±1 of the exact value (95 %, all 5 at once)."
    assert "<title>The value of &#x27;education&#x27;, coded" in tf.report_html(table), "not only 'value'"
    check = privacy_of(table.certificate).check  # the terminal's line, where the report has a warning
    assert check.startswith("the noise alone would not hide one value from someone who knows all the others")


PAGE = "busy.windows.html"


@pytest.mark.slow
def test_it_shows_every_window_that_is_published(tmp_path: Path) -> None:
    file = written(tmp_path)
    first = tf.release_file(file, window="2026-W02", allow_useless=True).tables[0]
    one = check_page((tmp_path / "out" / PAGE).read_text(encoding="utf-8"))
    assert [row.children[0].text for row in one.all("tr")[1:]] == ["2026-W02"]
    assert "A change needs two windows" in one.text
    tables = tf.release_file(file, allow_useless=True).tables
    text = (tmp_path / "out" / PAGE).read_text(encoding="utf-8")
    page = check_page(text)
    rows = {row.children[0].text: row.children[1].text.removesuffix(" *") for row in page.all("tr")[1:]}
    assert rows == {t.name.removeprefix("busy-"): f"{t.rows[0]['value']:,}" for t in tables}
    assert len(rows) == 4
    assert rows["2026-W02"] == f"{first.rows[0]['value']:,}"
    said = r"From 2026-W02 to 2026-W05 it changed by -?[0-9.,]+ ± [0-9.]+ .*a week on average over 3 weeks"
    assert re.search(said, page.text)
    assert page.all("svg")
    for name in rows:
        assert f'href="./busy-{name}.report.html"' in text
        assert (tmp_path / "out" / f"busy-{name}.report.html").is_file()


def test_the_change_is_by_the_distance_and_its_error_the_difference_of_two_noises() -> None:
    one, other = DiscreteLaplace(Fraction(6), Fraction(1)), DiscreteLaplace(Fraction(9), Fraction(1))
    values = (("2026-W02", 100, one), ("2026-W03", 900, one), ("2026-W07", 200, other))
    points = [Point(week, value, 0, 0, noise) for week, value, noise in values]
    far = range(-400, 401)
    laws = [{k: (1 - q) / (1 + q) * q ** abs(k) for k in far} for q in (math.exp(-1 / 6), math.exp(-1 / 9))]
    mass = [math.fsum(laws[0][k] * laws[1].get(d - k, 0.0) for k in far) for d in range(200)]
    off = next(n for n in range(200) if mass[0] + 2 * math.fsum(mass[1 : n + 1]) >= 0.95)
    said = change_words(points, "hours")
    assert said.startswith(f"From 2026-W02 to 2026-W07 it changed by 100 ± {off} hours, or 20 ± ")
    assert f"20 ± {off / 5:g} hours a week on average over 5 weeks (95 %), more than the noise alone explains" in said
    assert "no change shows" in change_words([points[0], Point("2027-W02", 100 + off, 0, 0, other)], "")


def test_the_page_of_all_windows_says_which_of_them_contradict_the_model(tmp_path: Path) -> None:
    """A week without rows was once a change that shows, and nothing else was said of it."""
    (table,) = tf.release_file(written(tmp_path), window="2026-W02", allow_useless=True).tables
    doubt = "In 'busy' the model expected 90; published -3 ± 9: rows are missing, or the model looks wrong"
    first = table.certificate
    assert first.window is not None
    weeks = [replace(first.window, period=f"2026-W{number:02d}") for number in range(3, 10)]
    doubted = [replace(first, doubts=(doubt,), window=week) for week in weeks]
    page = check_page(windows_html("busy", [published_of(first), published_of(doubted[0])], []))
    assert page.text.count("2026-W03: in 'busy' the model expected 90; published -3 ± 9: rows are missing") == 1
    many = check_page(windows_html("busy", list(map(published_of, doubted)), []))
    assert "and 3 more, in the reports of their windows." in many.text


@pytest.mark.parametrize(("periods", "spans", "words"), [
    ("01 02", "01-01 02-01 03-01", "from 28 days (2026-02) to 31 days (2026-01)."),
    ("03-28 03-29", "03-28 03-29 03-30", "from 23 hours (2026-03-29) to 1 day (2026-03-28)."),
    ("03-28 03-30", "03-28 03-29 03-30", ""),
])  # fmt: skip
def test_windows_of_two_lengths_are_named_and_none_is_called_impossible_by_another(
    periods: str, spans: str, words: str
) -> None:
    """A February was once compared with a January as if it were as long, and a full January called impossible."""
    tables, ends = list[Published](), spans.split()
    for period, *span in zip(periods.split(), ends, [*ends[1:], ends[2]], strict=False):
        if not words:
            span = ends[:2]
        length = 40 - 3 * len(tables) if words else 40
        chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=length, states=["still", "walking"])
        calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("still"), 40, mechanism="group-dp")
        certificate = tf.release(calibration, ["still"] * length).certificate
        ends_of = " to ".join(f"2026-{end}" for end in span)
        window = Window(ends_of, "1 hour", "Europe/Berlin", {}, "busy", f"2026-{period}")
        tables.append(published_of(replace(certificate, window=window)))
    page = check_page(windows_html("busy", tables, []))
    assert (f"The windows differ in length, {words} Counts and sums" in page.text) is bool(words)
    first, last = (row.children[1].text for row in page.all("tr")[1:])
    assert ("*" in first) is (int(first.rstrip(" *")) > 40)
    assert ("*" in last) is (int(last.rstrip(" *")) > 40)


@pytest.mark.mutants
@pytest.mark.parametrize("hours", [1, 24])
def test_the_page_says_how_many_changes_seem_to_show_by_chance(tmp_path: Path, hours: int) -> None:
    by = 'every = "week"' + '\nby = "hour"' * (hours > 1)
    file = written(tmp_path, ('every = "week"', by))
    tables = tf.release_file(file, window="2026-W02", allow_useless=True).tables
    window = tables[0].certificate.window
    assert window is not None
    later = replace(tables[0].certificate, window=replace(window, period="2026-W03"))
    page = check_page(windows_html("busy", [published_of(tables[0].certificate), published_of(later)], []))
    judged = page.text.count("From 2026-W02 to 2026-W03 it changed by")
    said = f"Each of the {judged} changes below is judged by itself, at 95 %. If nothing had changed, up to "
    assert (f"{said}{judged / 20:g} of them on average" in page.text) is (hours > 1)
    assert (said in page.text) is (judged > 1)


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    file = written(tmp_path)
    put(tmp_path / "out", {PAGE: "mine"})
    tf.release_file(file, window="2026-W02", allow_useless=True)
    assert (tmp_path / "out" / PAGE).read_text(encoding="utf-8") == "mine"


def test_whoever_completes_a_release_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path)
    with failing(monkeypatch, every_window, "replace_synced", FULL), pytest.raises(ReleaseError):
        tf.release_file(file, window="2026-W02", allow_useless=True)
    assert not (tmp_path / "out" / PAGE).exists()
    (one,) = tf.resume(tmp_path / "ledger.db")
    assert not one.problem
    assert "2026-W02" in (tmp_path / "out" / PAGE).read_text(encoding="utf-8")


def test_a_row_among_dummies_is_not_read_as_if_each_of_its_values_were_its_own() -> None:
    people = tf.FromPopulations({"in": {"n": "0.6", "c": "0.4"}, "out": {"n": "0.5", "c": "0.5"}}, source="a survey")
    hidden = tf.Pufferfish(tf.population_membership(), people)
    found = tf.calibrate(hidden, tf.LocalValue(dummies=4), epsilon=1, delta="0.2", mechanism="tupling")
    table: Any = SimpleNamespace(cells=0, randomised=(people, found.randomiser))
    assert "one of its 5 values, in random order, and 4 are random." in number_with_error(table)
