"""Dicts of other keys, and tuples of other lengths, on the branches of an `if`."""

import copy

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs

LEVELS = {"scale": 2.0}
OTHERS = {"scale": 3.0, "shift": 1.0}
TREE = {
    "feature": 0,
    "threshold": 0.1,
    "left": {"value": 1.5},
    "right": {
        "feature": 1,
        "threshold": 0.9,
        "left": {"value": -1.0},
        "right": {"feature": 2, "threshold": 0.0, "left": {"value": 3.0}, "right": {"value": 2.0}},
    },
}


# Dicts


def asked_with_in(x):
    options = {"scale": 2.0, "shift": x[1]} if x[0] > 0 else {"scale": 3.0}
    y = x * options["scale"]
    if "shift" in options:
        y = y + options["shift"]
    return np.sum(y**2)


def asked_with_get(x):
    options = {"scale": 2.0, "shift": x[1]} if x[0] > 0 else {"scale": 3.0, "power": 3}
    return np.sum((x * options["scale"]) ** options.get("power", 2)) + options.get("shift", 0.5)


def told_apart_by_a_value(x):
    penalty = {"kind": "l1", "w": x[0]} if x[0] > 0 else {"kind": "l2", "w": x[1], "power": 2}
    if penalty["kind"] == "l1":
        return penalty["w"] * np.sum(np.abs(x))
    return penalty["w"] * np.sum(x ** penalty["power"])


def solved(x, tolerance):
    for k in range(20):
        slope = 2 * x - np.array([1.0, 0.5, 0.2])
        if np.max(np.abs(slope)) < tolerance:
            return {"status": "ok", "x": x, "iterations": k, "slope": slope}
        x = x - 0.3 * slope
    return {"status": "failed", "x": x}


def a_result_that_says_how_it_ended(x):
    good, bad = solved(x, 1e-3), solved(x, 0.0)
    total = np.sum(good["x"] ** 2) * good.get("iterations", 7) + np.sum(bad["x"])
    return total if bad["status"] == "failed" and "slope" in good else 0.0


def written_through_either_name(x):
    p, q = {"a": x[0]}, {"a": x[1], "b": 2.0}
    one = p if x[0] > 0 else q
    one["c"] = x[2]
    one["a"] = one["a"] * 3
    return p["a"] + q["a"] * 5 + p.get("c", 7.0) * q.get("c", 11.0)


def what_they_hold_is_written(x):
    y = x * 1.0
    p, q = {"items": [x[0]], "y": y}, {"items": [x[1]], "y": x * 2, "b": 1}
    one = p if x[1] > 0 else q
    one["items"].append(x[2] * 2)
    one["y"][0] = 5.0
    one["y"] *= x[1]
    return sum(p["items"]) * 3 + sum(q["items"]) * 7 + np.sum(y**2) + np.sum(q["y"])


def keys_taken_away(x):
    one = {"a": x[0], "b": x[1]} if x[2] > 0 else {"a": x[1], "c": x[2], "b": x[0]}
    product = one.pop("b") * one.pop("c", 1.5)
    one.pop("a", None)
    one.setdefault("z", x[0])
    return product * one["z"] * (len(one) + 1)


def identity_and_equality(x):
    p, q = {"a": 1}, {"a": 1, "b": 2}
    one = p if x[0] > 0 else q
    total = (x[1] if one is p else x[2]) * (2.0 if one is q else 5.0)
    return total + x[0] * (3.0 if one == {"a": 1} else 4.0) + (one != q) * x[1] ** 2


def copied(x):
    one = {"a": x[0], "inner": [x[1]]} if x[0] > 0 else {"a": x[1], "inner": [x[2]], "b": 2.0}
    shallow, other, deep = dict(one), one.copy(), copy.deepcopy(one)
    shallow["a"] = x[2]
    other["inner"].append(x[0])
    deep["inner"].append(x[1] * 2)
    return one["a"] * shallow["a"] + sum(one["inner"]) * 3 + sum(deep["inner"]) * 5 + len(other)


def nested(x):
    one = {"in": {"k": x[0]}} if x[0] > 0 else {"in": {"k": x[1], "m": x[2]}, "j": 1}
    one["in"]["k"] = one["in"]["k"] * 2
    return one["in"]["k"] * one["in"].get("m", 3.0) + ("j" in one) * x[2]


def in_a_list(x):
    rows = [{"a": v} if v > 0.5 else {"a": v, "b": v * 2} for v in x]
    rows[0]["a"] = rows[0]["a"] * 3
    return sum(row["a"] * (i + 1) for i, row in enumerate(rows)) + sum(
        row.get("b", 0.5) ** 2 for row in rows
    )


def gone_through(x):
    one = {"a": x[0], "bb": x[1]} if x[2] > 0 else {"a": x[2]}
    total = sum(v**2 * len(k) for k, v in one.items()) + max(one.values())
    doubled = {k: v * 2 for k, v in one.items()}
    return total + sum(doubled.values()) * x[1] + sum(1 for _ in one) * x[0] + len(list(one))


def unpacked_into_others(x):
    changes = {"rate": x[1]} if x[0] > 0 else {"momentum": x[2]}
    merged = {"rate": 0.1, "decay": x[0], **changes}
    base = {"rate": 0.2}
    base.update(changes)
    return merged["rate"] * merged["decay"] + merged.get("momentum", 2.0) * base["rate"]


def passed_as_keywords(x):
    def scaled(y, scale=1.0, shift=0.0):
        return np.sum((y * scale + shift) ** 2)

    return scaled(x, **({"scale": 2.0} if x[0] < 0 else {"shift": x[1]})) * x[2]


def states_of_a_machine(x):
    state, energy = {"name": "idle"}, x[0]
    for v in np.concatenate([x, x * 2]):
        if state["name"] == "idle" and v > 0.5:
            state = {"name": "running", "start": v}
        elif state["name"] == "running" and v > 0.9:
            state = {"name": "idle"}
        if state["name"] == "running":
            energy = energy + v * state["start"]
    return energy * (2.0 if "start" in state else 3.0)


def carried_by_a_while(x):
    state = {"v": x[0], "k": 0}
    while state["k"] < 3:
        if state["v"] > 0:
            state = {"v": state["v"] * x[1] - 1, "k": state["k"] + 1}
        else:
            state = {"v": state["v"] ** 2, "k": state["k"] + 1, "turned": True}
    return state["v"] + (x[1] if "turned" in state else x[2])


def outer_dicts(x):
    levels = LEVELS if x[0] > 0 else OTHERS
    return np.sum(x**2) * levels["scale"] + levels.get("shift", 0.0) * x[0]


def walked_down(x):
    node = TREE
    while "value" not in node:
        node = node["left"] if x[node["feature"]] < node["threshold"] else node["right"]
    return node["value"] * np.sum(x**2)


def walked_down_from_what_is_made_here(x):
    leaf = {"value": x[2] ** 2}
    root = {"feature": 0, "threshold": 0.1, "left": {"value": x[1] * 2}, "right": leaf}
    node = {"feature": 1, "threshold": 0.9, "left": root, "right": {"value": -x[0]}}
    while "value" not in node:
        side = "left" if x[node["feature"]] < node["threshold"] else "right"
        node = node["left"] if side == "left" else node["right"]
    return node["value"] * x[0]


def predicted(node, row):
    if "value" in node:
        return node["value"]
    below = row[node["feature"]] < node["threshold"]
    return predicted(node["left"] if below else node["right"], row)


def found_by_recursion(x):
    return predicted(TREE, x) * np.sum(x**2)


ROWS = np.random.default_rng(0).normal(size=(12, 2))


def grown(rows, targets, depth):
    if depth == 0 or len(targets) <= 2:
        return {"value": np.mean(targets)}
    feature = int(np.argmax(np.var(rows, axis=0)))
    threshold = float(np.median(rows[:, feature]))
    below = rows[:, feature] < threshold
    if below.all() or not below.any():
        return {"value": np.mean(targets)}
    return {
        "feature": feature,
        "threshold": threshold,
        "left": grown(rows[below], targets[below], depth - 1),
        "right": grown(rows[~below], targets[~below], depth - 1),
    }


def trees_fitted_to_residuals(x):
    targets = np.concatenate([x, x**2, np.sin(x), x * x[0]])
    fit = np.full(12, targets.mean())
    for _ in range(2):
        tree = grown(ROWS, targets - fit, 2)
        fit = fit + 0.5 * np.array([predicted(tree, row) for row in ROWS])
    return np.sum((targets - fit) ** 2)


# Tuples


def tuples_unpacked(x):
    def total(*values):
        return sum(v**2 for v in values) * len(values)

    parts = (x[0], x[1]) if x[0] > 0.5 else (x[0], x[1], x[2])
    a, b = parts if len(parts) == 2 else (parts[0], parts[2])
    return total(*parts) + parts[0] * parts[-1] + max(parts) + np.sum(np.array(parts)) * a * b


def tuples_returned(x):
    def powers(v):
        if v < 0.4:
            return (v,)
        if v < 0.65:
            return v, v**2
        return v, v**2, v**3

    return sum(sum(powers(v)) for v in x) + sum(len(powers(v)) for v in x) * x[0]


def tuples_carried(x):
    kept = (x[0],)
    for v in np.concatenate([x, x * 1.5]):
        if v > 0.7:
            kept = (v, v**2)
        elif len(kept) > 1:
            kept = (kept[0] * v,)
    return sum(kept) * len(kept)


def tuples_as_shapes_axes_and_indices(x):
    square = np.outer(x, x)
    shape = (9,) if x[0] > 0 else (3, 3)
    axis = (0,) if x[1] > 0 else (0, 1)
    place = (0,) if x[2] > 0.5 else (0, 1)
    whole = square.reshape(shape) * 2.0
    return np.sum(whole**2) + np.sum(np.sum(square, axis=axis) ** 2) + np.sum(square[place])


def tuples_as_keys(x):
    entries = {(0,): x[0], (0, 1): x[1]}
    return entries[(0,) if x[0] > 0 else (0, 1)] ** 2 * x[2]


def tuples_joined_and_compared(x):
    one = (x[0],) if x[0] > 0 else (x[1], x[2])
    more, twice = (*one, x[2]), one * 2
    total = sum(v * (i + 1) for i, v in enumerate(more)) + len(twice) * twice[-1]
    pairs = sum(a * b for a, b in zip(one, x, strict=False))
    counts = (1, 2) if x[1] > 0 else (1, 2, 3)
    return total + pairs * (2.0 if counts == (1, 2) else 5.0) + (x[0] if 3 in counts else x[1])


def arrays_and_lists_in_tuples(x):
    y = x * 1.0
    arrays = (y,) if x[0] > 0 else (y, x * 2)
    arrays[0][0] = 3.0
    arrays[-1][1] *= 2
    lists = ([x[0]],) if x[1] > 0 else ([x[1]], [x[2]])
    lists[-1].append(x[0])
    return np.sum(y**2) + np.sum(arrays[-1] * x) + sum(sum(part) for part in lists)


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_layouts(f):
    for point in (X, -X, np.array([-0.2, 0.95, 0.6])):
        check(f, point)


class Plain:
    def __init__(self, a):
        self.a, self.items = a, [a]


class Richer(Plain):
    def __init__(self, a):
        self.a, self.b, self.items = a, 2.0, [a, a]


def test_a_copy_of_one_of_several_objects_is_another_object():
    def deep(x):
        one = Plain(x[0]) if x[1] > 0 else Richer(x[1])
        holder = {"one": one, "z": x[2]}
        other, third = copy.deepcopy(holder), copy.deepcopy(one)
        other["one"].a = x[2]
        third.items.append(x[1])
        return one.a * other["one"].a + third.a + sum(third.items) + sum(one.items) * 3

    def shallow(x):
        one = Plain(x[0]) if x[1] > 0 else Richer(x[1])
        other = copy.copy(one)
        other.a = other.a * 2
        other.items.append(x[2])
        return one.a + other.a * x[2] + sum(one.items)

    for f in (deep, shallow):
        check(f)
        check(f, -X)


def test_dicts_among_the_arguments_are_written_in_copies():
    def f(x, p, q):
        one = p if x[0] > 0 else q
        one["scale"] = x[1]
        return np.sum(x**2) * p["scale"] + q["scale"] * one.get("shift", 2.0) * x[0]

    for x in (X, -X):
        check(lambda x: f(x, dict(LEVELS), dict(OTHERS)), x)
        p, q = dict(LEVELS), dict(OTHERS)
        srcgrad.grad(f)(x, p, q)
        assert (p, q) == (LEVELS, OTHERS)


def test_a_key_that_is_not_there_is_missed_when_the_gradient_runs():
    def f(x):
        options = {"a": x[0]} if x[0] > 0 else {"b": x[1]}
        return options["a"] * 2.0

    gradient = srcgrad.grad(f)
    np.testing.assert_array_equal(gradient(X), [2.0, 0.0, 0.0])
    with pytest.raises(KeyError):
        gradient(-X)


def test_a_copy_of_what_may_be_a_number():
    def f(x, s, n):
        v = s
        for _ in range(n):
            v = x
        h, y = np.array(v), x.reshape(2, 2) * 1.0
        y.ravel()[0] = s
        return np.sum(h * v) + np.sum(y * y)

    gradient, x = srcgrad.grad(f, (0, 1)), np.array([0.3, 0.5, 0.7, 0.9])
    for n, d_s in ((0, 2.8), (1, 1.4)):
        d_x = gradient(x, 0.7, n)
        np.testing.assert_allclose(d_x[0], 2 * n * x + 2 * x * [0, 1, 1, 1])
        assert np.isclose(d_x[1], d_s)
