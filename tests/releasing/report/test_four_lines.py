"""Every kind of release file has its own words for what is secret, and each guarantee says who must believe what."""

import re
from dataclasses import replace
from datetime import timedelta
from html import escape
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.conformance.release_files import invoke
from tests.conformance.test_release_files import EXAMPLES, Example
from tests.releasing.report.test_opening import opening
from tests.support.pages import check_page

import takifugu as tf
from takifugu.data.times.calendar import Calendar
from takifugu.releasing.advice.bands import Band
from takifugu.releasing.advice.expecting import Expectation
from takifugu.releasing.advice.worth import Worth
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.certificates.facts import Stays, Window
from takifugu.releasing.certificates.wording import off_by_a_bit
from takifugu.releasing.file.calendars import facts_of
from takifugu.releasing.report.outcomes import published_of
from takifugu.releasing.report.privacy import privacy_of
from takifugu.releasing.report.published import accuracy, verdict_of

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=40, states=[0, 1])
EVERY = tf.Pufferfish(tf.every_entry(), CHAIN)
DATA = [0, 1] * 20
SECRETS = {
    "markov-chain": "the state in any one step",
    "markov-chain-class": "the state in any one step",
    "network": "the value of any one column",
    "joint-table": "the value of any one column",
    "users": "the value of any one person",
    "contacts": "the state of any one person",
    "independent-records": "the share of 'b' in 'group' of the records at hand, up to a difference of 0.1",
    "normal": "the mean of 'height' of the records at hand, up to a difference of 2",
    "density": "the mean of 'height' of the records at hand",
    "parameters": "the parameter of 'group' in the population",
    "populations": "which population the rows of a person come from",
    "asymmetric": "that a person was at the places where they were (not that they were at no other)",
}
#: Kinds whose secret is worded by the model, which knows no file.
BY_MODEL = {"populations", "asymmetric"}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_every_kind_says_what_is_secret_and_who_must_believe_what(example: Example, tmp_path: Path) -> None:
    (table,) = tf.release_file(example.write(tmp_path), allow_useless=True).tables
    lines = privacy_of(table.certificate)
    assert lines.secret == SECRETS[example.kind]
    page = opening(table.files[3].read_text(encoding="utf-8"))
    assert f"Secret: {lines.secret}." in page
    is_whatever = example.kind == "asymmetric"
    of_whom = r"whatever they believe" if is_whatever else r"if they believe the model( \(mean durations: .*\))?"
    assert re.search(rf", {of_whom}$", lines.guarantee)
    assert any(re.search(rf"^Someone 50 % sure of .*, {of_whom}\.$", words) for words in page)
    assert ("one of two compared values" in lines.guarantee) == (example.kind in ("independent-records", "normal"))
    assert ("not at a place" in lines.not_protected) == is_whatever
    has_estimates = table.cells and any(row.get("estimate") is not None for row in table.rows)
    assert ("estimate, if the belief is true" in check_page(tf.report_html(table)).text) == bool(has_estimates)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_every_kind_uses_the_noun_of_the_file(example: Example, tmp_path: Path) -> None:
    """It is declared, or the column of names has it: on the terminal, on the page and in the certificate."""
    named = {name: text.replace("who,", "pupil,", 1) for name, text in example.files.items()}
    text = example.text.replace('unit = "who"', 'unit = "pupil"')
    if text == example.text:
        text = text.replace('name = "study"\n', 'name = "study"\ncalled = "pupil"\n')
    printed = invoke("release", "--allow-useless", replace(example, text=text, files=named).write(tmp_path)).stdout
    folder = tmp_path / "release-published"
    certificate = read_certificate(folder / "table-1.certificate.json")
    assert certificate.person == "pupil"
    page = check_page((folder / "table-1.report.html").read_text(encoding="utf-8")).text
    assert "nothing about pupils or times" in page or example.kind in BY_MODEL
    assert SECRETS[example.kind].replace("person", "pupil") in page or example.kind in BY_MODEL
    for words in (printed, certificate.text(), page) if example.kind not in BY_MODEL else ():
        assert not re.search(r"\b(persons?|people)\b", " ".join(words.split()).replace("the same people", ""))


def test_a_notebook_shows_the_first_screen_of_the_page(tmp_path: Path) -> None:
    example = next(one for one in EXAMPLES if one.kind == "contacts")
    outcome = tf.release_file(example.write(tmp_path), allow_useless=True)
    (table,) = outcome.tables
    markup, said = table._repr_html_(), " ".join(str(outcome).split())
    for words in accuracy(table):
        assert f"<p>{escape(words)}</p>" in markup
        assert words in said
    for label, words in privacy_of(table.certificate).lines:
        assert f"<p>{label}: {escape(words)}</p>" in markup
        assert f"{label} {words}" in said
    places = [markup.index(part) for part in (accuracy(table)[0], "<svg", "<p>Secret: ", "<details")]
    assert places == sorted(places)


def test_a_noun_has_its_article() -> None:
    window = Window("2026-01-05 to 2026-01-12", "1 hour", None, {"one day": "56.8"})
    release = tf.release(tf.calibrate(EVERY, tf.Count(1), epsilon=1), DATA)
    agents = replace(release.certificate, scope="pooled", person="agent", window=window)
    assert privacy_of(agents).not_protected == "an agent's whole day (epsilon 56.8)"
    cheap = replace(agents, window=replace(window, costs={"one day": "0.318", "one week": "2.23"}))
    assert privacy_of(cheap).not_protected == "an agent's whole day or week (epsilon 2.23)"  # not as if a day cost less
    assert privacy_of(agents).secret == "the state of one agent in any one step of 1 hour"


@pytest.mark.parametrize(("span", "words"), [
    ("2026-10-25T01:00:00 to 2026-10-25T02:00:00+01:00", "25 October 2026, 01:00 to 02:00+01:00"),  # two hours
    ("2026-11-01T00:00:00-05:00 to 2026-11-02", "1 November 2026 00:00-05:00 to 2 November 2026 00:00"),  # not the day
    ("2026-01-05T00:00:30 to 2026-01-05T00:01:00", "5 January 2026, 00:00:30 to 00:01"),
    ("2026-01-05 to 2026-01-07", "5 to 6 January 2026"),
])  # fmt: skip
def test_a_time_that_clocks_show_twice_is_told_with_its_offset(span: str, words: str) -> None:
    assert Window(span, "1 hour", None).days == words


def test_differences_that_are_hidden_are_told_with_the_secret() -> None:
    """Only states near each other are hidden from each other: it is not said that the state is."""
    near = tf.Pufferfish(tf.every_entry(max_difference=1), CHAIN)
    certificate = tf.release(tf.calibrate(near, tf.Count(1), epsilon=1), DATA).certificate
    assert privacy_of(certificate).secret == "every single value, up to a difference of 1"


@pytest.mark.parametrize(("value", "words"), [
    (7, "Good: the value is off by at most 9 with 95 % probability. The published value is no larger than that, so it "
        "is not told from 0."),
    (-70, "Good: the value is off by at most 9 with 95 % probability. The published value is no larger than that, so "
          "it is not told from 0."),
    (9, "Useful (good)."),  # as its column `readable` says
    (70, "Useful (good)."),
])  # fmt: skip
def test_a_good_table_that_shows_nothing_says_how_large_that_is(value: int, words: str) -> None:
    certificate = tf.release(tf.calibrate(EVERY, tf.Count(1), epsilon=1), DATA).certificate
    (answer,) = certificate.answers
    published = replace(certificate, answers=(replace(answer, values=dict.fromkeys(answer.values, str(value))),))
    worth = Worth(Band(9.0, 0.95), None, 20.0, Expectation((60.0,), None, "assumed"))
    assert verdict_of(replace(published_of(published), worth=worth))[1] == words


@pytest.mark.parametrize(("is_adjusted", "values"), [(False, "values"), (True, "adjusted values")])
def test_a_difference_that_counts_is_one_of_the_values_that_were_judged(is_adjusted: bool, values: str) -> None:
    """Adjusting changes what a difference is off by, so that of the noisy values is another one."""
    certificate = tf.release(tf.calibrate(EVERY, tf.Histogram(), epsilon=1), DATA).certificate
    expected = Expectation((20.0, 60.0), None, "assumed")
    worth = Worth(Band(9.0, 0.95), Band(4.0, 0.95), 20.0, expected, is_adjusted=is_adjusted)
    said = accuracy(replace(published_of(certificate), worth=worth))
    assert f"Two cells picked in advance differ if their {values} differ by more than 4 (95 %)." in said


def test_a_span_is_told_where_it_is_longer_than_the_secret_and_than_a_shorter_span() -> None:
    """A loan is hidden day by day, so a whole day is the secret: certificates said that it is not protected."""
    every, day, week = EVERY, ["day"], ["day", "week"]
    of_runs = tf.Pufferfish(tf.every_run(2), CHAIN)
    for secrets, hours, days, told in (
        (every, 1, 1, day), (every, 1, 2, week), (every, 12, 14, week), (every, 24, 14, ["week"]), (every, 24, 1, []),
        (of_runs, 12, 14, ["week"]), (of_runs, 8, 14, week), (every, 24 * 7, 28, []),
    ):  # fmt: skip
        calibration = tf.calibrate(secrets, tf.Count(1), epsilon=1)
        until = f"2026-02-{days + 1:02}" if days < 28 else "2026-03-01"
        calendar = Calendar.read("2026-02-01", until, timedelta(hours=hours))
        file = SimpleNamespace(source=SimpleNamespace(calendar=calendar), places=range(24 * days // hours))
        (window,) = facts_of(file, SimpleNamespace(window=None, name="t"), calibration)
        assert [*window.spans] == told, (hours, days)


def test_durations_by_hour_are_told_with_those_who_must_believe_them() -> None:
    certificate = tf.release(tf.calibrate(EVERY, tf.Count(1), epsilon=1), DATA).certificate
    of = [Stays({"off": f"about {off}", "on": "about 25 minutes"}, f"hour {hours}") for off, hours in SPANS.items()]
    words = "(mean durations by hour: off 12 hours or 90 minutes, on 25 minutes)"
    assert privacy_of(replace(certificate, stays=tuple(of))).guarantee.endswith(f"if they believe the model {words}")
    assert privacy_of(replace(certificate, stays=tuple(of * 3))).guarantee.endswith("if they believe the model")


SPANS = {"12 hours": "22-05", "90 minutes": "06-21"}


def test_a_belief_that_is_off_by_a_bit_costs_delta_too() -> None:
    noise = tf.calibrate(EVERY, tf.Count(1), 1, "1e-6", mechanism="influence-gaussian")
    (said,) = off_by_a_bit(tf.release(noise, DATA).certificate)
    assert said.endswith(" epsilon 1 becomes 1.2, and delta 1e-6 becomes 1.10518e-6.")
