"""Dicts with values of different kinds in lists that loops make: records, each with its slots."""

import operator

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs


def made(x):
    rows = []
    for i, v in enumerate(x):
        if v > 0:
            rows.append({"v": v, "name": "ab"[i % 2], "at": (v, i * v), "parts": [v, 1.0]})
    return rows


def read(x):
    return sum(r["v"] * r["at"][1] * sum(r["parts"]) for r in made(x) if r["name"] == "a")


def written(x):
    rows = made(x)
    for r in rows:
        r["v"] = r["v"] ** 2
        r["at"] = (r["at"][1], r["v"])
    return sum(r["v"] * r["at"][1] for r in rows)


def one_by_two_names(x):
    rows = made(x)
    first, same = rows[0], rows[0]
    first["v"] = 3.0 * x[1]
    return same["v"] * rows[0]["v"] + (first is same) * x[2]


def sorted_and_searched(x):
    rows = sorted(made(x), key=operator.itemgetter("v"))
    rows.sort(key=lambda r: -r["at"][0])
    top = max(rows, key=lambda r: r["v"])
    return rows[0]["v"] * top["v"] + sum(r["at"][0] for r in rows if r is not top)


def as_a_mapping(x):
    total = 0.0
    for r in made(x):
        for key, value in r.items():
            if key == "at":
                total += value[1] * len(key)
        total += r.get("v", 2.0) * r.get("w", 2.0) * len(r) + ("v" in r) + ("w" in r)
        total += sum(len(key) for key in r) * x[0] + next(iter(r.values())) * isinstance(r, dict)
    return total


def changed_while_gone_through(x):
    total = 0.0
    for r in made(x):
        waiting, values = r.items(), r.values()
        r["v"] = 3.0 * r["v"]
        for key, value in r.items():
            if key in ("v", "at"):
                r["at"] = (r["at"][0] + 1.0, r["v"])
                total += value * value if key == "v" else value[0] * value[1]
        total += next(iter(values)) ** 2 + sum(value for key, value in waiting if key == "v")
    return total


def changed_all_at_once(x):
    rows = made(x)
    for r in rows:
        r.update(v=r["v"] ** 2, name="c")
        r |= {"at": (r["v"], 1.0)}
        r.setdefault("v", 7.0)
    return sum(r["at"][0] for r in rows if r["name"] == "c") * rows[0]["v"]


def copied(x):
    rows = made(x)
    one, two, three = rows[0].copy(), dict(rows[0]), {**rows[0], "v": x[1]}
    one["v"] = 5.0 * one["v"]
    two["v"] = 7.0 * two["v"]
    return one["v"] * two["v"] * three["v"] * rows[0]["v"]


def made_anew(x):
    rows = [{**r, "v": 2 * r["v"]} for r in made(x)]
    rows = [r | {"v": r["v"] ** 2} for r in rows if r["name"] == "a"]
    return sum(r["v"] * r["at"][0] for r in rows)


def given_by_name(x):
    def weighted(v, name, at, parts):
        return v * at[1] + len(name) * parts[0]

    return sum(weighted(**r) for r in made(x))


def grouped(x):
    groups = {}
    for r in made(x):
        groups.setdefault(r["name"], []).append(r)
    for r in groups["a"]:
        r["v"] = r["v"] ** 2
    return sum(r["v"] for r in groups["a"]) * len(groups["b"])


def with_other_keys(x):
    rows = made(x)
    rows.append({"v": x[0], "name": "z"})
    return sum(r["v"] for r in rows if "at" in r) * rows[-1]["v"]


def matched(x):
    total = 0.0
    for r in made(x):
        match r:
            case {"name": "a", "v": v}:
                total += v**2
            case {"missing": v}:
                total += 7.0
            case _:
                total += r["v"]
    return total


def in_a_dict_of_the_run(x):
    table = {}
    for i, v in enumerate(x):
        if v > 0:
            table[i] = {"v": v, "inner": {"w": v * x[0], "name": "n"}}
    return sum(table[i]["inner"]["w"] * table[i]["v"] for i in table)


def queued(x):
    queue, total = [{"cost": x[0] * 0.0, "at": 0, "seen": ()}], 0.0
    while queue:
        state = queue.pop(0)
        if state["at"] == len(x) - 1:
            total += state["cost"]
            continue
        for step in (1, 2):
            to = state["at"] + step
            if to < len(x):
                cost = state["cost"] + x[to] * x[state["at"]]
                queue.append({"cost": cost, "at": to, "seen": state["seen"]})
    return total


def keys_that_are_methods(x):
    rows = []
    for v in x:
        if v > 0:
            rows.append({"values": v, "items": (v, 1.0), "keys": "k", "fields": 2.0, "self": None})
    return sum(r["values"] * r["items"][0] * r["fields"] for r in rows for _ in r.values())


def absent(x):
    rows = made(x)
    try:
        return rows[0]["nothing"] * x[0]
    except KeyError:
        return rows[0]["v"] ** 2


@pytest.mark.parametrize("function", programs(globals()))
def test_program(function):
    if function is not made:
        check(function)


def test_it_is_a_dict_of_python_where_it_is_returned():
    def f(x):
        rows = made(x)
        one = {"v": x[0] ** 2, "name": "o"}
        if x[1] > 0:
            rows.append(one)
        return rows[0]["v"] ** 2, {"v": rows[0]["v"], "name": rows[0]["name"]}

    (_, seen), gradient = srcgrad.value_and_grad(f, has_aux=True)(X)
    assert type(seen) is dict
    assert seen == {"v": X[0], "name": "a"}
    np.testing.assert_allclose(gradient, [2 * X[0], 0.0, 0.0])


def keys_that_come_and_go(x):
    rows = made(x)
    rows[0]["new"], rows[1]["new"] = x[1], 2.0
    del rows[0]["v"]
    total = rows[1].pop("v") ** 2 + rows[1].pop("v", x[2])
    rows[1]["v"] = total * x[0]
    rows[2].setdefault("new", x[0] ** 3)
    return sum(r.get("v", 7.0) * r["new"] * len(r) for r in rows) + ("v" in rows[0])


def a_key_that_is_gone(x):
    rows = made(x)
    if x[0] > 0:
        del rows[1]["v"]
    try:
        return rows[0]["v"] * rows[1]["v"]
    except KeyError as error:
        return x[2] ** 2 * len(error.args[0])


@pytest.mark.parametrize("use", [list, dict.popitem, dict.clear])
def test_the_order_of_keys_that_come_and_go_is_refused(use):
    def f(x):
        rows = made(x)
        rows[0]["new"] = 1.0
        return rows[1]["v"] if use(rows[1]) else x[0]

    with pytest.raises(
        srcgrad.UnsupportedError, match="how the keys of a dict that is one of many"
    ):
        srcgrad.grad(f)(X)


def test_a_key_that_is_lost_raises_as_in_python():
    def f(x):
        rows = made(x)
        if x[0] > 0:
            del rows[0]["v"]
        return rows[0]["v"] * x[0]

    with pytest.raises(KeyError, match="'v'"):
        srcgrad.grad(f)(X)


def test_it_is_kept_as_a_tuple():
    def f(x):
        bodies = []
        for m in x:
            if m > 0:
                bodies.append({"mass": m, "at": (m, 2.0), "name": "star"})
        return sum(b["mass"] * b["at"][0] for b in bodies if b["name"] == "star")

    gradient = srcgrad.value_and_grad(f)
    gradient(X)
    assert ".append((m, (m, 2.0), 'star'))" in gradient.source


class Part:
    def __init__(self, whole, v):
        self.whole, self.v = whole, v


class Whole:
    def __init__(self):
        self.parts = {}

    def add(self, name, v):
        self.parts[name] = Part(self, v)


def test_a_dict_of_objects_that_refer_to_it_is_refused_where_it_is_kept():
    def f(x):
        whole, kept = Whole(), []
        whole.add("a", x[0])
        whole.add("b", x[1])
        for part in whole.parts.values():
            if part.v > 0.5:
                kept.append([part, 2.0])
        return sum(w * part.v**2 for part, w in kept)

    message = r"kept\.append.*\n.*\n.* holds itself can't be kept"
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(X)
