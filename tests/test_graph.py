"""The graph of a gradient: what is in it, and that Graphviz draws it."""

import builtins
import re
import shutil

import numpy as np
import pytest

from srcgrad import grad
from tests.golden_programs import PROGRAMS, branches, mlp, recurrent_network


def graph(function):
    arguments, argnums = PROGRAMS[function]
    return grad(function, argnums=argnums).graph(*arguments)


def parsed(dot):
    nodes = dict(re.findall(r'^ *(n\d+) \[label="([^"]*)"', dot, re.MULTILINE))
    found = re.findall(r"^ *(n\d+) -> (n\d+)(?: \[(.*)\])?$", dot, re.MULTILINE)
    return nodes, [(nodes[a], nodes[b], style) for a, b, style in found]


def test_values_and_adjoints_flow():
    nodes, edges = parsed(graph(mlp).dot)
    assert set(nodes.values()) == {
        "w1", "b1", "w2", "b2", "x", "y", "product = x @ w1", "total = product + b1",
        "h = np.tanh(total)", "product_1 = h @ w2", "out = product_1 + b2",
        "difference = out - y", "power = difference ** 2", "mean = np.mean(power)",
    }  # fmt: skip
    forward = {(a, b): style for a, b, style in edges if "dashed" not in style}
    back = {(a, b) for a, b, style in edges if "dashed" in style}
    assert forward["total = product + b1", "h = np.tanh(total)"] == 'label=" 6×5"'
    assert ("h = np.tanh(total)", "total = product + b1") in back
    assert {b for a, b in back if a == "product = x @ w1"} == {"w1"}  # x has no adjoint
    assert {(b, a) for a, b in back} <= set(forward)


def test_loops_and_branches_are_boxes():
    dot = graph(recurrent_network).dot
    assert 'label="for t in range(len(x)):"' in dot
    _, edges = parsed(dot)
    assert any(a == "h_1 = np.tanh(total)" and b == "h" and "next" in s for a, b, s in edges)
    dot = graph(branches).dot
    assert dot.count("subgraph cluster_") == 6
    assert 'label="elif x[1] > 0:"' in dot


def test_shapes_need_arguments():
    gradient = grad(mlp)
    gradient(*PROGRAMS[mlp][0])
    assert "×" not in gradient.graph().dot
    with pytest.raises(TypeError, match="give the arguments of mlp"):
        grad(mlp, argnums=1).graph()


@pytest.mark.skipif(not shutil.which("dot"), reason="no Graphviz: the program dot")
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_graphviz_draws_it(function, tmp_path):
    pytest.importorskip("graphviz")
    made = graph(function)
    assert "</svg>" in made.svg()
    assert made._repr_mimebundle_()["image/svg+xml"] == made.svg()
    if function is mlp:
        made.save(tmp_path / "graph.png")
        assert (tmp_path / "graph.png").read_bytes()[1:4] == b"PNG"


def test_without_graphviz(tmp_path, monkeypatch):
    made = graph(mlp)
    made.save(tmp_path / "graph.gv")
    assert (tmp_path / "graph.gv").read_text() == str(made)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match=r"needs the program dot of Graphviz .*or save as \.dot"):
        made.svg()
    imported = builtins.__import__

    def without_graphviz(name, *rest):
        if name == "graphviz":
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_graphviz)
    with pytest.raises(RuntimeError, match=r"pip install 'srcgrad\[viz\]'; or save as \.dot"):
        made.save(tmp_path / "graph.svg")
    assert made._repr_mimebundle_() == {"text/plain": made.dot}


def test_the_function_is_run_with_its_outer_values():
    scale = np.ones((2, 3))

    def f(x):
        return np.sum(scale * x)

    assert '" 2×3"' in grad(f).graph(np.ones(3)).dot
