"""Every kind of release file, by a minimal example: before the release, with faults, released, certified, reported."""


import pytest
from tests.conformance.release_files import Example, check_release_file

from takifugu.releasing.file.kinds import KINDS

HEAD = 'ledger = "ledger.db"\n[source]\nname = "study"\nfile = "data.csv"\n'
ROLES = 'rows = "samples"\norder = "t"\nstep = 1\nvalue = "state"\n'
MATTERS = '[expect]\nsource = "a test"\nmatters = 10\n'
END = '[[table]]\nname = "table-1"\nepsilon = 1.0\n'
WRONG = (
    ('ledger = "ledger.db"\n', "", "ledger"),
    ('name = "study"', "name = 3", "source.name"),
    ("epsilon = 1.0", "epsilon = -1.0", "table[0].epsilon"),
    ('name = "table-1"', 'name = "../up"', "table[0].name"),
)
STATES = 'states = ["still", "walking"]\n'
STEPS = "t,state\n" + "".join(f"{t},{'walking' if t % 3 else 'still'}\n" for t in range(300))
IN_ORDER = f'{HEAD}value = "state"\nrows = "samples"\norder = "t"\nstep = 1\n'
NETWORK = """\
network clinic { }
variable smoker { type discrete [ 2 ] { yes, no }; }
variable cough { type discrete [ 2 ] { yes, no }; }
probability ( smoker ) { table 0.25, 0.75; }
probability ( cough | smoker ) {
  (yes) 0.5, 0.5;
  (no) 0.25, 0.75;
}
"""

EXAMPLES = (
    Example(
        "markov-chain",
        f'{IN_ORDER}[belief]\nkind = "markov-chain"\n{STATES}matrix = [[0.6, 0.4], [0.4, 0.6]]\n'
        f'{END}query = "histogram"\n',
        {"data.csv": STEPS},
        (*WRONG, ("[0.4, 0.6]", "[0.4, 0.7]", "belief.matrix"), ('"histogram"', '"histgram"', "table[0].query")),
    ),
    Example(
        "markov-chain-class",
        f'{IN_ORDER}[belief]\nkind = "markov-chain-class"\n{STATES}pi = 0.2\ng = 0.4\n'
        f'{END}query = "count"\nstates = ["walking"]\n',
        {"data.csv": STEPS},
        (*WRONG, ("pi = 0.2", "pi = 2", "belief.pi"), ('query = "count"', 'query = "cont"', "table[0].query")),
    ),
    Example(
        "network",
        f'{HEAD}[belief]\nkind = "network"\nfile = "clinic.bif"\n{MATTERS}{END}query = "count"\nstates = ["yes"]\n',
        {"data.csv": "smoker,cough\nyes,no\n", "clinic.bif": NETWORK},
        (*WRONG, ('query = "count"', 'query = "linear"', "table[0].query")),
        ("matters",),
    ),
    Example(
        "joint-table",
        f'{HEAD}[belief]\nkind = "joint-table"\nsource = "a test"\ncolumns = ["ill", "town"]\n'
        'rows = [[0, "a"], [1, "a"], [0, "b"]]\nprobabilities = [0.5, 0.25, 0.25]\n'
        f'{MATTERS}{END}query = "identity"\nattribute = "ill"\n',
        {"data.csv": "ill,town\n1,a\n"},
        (*WRONG, ("probabilities = [", "probs = [", "belief.probs")),
        ("matters",),
    ),
    Example(
        "users",
        f'{HEAD}value = "said"\n[belief]\nkind = "users"\nunits_independent = true\nsize = 30\nvalues = ["no", "yes"]\n'
        f'probabilities = [0.75, 0.25]\n{END}query = "count"\nstates = ["yes"]\n',
        {"data.csv": "said\n" + "no\nyes\nno\n" * 10},
        (*WRONG, ("size = 30", "size = -1", "belief.size")),
    ),
    Example(
        "contacts",
        f'{HEAD}value = "state"\nunit = "who"\n[belief]\nkind = "contacts"\nfile = "met.csv"\n'
        'columns = ["one", "other"]\nstates = ["well", "ill"]\noutside = 0.05\ninside = 0.2\n'
        f'{MATTERS}{END}query = "count"\nstates = ["ill"]\n',
        {
            "data.csv": "who,state\n" + "".join(f"p{i},{'ill' if i % 3 else 'well'}\n" for i in range(12)),
            "met.csv": "one,other\n" + "".join(f"p{i},p{i + 1}\n" for i in range(0, 12, 2)),
        },
        (*WRONG, ("outside = 0.05", "outside = [0.05]", "belief.outside")),
        ("matters",),
    ),
    Example(
        "independent-records",
        f'{HEAD}[belief]\nkind = "independent-records"\nrecords = 40\nsource = "a test"\n'
        'columns = ["group", "ill"]\nrows = [["a", 0], ["a", 1], ["b", 0], ["b", 1]]\n'
        "probabilities = [0.25, 0.25, 0.375, 0.125]\n"
        '[hide]\nproperty = { attribute = "group", function = "share", of = "b", max_difference = "1/10" }\n'
        f'{END}query = "count"\nattribute = "ill"\nstates = [1]\nmechanism = "wasserstein"\n',
        {"data.csv": "ill,group\n" + "0,a\n1,a\n0,b\n0,b\n" * 10},
        (
            *WRONG,
            ('function = "share"', 'function = "shares"', "hide.property.function"),
            ("records = 40", "records = 0", "belief.records"),
            ('attribute = "ill"', 'attribute = "il"', "table[0].attribute"),
        ),
        ("mechanism", "property"),
    ),
    Example(
        "normal",
        f'{HEAD}[belief]\nkind = "normal"\nrecords = 50\nsource = "a test"\ncolumns = ["height", "weight"]\n'
        "mean = [170, 70]\ncovariance = [[49, 40], [40, 144]]\n"
        'resolution = "0.5"\n'
        '[hide]\nproperty = { attribute = "height", function = "mean", max_difference = 2 }\n'
        f'{END}query = "mean"\nattribute = "weight"\ndelta = 1e-5\nmechanism = "attribute-gaussian-exact"\n',
        {"data.csv": "height,weight\n" + "171.2,66.1\n168,75\n" * 25},
        (
            *WRONG,
            ("[40, 144]", "[41, 144]", "belief.covariance"),
            ("max_difference = 2", "max_difference = -2", "hide.property.max_difference"),
            ('"0.5"\n', '"0.5"\nranges = { weight = [300, 20] }\n', "belief.ranges.weight"),
            ('file = "data.csv"\n', 'file = "data.csv"\nbudgte = 3\n', "source.budgte"),
        ),
        ("mechanism", "delta", "property"),
    ),
    Example(
        "density",
        f'{HEAD}[belief]\nkind = "density"\nrecords = 50\nsource = "a test"\ncolumn = "weight"\nabout = "height"\n'
        "given = [{ value = 0, mean = 70, deviation = 1 }, { value = 1, mean = 71, deviation = 2 }]\n"
        'ranges = { weight = [20, 300] }\nresolution = "0.5"\n'
        '[hide]\nproperty = { attribute = "height", function = "mean" }\n'
        f'{END}query = "mean"\nattribute = "weight"\ndelta = 1e-5\nmechanism = "gaussian-exact"\n',
        {"data.csv": "height,weight\n" + "171.2,66.1\n168,75\n" * 25},
        (
            *WRONG,
            ("deviation = 2", "deviation = -2", "belief.given[1].deviation"),
            ('about = "height"', 'abuot = "height"', "belief.abuot"),
            ("weight = [20, 300]", "weight = [300, 20]", "belief.ranges.weight"),
        ),
        ("mechanism", "delta", "property"),
    ),
    Example(
        "parameters",
        f'{HEAD}[belief]\nkind = "parameters"\nrecords = 40\nsource = "a test"\n'
        'prior = { columns = ["group", "height"], rows = [["x", "low"], ["y", "high"]], probabilities = [0.5, 0.5] }\n'
        '[belief.columns.height]\nvalues = ["small", "big"]\ngiven = { low = ["0.7", "0.3"], high = ["0.4", "0.6"] }\n'
        '[hide]\nparameter = { attribute = "group" }\n'
        f'{END}query = "count"\nattribute = "height"\nstates = ["big"]\nmechanism = "wasserstein"\n'
        'expect = { matters = 40, source = "a test" }\n',
        {"data.csv": "height\n" + "big\nsmall\n" * 20},
        (
            *WRONG,
            ('high = ["0.4", "0.6"]', 'high = ["0.4", "0.5"]', "belief.columns.height"),
            ('parameter = { attribute = "group" }', 'parameter = { attribut = "group" }', "hide.parameter.attribut"),
        ),
        ("mechanism", "parameter", "expect"),
    ),
    Example(
        "populations",
        f'{HEAD}value = "place"\nrows_per_person = 1\n[belief]\nkind = "populations"\nsource = "a test"\n'
        'values = ["north", "south"]\nlaws = { home = ["0.9", "0.1"], out = ["0.1", "0.9"] }\n'
        f'{END}query = "each-value"\n',
        {"data.csv": "place\n" + "north\nsouth\n" * 20},
        (
            *WRONG,
            ('"0.1", "0.9"] }', '"0.1", "0.95"] }', "belief.laws"),
            ("rows_per_person = 1", "rows_per_person = 0", "source.rows_per_person"),
            ('"each-value"', '"each-row"', "table[0].query"),
        ),
    ),
    Example(
        "asymmetric",
        f'{HEAD}unit = "who"\nvalue = "where"\n[belief]\nkind = "asymmetric"\nplaces = ["bar", "shop", "gym"]\n'
        f'[hide]\nvisits = "all"\n{END}query = "safe"\nat_most = 4\n',
        {"data.csv": "who,where\n" + "".join(f"p{i},gym\np{i},bar\n" for i in range(9)) + "p0,gym\np3,shop\n"},
        (
            *WRONG,
            ('visits = "all"', 'visits = ["pub"]', "hide.visits"),
            ("at_most = 4", "at_most = -4", "table[0].at_most"),
            ('value = "where"\n', 'value = "where"\nx = "where"\n', "source.x"),
        ),
        ("query", "at_most"),
    ),
)


@pytest.mark.mutants
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_it_does_what_a_release_file_must(example: Example, tmp_path) -> None:
    check_release_file(example, tmp_path)


def test_every_kind_is_among_the_examples() -> None:
    assert {*KINDS.names} == {example.kind for example in EXAMPLES}
