"""The report: one self-contained file, which says what was published, and nothing else of the data."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import files
from tests.support.pages import Element, Tree, check_page, check_self_contained

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.assumptions import world
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan
from takifugu.releasing.postprocess.release import Release, releases_of
from takifugu.releasing.publishing import run
from takifugu.releasing.report import document
from takifugu.releasing.report.document import report_html
from takifugu.releasing.report.outcomes import published_of
from takifugu.releasing.report.page import Bullets, Cell, Table, Terms, Words, _environment, page
from takifugu.releasing.report.published import Published

HOSTILE = '<script>alert("x")</script>&amp;\'"><img src=http://x.example/>'
CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=40, states=["still", "walking"])
FRAMEWORK = tf.Pufferfish(tf.every_entry(), CHAIN)
DATA = ["still"] * 30 + ["walking"] * 10


def texts(page: Element, *tags: str) -> str:
    """Return the words of a page in its elements of these tags."""
    return " ".join(element.text for element in page.all(*tags))


def release(query: Any = None, framework: Any = FRAMEWORK, data: Any = None, **options: Any) -> Release:
    calibration = tf.calibrate(framework, query or tf.Histogram(), options.pop("epsilon", 1), **options)
    return tf.release(calibration, data or DATA)


def test_it_says_what_was_asked_compared_chosen_published_and_promised() -> None:
    noisy = release()
    page = check_page(report_html(noisy))
    said = page.text
    for row in noisy.rows():
        assert f"{row['value']:,}" in texts(page, "td")
        assert row["cell"] in texts(page, "th")
    assert f"Every value is within ±{noisy.rows()[0]['high'] - noisy.rows()[0]['value']:,} of the exact count" in said
    for alternative in noisy.calibration.alternatives:
        assert alternative.name in texts(page, "th" if alternative.scale is not None else "dt")
        assert alternative.reason in said
        assert alternative.status in said
    c = noisy.certificate
    for words in (
        *c.hidden, *c.beliefs, *map(str, c.assumptions), *c.warnings, *c.mechanisms, *c.compositions, c.date,
        c.software, "not sampling error", "23.2 %", "What is not protected", "epsilon 1.02", "chosen",
        noisy.calibration.witness.detail,
    ):  # fmt: skip
        assert words in said, words
    assert len(page.all("figure")) == 3


def test_it_asks_for_nothing_and_forbids_it() -> None:
    report = report_html(release())
    assert "default-src 'none'" in report
    assert "<script" not in report
    assert report.replace("http://www.w3.org/2000/svg", "").count("://") == 0
    assert len(report) < 60_000


def test_everything_is_escaped() -> None:
    """Names of states, sources, units, releases and mechanisms are words, whatever is in them."""
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=[HOSTILE, "</style>"], source=HOSTILE)
    noisy = release(framework=tf.Pufferfish(tf.every_entry(), chain), data=[HOSTILE] * 4, mechanism="quilt-exact")
    hostile = replace(
        noisy.certificate, release=HOSTILE, source=HOSTILE, units=(HOSTILE,), scope="unit",
        assumptions=(world(HOSTILE),), hidden=(HOSTILE,), mechanisms={HOSTILE: HOSTILE},
        statistic=HOSTILE, ledger={"ledger": HOSTILE, "ids": {HOSTILE: HOSTILE}}, date=HOSTILE, software=HOSTILE,
    )  # fmt: skip
    page = check_page(report_html(replace(noisy, certificate=hostile)))
    assert texts(page, "h1") == HOSTILE
    assert page.text.count(HOSTILE) > 10


def test_templates_escape_all_but_pictures_the_style_and_whose_page_it_is() -> None:
    templates = Path(document.__file__).parent / "templates"
    text = "".join(file.read_text(encoding="utf-8") for file in templates.glob("*.html"))
    assert sorted({*re.findall(r"([^ ]*) *\| *safe", text)}) == ["it.draw(narrow)", "it.draw(wide)", "made", "style()"]
    blocks = [Words(HOSTILE, HOSTILE), Table(HOSTILE, [HOSTILE], [[HOSTILE], [Cell(HOSTILE)]], note=HOSTILE)]
    about = {"articles": [], "title": HOSTILE, "date": HOSTILE, "software": HOSTILE}
    for block in (*blocks, Bullets([HOSTILE]), Terms([(HOSTILE, [HOSTILE])])):
        drawn = str(_environment().get_template("blocks.html").module.every([block]))  # type: ignore[attr-defined]
        assert "alert" in drawn
        assert "<script" not in drawn
        assert "<img" not in drawn
    assert "<script" not in page("report.html", **about)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("words", ["", "x" * 4000, "\x00\x1b[31m", "\u202eabc", "\ud800", "é" * 30, "{}%s"])
def test_odd_names_do_not_break_it(words: str) -> None:
    noisy = release()
    odd = replace(
        noisy.certificate, source=words, units=(words,), scope="unit", statistic=words or "x", hidden=(words,)
    )
    (page,) = Tree(report_html(replace(noisy, certificate=odd, labels=(words, f"{words}2")))).root.all("html")
    check_self_contained(page)


def answers(noisy: Release, units: int) -> Iterator[tuple[str, Release]]:
    for i in range(units):
        yield f"unit {i}", replace(noisy, values=tuple(v + i for v in noisy.values))


def table(noisy: Release, units: int) -> Published:
    names = tuple(f"unit {i}" for i in range(units))
    certificate = replace(noisy.certificate, scope="unit", units=names)
    return published_of(certificate, tuple(answers(noisy, units)))


def test_tables_of_units_are_drawn_by_cell() -> None:
    noisy = release(mechanism="group-dp")
    page = check_page(report_html(table(noisy, 3)))
    assert len(page.all("figure")) == 1 + 1
    assert {"unit 0", "unit 1", "unit 2"} <= {cell.text for cell in page.all("th")}
    half = noisy.randomiser.half_width(0.95, cells=6)
    assert f"Every value is within ±{half} of the exact count (95 %, all 6 at once)." in page.text
    assert "Nothing was compared: group-dp was requested by name" in page.text


@pytest.mark.mutants
def test_large_tables_are_drawn_in_part_and_listed_whole() -> None:
    noisy = release()
    page = check_page(report_html(table(noisy, 45)))
    assert "80 of 90 values are drawn; the table has them all." in page.text
    assert "unit 44" in texts(page, "th")
    cells = tuple(f"cell {i}" for i in range(50))
    noise = DiscreteLaplace(Fraction(7), Fraction(1), 50)
    wide = replace(noisy, labels=cells, values=(Fraction(1234),) * 50, randomiser=noise)
    page = check_page(report_html(wide))
    assert "40 of 50 values are drawn" in page.text
    assert {f"cell {i}" for i in range(50)} <= {cell.text for cell in page.all("th")}
    page = check_page(report_html(table(wide, 2)))
    assert "16 of 100 values are drawn" in page.text
    assert texts(page, "td").split().count("1,235") == 50


def test_warnings_and_other_promises() -> None:
    seeded = tf.release(tf.calibrate(FRAMEWORK, tf.Count("walking"), 1), DATA, entropy=InsecureSeededEntropyForTests(1))
    report = report_html(seeded)
    assert '<p class="warning danger">NOT PRIVATE' in report
    assert "No ledger accounts for" in report
    assert "at once" not in check_page(report).text
    whole = check_page(report_html(release(mechanism="group-dp")))
    assert "the guarantee holds whatever anyone believes" in whole.text
    noisy = release()
    failing = replace(noisy.certificate, delta="1/1000", compositions=("composes",))
    page = check_page(report_html(replace(noisy, certificate=failing)))
    assert "but for a probability of at most 0.003" in page.text
    assert "delta 0.00101006" in texts(page, "td")
    check_page(report_html(release(epsilon=2000)))
    nothing = replace(noisy.certificate, epsilon="0")
    assert "nobody becomes any more or less sure" in check_page(report_html(replace(noisy, certificate=nothing))).text
    other = replace(noisy.certificate, definition="asymmetric")
    assert "how sure before" not in check_page(report_html(replace(noisy, certificate=other))).text


def test_a_certificate_alone_makes_a_report() -> None:
    """What was compared is not in a certificate; everything else is."""
    noisy = release()
    again = releases_of(noisy.certificate)[None]
    assert (again.values, again.labels, again.rows()) == (noisy.values, noisy.labels, noisy.rows())
    page = check_page(report_html(again))
    assert "The noise was found by" in page.text
    assert len(page.all("figure")) == 2


SPARE = "SPARE-SENTINEL"


def other_data() -> str:
    """Return data of the same units and lengths, and other states and clocks in every row."""
    lines = files.data().splitlines()
    moved = []
    for line in lines[1:]:
        start, state = line.rsplit(",", 1)
        who, number, when, _ = start.rsplit(",", 3)
        state = "walking" if state == "sitting" else "lying"
        moved.append(f"{who},{number},{int(when) + 770_000},{SPARE},{state}")
    return "\n".join([lines[0], *moved]) + "\n"


def reports_of_two_sources(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the reports of two different sources with the same noisy values, without the ledgers' random ids."""
    noisy = tuple(Fraction(31 * i + 7) for i in range(2))
    monkeypatch.setattr(DiscreteLaplace, "draw", lambda self, answer, entropy: noisy)
    both = []
    for name, content in (("one", files.data()), ("other", other_data())):
        (folder / name).mkdir()
        outcome = run.publish(plan.plan(load(files.write(folder / name, table=content))))
        ids = {*outcome.reservation.ids.values(), outcome.tables[0].certificate.ledger_id}
        pages = [(folder / name / "out" / f"{t.name}.report.html").read_text(encoding="utf-8") for t in outcome.tables]
        assert not any(SPARE in report for report in pages)
        both.append([re.sub("|".join(map(str, ids)), "ID", report) for report in pages])
    return both


@pytest.mark.slow
def test_a_report_that_told_more_would_be_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a picture whose height is the true answer, which no search of words would find."""
    from takifugu.releasing.publishing import publish, sheets

    answers: list[Any] = []
    honest, exact = report_html, publish.answer_of
    monkeypatch.setattr(publish, "answer_of", lambda *about: answers.append(exact(*about)) or answers[-1])
    telling = lambda subject: f"{honest(subject)}<svg height='{answers[-1][0]}'></svg>"  # noqa: E731
    monkeypatch.setattr(sheets, "report_html", telling)
    one, other = reports_of_two_sources(tmp_path, monkeypatch)
    assert one != other


@pytest.mark.slow
def test_the_report_depends_on_the_noisy_values_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = reports_of_two_sources(tmp_path, monkeypatch)
    assert one == other
