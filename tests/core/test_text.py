"""Tables, labelled lines and pictures as text: within their width, and escaped."""

from takifugu.core.text.bars import bars, block, common_error, relative_error
from takifugu.core.text.curves import Line, line_chart
from takifugu.core.text.maps import heat_map, hours_map
from takifugu.core.text.marks import drawing, head_of
from takifugu.core.text.parts import heading, html_of, html_table, rows, text, text_of, words
from takifugu.core.text.pictures import Bar, bar_chart
from takifugu.core.text.plot import Plot, by_itself, stacked
from takifugu.core.text.scales import Axis
from takifugu.core.text.tables import filled, fitting, labelled, name_of, shortened, text_table, width


def test_bars_show_values_and_their_errors() -> None:
    row = {"cell": "still", "value": 6, "low": 4, "high": 8}
    below_zero = {"cell": "still", "value": 1, "low": -1, "high": 3}
    with fitting(40):
        assert bars([row]) == ["still  █████████████▓▓▓▓▓▓▓░░░░░░  6 ± 2"]
        assert bars([below_zero]) == ["still  ▓▓▓▓▓▓│▓▓▓▓▓▓░░░░░░░░░░░░░  1 ± 2"]
    assert common_error([row, below_zero]) == 2
    large = {"value": 165, "low": 134, "high": 196}
    assert (relative_error({"value": 33, "low": 2, "high": 64}), relative_error(large)) == ("±94 %", "")
    assert [block(share, 5) for share in (0.5, 0.001, 0)] == ["██▌", "▏", ""]


def test_pictures_have_their_marks() -> None:
    curve = line_chart([Line("error", [(0.1, 40), (1, 4)])], Axis("epsilon", log=True), Axis("error"), "Cost")
    assert curve.startswith("<svg")
    assert "polyline" in curve
    assert heat_map([(0, 0), (1, 0), (0, 1), (1, 1)], [0.1, 0.2, 0.3, 0.4], "home").count("shape-rendering") == 15
    assert hours_map([("2026-02-09T18", 1.0), ("2026-02-09T19", 1.0)], "safe", 640).count("#009e73") == 11
    picture = bar_chart([Bar("still", 6, 4, 8)], Axis("minutes"), "Time use")
    assert picture.count("<rect") == 2
    assert repr(Plot("use", picture)) == "Plot('use')"
    assert stacked([drawing(10, 20, "a", []), drawing(10, 30, "b", [])]).count("<svg") == 3
    assert by_itself(drawing(10, 20, "a", [])).count("<style>") == 1
    titles = "Time use", "How often state 'heating' occurs, by hour (24 cells)"
    assert [head_of(title, 340) for title in titles] == [28, 46]


def test_parts_are_text_and_markup() -> None:
    assert (text("<b>\u202e"), text('"')) == ("&lt;b&gt;\\u202e", "&quot;")
    cell = '<td style="text-align:left;vertical-align:top">&lt;b&gt;</td>'
    assert html_table(["a"], [["<b>"]]).endswith(f"<tbody><tr>{cell}</tr></tbody></table>")
    parts = [heading("a < b"), rows(["cell"], []), words("one", "two")]
    assert text_of(parts) == "a < b\n\none\ntwo"
    assert html_of(parts) == "<h3>a &lt; b</h3><p>one</p><p>two</p>"


def test_lines_fit_the_width() -> None:
    with fitting(30):
        assert width() == 40
        words_of_noise = filled("the noise exceeds half of the range in 50 % of all cases")
    assert words_of_noise == "the noise exceeds half of the range in\n50 % of all cases"
    assert shortened(["calm", "busy", "late"], 2, "more states") == ["calm", "busy", "and 1 more states"]
    assert name_of("a name that is far too long for a table") == "a name that is far too …"
    table = text_table(["name", "why"], [["group", "always applies"], ["entry", "-"]])
    assert table == "name   why\n-----  --------------\ngroup  always applies\nentry  -"
    with fitting(40):
        narrow = text_table(["name", "error, in counts"], [["between-classes-of-chains-of-states", "12"]])
    assert narrow == "name\n    between-classes-of-chains-of-states\nerror, in counts\n    12"
    assert labelled([("hides", "every entry"), ("epsilon", "1")]) == "hides    every entry\nepsilon  1"
