"""Small release files that hide a property of whole columns, with their data: for the tests of these files."""

from pathlib import Path

from tests.support.release_files import EXPECT, believe, changed, hide, publish, read_from, release_text, section
from tests.support.releases import put

RECORDS = release_text(
    read_from("staff", "staff.csv", budget=4.0),
    believe("independent-records", records=40, source="last year's survey", columns=["team", "hours", "smokes"],
            rows=[["a", 10, "no"], ["a", 30, "no"], ["a", 50, "yes"], ["b", 10, "no"], ["b", 30, "yes"],
                  ["b", 50, "yes"]],
            probabilities=["0.2", "0.2", "0.1", "0.1", "0.2", "0.2"]),
    section("[belief.classes.hours]", ends=[20, 40], values=[10, 30, 50], missing=30),
    hide(property={"attribute": "team", "function": "share", "of": "b", "max_difference": "0.1"}),
    publish("smokers", "count", attribute="smokes", states=["yes"], epsilon=1.0),
    output="out", expect=EXPECT,
)  # fmt: skip
#: 10 rows, four times: of hours a missing and an infinite value, and values at the ends of classes.
STAFF = "smokes,team,hours,x\n" + 4 * (
    "no,a,10,1\nno,a,20,2\nyes,a,40,3\nno,b,0.5,4\nyes,b,,5\nyes,b,99,6\nno,a,inf,7\nno,a,39.9,8\nyes,b,20,9\nno,a,10,0\n"
)

NORMAL = release_text(
    read_from("bodies", "bodies.csv", budget={"epsilon": 4.0, "delta": 0.001}),
    believe("normal", records=60, source="a public survey", columns=["weight", "income"], mean=[70, 40],
            covariance=[[144, 60], [60, 100]], ranges={"weight": [20, 200], "income": [-50, 200]}, resolution="0.5"),
    hide(property={"attribute": "income", "function": "mean", "max_difference": 2}),
    publish("mean-weight", "mean", attribute="weight", epsilon=1.0, delta=1e-05, mechanism="attribute-gaussian-exact"),
    output="out", expect=EXPECT,
)  # fmt: skip
BODIES = "income;weight;who\n" + "".join(f"{40 + i / 7:.3f};{70 - i / 3:.2f};p{i}\n" for i in range(60))

PARAMETERS = release_text(
    read_from("school", "school.csv", budget=4.0),
    believe("parameters", records=50, source="a textbook"),
    section("[belief.prior]", columns=["income", "height", "marks"],
            rows=[["low", "short", "bad"], ["low", "tall", "good"], ["high", "tall", "good"],
                  ["high", "short", "good"]],
            probabilities=["0.4", "0.1", "0.4", "0.1"]),
    section("[belief.columns.height]", values=["small", "big"],
            given={"short": ["0.7", "0.3"], "tall": ["0.4", "0.6"]}),
    section("[belief.columns.marks]", values=[1, 2, 3],
            given={"bad": ["0.2", "0.3", "0.5"], "good": ["0.5", "0.3", "0.2"]}),
    hide(parameter={"attribute": "height"}),
    publish("big", "count", attribute="height", states=["big"], epsilon=1.0),
    output="out", expect=EXPECT,
)  # fmt: skip
SCHOOL = "marks,height\n" + "1,big\n2,small\n3,big\n1,small\n2,big\n" * 10

FILES = {
    "records": (RECORDS, "staff.csv", STAFF),
    "normal": (NORMAL, "bodies.csv", BODIES),
    "parameters": (PARAMETERS, "school.csv", SCHOOL),
}


def written(folder: Path, kind: str, changes: dict[str, str] | None = None, data: str | None = None) -> Path:
    """Write a file and its data, with some of its text changed, and return its path."""
    text, name, rows = FILES[kind]
    return put(folder, {"release.toml": changed(text, *(changes or {}).items()), name: rows if data is None else data})
