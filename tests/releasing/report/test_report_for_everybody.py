"""Reports by day and by night, for eyes that see little, for ears, and for keyboards.

Every kind of file is published in `test_open_data`, which checks its page with the same `check_page`.
"""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import files
from tests.releasing.report.test_words_for_readers import SPEC, worded
from tests.releasing.test_windows import written
from tests.support.pages import Element, check_page, contrast, rules

import takifugu as tf
from takifugu.core.text.plot import LETTERS, PICTURES
from takifugu.releasing.report.outcomes import Outcome
from takifugu.releasing.report.style import WRITTEN, style

#: What letters need, and lines and marks.
ENOUGH, ENOUGH_TO_SEE = 4.5, 3.0
#: Rules behind a picture: nothing is read from them.
BEHIND = {"#d9d9d9", "white"}
NIGHT = "screen and (prefers-color-scheme: dark)"


def released(text: str, folder: Path) -> Outcome:
    return tf.release_file(files.write(folder, text), allow_useless=True)


def variables(media: str) -> dict[str, str]:
    (colours,) = (said for when, what, said in rules(style()) if when == media and what == ":root")
    return {name.removeprefix("--"): colour for name, colour in colours.items() if name.startswith("--")}


@pytest.mark.parametrize("media", ["", NIGHT])
def test_letters_are_told_from_their_ground(media: str) -> None:
    named = variables(media)
    assert variables("").keys() == named.keys()
    for ink, ground in WRITTEN:
        assert contrast(named[ink], named[ground]) >= ENOUGH, (ink, ground)
    for ink in ("accent", "warn", "danger"):
        assert contrast(named[ink], named["paper"]) >= ENOUGH_TO_SEE, ink


def test_every_colour_of_the_sheet_is_known_to_be_told_apart() -> None:
    inks, grounds = {ink for ink, _ in WRITTEN}, {ground for _, ground in WRITTEN}
    for when, what, said in rules(style()):
        for key in ("color", "background"):
            if key in said:
                variable = re.fullmatch(r"var\(--([a-z]+)\)", said[key])
                assert variable, (what, said[key])
                assert variable[1] in (inks if key == "color" else grounds), (what, key)
        plain = {k: v for k, v in said.items() if re.search("#[0-9a-f]{3}", v) and what != ":root"}
        assert not plain or what.startswith("svg "), (when, what, plain)


def overriding(media: str) -> dict[tuple[str, str, str], str]:
    """Return the colour that the sheet puts in the place of one in a picture, by element, kind of paint and colour."""
    overrides = {}
    for when, what, said in rules(style()):
        rule = re.fullmatch(r'svg (\*|text)\[(fill|stroke)="([^"]+)"\]', what)
        if rule and when == media:
            overrides[rule[1], rule[2], rule[3]] = said[rule[2]]
    return overrides


@pytest.mark.parametrize("media", ["", NIGHT])
def test_pictures_are_seen(media: str) -> None:
    seen, paper = overriding(media), variables(media)["paper"]
    for drawn in PICTURES:
        if drawn in BEHIND:
            continue
        letters = seen.get(("text", "fill", drawn), seen.get(("*", "fill", drawn), drawn))
        assert contrast(seen.get(("*", "stroke", drawn), drawn), paper) >= ENOUGH_TO_SEE, drawn
        if drawn != "#888888":  # a frame
            assert contrast(letters, paper) >= ENOUGH, drawn
    assert contrast(seen.get(("*", "fill", "white"), "white"), paper) == 1
    assert {*LETTERS} <= {*PICTURES}


def check_colours(page: Element) -> None:
    """Every colour of a picture has one by night; only areas keep theirs, which are told apart by their legend."""
    for picture in page.all("svg"):
        marks = picture.all("rect", "line", "circle", "polyline", "polygon", "text")
        for mark in [m for m in marks if m is not picture]:
            for paint in ("fill", "stroke"):
                colour = mark.attributes.get(paint, "none")
                assert colour in {"none", *PICTURES} or mark.tag == "rect", (mark.tag, colour)


@pytest.mark.mutants
def test_what_is_said_first_comes_first(tmp_path: Path) -> None:
    page = check_page(tf.report_html(released(worded(SPEC), tmp_path).tables[1]))
    headings = [heading.text for heading in page.all("h1", "h2")]
    assert headings == [
        "Activity & rest", "How accurate", "How private", "What is not protected", "The numbers",
        "What the guarantee rests on", "How sure a reader can become", "How the noise was chosen", "Technical",
    ]  # fmt: skip
    first, second = page.all("details")
    assert first.all("h2")[0].text == headings[-2]
    assert second.all("h2")[0].text == headings[-1]
    assert not any("open" in part.attributes for part in (first, second))
    assert not any(part.within("details") for part in page.all("h1", "h3"))


def test_a_window_says_what_lasts_too_long_to_be_hidden(tmp_path: Path) -> None:
    (table,) = tf.release_file(written(tmp_path), window="2026-W02").tables
    page = check_page(tf.report_html(table))
    assert "The window is 2026-01-05" in page.text
    assert re.search(r"whole day \(epsilon [0-9.]+\) or week \(epsilon [0-9.]+\)\.", page.text)
    assert re.search("A whole day: against someone who knows all other steps, the noise alone gives epsilon", page.text)
    assert "On average 'calm' lasts about 10 hours at a time" in page.text


def value_in(cell: Element) -> str:
    """Return the number in a cell, without the star of what is impossible."""
    return cell.text.removesuffix(" *")


def by_hour(states: int = 2) -> Any:
    names = [f"state {i}" for i in range(states)]
    chain = tf.MarkovChain([[1 / states] * states] * states, 48, states=names)
    query = tf.GroupBy(tf.Histogram(), {f"{h:02}": (h, h + 24) for h in range(24)}, "hour")
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), query, 1, mechanism="group-dp")
    return tf.release(calibration, random.choices(names, k=48))


def test_a_table_of_two_ways_is_one() -> None:
    noisy = by_hour()
    page = check_page(tf.report_html(noisy))
    check_colours(page)
    table = page.all("table")[0]
    assert [cell.text for cell in table.all("tr")[0].children] == ["hour", "state 0", "state 1"]
    rows = {row.children[0].text: [value_in(c) for c in row.children[1:]] for row in table.all("tr")[1:]}
    assert list(rows) == [f"{h:02}" for h in range(24)]
    for cell, value in noisy.value.items():
        hour, state = cell.split(", ")
        assert rows[hour][int(state[-1])] == f"{value:,}"
    half = noisy.randomiser.half_width(0.95, 48)
    assert f"Every value is within ±{half} of the exact count (95 %, all 48 at once)." in page.text
    picture = page.all("svg")[0]
    assert len(picture.all("polygon")) == 2, "a band for each state"
    assert len(picture.all("circle")) == 48
    assert picture.text.count("±") == 1
    assert {"state 0", "state 1"} <= {words.text for words in picture.all("text")}


@pytest.mark.parametrize("broken", [
    "<h1>a</h1><h3>b</h3>", "<h1>a</h1><table><caption>a</caption></table>", "<h1>a</h1><dl><dd>a</dd></dl>",
    "<h1></h1>", '<h1 id="a">a</h1><p id="a">b</p>', "<h1>a</h1><svg></svg>", "<p>a</p>",
    "<h1>a</h1><details><p>a</p></details>", '<h1>a</h1><p aria-labelledby="x">a</p>',
])  # fmt: skip
def test_what_is_wrong_is_found(broken: str) -> None:
    head = '<head><title>t</title><meta name="viewport" content="width=device-width"></head>'
    check_page(f'<html lang="en">{head}<body><main><h1>a</h1></main></body></html>')
    with pytest.raises((AssertionError, IndexError)):
        check_page(f'<html lang="en">{head}<body><main>{broken}</main></body></html>')


@pytest.mark.mutants
def test_the_longer_way_goes_down() -> None:
    chain = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 168)
    days = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    cells = {f"{day} {hour:02}": [24 * number + hour] for number, day in enumerate(days) for hour in range(24)}
    parts = [label.split(" ") for label in cells]
    by_two = tf.GroupBy(tf.Count(1), cells, "weekday and hour", axes=["weekday", "hour"], parts=parts)
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), by_two, 1, mechanism="group-dp")
    noisy = tf.release(calibration, [1] * 168)
    page = check_page(tf.report_html(noisy))
    first, *others = page.all("table")[0].all("tr")
    assert [cell.text for cell in first.children] == ["hour", *days]
    assert [row.children[0].text for row in others] == [f"{hour:02}" for hour in range(24)]
    values = noisy.value
    for row in others:
        for day, cell in zip(days, row.children[1:], strict=True):
            assert value_in(cell) == f"{values[f'{day} {row.children[0].text}']:,}"
    picture = page.all("svg")[0]
    assert picture.text.count("Mon") == 1
    assert len(picture.all("polygon")) == 7, "a band for each day, along the hours"
