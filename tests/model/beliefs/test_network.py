"""Networks against enumeration: joint laws, d-separation, supports, files, and what is refused."""

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.network_oracles import Spec, independent, joint_law, marginal, random_network
from tests.support.research import research_file

from takifugu.core.errors import InputError, Unsupported
from takifugu.model.beliefs.networks import elimination, network_child, network_files
from takifugu.model.beliefs.networks.bif import read_bif
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.networks.network_files import from_pgmpy, read_network

NETWORKS = {
    "cancer": (5, 4, 20), "earthquake": (5, 4, 20), "survey": (6, 6, 37), "sachs": (11, 17, 267), "asia": (8, 8, 36),
    "child": (20, 25, 344), "alarm": (37, 46, 752), "insurance": (27, 52, 1419), "hailfinder": (56, 66, 3741),
}  # fmt: skip
COIN = ("coin", ["h", "t"], [], [0.5, 0.5])


def network(seed: int, size: int, zeros: bool = False) -> tuple[BayesianNetwork, Spec]:
    spec = random_network(np.random.default_rng(seed), size, zeros=zeros)
    return BayesianNetwork(spec), spec


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
def test_joint_laws_and_supports_are_those_of_enumeration(seed: int, size: int, zeros: bool) -> None:
    net, spec = network(seed, size, zeros)
    law = joint_law(spec, [str(n) for n in net.names])
    rng = np.random.default_rng(seed)
    entries = rng.permutation(size)[: int(rng.integers(1, min(size, 3) + 1))].tolist()
    table, error = net.law(entries)
    positive = net.support(entries)
    truth = marginal(law, tuple(entries))
    for cell in np.ndindex(table.shape):
        exact = float(truth.get(tuple(cell), 0))
        assert abs(table[cell] - exact) <= (error + 1e-14) * exact
        assert positive[cell] == (exact > 0)
    assert error < 1e-12


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_what_is_not_near_is_independent_given_the_quilt(seed: int, size: int) -> None:
    net, spec = network(seed, size)
    law = joint_law(spec, [str(n) for n in net.names])
    for entry in range(size):
        others = [v for v in range(size) if v != entry]
        for quilt in itertools.chain.from_iterable(itertools.combinations(others, r) for r in range(3)):
            near = net.near_set(entry, quilt)
            remote = tuple(v for v in others if v not in near and v not in quilt)
            assert entry in near
            assert not near & set(quilt)
            assert independent(law, entry, remote, quilt)


def test_a_collider_joins_its_parents_only_when_it_or_a_child_of_it_is_known() -> None:
    net = BayesianNetwork([
        ("a", [0, 1], [], [0.5, 0.5]), ("b", [0, 1], [], [0.5, 0.5]),
        ("xor", [0, 1], ["a", "b"], [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]]),
        ("copy", [0, 1], ["xor"], [[0.8, 0.2], [0.2, 0.8]]),
    ])  # fmt: skip
    a, b, xor, copy = (net.position(n) for n in ("a", "b", "xor", "copy"))
    assert net.near_set(a, []) == {a, xor, copy}
    assert b in net.near_set(a, [xor])
    assert b in net.near_set(a, [copy])
    assert net.moral_neighbours[a] == {b, xor}


def test_components_are_runs_of_entries_and_networks_of_their_own() -> None:
    net = BayesianNetwork([("y", [0, 1], ["x"], [[0.7, 0.3], [0.4, 0.6]]), COIN, ("x", [0, 1], [], [0.2, 0.8])])
    assert net.names == ("x", "y", "coin")
    assert list(net.components()) == [range(2), range(2, 3)]
    assert net.component(1).names == ("coin",)
    assert net.component(0) is net.component(0)
    assert np.allclose(net.component(0).joint(["x", "y"]), [[0.14, 0.06], [0.32, 0.48]])


@pytest.mark.parametrize("name", NETWORKS)
def test_the_published_networks_are_read(name: str) -> None:
    net = read_network(research_file(f"bif/{name}.bif"))
    arcs = sum(len(n.parents) for n in net.nodes)
    assert (net.size, arcs, sum(n.table.size for n in net.nodes)) == NETWORKS[name]
    assert all(any(net.possible(i)) for i in range(net.size))


@pytest.mark.parametrize("name", ["cancer", "asia", "alarm", "insurance"])
def test_posteriors_are_those_of_pyagrum(name: str) -> None:
    import pyagrum

    path = research_file(f"bif/{name}.bif")
    model = pyagrum.loadBN(str(path))
    engine = pyagrum.LazyPropagation(model)
    engine.makeInference()
    net = read_bif(path)
    twin = read_network(model)
    for node in net.names:
        assert np.abs(net.joint([node]) - engine.posterior(str(node)).toarray()).max() < 1e-7  # single precision
        assert np.abs(net.joint([node]) - twin.joint([node])).max() < 1e-7


def pgmpy_like(**tables: tuple[list[str], Any, dict[str, list[str]]]) -> Any:
    """Return what a pgmpy model looks like from outside."""
    cpds = {
        name: SimpleNamespace(variables=variables, values=np.array(values), state_names=states)
        for name, (variables, values, states) in tables.items()
    }
    return SimpleNamespace(nodes=lambda: list(cpds), get_cpds=cpds.get)


RAIN = (["rain"], [0.8, 0.2], {"rain": ["no", "yes"]})


@pytest.mark.parametrize(
    ("table", "order"), [([[0.9, 0.2], [0.1, 0.8]], "no yes"), ([[0.2, 0.9], [0.8, 0.1]], "yes no")]
)
def test_pgmpy_models_are_read_by_their_shape_alone_in_any_order_of_states(table: Any, order: str) -> None:
    wet = ["wet", "rain"], table, {"wet": ["no", "yes"], "rain": order.split()}
    for net in (read_network(pgmpy_like(rain=RAIN, wet=wet)), from_pgmpy(pgmpy_like(wet=wet, rain=RAIN))):
        assert np.allclose(net.joint(["rain", "wet"]), [[0.72, 0.08], [0.04, 0.16]])
        assert net.source == "a pgmpy model"


def test_models_that_are_none() -> None:
    wet = ["wet", "rain"], [[0.9, 0.2], [0.1, 0.8]], {"wet": ["no", "yes"], "rain": ["dry", "yes"]}
    with pytest.raises(InputError, match=r"'wet' names the states of 'rain' \['dry', 'yes'\].*\['no', 'yes'\]"):
        from_pgmpy(pgmpy_like(rain=RAIN, wet=wet))
    without = SimpleNamespace(nodes=lambda: ["rain"], get_cpds=lambda name: None)
    with pytest.raises(InputError, match="has no table for 'rain': add one"):
        read_network(without)
    with pytest.raises(InputError, match="a value of type dict is not a network: give a file's path"):
        read_network({})


@pytest.mark.parametrize(("nodes", "rule"), [
    ([("a", [0, 1], ["b"], [[0.5, 0.5]] * 2), ("b", [0, 1], ["a"], [[0.5, 0.5]] * 2)], "cycle"),
    ([("a", [0, 1], ["a"], [[0.5, 0.5]] * 2)], "not itself"),
    ([("a", [0, 1], ["c"], [[0.5, 0.5]] * 2)], "unknown parent 'c'"),
    ([COIN, COIN], "twice"),
    ([("a", [0, 1], [], [0.5, 0.6])], "sum to 1.1"),
    ([("a", [0, 1], [], [0.5, 0.5 + 2e-6])], "sum to 1.000002"),
    ([("a", [0, 1], [], [1.5, -0.5])], "negative"),
    ([("a", [0, 1], [], [float("nan"), 0.5])], "NaN"),
    ([("a", [0, 1, 2], [], [0.5, 0.5])], "shape"),
    ([("a", [0, 0], [], [0.5, 0.5])], "different names"),
    ([("a", [0, 1], [], [[0.5], [0.5, 0.5]])], "not a full table"),
    ([], "no nodes"),
])  # fmt: skip
def test_networks_that_break_a_rule_are_refused(nodes: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        BayesianNetwork(nodes)


def test_rows_within_a_millionth_are_renormalised() -> None:
    net = BayesianNetwork([("a", [0, 1], [], [0.5, 0.5 + 9e-7])])
    assert float(net.nodes[0].table.sum()) == pytest.approx(1.0, abs=1e-15)


BIF = """network unknown { }
variable rain { type discrete [ 2 ] { no, yes }; }
variable "wet" { type discrete [ 2 ] { <5, >=5 }; }
// rows are keyed
probability ( rain ) { table 0.8, 0.2; }
probability ( wet | rain ) {
  (yes) 0.2, 0.8;
  default 0.9, 0.1;
}
"""


@pytest.mark.slow
def test_bif_rows_are_read_by_their_keys(tmp_path: Path) -> None:
    (tmp_path / "n.bif").write_text(BIF)
    net = read_network(tmp_path / "n.bif")
    assert net.alphabet(1) == ("<5", ">=5")
    assert np.allclose(net.joint(["rain", "wet"]), [[0.72, 0.08], [0.04, 0.16]])
    assert net.source == "the file n.bif"


@pytest.mark.parametrize(("old", "new", "rule"), [
    ("  default 0.9, 0.1;\n", "", "no probabilities for some"),
    ("(yes) 0.2", "(maybe) 0.2", "not a state of it"),
    ("0.2, 0.8;\n", "0.2, 0.8, 0.1;\n", "wrong length"),
    ("[ 2 ] { no, yes }", "[ 3 ] { no, yes }", "declares 3"),
    ("0.2, 0.8;\n", "0.2, x;\n", "not a list of numbers"),
    ("(yes) 0.2, 0.8", "(yes) 0.2, 0.9", "sum to 1.1"),
    ("wet | rain", "wet | snow", "unknown parent"),
])  # fmt: skip
def test_damaged_bif_files_are_refused(tmp_path: Path, old: str, new: str, rule: str) -> None:
    assert old in BIF
    (tmp_path / "n.bif").write_text(BIF.replace(old, new))
    with pytest.raises(InputError, match=rule):
        read_network(tmp_path / "n.bif")


REMARKS = "/* made by hand, { not } by a machine */\n" + BIF.replace("no, yes", "non, été") + "// the end\n"


@pytest.mark.parametrize("text", [BIF, REMARKS.replace("(yes)", "(été)")], ids=["plain", "remarks"])
def test_a_file_cut_at_any_byte_is_refused_or_whole(tmp_path: Path, text: str) -> None:
    """Only the remarks after the last block can be missed."""
    file, raw = tmp_path / "n.bif", text.encode()
    file.write_bytes(raw)
    whole = read_network(file).to_dict()
    for length in range(len(raw)):
        file.write_bytes(raw[:length])
        if raw[length:].strip() in (b"", b"// the end"[-len(raw[length:].strip()) :]):
            assert read_network(file).to_dict() == whole
        else:
            with pytest.raises(InputError):
                read_network(file)


def test_a_file_that_could_be_cut_between_blocks_is_refused(tmp_path: Path) -> None:
    """Without its last two blocks this file would be a smaller network, and nothing would tell."""
    blocks = BIF.splitlines(keepends=True)
    text = "".join([*blocks[:2], blocks[4], blocks[2], *blocks[5:]])
    (tmp_path / "n.bif").write_text(text)
    with pytest.raises(InputError, match=r"declares the variable 'wet' after probabilities: list all variables first"):
        read_network(tmp_path / "n.bif")


@pytest.mark.parametrize(("number", "words"), [
    (1, "line 3: the block 'variable rain' is given twice, first in line 2"),
    (4, "line 6: the block 'probability rain' is given twice, first in line 5"),
])  # fmt: skip
def test_a_block_given_twice_is_refused(tmp_path: Path, number: int, words: str) -> None:
    lines = BIF.splitlines(keepends=True)
    (tmp_path / "n.bif").write_text("".join([*lines[:number], lines[number], *lines[number:]]))
    with pytest.raises(InputError, match=words):
        read_network(tmp_path / "n.bif")


ROWS = """network weather {}
// the sky
variable sky { type discrete [ 2 ] { clear, grey }; }
variable rain { type discrete [ 2 ] { no, yes }; }
/* of two
   lines */
probability ( sky ) { table 0.5, 0.5; }
probability ( rain | sky ) {
  (clear) 0.9, 0.1;
  (grey) 0.2, 0.8;
}
"""
LAST = "  (grey) 0.2, 0.8;\n"


@pytest.mark.parametrize(("old", "new", "words"), [
    (LAST, f"{LAST}  (clear) 0.5, 0.5;\n", r"line 11: the row of 'rain' for \(clear\) is given twice, first in line 9"),
    (LAST, f'{LAST}  ( "clear" ) 0.5, 0.5;\n', r"line 11: the row of 'rain' for .* is given twice, first in line 9"),
    ("table 0.5, 0.5;", "table 0.5, 0.5;\n table 0.1, 0.9;", "line 8: the table of 'sky' is given twice, first"),
    (LAST, "default 0.2, 0.8;\n default 0.3, 0.7;\n", "line 11: the default of 'rain' is given twice"),
    (LAST, f"{LAST} table 0.5, 0.5, 0.5, 0.5;\n", "line 11: 'rain' has a table and rows beside it"),
    ("{ clear, grey }", "{ clear, clear }", "line 3: 'sky' has the state 'clear' twice"),
    ("{ clear, grey };", "{ clear, grey }; type discrete [ 2 ] { grey, clear };", "line 3: the type of 'sky' is given"),
    ("| sky )", "| sky, sky )", "line 8: 'rain' has the parent 'sky' twice"),
    ("(clear) 0.9, 0.1;", "(clear) 0.9, 0.1", "line 9: 'rain' has a row that cannot be read: end each row with a"),
    (f"  (clear) 0.9, 0.1;\n{LAST}", "default 0.2, 0.8;\n (clear) 0.9, 0.1\n", "line 10: 'rain' has a row without"),
])  # fmt: skip
def test_what_a_file_gives_twice_is_refused_with_its_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    """The last of two rows won in silence: the scale fell from 2.24 to 1.00."""
    assert old in ROWS
    (tmp_path / "n.bif").write_text(ROWS.replace(old, new, 1))
    with pytest.raises(InputError, match=words) as refused:
        read_network(tmp_path / "n.bif")
    assert refused.value.fix


@pytest.mark.parametrize("row", ["default 0.2, 0.8; (clear) 0.9, 0.1;", "(clear) 0.9, 0.1; default 0.2, 0.8;",
                                 "(clear) 0.9, 0.1; (grey) 0.2, 0.8; property colour = 3;"])  # fmt: skip
def test_a_default_is_for_the_rows_that_are_not_given_wherever_it_stands(tmp_path: Path, row: str) -> None:
    (tmp_path / "n.bif").write_text(ROWS.replace(f"(clear) 0.9, 0.1;\n{LAST}", row))
    assert read_network(tmp_path / "n.bif").nodes[1].table.tolist() == [[0.9, 0.1], [0.2, 0.8]]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["bif", "bifxml", "net", "xdsl"])
def test_what_pyagrum_writes_is_read_and_its_cut_files_are_refused(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyagrum

    def here(path: Path) -> list[network_child.Table]:
        """Read in this process, which starts in no time; pyAgrum dies of none of these cuts."""
        try:
            return [(*node[:3], np.array(node[4]).reshape(node[3])) for node in network_child.read(str(path))]
        except Exception as error:
            raise InputError("pyAgrum cannot read it") from error

    plain = BIF.replace("<5, >=5", "dry, wet").replace('"wet"', "wet").replace("default", "(no)")
    (tmp_path / "n.bif").write_text(plain)
    model = pyagrum.loadBN(str(tmp_path / "n.bif"))
    whole, cut = tmp_path / f"whole.{ending}", tmp_path / f"cut.{ending}"
    pyagrum.saveBN(model, str(whole))
    net = read_network(whole)
    assert np.allclose(net.joint(["rain", "wet"]), [[0.72, 0.08], [0.04, 0.16]], atol=1e-7)
    raw = whole.read_bytes()
    for length in range(0, len(raw.rstrip()) - 3, 5):
        cut.write_bytes(raw[:length])
        with monkeypatch.context() as patched:
            if length % 200:
                patched.setattr(network_files, "tables_of", here)
            with pytest.raises(InputError):
                read_network(cut)


def test_inference_that_would_not_fit_is_refused_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    net, _ = network(5, 6)
    monkeypatch.setattr(elimination, "LARGEST_TABLE", 3)
    with pytest.raises(Unsupported, match="at most 3 are computed"):
        net.law([0, 1, 2])
    zeros, _ = network(5, 6, zeros=True)
    with pytest.raises(Unsupported, match=r"a table of the possible values of .* needs 8 numbers"):
        zeros.possible(5)
    assert all(net.possible(5))  # without zeros there is nothing to infer
