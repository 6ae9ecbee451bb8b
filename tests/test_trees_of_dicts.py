"""Trees, lists and graphs of dicts that the data shape: each dict is an object with slots."""

import numpy as np
import pytest

import srcgrad
from tests import random_nodes
from tests.small_programs import X, check, differences, programs


def tree(x, depth):
    if depth == 0 or x.sum() < 0.5:
        return {"kind": "leaf", "v": x.sum()}
    half = len(x) // 2
    left, right = tree(x[:half], depth - 1), tree(1.1 * x[half:], depth - 1)
    return {"kind": "node", "w": x[0] * x[-1], "left": left, "right": right}


def total(n):
    if n["kind"] == "leaf":
        return n["v"] ** 2
    return n["w"] * total(n["left"]) + 2.0 * total(n["right"])


def read(x):
    return total(tree(x, 3))


def asked_for_keys(x):
    def walk(n):
        if "v" in n:
            return n["v"] ** 2
        return n.get("w", 0.0) * n.get("nothing", 2.0) + walk(n["left"]) + 2 * walk(n["right"])

    return walk(tree(x, 2))


def asked_for_its_class(x):
    def walk(n):
        right = isinstance(n, dict) + (type(n) is dict) + issubclass(type(n), dict)
        return right * (n["v"] if n["kind"] == "leaf" else walk(n["left"]) * walk(n["right"]))

    return walk(tree(x, 2))


def compared(x):
    n, found = tree(x, 2), 0.0
    while n is not None:
        found += (n.__class__ is dict) * x[0] + (n == n) * x[1] + (n.get("left") == None)  # noqa: E711
        found += (n["left"] != None) * 2.0 * x[2] if "left" in n else n["v"] ** 2  # noqa: E711
        n = n.get("left")
    return found


def caught(x):
    def walk(n):
        try:
            return n["v"] ** 2
        except KeyError:
            return n["w"] + walk(n["left"]) + 2 * walk(n["right"])

    return walk(tree(x, 3))


def written(x):
    def scale(n, by):
        if n["kind"] == "leaf":
            n["v"] *= by
            return
        n["w"] = n["w"] * by
        scale(n["left"], by * 2)
        scale(n["right"], by)

    root = tree(x, 2)
    scale(root, x[1])
    return total(root)


def gone_through(x):
    def walk(n):
        found = 0.0
        for key, value in n.items():
            if isinstance(value, dict):
                found = found + walk(value)
            elif key != "kind":
                found = found + value * len(n)
        return found

    return walk(tree(x, 2))


def queued(x):
    waiting, found, count = [tree(x, 3)], 0.0, 0
    while waiting:
        n = waiting.pop(0)
        count += 1
        if n["kind"] == "leaf":
            found += count * n["v"]
        else:
            waiting.append(n["left"])
            waiting.append(n["right"])
            found += n["w"] ** 2
    return found


def one_of_two(x):
    root = tree(x, 2)
    other = root
    if x[0] > 0:
        other = root if root["kind"] == "leaf" else root["left"]
    if other["kind"] == "leaf":
        other["v"] = other["v"] * 3
    else:
        other["w"] = other["w"] * 3
    return total(root) + (1.0 if other is root else x[1])


def linked(x):
    head = None
    for v in x:
        if v > 0.4:
            head = {"v": v * v, "next": head}
    found, k = 0.0, 1
    while head is not None:
        found += k * head["v"]
        head, k = head["next"], k + 1
    return found


def linked_both_ways(x):
    def grow(v, depth, parent):
        n = {"v": v, "parent": parent, "left": None, "right": None}
        if depth and v > 0.2:
            n["left"] = grow(v * 0.8, depth - 1, n)
            n["right"] = grow(v * 0.6, depth - 1, n)
        return n

    n, found = grow(x[1], 3, None), 0.0
    while n["left"] is not None:
        n = n["left"]
    while n is not None:
        found += n["v"] ** 2
        n = n["parent"]
    return found


def given_keys_later(x):
    def grow(v, depth):
        n = {"v": v}
        if depth and v > 0.2:
            n["next"] = grow(v * 0.7, depth - 1)
        return n

    def walk(n):
        return n["v"] + (walk(n["next"]) ** 2 if "next" in n else 0.0)

    return walk(grow(x[1], 4))


def losing_keys(x):
    def grow(values, depth):
        n = {"values": values, "mean": values.mean()}
        if depth and len(values) > 1 and n["mean"] > 0.2:
            below = values < 0.9 * n["mean"]
            n["left"], n["right"] = grow(values[below], depth - 1), grow(values[~below], depth - 1)
            del n["values"]
        return n

    def walk(n):
        if "values" in n:
            return (n.pop("values") ** 2).sum() + len(n)
        return n["mean"] * walk(n["left"]) + walk(n["right"])

    return walk(grow(x, 2))


def grown_in_place(x):
    """A regression tree whose nodes become inner ones by what is added to them."""
    places = np.linspace(0.0, 1.0, 7)
    targets = np.concatenate([x, x**2, x[:1]])

    def grown(which, depth):
        values = targets[which]
        node = {"count": len(which), "mean": values.mean()}
        error, best = ((values - node["mean"]) ** 2).sum(), None
        if depth == 0 or len(which) < 3:
            return node
        for place in places[which][1:]:
            left, right = which[places[which] < place], which[places[which] >= place]
            spread = targets[left].var() * len(left) + targets[right].var() * len(right)
            if best is None or spread < best["spread"]:
                best = {"spread": spread, "place": place, "left": left, "right": right}
        if best["spread"] > 0.9 * error:
            return node
        node["place"] = best["place"]
        node["left"], node["right"] = (grown(best[side], depth - 1) for side in ("left", "right"))
        return node

    def predicted(node, place):
        while "place" in node:
            node = node["left"] if place < node["place"] else node["right"]
        return node["mean"] * node["count"]

    root = grown(np.arange(7), 2)
    return sum((predicted(root, place) - t) ** 2 for place, t in zip(places, targets, strict=True))


def of_children(x):
    def grow(v, depth):
        if depth == 0 or v < 0.1:
            return {"v": v, "children": []}
        pairs = [("v", v * v), ("children", [grow(v * 0.5, depth - 1), grow(v * 0.9, depth - 1)])]
        return dict(pairs)

    def walk(n):
        return n["v"] + 2 * sum(walk(child) for child in n["children"])

    return walk(grow(x[0], 3))


def balanced(x):
    """An AVL tree; turning it makes a child of a parent."""

    def height(n):
        return 0 if n is None else n["height"]

    def measured(n):
        n["height"] = 1 + max(height(n["left"]), height(n["right"]))

    def turned(n, a, b):
        child = n[a]
        n[a], child[b] = child[b], n
        measured(n)
        measured(child)
        return child

    def inserted(n, key):
        if n is None:
            return {"key": key, "left": None, "right": None, "height": 1}
        if key < n["key"]:
            n["left"] = inserted(n["left"], key)
        else:
            n["right"] = inserted(n["right"], key)
        measured(n)
        balance = height(n["left"]) - height(n["right"])
        if balance > 1 and key < n["left"]["key"]:
            return turned(n, "left", "right")
        if balance < -1 and key >= n["right"]["key"]:
            return turned(n, "right", "left")
        return n

    def walk(n, depth):
        if n is None:
            return 0.0
        return walk(n["left"], depth + 1) + depth * n["key"] ** 2 + walk(n["right"], depth + 1)

    root = None
    for key in np.sort(np.concatenate([x, 2 * x])):
        root = inserted(root, key)
    return walk(root, 1)


@pytest.mark.parametrize("function", programs(globals()))
def test_program(function):
    check(function)


@pytest.mark.parametrize("first", range(0, 24, 6))
def test_random_programs(first):
    words = [random_nodes.check(seed) for seed in range(first, first + 6)]
    assert words.count("right") >= 3


def of_one_branch(x):
    """The object that one branch makes is chosen from in a loop behind it."""

    def grow(v, depth):
        if depth == 0:
            return {"a": 0.5 * v, "next": None}
        if v > 0.5:
            return {"next": None, "a": 0.5 * v}
        if v > 0.4:
            return {"a": v, "b": x[1], "next": None, "name": "node"}
        return {"next": grow(0.7 * v, depth - 1), "a": v * v}

    def walk(n):
        return 0.1 if n is None else n["a"] + 0.5 * walk(n.get("next"))

    root, k = grow(x[0], 2), 0
    while k < 3:
        k += 1
        root["next"] = {"b": x[1], "a": x[0]}
    return walk(root)


def test_a_choice_that_only_one_branch_has_may_be_carried_by_a_loop():
    gradient = srcgrad.grad(of_one_branch)
    for x in ([0.3, 0.8], [0.45, 0.8], [0.8, 0.8]):
        expected = differences(of_one_branch, np.array(x))
        np.testing.assert_allclose(gradient(np.array(x)), expected, rtol=1e-6, atol=1e-8)


def points(seed):
    rng = np.random.default_rng(seed)
    return rng.random((12, 2)), rng.random(12)


def split(features, targets):
    best, found = np.inf, None
    for j in range(features.shape[1]):
        for threshold in features[:, j]:
            below = features[:, j] <= threshold
            if below.all():
                continue
            left, right = targets[below], targets[~below]
            error = np.sum((left - left.mean()) ** 2) + np.sum((right - right.mean()) ** 2)
            if error < best:
                best, found = error, (j, threshold, below)
    return found


def fitted(features, targets, depth):
    if depth == 0 or len(targets) < 3 or np.var(targets) < 1e-3:
        return {"value": targets.mean()}
    j, threshold, below = split(features, targets)
    return {
        "feature": j,
        "threshold": threshold,
        "left": fitted(features[below], targets[below], depth - 1),
        "right": fitted(features[~below], targets[~below], depth - 1),
    }


def predicted(node, row):
    while "value" not in node:
        below = row[node["feature"]] <= node["threshold"]
        node = node["left"] if below else node["right"]
    return node["value"]


def test_a_regression_tree_holds_for_other_data():
    """The splits are of the data: what is compiled once finds others."""
    features, _ = points(0)

    def loss(targets):
        root = fitted(features, targets, 3)
        return sum(predicted(root, row) ** 2 for row in features)

    gradient = srcgrad.value_and_grad(loss)
    for seed in range(4):
        _, targets = points(seed)
        value, found = gradient(targets)
        assert value == loss(targets)
        direction = np.random.default_rng(seed + 7).standard_normal(12)
        ahead, behind = loss(targets + 1e-6 * direction), loss(targets - 1e-6 * direction)
        assert found @ direction == pytest.approx((ahead - behind) / 2e-6, rel=1e-6)
    assert gradient._latest.compiled.source.count("\n") < 400


def test_a_missing_key_raises_as_in_python():
    def f(x):
        n = tree(x, 2)
        while n["kind"] != "leaf":
            n = n["left"]
        return n["w"]

    with pytest.raises(KeyError, match="'w'"):
        f(X)
    with pytest.raises(KeyError, match="'w'"):
        srcgrad.grad(f)(X)


def test_such_a_dict_is_not_returned():
    def f(x):
        return tree(x, 2)["w"], tree(x, 2)

    with pytest.raises(srcgrad.UnsupportedError, match="which of several objects is returned"):
        srcgrad.grad(f, has_aux=True)(X)
