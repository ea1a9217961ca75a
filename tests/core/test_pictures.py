"""Pictures: well-formed SVG that holds what it was given, in its place, and breaks out of nothing."""

import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from takifugu.core.errors import InputError
from takifugu.core.escaping import number
from takifugu.core.text.curves import Line, line_chart
from takifugu.core.text.maps import hours_map
from takifugu.core.text.marks import wrapped
from takifugu.core.text.pictures import Bar, Panel, bar_chart, value_chart
from takifugu.core.text.plot import PICTURES, by_itself, stacked
from takifugu.core.text.scales import Axis

SVG = "{http://www.w3.org/2000/svg}"
numbers = st.floats(-1e12, 1e12)


def parsed(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)


def texts(picture: str) -> list[str]:
    return [t.text or "" for t in parsed(picture).iter(f"{SVG}text")]


def drawn(picture: str, mark: str = "polyline") -> list[list[tuple[float, float]]]:
    """Return the points of every line, or of other marks."""
    marks = parsed(picture).iter(f"{SVG}{mark}")
    return [[tuple(map(float, p.split(","))) for p in of.attrib["points"].split()] for of in marks]  # type: ignore[misc]


def test_a_line_goes_where_its_points_are() -> None:
    points = [(0.1, 100.0), (1.0, 10.0), (10.0, 1.0)]
    picture = line_chart([Line("error", points)], Axis("epsilon", log=True), Axis("error", log=True), "Cost")
    (line,) = drawn(picture)
    assert line[0][0] < line[1][0]
    assert line[1][0] - line[0][0] == pytest.approx(line[2][0] - line[1][0], abs=0.2)  # even steps on a log axis
    assert line[2][1] - line[1][1] == pytest.approx(line[1][1] - line[0][1], abs=0.2)
    assert {"epsilon", "error", "Cost", "0.1", "10"} <= set(texts(picture))


def test_a_title_is_cut_where_it_would_leave_the_picture() -> None:
    picture = bar_chart([Bar("a", 1)], Axis("x"), "word " * 40, width=340)
    assert max(map(len, texts(picture))) * 7 < 340
    assert parsed(picture).findtext(f"{SVG}title") == "word " * 40


def test_a_number_stays_with_its_per_cent_sign() -> None:
    assert wrapped("a value and its 95 % band", 18) == ["a value and its", "95 % band"]


def test_a_step_holds_its_value() -> None:
    (line,) = drawn(line_chart([Line("", [(0, 0), (1, 2), (3, 1)], step=True)], Axis("x"), Axis("y"), "t"))
    assert [x for x, _ in line] == sorted(x for x, _ in line)
    assert line[0][1] == line[1][1]
    assert line[1][0] == line[2][0]


def test_gaps_break_a_line() -> None:
    points = [(1.0, 2.0), (2.0, None), (3.0, math.inf), (4.0, 1.0), (5.0, 0.0), (6.0, 3.0)]
    picture = line_chart([Line("a", points)], Axis("x"), Axis("y", log=True), "t")
    assert len(drawn(picture)) == 3


def test_bars_start_at_zero_and_carry_their_error() -> None:
    picture = bar_chart([Bar("still", 6, 4, 8), Bar("walking", -2)], Axis("minutes"), "Time")
    _background, *bars = parsed(picture).iter(f"{SVG}rect")
    assert len(bars) == 2
    ends = [(float(b.attrib["x"]), float(b.attrib["x"]) + float(b.attrib["width"])) for b in bars]
    assert ends[0][0] == pytest.approx(ends[1][1], abs=0.2)  # zero is where one begins and the other ends
    assert "6 ± 2" in texts(picture)


def test_marks_stand_at_their_place() -> None:
    picture = line_chart([Line("", [(1, 1), (4, 2)])], Axis("x"), Axis("y"), "t", marks=[(4, "yours"), (9, "")])
    assert "yours" in texts(picture)
    dashed = [line for line in parsed(picture).iter(f"{SVG}line") if line.attrib.get("stroke-dasharray")]
    assert len(dashed) == 2


@given(st.text(), st.text(), st.text())
@example("\x00\x1b", "\uffff]]>", "</svg><script>")
def test_no_text_breaks_out(title: str, label: str, made: str) -> None:
    parsed(line_chart([Line(label, [(0, 1), (1, 2)])], Axis(label), Axis(label), title, made))
    parsed(bar_chart([Bar(label, 1, 0, 2)], Axis(label), title))


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=9), st.booleans(), st.booleans())
@example([(0.0, 5e-324)], False, False)
@example([(0.0, 5e-324), (1.0, 1.0)], False, True)
def test_everything_stays_inside(points: list[tuple[float, float]], log_x: bool, log_y: bool) -> None:
    try:
        picture = line_chart([Line("a", points)], Axis("x", log_x), Axis("y", log_y), "t")
    except InputError:
        assert log_x or log_y
        return
    for line in drawn(picture):
        for x, y in line:
            assert -1 <= x <= 641
            assert -1 <= y <= 381


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=9))
def test_bars_stay_inside(values: list[tuple[float, float]]) -> None:
    bars = [Bar("a", a, min(a, b), max(a, b)) for a, b in values]
    for bar in parsed(bar_chart(bars, Axis("x"), "t")).iter(f"{SVG}rect"):
        left, wide = float(bar.attrib.get("x", 0)), float(bar.attrib["width"])
        assert left >= -1
        assert left + wide <= 641


HOURS = [Bar(f"{hour:02}", 10.0 * hour, 10.0 * hour - 15, 10.0 * hour + 15, is_noise=hour < 2) for hour in range(6)]


def test_a_band_goes_from_the_lower_ends_to_the_upper_ones() -> None:
    picture = value_chart([Panel("", HOURS, range(6))], Axis("steps"), "By hour")
    (band,) = drawn(picture, "polygon")
    dots = [(float(d.attrib["cx"]), float(d.attrib["cy"])) for d in parsed(picture).iter(f"{SVG}circle")]
    for (x, y), upper, lower in zip(dots, band[:6], band[:5:-1], strict=True):
        assert upper[0] == lower[0] == x
        assert y - upper[1] == pytest.approx(lower[1] - y, abs=0.2)
    assert dots[0][1] - dots[1][1] == pytest.approx(dots[4][1] - dots[5][1], abs=0.2)


def test_a_line_is_broken_where_a_time_is_missing() -> None:
    picture = value_chart([Panel("", HOURS, [0, 1, 2, 5, 6, 9])], Axis("steps"), "By week")
    assert [len(area) for area in drawn(picture, "polygon")] == [6, 4, 2]
    assert len(drawn(picture)) == 2 + 1


def test_noise_is_faded_and_what_it_means_is_said() -> None:
    for times in (None, range(6)):
        picture = value_chart([Panel("", HOURS, times)], Axis("steps"), "t")
        marks = list(parsed(picture).iter(f"{SVG}{'rect' if times is None else 'circle'}"))[-6:]
        shades = [float(mark.attrib.get("fill-opacity", "1")) for mark in marks]
        assert max(shades[:2]) < min(shades[2:])
        assert "faded: noise" in texts(picture)
    assert "faded" not in value_chart([Panel("", HOURS[2:])], Axis("steps"), "t")


@pytest.mark.parametrize("times", [None, range(6)])
def test_an_error_that_all_share_is_written_once(times: range | None) -> None:
    picture = value_chart([Panel("a", HOURS, times), Panel("b", HOURS[:5], times and times[:5])], Axis("steps"), "t")
    assert picture.count("±") == 1
    assert "steps, each ± 15" in texts(picture)
    other = bar_chart([*HOURS, Bar("wide", 5, 0, 10)], Axis("steps"), "t")
    assert other.count("±") == 7
    without_width = bar_chart([Bar("a", 1, 1, 1), Bar("b", 2, 2, 2)], Axis("steps"), "t")
    assert "steps, each ± 0" in texts(without_width)
    hours = bar_chart([Bar(name, 60.0, 60 - 191 / 12, 60 + 191 / 12) for name in "ab"], Axis("hours"), "t")
    assert "hours, each ± 16" in texts(hours)  # as in sentences
    assert "±" not in bar_chart([Bar("a", 1), Bar("b", 2)], Axis("steps"), "t")


def test_panels_have_one_scale() -> None:
    picture = value_chart([Panel("a", HOURS), Panel("b", [Bar("00", 50.0, 35, 65)])], Axis("steps"), "t")
    _, *bars = parsed(picture).iter(f"{SVG}rect")
    widths = [float(bar.attrib["width"]) for bar in bars]
    assert widths[-1] == pytest.approx(widths[5], abs=0.1)


@pytest.mark.parametrize("times", [None, range(6)])
def test_what_is_impossible_is_hatched(times: range | None) -> None:
    slanted = {}
    for possible in (None, (0.0, 40.0), (-100.0, 900.0)):
        picture = value_chart([Panel("", HOURS, times)], Axis("steps", possible=possible), "t")
        lines = [line.attrib for line in parsed(picture).iter(f"{SVG}line")]
        slanted[possible] = [line for line in lines if line["x1"] != line["x2"] and line["y1"] != line["y2"]]
        assert ("hatched" in picture) == bool(slanted[possible])
    assert len(slanted[0.0, 40.0]) > 20
    assert not slanted[None]
    assert not slanted[-100.0, 900.0]


@given(st.integers(1, 12), st.sampled_from([340, 640]), st.booleans())
def test_everything_of_panels_stays_inside(panels: int, width: int, is_line: bool) -> None:
    several = [Panel(f"a long title of a panel {n}", HOURS, range(6) if is_line else None) for n in range(panels)]
    picture = parsed(value_chart(several, Axis("noisy value (steps of 5 minutes) and its 95 % band"), "t", width=width))
    high = float(picture.attrib["height"])
    for mark in picture.iter():
        for keys, end in ((("x", "x1", "x2", "cx"), width), (("y", "y1", "y2", "cy"), high)):
            assert all(-1 <= float(mark.attrib.get(key, "0")) <= end + 1 for key in keys), mark.attrib
    for text in picture.iter(f"{SVG}text"):
        long = 6 * len(text.text or "")
        start = float(text.attrib["x"]) - {"end": long, "middle": long / 2}.get(text.attrib.get("text-anchor", ""), 0)
        assert start >= -2, text.text
        assert start + long <= width + 2, text.text



@pytest.mark.parametrize(("draw", "words"), [
    (lambda: line_chart([Line("a", [(1, None)])], Axis("x"), Axis("y"), "t"), "no point"),
    (lambda: bar_chart([], Axis("x"), "t"), "at least one bar"),
    (lambda: bar_chart([Bar("a", math.nan)], Axis("x"), "t"), "finite"),
])  # fmt: skip
def test_nothing_to_draw_is_said(draw: Callable[[], str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        draw()


def test_numbers_are_written_short() -> None:
    written = [number(v, digits=4) for v in (0, 1234567, 0.333333, 1e-9, -1e20)]
    assert written == ["0", "1,234,567", "0.3333", "1e-9", "-1e20"]


@given(st.text("abc", max_size=60), st.text("abc ", max_size=60), st.sampled_from([340, 640]))
@example("a" * 40, "noisy value (steps of 5 minutes) and its 95 % interval", 340)
def test_the_words_of_bars_stay_inside_the_picture(name: str, axis: str, width: int) -> None:
    picture = parsed(bar_chart([Bar(name, 30, 20, 40)], Axis(axis[:55]), "t", width=width))
    for text in list(picture.iter(f"{SVG}text"))[1:]:
        long, where = 6.6 * len(text.text or ""), float(text.attrib["x"])
        start = where - {"end": long, "middle": long / 2, "start": 0}[text.attrib["text-anchor"]]
        assert (start >= -0.1 and start + long <= width + 0.1) or long > width - 8, text.text


def test_a_picture_of_its_own_is_dark_by_night_and_paints_no_other() -> None:
    picture = bar_chart([Bar("still", 6, 4, 8)], Axis("minutes"), "Time")
    alone = by_itself(stacked([picture, picture]))
    (style,) = parsed(alone).iter(f"{SVG}style")
    rules = re.findall(r"([^{}]+) {(?! svg)", style.text or "")
    assert rules
    assert all(rule.strip().startswith("svg:root") for rule in rules)
    used = {m.attrib[paint] for m in parsed(picture).iter() for paint in ("fill", "stroke") if paint in m.attrib}
    assert used <= {*PICTURES}
    assert all(f'="{colour}"]' in (style.text or "") for colour in used)


def test_hours_of_many_days_are_one_picture() -> None:
    """Every hour lies at its place, in the shade of its share; days that were not published are left white."""
    shares = [("2026-01-05T00", 1.0), ("2026-01-05T01", 1.0), ("2026-01-05T03", 0.26), ("2026-01-07T23", 0.0)]
    picture = hours_map(shares, "safe", 340)
    box = r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="14.00" fill="#009e73"([^/]*)'
    boxes = re.findall(box, picture)
    wide, top = (340 - 74 - 12) / 24, float(boxes[0][1])
    places = []
    for left, upper, length, _ in boxes:
        places.append((round((float(left) - 74) / wide), round((float(upper) - top) / 14), round(float(length) / wide)))
    assert places[:3] == [(0, 0, 2), (3, 0, 1), (23, 2, 1)]
    assert [re.findall('opacity="([^"]+)', shade) for *_, shade in boxes[:3]] == [[], ["0.300"], ["0.100"]]
    assert "2026-01-06" in picture
