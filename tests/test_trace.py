"""The values and adjoints that a trace tells of, against the gradients of parts of the program."""

import builtins
import re

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.inspect.trace import as_text, summary_of
from tests.golden_programs import PROGRAMS, heat, mlp, recurrent_network


def rows(trace, name):
    return [row for row in trace.rows if row.name == name]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_arguments_and_result(function):
    arguments, argnums = PROGRAMS[function]
    made = grad(function, argnums=argnums)
    expected = made(*arguments)
    trace = made.trace(*arguments)
    value, gradient = trace.result
    assert value == function(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments])
    several = argnums if isinstance(argnums, tuple) else (argnums,)
    names = function.__code__.co_varnames
    for i, e, g in zip(
        several,
        expected if isinstance(argnums, tuple) else (expected,),
        gradient if isinstance(argnums, tuple) else (gradient,),
        strict=True,
    ):
        np.testing.assert_allclose(g, e, rtol=1e-12, atol=1e-14)
        row = rows(trace, names[i])[0]
        assert row.line == function.__code__.co_firstlineno
        assert row.values == (summary_of(arguments[i]),)
        (adjoint,) = row.adjoints
        assert adjoint.shape == np.shape(e)
        found = (adjoint.norm, adjoint.min, adjoint.max)
        np.testing.assert_allclose(found, (np.linalg.norm(e), np.min(e), np.max(e)), rtol=1e-12)


def test_what_is_between():
    arguments, argnums = PROGRAMS[mlp]
    w1, b1, w2, b2, x, y = arguments
    h = np.tanh(x @ w1 + b1)

    def rest(h):
        return np.mean((h @ w2 + b2 - y) ** 2)

    (row,) = rows(grad(mlp, argnums=argnums).trace(*arguments), "h")
    assert row.text == "h = np.tanh(x @ w1 + b1)"
    assert row.values[0] == summary_of(h)
    d_h = grad(rest)(h)
    assert row.adjoints[0].norm == pytest.approx(np.linalg.norm(d_h), rel=1e-12)


def test_each_iteration():
    (w, x), _ = PROGRAMS[recurrent_network]
    row = rows(grad(recurrent_network).trace(w, x), "h")[1]
    assert len(row.values) == len(row.adjoints) == len(x)
    h, states = np.zeros(3), []
    for t in range(len(x)):
        h = np.tanh(w @ h + x[t])
        states.append(h)
    assert [s.norm for s in row.values] == pytest.approx([np.linalg.norm(s) for s in states])

    def after(h, first):
        for t in range(first, len(x)):
            h = np.tanh(w @ h + x[t])
        return np.sum(h)

    expected = [np.linalg.norm(grad(after)(state, t + 1)) for t, state in enumerate(states)]
    assert [s.norm for s in row.adjoints] == pytest.approx(expected, rel=1e-12)


def test_writes_in_place():
    (u, steps), _ = PROGRAMS[heat]
    before = u.copy()
    row = rows(grad(heat).trace(u, steps), "u")[1]
    np.testing.assert_array_equal(u, before)
    assert len(row.values) == len(row.adjoints) == steps
    assert row.adjoints[-1].norm == pytest.approx(2 * row.values[-1].norm)  # of sum(u * u)


def decay(x, n):
    h = x
    for _ in range(n):
        h = 0.01 * h
    return np.sum(h)


def broken(x):
    y = np.log(x)
    z = y * 2
    return np.sum(z)


def test_remarks():
    trace = grad(decay).trace(np.ones(2), 6)
    assert any("vanishes" in remark or "goes from" in remark for remark in trace.remarks)
    with np.errstate(all="ignore"):
        trace = grad(broken).trace(np.array([1.0, -1.0, 0.0]))
    line = broken.__code__.co_firstlineno + 1
    assert trace.remarks[0] == f"The first value that isn't finite is y's, line {line}: 1 NaN."
    assert rows(trace, "y")[0].values[0].nans == 1
    assert rows(trace, "x")[0].adjoints[0].max == np.inf
    assert any(re.match("The first adjoint .* is x's", remark) for remark in trace.remarks)


def test_large_numbers_have_norms():
    assert summary_of(np.array([3e200, 4e200])).norm == pytest.approx(5e200)
    assert summary_of(np.array([])).norm == 0
    assert summary_of(np.array([1j, 3 + 4j])).max == 5


def test_the_table(monkeypatch):
    trace = grad(recurrent_network).trace(*PROGRAMS[recurrent_network][0])
    lines = str(trace).splitlines()
    assert lines[0].split()[:5] == ["line", "variable", "shape", "times", "‖value‖"]
    assert re.search(r"h +3 +4 .* … .*[▁▂▃▄▅▆▇█]{4}", str(trace))
    assert trace._repr_html_().count("<tr") == len(trace.rows) + 1
    pytest.importorskip("rich")
    assert "\x1b[" in as_text(trace, 120)
    imported = builtins.__import__

    def without_rich(name, *rest):
        if name.startswith("rich"):
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_rich)
    assert as_text(trace, 120) == str(trace)
