"""Structured arrays that a function makes or is given: an array for each field."""

from __future__ import annotations

import dataclasses
import linecache

import numpy as np
import pytest
from numpy.lib import recfunctions

import srcgrad
from srcgrad import UnsupportedError
from srcgrad.testing import check_grads
from tests.random_records import program
from tests.small_programs import check, programs

DTYPE = np.dtype([("u", float), ("v", float, 2), ("k", int)])
PARTICLE = [("position", float, 2), ("velocity", float, 2), ("mass", float)]


def particles(x):
    """As "From Python to NumPy" keeps its particles."""
    p = np.zeros(3, dtype=PARTICLE)
    p["position"][:, 0] = x
    p["velocity"] = [[0.1, 0.2]] * 3
    p["mass"] = 1.0 + np.arange(3)
    for _ in range(4):
        p["velocity"] -= 0.1 * p["position"] / p["mass"][:, None]
        p["position"] += 0.1 * p["velocity"]
    return np.sum(p["position"] ** 2) + np.sum(p["mass"] * p["velocity"][:, 0])


def row_by_row(x):
    p = np.empty(len(x), DTYPE)
    for i in range(len(x)):
        p[i] = (x[i], (2 * x[i], x[i] ** 2), i)
    total = 0.0
    for row in p:
        row["u"] *= row["v"][0]
        total += row["u"] * row["v"][1] * (1 + row["k"])
    p[0]["u"] = 3.0
    p["u"][1] += x[0]
    first, second = p[0], p[1]
    second["u"] = second["u"] ** 2
    return total + p["u"].sum() + first[0] * p[2][1][1] * len(first)


def from_rows(x):
    r = np.array(
        [(x[0], 1, x[1]), (x[2], 2, x[0] * x[1])], dtype=[("a", "f8"), ("n", "i4"), ("b", "f8")]
    )
    total = sum((k + 1) * np.sum(np.sin(r[name])) for k, name in enumerate(r.dtype.names))
    by_b = np.sort(r, order="b")
    large = r[r["a"] > 0.4]
    doubled = r.copy()
    doubled["a"] *= 2
    total += by_b["a"][0] * by_b["b"][1] + large["a"].sum() * large.size
    return total + (doubled["a"] - r["a"]).sum() + r.shape[0] * r.ndim


def from_rows_of_a_loop(x):
    rows = []
    for v in x:
        rows.append((v, v**2))
    table = np.array(rows, dtype=[("a", float), ("b", float)])
    return np.sum(table["a"] * table["b"])


def grid(x):
    g = np.zeros((3, 3), dtype="f8,f8")
    g.dtype.names  # noqa: B018
    g["f0"][1:-1, 1:-1] = x[0]
    g["f1"] = x[1]
    inner = g[1:, :2]
    inner["f1"] += g["f0"][1:, :2] * x[2]
    g[0, 0] = (x[0], x[1] * x[2])
    g[2] = g[0]
    return np.sum(g["f0"] * g["f1"]) + g[0, 0]["f1"] * g.size


def sorted_with_ties(x):
    """Records that are alike in a field are sorted by the others."""
    p = np.array(
        [(1, x[0], 2.0), (0, x[1], 3.0), (1, x[2], 1.0), (0, x[0] * x[1], 0.0)],
        dtype=[("group", int), ("value", float), ("weight", float)],
    )
    by_group, by_all = np.sort(p, order="group"), np.sort(p)
    order = np.argsort(p, order=["group", "weight"])
    p.sort(order=("weight", "group"))
    total = np.sum(by_group["value"] * np.arange(4.0)) + np.sum(by_all["value"][1:] ** 2)
    return total + np.sum(p["value"] * np.arange(4.0) ** 2) + np.sum(p[order]["value"][:2] ** 3)


def joined(x):
    p, q = np.zeros(3, DTYPE), np.ones(2, DTYPE)
    q["u"] = x[:2]
    p[1:] = q
    p[0] = q[1]
    r = np.concatenate([p, q])
    r["u"] *= np.arange(1.0, 6.0)
    p.fill(0)
    like = np.zeros_like(q)
    like["u"] += x[2]
    same = (r == r.copy()).sum() + (q[0] == q[0])
    return r["u"].sum() ** 2 + p["u"].sum() + like["u"].prod() + len(r) * same


def fields_change_places(x):
    """What is assigned is read before any of it is written."""
    p = np.zeros(3, dtype=[("a", float), ("b", float)])
    p["a"], p["b"] = x, x**2
    p[["a", "b"]] = p[["b", "a"]]
    r = np.zeros(2, dtype=[("a", float, 2), ("b", float, 2)])
    r["a"], r["b"] = x[:2], x[1:]
    r[0] = (r[0]["b"], r[0]["a"])
    r[1] = r[0]
    p[1:] = p[:-1]
    return np.sum(p["a"] * [1, 2, 3]) + 2 * np.sum(p["b"]) + np.sum(r["a"] * [[1, 2], [3, 4]])


def attributes(x):
    p = np.recarray(3, dtype=[("a", float), ("b", float)])
    p.a, p.b[:] = x, 2 * x
    p[0].a = x[1]
    q = np.zeros(3, dtype=[("a", float), ("b", float)]).view(np.recarray)
    q.a += x
    r = np.rec.fromarrays([x, x**2], names="c, d")
    rows = sum(row.c * row["d"] for row in r)
    return np.sum(p.a * p.b) + p[1].b + np.sum(q.a * q["a"]) + np.sum(r.c[1:] * r.d[:-1]) + rows


@dataclasses.dataclass
class State:
    particles: np.ndarray
    time: float = 0.0


def step(p, dt):
    q = p.copy()
    q["position"] = p["position"] + dt * p["velocity"]
    q["velocity"] = p["velocity"] - dt * p["position"] / p["mass"][:, np.newaxis]
    return q


def carried_by_loops(x):
    state, history = State(np.ones(len(x), PARTICLE)), []
    state.particles["position"][:, 0] = x
    while state.time < 0.35:
        state.particles = step(state.particles, 0.1)
        history.append(state.particles["velocity"].copy())
        state.time += 0.1
    return np.sum(np.array(history)) + state.particles["position"][0, 0] ** 2


def become_fewer(x):
    p = np.ones(len(x), dtype=[("height", float), ("alive", bool)])
    p["height"] = x
    for _ in range(3):
        p["height"] *= 1.3
        p["alive"] &= p["height"] < 1.1
        p = p[p["alive"]]
    total = sum(height**2 for height, _ in p.tolist())
    return total + len(p) * p[0].item()[0]


def tree(x):
    """A tree in a table, as decision trees are kept."""
    nodes = np.zeros(3, dtype=[("left", int), ("right", int), ("value", float)])
    nodes["left"], nodes["right"], nodes["value"] = [1, -1, -1], [2, -1, -1], x

    def total(i):
        if i < 0:
            return 0.0
        node = nodes[i]
        return node["value"] ** 2 + 0.5 * total(node["left"]) + total(node["right"])

    return total(0)


def one_record(x):
    p = np.zeros((), dtype=[("a", float), ("b", float, 2)])
    p["a"], p["b"] = x[0], x[1:]
    return p["a"] * np.sum(p["b"] ** 2)


def without_fields(x):
    p = np.zeros(3, dtype=[("a", float), ("b", float)])
    p["a"], p["b"] = x, x**2
    columns = recfunctions.structured_to_unstructured(p)
    q = recfunctions.unstructured_to_structured(2 * columns, dtype=p.dtype)
    return np.sum(columns[:, 0] * columns[:, 1]) + q["b"].sum()


class Simulation:
    def __init__(self, n):
        self.particles = np.zeros(n, PARTICLE)

    def step(self, dt):
        self.particles["position"] += dt * self.particles["velocity"]
        self.particles["velocity"] -= dt * self.particles["position"]


def in_an_object(x):
    simulation = Simulation(len(x))
    simulation.particles["position"][:, 0] = x
    for _ in range(5):
        simulation.step(0.1)
    heaviest = simulation.particles[np.argmax(simulation.particles["position"][:, 0])]
    return (simulation.particles["position"] ** 2).sum() + heaviest["velocity"][0]


def chosen(x):
    p = np.zeros(3, DTYPE)
    for i in range(3):
        if x[i] > 0.5:
            p[i]["u"] = x[i]
        else:
            p["v"][i, 1] = -x[i]
    q = p[:2] if p["u"].sum() > 1 else p[1:]
    return p[np.argmax(p["u"])]["u"] * p["v"].sum() + np.sum(q["u"] ** 2)


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)


def test_the_source_has_an_array_for_each_field():
    gradient = srcgrad.grad(particles)
    gradient(np.ones(3))
    assert "    position = np.zeros((3, 2), np.float64)\n" in gradient.source
    assert "velocity -= product\n        position += 0.1 * velocity\n" in gradient.source


# As arguments

RECORDS = np.zeros(4, DTYPE)
RECORDS["u"], RECORDS["k"] = [0.3, -0.2, 0.8, 1.1], 7
RECORDS["v"] = np.random.default_rng(0).normal(size=(4, 2))


def energy(r, x):
    return np.sum(r["u"][:, None] * r["v"] ** 2) * x + np.sum(r["k"]) * x


def test_the_gradient_has_the_fields_of_the_argument():
    d_r, d_x = srcgrad.grad(energy, argnums=(0, 1))(RECORDS, 2.0)
    assert d_r.dtype == DTYPE and d_r.shape == (4,)
    np.testing.assert_allclose(d_r["u"], 2 * np.sum(RECORDS["v"] ** 2, axis=1))
    np.testing.assert_allclose(d_r["v"], 4 * RECORDS["u"][:, None] * RECORDS["v"])
    assert not d_r["k"].any()
    assert d_x == pytest.approx(energy(RECORDS, 1.0))
    check_grads(energy, (RECORDS, 2.0))


def test_records_with_attributes():
    def f(r):
        return np.sum(r.u * r.v[:, 0])

    d_r = srcgrad.grad(f)(RECORDS.view(np.recarray))
    assert type(d_r) is np.recarray
    np.testing.assert_allclose(d_r.u, RECORDS["v"][:, 0])


@pytest.mark.parametrize(
    "dtype",
    [DTYPE, np.dtype([("a", "i1"), ("u", "f8")], align=True), np.dtype([("u", float, (2, 3))])],
)
@pytest.mark.parametrize("kind", [np.ndarray, np.recarray])
def test_a_saved_gradient_has_the_dtype(tmp_path, dtype, kind):
    def f(r):
        return np.sum(r["u"] ** 2)

    gradient = srcgrad.grad(f)
    r = np.ones(3, dtype).view(kind)
    expected = gradient(r)
    path = tmp_path / "saved_records.py"
    gradient.save(str(path))
    names = {}
    exec(path.read_text(), names)
    found = names["d_f"](r)
    assert type(found) is kind and found.dtype == expected.dtype
    assert all(np.array_equal(found[name], expected[name]) for name in dtype.names)


def test_an_argument_stays_as_it_was():
    def f(x, r):
        r["u"] *= x
        r[0]["v"] = x[0]
        return r["u"].sum() ** 2 + r["v"].sum()

    before, x = RECORDS.copy(), np.arange(1.0, 5.0)
    found = srcgrad.grad(f)(x, RECORDS)
    assert np.array_equal(RECORDS, before)
    expected = 2 * np.sum(x * before["u"]) * before["u"]
    expected[0] += 2
    np.testing.assert_allclose(found, expected)


def test_another_dtype_is_compiled_anew():
    def f(r):
        return sum(np.sum(r[name] ** 2) for name in r.dtype.names)

    gradient = srcgrad.grad(f)
    for dtype in ([("a", float)], [("a", float), ("b", float, 3)], [("a", float, 2)]):
        r = np.ones(2, dtype)
        assert all((gradient(r)[name] == 2).all() for name in r.dtype.names)


def test_structured_results():
    def moved(r, dt):
        r = r.copy()
        r["u"] += dt * r["v"][:, 0]
        return r

    out, pullback = srcgrad.vjp(moved, RECORDS, 0.1)
    assert np.array_equal(out, moved(RECORDS, 0.1))
    cotangent = np.zeros_like(RECORDS)
    cotangent["u"] = 1.0
    d_r, d_dt = pullback(cotangent)
    np.testing.assert_allclose(d_r["v"], [[0.1, 0]] * 4)
    assert d_dt == pytest.approx(RECORDS["v"][:, 0].sum())


def test_what_is_printed(capsys):
    def f(x, r):
        print(r, r[0])
        return np.sum(x * r["u"])

    srcgrad.grad(f)(np.ones(4), RECORDS)
    found = capsys.readouterr().out
    f(np.ones(4), RECORDS)
    assert found == capsys.readouterr().out


def test_what_is_not_known_is_refused():
    def f(x):
        p = np.zeros(3, dtype=[("a", float), ("b", float)])
        p["a"] = x
        return np.flip(p)["a"].sum()

    with pytest.raises(UnsupportedError, match="what flip makes of this object isn't known"):
        srcgrad.grad(f)(np.ones(3))


def test_records_made_by_formats_are_refused():
    def cut_off(x):
        return np.sum(np.rec.fromarrays([x, x], formats="f8,i4").f1 * x)

    with pytest.raises(UnsupportedError, match="records are made by their dtype"):
        srcgrad.grad(cut_off)(np.ones(3))


def test_attributes_that_it_has_in_numpy_are_refused_even_in_a_try():
    def f(x):
        p = np.zeros(3, dtype=[("a", float), ("b", float)])
        try:
            size = p.nbytes
        except AttributeError:
            size = 0
        return np.sum(x) * size if hasattr(p, "nbytes") else np.sum(x**2)

    with pytest.raises(UnsupportedError, match="nbytes of this kind of ndarray isn't supported"):
        srcgrad.grad(f)(np.ones(3))


LINES = {
    "reshape": 'r = p["v"].reshape(-1); r[::3] *= x[0]',
    "ravel": 'r = np.ravel(p["u"]); p["u"] += 1.0; s = s + r.sum()',
    "contiguous": 'r = np.ascontiguousarray(p["u"][:2]); r[:] = 2.0',
    "the next trip": 'r = p["u"]\n    for _ in range(2): p["u"] *= r[0]; r = r.ravel()',
    "a copy": 'r = p.copy()["v"].reshape(-1); r[0] = 5.0',
    "an attribute": "r = p.view(np.recarray).v.ravel(); r[0] = 5.0",
}


@pytest.mark.parametrize("which", LINES)
def test_views_that_would_be_copies_are_refused(which):
    """In NumPy a field lies between the others: of what it is reshaped to, often a copy is made."""
    text = f"""\
def f(x):
    p, s = np.ones(3, DTYPE), x[0]
    p["u"], p["v"] = x, x[:, None] * 2.0
    {LINES[which]}
    return s + np.sum(p["u"] ** 2) + np.sum(p["v"] ** 2)
"""
    names, name = {"np": np, "DTYPE": DTYPE}, f"<reshaped {which}>"
    exec(compile(text, name, "exec"), names)
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    with pytest.raises(UnsupportedError, match="a field of a structured array is written"):
        srcgrad.grad(names["f"])(np.ones(3))


def chosen_by_data(field, x):
    return field if x[0] > 0 else np.outer(x, x)


def carried_by_a_loop(field, x):
    found = np.outer(x, x)
    for _ in range(len(x)):
        found.ravel()[0] += 1.0
        found = field
    return found


def kept_in_a_list(field, x):
    kept = [np.outer(x, x)]
    for v in x:
        kept.append(field if v > 0 else field.T)
    return kept[-1]


def written_by_a_recursion(field, x, n=2):
    if n > 0:
        field.ravel()[n] = x[0]
        written_by_a_recursion(field, x, n - 1 if x[0] < 9 else 0)
    return field


@pytest.mark.parametrize(
    "taken", [chosen_by_data, carried_by_a_loop, kept_in_a_list, written_by_a_recursion]
)
def test_it_is_known_for_a_field_however_it_is_handed_on(taken):
    def f(x):
        r = np.zeros((2, 2), DTYPE)
        r["u"] = np.outer(x, x)
        taken(r["u"], x).ravel()[1] = 2 * x[0]
        return r["u"].sum()

    with pytest.raises(UnsupportedError, match="a field of a structured array is written"):
        srcgrad.grad(f)(np.array([0.3, 0.4]))


def test_a_gradient_inside_copies_a_field_as_it_lies():
    def g(v, k):
        v.ravel()[1] = v[0, 0] * k
        return v.sum() * k

    def f(x):
        r = np.zeros((2, 2), DTYPE)
        r["u"] = np.outer(x, x)
        return srcgrad.grad(g, 1)(r["u"], 2.0)

    with pytest.raises(UnsupportedError, match="a field of a structured array is written"):
        srcgrad.grad(f)(np.array([0.3, 0.4]))


def test_how_a_field_lies_in_memory_is_refused():
    def f(x):
        p = np.ones(3, DTYPE)
        p["u"] = x
        return np.sum(p["u"]) * (2 if p["u"].flags.c_contiguous else 1)

    with pytest.raises(UnsupportedError, match="'flags' of a field of a structured array"):
        srcgrad.grad(f)(np.ones(3))


def test_what_is_read_may_be_reshaped():
    def f(x):
        p, q = np.ones(3, DTYPE), np.ones(3, [("v", float, 2)])
        p["u"], p["v"] = x, x[:, None] * 2.0
        q["v"] = p["v"]
        q["v"].reshape(-1)[::2] *= x[0]  # a field alone lies as an array does
        r = p["v"].copy().reshape(-1)
        r[0] = 5.0
        return np.sum(np.sin(p["v"].ravel()) * r) + np.sum(q["v"] ** 2)

    check(f)


def test_fields_do_not_overlap():
    """Interleaved views of one buffer are apart; those that aren't are refused as before."""

    def f(a, b):
        a[:] = a * b
        return np.sum(a)

    x = np.arange(6.0)
    np.testing.assert_array_equal(srcgrad.grad(f)(x[::2], x[1::2]), [1.0, 3.0, 5.0])
    with pytest.raises(ValueError, match="share memory"):
        srcgrad.grad(f)(x[:3], x[1:4])


@pytest.mark.parametrize("seed", range(16))
def test_random_programs(seed):
    text, name = program(seed), f"<records {seed}>"
    names = {"np": np, "DTYPE": DTYPE}
    exec(compile(text, name, "exec"), names)
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    f, rng = names["f"], np.random.default_rng(seed)
    x, y = rng.normal(size=4), rng.normal(size=(4, 2))
    try:
        value, found = srcgrad.value_and_grad(f, argnums=(0, 1))(x, y, 4)
    except UnsupportedError as error:
        assert "reshape" in text or "ravel" in text, text
        assert "a field of a structured array is written" in str(error), text
        return
    assert value == pytest.approx(f(x.copy(), y.copy(), 4), rel=1e-12), text
    step = rng.normal(size=4), rng.normal(size=(4, 2))

    def along(e):
        return f(x + e * step[0], y + e * step[1], 4)

    slopes = [(along(e) - along(-e)) / (2 * e) for e in (1e-5, 1e-6)]
    if slopes[0] == pytest.approx(slopes[1], rel=1e-4):  # no branch changes between
        exact = sum(np.sum(g * d) for g, d in zip(found, step, strict=True))
        assert exact == pytest.approx(slopes[1], rel=1e-5, abs=1e-5), text
