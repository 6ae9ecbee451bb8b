"""Functions and objects that the data choose, against finite differences and in forward mode."""

import copy
import dataclasses
import functools

import numpy as np
import pytest

import srcgrad
import srcgrad.testing

X = np.array([-0.83, -1.32, -0.41, 0.64, 0.15, 0.97])
SIGNS = (X, -X, np.abs(X), X[::-1].copy())


def check(f, *args):
    value = srcgrad.value_and_grad(f)(*args)[0]
    assert value == pytest.approx(f(*copy.deepcopy(args)), rel=1e-12, abs=0.0)
    srcgrad.testing.check_grads(f, args, order=1)


@dataclasses.dataclass
class Circle:
    r: float

    def area(self):
        return np.pi * self.r**2


@dataclasses.dataclass
class Square:
    w: float

    def area(self):
        return self.w**2


class Gain:
    def __init__(self, a):
        self.a = a

    def scaled(self, z):
        return self.a * z

    def bent(self, z):
        return self.a - z * z


def two_lambdas(x):
    f = (lambda z: z**2) if x[0] > 0 else (lambda z: 3 * z)
    g = np.sin if np.sum(x) > 0 else np.cos
    return np.sum(f(x) * g(x))


def defaults(x):
    if x[0] > 0:
        s = x[1] * 2
        f = lambda z, s=s: z * s  # noqa: E731
    else:
        s = x[2] * 3
        f = lambda z, s=s: z - s  # noqa: E731
    return f(x[3]) + f(1.0)


def methods_and_partials(x):
    p, q = Gain(x[0]), Gain(x[1])
    if x[2] > 0:
        h = p.scaled
    elif x[3] > 0:
        h = q.bent
    else:
        h = functools.partial(lambda s, z: s * z * z, 1.5)
    return h(x[4]) * h(2.0)


def higher_order(x):
    step = (lambda a, b: a + b) if x[0] > 0 else (lambda a, b: a * b)
    key = (lambda v: v) if x[1] > 0 else (lambda v: -v)
    return functools.reduce(step, x) + sorted(x, key=key)[0] + sum(map(key, x)) * max(x, key=key)


def thermostat(x):
    def heat(t):
        return t + 0.1 * abs(x[0])

    def cool(t):
        return t * 0.9

    mode, t, switched = None, x[1], 0
    for _ in range(20):
        before = mode
        mode = heat if t < 0.3 else cool if t > 0.6 else mode
        if mode is not None:
            t = mode(t)
        if mode is not before:
            switched += 1
    return t * (1 + switched)


def least_of_functions(x):
    best, least = None, np.inf
    for a in x:
        for f in (np.sin, lambda z: z * z - 1):
            if f(a) < least:
                best, least = f, f(a)
    return least + best(x[2])


def table_by_data(x):
    functions = [np.sin, np.cos, lambda z: z**3]
    h = x
    for _ in range(5):
        h = functions[int(np.argmax(h)) % 3](h) + 0.1 * x
    return np.sum(h) + sum(functions[-1 - int(abs(v) * 10) % 3](v) for v in x)


def table_by_a_name(x):
    table = {"relu": lambda z: np.maximum(z, 0), "tanh": np.tanh, "square": lambda z: z * z}
    h = x
    for _ in range(4):
        name = "relu" if h.sum() > 1 else "tanh" if h.max() > 0.9 else "square"
        h = table[name](h) + 0.3 * x
    return h.sum()


def state_machine(x):
    def idle(v, e):
        return (busy, v) if v > 0.12 else (idle, e)

    def busy(v, e):
        return (idle, e) if e < 0.05 else (busy, e * 0.5 + v * v * 0.1)

    state, e, total = idle, 0.0, 0.0
    for i in range(14):
        state, e = state(x[i % 6], e)
        total += e * (i + 1)
    return total


def trampoline(x):
    def even(n, a):
        return (odd, n - 1, a * 1.1) if n > 0 else (None, 0, a)

    def odd(n, a):
        return (even, n - 1, np.sin(a)) if n > 0 else (None, 0, -a)

    step, n, a = even, 5, x[0]
    while step is not None:
        step, n, a = step(n, a)
    return a


def shapes(x):
    shape = Circle(x[0]) if x[1] > 0 else Square(x[2])
    area = shape.area()
    if isinstance(shape, Circle):
        area = area * 2
        shape.r = shape.r * 3
    else:
        shape.w += 1.0
    return area + shape.area()


def one_of_two_changed(x):
    a, b = Circle(x[0]), Circle(x[1])
    big, small = (a, b) if a.r > b.r else (b, a)
    big.r *= 0.5
    small.r += x[2]
    return a.area() * 2 + b.area()


def one_of_two_dicts_changed(x):
    a, b = {"v": x[0]}, {"v": x[1]}
    d = a if x[2] > 0 else b
    d["v"] = d["v"] * x[3]
    return a["v"] * 3 + b["v"]


def best_so_far(x):
    best = None
    for v in x:
        if v > 0.1 and (best is None or v**2 < best.r):
            best = Circle(v**2)
    if best is None:
        return 0.0
    return best.area() + best.r


def least_of_known_objects(x):
    circles, best = [Circle(x[0]), Circle(x[1]), Circle(x[2])], None
    for _ in range(4):
        for c in circles:
            if best is None or c.r < best.r:
                best = c
        best.r += 0.3 * x[3] ** 2
    return sum(c.area() for c in circles) + best.r


def least_and_greatest_changed(x):
    circles, total = [Circle(v) for v in x[:4]], 0.0
    for _ in range(3):
        best, worst = max(circles, key=lambda c: c.r), circles[0]
        for c in circles[1:]:
            if c.r < worst.r:
                worst = c
        best.r, worst.r = best.r * 0.9 + 0.1 * worst.r, worst.r + 0.2 * best.r
        total += best.area() - worst.area() + (100.0 if best is worst else 0.0)
    return total + sum(c.area() for c in circles)


def set_once(x):
    first, f, total = None, None, 0.0
    for v in x:
        if first is None and v > 0:
            first = {"v": v, "n": 1}
        if first is not None:
            first["v"] += v * 0.5
            total += first["v"]
        f = f or (np.tanh if v > 0.9 else None)
        if f:
            total += f(v)
    return total


def optional_dict(x):
    settings = None
    if x[0] > 0:
        settings = {"k": x[1]}
    return (settings["k"] if settings else 2.0) * x[2] + (settings or {"k": x[3]})["k"]


def in_a_recursion(x):
    def walk(f, v, depth):
        if depth == 0 or v > 10:
            return v
        g = (lambda z: z + 1) if v > 0.5 else f
        return walk(f, g(f(v)), depth - 1)

    return walk(lambda z: z * 1.1, x[0], 4)


def solver_by_state(x):
    def euler(f, y, h):
        return y + h * f(y)

    def midpoint(f, y, h):
        return y + h * f(y + h / 2 * f(y))

    def slope(y):
        return -(y**3)

    y, n = x, 0
    while n < 5:
        step = euler if np.max(np.abs(slope(y))) < 0.3 else midpoint
        y = step(slope, y, 0.1)
        n += 1
    return np.sum(y)


def lists_by_and_and_or(x):
    total = 0.0
    for i, v in enumerate(x):
        total += sum((v > 0 and i > 1 and [v, v**2]) or [2 * v])
        low, high = (v < 0 and (v, 1.0)) or (v**2, v)
        total += low * high
    return total


def numbers_by_or_and_and(x):
    total = 0.0
    for i, v in enumerate(x):
        total += ((i < 1 or v > 0 or None) and v**2) or 3 * v
    return total


def unpacked_in_either_case(x):
    u = v = None
    for k in range(3):
        u, v = (x[0], x[1]) if u is None else (w + x[2] for w in (u, v))
        first, *rest = x if x[3] > 0 else ([v, u] if k > 1 else (1.0, u, v))
    return u * v**2 + first * rest[0]


def all_but_first(*values):
    _, *rest = values
    return rest


def lists_of_other_lengths_from_one_place(x):
    total = 0.0
    for v in x:
        if v > 0.3:
            rest = all_but_first(v, x[1])
        elif v > 0:
            rest = all_but_first(v, x[2], v)
        else:
            rest = all_but_first(v, v, x[0], v)
        total += rest[-1] * sum(rest)
    return total


def defaults_of_each_iteration(x):
    f = lambda z: z  # noqa: E731
    total = 0.0
    for v in x:
        total += f(v) ** 2
        f = lambda z, v=v, *, w=x[0]: z * v + w  # noqa: E731
    return total + f(x[1])


def type_of_either(x):
    shape = Circle(x[0]) if x[1] > 0 else Square(x[0])
    return type(shape)(x[2]).area() + shape.area()


def appends_by_another_name(x):
    kept, rows = [x[0]], {}
    for i in range(len(x)):
        add = kept.append
        add(x[i] ** 2)
        try:
            put = rows.setdefault(int(x[i] > 0), []).append
            put(x[i])
        except KeyError:
            raise
        if x[i] > 0.5:
            kept = [x[0]]
    add(x[1] ** 3)
    put(x[2])
    return sum(kept) + sum(sum(row) ** 2 for row in rows.values())


def a_method_of_the_last_iteration(x):
    now = {"a": x[0]}
    for v in x:
        get = now.get if v > 0.5 else {"a": v}.get
        partial = functools.partial(lambda p, q: p * q, v)
        now = {"a": v * get("a")}
    return get("a") * now["a"] + partial(x[1])


class Material:
    def __init__(self, name, color, shine, limit):
        self.name, self.color, self.shine, self.limit = name, color, shine, limit


SCENE = [
    (0.2, Material("matte", np.array([1.0, 0.5, 0.2]), 0.0, None)),
    (0.7, Material("glass", np.array([0.1, 0.9, 0.3]), 3.0, 2)),
]


def nothing_is_hit_or_something_outside(x):
    hit, nearest = None, np.inf
    for depth, material in SCENE:
        if x[0] + depth > 0 and x[0] + depth < nearest:
            hit, nearest = material, x[0] + depth
    color = hit.color if hit is not None else 0.5
    shine = hit.shine if hit else 1
    limit = 1.5 if hit is None else hit.limit
    rounded = hit is not None and hit.name == "glass"
    total = np.sum(color * x[:3] ** 2) + shine * x[3]
    if isinstance(limit, int):
        total = total * limit
    elif limit is None:
        total = total - x[4]
    return total**2 if rounded else total


PROGRAMS = [
    nothing_is_hit_or_something_outside,
    lists_by_and_and_or,
    numbers_by_or_and_and,
    unpacked_in_either_case,
    lists_of_other_lengths_from_one_place,
    defaults_of_each_iteration,
    type_of_either,
    appends_by_another_name,
    a_method_of_the_last_iteration,
    two_lambdas,
    defaults,
    methods_and_partials,
    higher_order,
    thermostat,
    least_of_functions,
    table_by_data,
    table_by_a_name,
    state_machine,
    trampoline,
    shapes,
    one_of_two_changed,
    one_of_two_dicts_changed,
    best_so_far,
    least_of_known_objects,
    least_and_greatest_changed,
    set_once,
    optional_dict,
    in_a_recursion,
    solver_by_state,
]


@pytest.mark.parametrize("x", SIGNS, ids=range(len(SIGNS)))
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f, x):
    check(f, x)


def test_the_choice_is_a_branch_in_the_generated_source():
    gradient = srcgrad.grad(two_lambdas)
    gradient(X)
    code = "\n".join(line.split("#")[0] for line in gradient.source.splitlines()[2:])
    assert "lambda" not in code
    assert code.count("if ") >= 2


def test_none_that_is_called_fails_as_it_does_in_the_function():
    def f(x):
        step = np.sin if x[0] > 0 else None
        return step(x[1])

    gradient = srcgrad.grad(f)
    assert gradient(np.array([1.0, 0.0])) == pytest.approx([0.0, 1.0])
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        gradient(np.array([-1.0, 0.0]))


def test_a_table_without_the_key_fails_as_it_does_in_the_function():
    def f(x):
        table = {0: np.sin, 1: np.cos}
        return table[int(x[0] * 2)](x[1])

    gradient = srcgrad.grad(f)
    assert gradient(np.array([0.1, 0.0])) == pytest.approx([0.0, 1.0])
    with pytest.raises(KeyError):
        gradient(np.array([1.1, 0.0]))


def test_an_attribute_of_none_fails_as_it_does_in_the_function():
    def f(x):
        shape = Circle(x[0]) if x[0] > 0 else None
        return shape.r * x[1]

    gradient = srcgrad.grad(f)
    assert gradient(np.array([1.0, 2.0])) == pytest.approx([2.0, 1.0])
    with pytest.raises(AttributeError):
        gradient(np.array([-1.0, 2.0]))


def test_a_choice_cannot_be_returned():
    def f(x):
        return np.sin if x[0] > 0 else np.cos

    with pytest.raises((srcgrad.UnsupportedError, TypeError)):
        srcgrad.grad(f)(X)


def test_an_object_that_only_a_branch_in_a_loop_chooses():
    def f(x, n):
        a, b = Circle(x[0]), Square(x[1])
        for i in range(n):
            if x[i] > 1:
                chosen = a if x[i] > 2 else b
        return chosen.area() * x[2]

    for x in ([0.5, 1.5, 0.7, 2.5], [1.2, 0.3, 2.2, 0.5], [0.1, 0.2, 0.3, 1.5]):
        check(lambda x: f(x, 4), np.array(x))
    with pytest.raises(UnboundLocalError):
        srcgrad.grad(f)(np.array([0.1, 0.2, 0.3]), 3)


class Total:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        if other.value > 0:
            return Total(self.value + other.value)
        return Total(self.value * 0.5)

    def __radd__(self, other):
        return self


@pytest.mark.parametrize("x", SIGNS, ids=range(len(SIGNS)))
@pytest.mark.parametrize(
    "f",
    [
        lambda x: functools.reduce(lambda a, v: a * 0.5 + v if v > 0 else a - v * v, x),
        lambda x: sum(Total(v) for v in x).value,
    ],
    ids=["reduce", "sum"],
)
def test_a_step_that_branches(f, x):
    check(f, x)


def number_or_tuple(x):
    def bent(v):
        return v * x[1] if v > 0.2 else (v, x[2])

    total = 0.0
    for v in x:
        r = bent(v)
        total += r[0] * r[1] if isinstance(r, tuple) else r
    return total


def number_or_object(x):
    r = x[1] if x[0] > 0 else Circle(x[2])
    return r.area() * x[1] if isinstance(r, Circle) else r**2


def number_or_function(x):
    r = x[1] if x[0] > 0 else (lambda t: t * x[2])
    return r(x[0]) if callable(r) else r**2


def number_or_text(x):
    r = "sum" if x[0] > 0 else x[1]
    return np.sum(x) if r == "sum" else r * x[0]


def number_or_list(x):
    r = x[1] if x[0] > 0 else [x[2], x[1]]
    return sum(r) * x[0] if isinstance(r, list) else r


def array_or_tuple(x):
    r = x if x[0] > 0 else (x[1], x[2])
    return np.sum(np.array(r) ** 2)


def number_or_none_or_object(x):
    r = x[1] if x[0] > 0 else None
    if x[3] > 0:
        r = Circle(x[4])
    if r is None:
        return x[0]
    return r.area() if isinstance(r, Circle) else r**2


def number_then_object_in_a_loop(x):
    r, i = x[0], 0
    while x[i] < 0.5 and i < 5:
        r = Circle(x[i]) if x[i] < -0.5 else x[i] * x[0]
        i += 1
    return r.area() if isinstance(r, Circle) else r**2


def wrapped_and_unwrapped(x):
    r, i = x[0], 0
    while i < 4:
        r = r[0] * r[1] if isinstance(r, tuple) else (r, x[i])
        if x[i] > 0.6:
            break
        i += 1
    return r[0] * r[1] if isinstance(r, tuple) else r**2


def number_or_tuple_matched(x):
    r = x[1] if x[0] > 0 else (x[1], x[2])
    match r:
        case (a, b):
            return a * b
        case float():
            return r * x[0]
    return 0.0


def number_or_tuple_tried(x):
    r = x[1] if x[0] > 0 else (x[1], x[2])
    try:
        return r[0] * r[1]
    except (TypeError, IndexError):
        return r * 3


MIXED = [
    number_or_tuple, number_or_object, number_or_function, number_or_text, number_or_list,
    array_or_tuple, number_or_none_or_object, number_then_object_in_a_loop, wrapped_and_unwrapped,
    number_or_tuple_matched, number_or_tuple_tried,
]  # fmt: skip


@pytest.mark.parametrize("program", MIXED)
def test_a_number_or_something_else(program):
    for x in SIGNS:
        check(program, x)


class Doubling:
    """Its truth changes it, and is always the same."""

    def __init__(self, amount):
        self.amount, self.asked = amount, 0

    def __bool__(self):
        self.amount = self.amount * 2
        self.asked += 1
        return True


class Counting:
    def __init__(self, amount):
        self.amount, self.asked = amount, 0

    def __bool__(self):
        self.asked += 3
        return False


class Once:
    """Its truth is known where it doesn't raise."""

    def __init__(self, amount):
        self.amount, self.asked = amount, 0

    def __bool__(self):
        if self.asked:
            raise ValueError("asked already")
        self.asked = 2
        return True


class Unanswered:
    def __init__(self, amount):
        self.amount, self.asked = amount, 1

    def __bool__(self):
        raise ValueError("no answer")


def truth_with_effects(x):
    one = Doubling(x[0]) if x[1] > 0 else Counting(x[2])
    scale = (2.0 if one else 3.0) + (5.0 if one else 7.0)
    return scale * one.asked * one.amount


def truth_that_may_raise(x):
    total = x[0]
    for v in x:
        one = Once(v) if v > 0 else Doubling(v * x[0])
        try:
            if one:
                total = total + one.amount
            if one:
                total = total * x[1]
        except ValueError:
            total = total + v**2 * one.asked
    return total


def truth_that_raises(x):
    one = Unanswered(x[0]) if x[1] > 0 else Counting(x[2])
    try:
        if one:
            return one.amount
    except ValueError:
        return x[3] * one.amount
    return x[4] * one.asked


def truth_of_what_a_loop_makes(x):
    total = x[0]
    for v in x:
        one = Doubling(v) if v > 0 else Unanswered(v)
        try:
            total = total + one.amount**2 if one else total
        except ValueError:
            total = total * one.amount
    return total


@pytest.mark.parametrize(
    "program",
    [truth_with_effects, truth_that_may_raise, truth_that_raises, truth_of_what_a_loop_makes],
)
def test_what_asking_for_truth_does_is_done_to_the_object_that_it_is(program):
    for x in SIGNS:
        check(program, x)


def truth_of_one_class_in_two_places(x):
    one = Doubling(x[0]) if x[1] > 0 else Unanswered(x[0])
    return x[2] if one.asked > 5 or one else x[3]


def test_what_asking_for_truth_raises_is_raised():
    program = truth_of_one_class_in_two_places
    check(program, np.abs(X))
    with pytest.raises(ValueError, match="no answer"):
        srcgrad.grad(program)(-np.abs(X))


def bool_of_what_a_table_keeps(x):
    one = Doubling(x[0]) if x[1] > 0 else Once(x[2])
    answer = bool(one)
    return one.amount * (2.0 if answer else 3.0) * one.asked


def bool_of_what_may_raise(x):
    one = Unanswered(x[0]) if x[1] < 5 else Doubling(x[2])
    try:
        return one.amount if bool(one) else x[3]
    except ValueError:
        return one.amount * x[4]


@pytest.mark.parametrize("program", [bool_of_what_a_table_keeps, bool_of_what_may_raise])
def test_bool_asks_the_object_that_it_is(program):
    for x in SIGNS:
        check(program, x)


def bool_beside_one_that_raises(x):
    one = Doubling(x[0]) if x[1] > 0 else Unanswered(x[0])
    return one.amount if bool(one) else x[2]


def test_bool_of_an_object_in_a_table_is_not_that_of_its_row():
    check(bool_beside_one_that_raises, np.abs(X))


def newton_of_a_flag(x, jacobian):
    f, slope, step = x * x - 2.0, [2.0 * x, 1.0], 1
    while step < 6:
        x = x - f / slope[0]
        fresh = x > 0
        if fresh:
            f, new = x * x - 2.0, [2.0 * x, 1.0]
        step += 1
        if not fresh:
            new = jacobian(x)
        slope = new
    return x + 0.1 * slope[0]


def test_a_flag_that_stands_for_a_function():
    def f(x):
        return newton_of_a_flag(x, True)

    srcgrad.testing.check_grads(f, (1.3,), order=1)
    for call in (f, srcgrad.grad(f)):
        with pytest.raises(TypeError, match="'bool' object is not callable"):
            call(-0.3)


def test_what_cannot_be_called_may_be_caught():
    def f(x, call):
        try:
            return call(x)
        except TypeError:
            return 3.0 * x

    for call in (True, "sin", np.sin, 2.0):
        assert srcgrad.grad(f)(0.5, call) == srcgrad.grad(lambda x: f(x, call))(0.5)  # noqa: B023
        srcgrad.testing.check_grads(lambda x: f(x, call), (0.5,), order=1)  # noqa: B023


class Scaled:
    def __init__(self, by):
        self.by = by

    def times(self, v):
        return self.by * v


def applied(v):
    if v is None:
        return 0.25
    if isinstance(v, Scaled):
        return v.by**2
    return v(1.5) if callable(v) else v * 2.0


def choices_of_choices(x):
    """Compiled without end: the choice had those that it had been made of as options."""
    a, b, scaled = x[0], None, Scaled(x[1])
    for k in range(2):
        if x[0] > 0.7:
            a = Scaled(x[2] * k)
        elif x[1] > 0.5:
            b = scaled.times
    j = 0
    while x[j % 3] < 0.7:
        a = (a, b)[int(x[1] > 0.5)]
        j += 1
    return applied(a) * x[0] + x[2] * applied({"a": b, "b": a}["ab"[j % 2]])


@pytest.mark.parametrize("x", [(0.3, 0.8, 0.55), (0.8, 0.6, 0.3), (0.3, 0.2, 0.9)])
def test_choices_of_choices(x):
    check(choices_of_choices, np.array(x))


def drawn(shape, rng=None):
    return (rng or np.random).standard_normal(shape)


def a_generator_handed_on(x):
    weights = drawn((3, 4), np.random.default_rng(0))
    hidden = np.tanh(weights.T @ x)
    kept = np.random.RandomState(1).rand(*hidden.shape) > 0.3  # of as many axes as are known
    return np.sum(hidden * kept)


def a_generator_that_may_be_none(x):
    rng = None
    for i in range(3):
        if x[i] > 0.7:
            rng = np.random.default_rng(i)
    return np.sum(x) * (2.0 if rng else 3.0)


@pytest.mark.parametrize("f", [a_generator_handed_on, a_generator_that_may_be_none])
@pytest.mark.parametrize("x", [np.array([0.3, 0.8, 0.55]), np.array([0.3, 0.2, 0.55])])
def test_an_object_whose_class_says_nothing_of_its_truth_is_true(f, x):
    assert srcgrad.value_and_grad(f)(x)[0] == f(x)
    srcgrad.testing.check_grads(f, (x,))


def lambdas_of_a_list_meet_a_function(x):
    scaled, s = [lambda z, a=a: a * z for a in (2.0, 3.0)], 0.0
    for i in range(len(x)):
        f = scaled[i % 2] if x[i] > 0.4 else np.sin
        s += f(x[i])
    return s


def methods_of_a_list_meet_a_function(x):
    scaled, s = [Gain(2.0).scaled, Gain(3.0).scaled], 0.0
    for i in range(len(x)):
        if x[i] > 0.4:
            f = scaled[i % 2]
        else:
            f = np.sin
        s += f(x[i])
    return s


@pytest.mark.parametrize(
    "f", [lambdas_of_a_list_meet_a_function, methods_of_a_list_meet_a_function]
)
def test_one_function_of_several_arguments_in_a_list(f):
    check(f, np.array([0.5, 0.2, 0.9, 0.7]))


def best_list(x):
    best, cost = None, np.inf
    for path in ([(0, 1), (1, 2)], [(0, 2), (2, 1)], [(1, 2), (2, 2)]):
        found = sum(x[a] * x[b] for a, b in path)
        if found < cost:
            best, cost = path, found
    total = sum((k + 1) * x[a] * x[b] for k, (a, b) in enumerate(best))
    others = best[1:]
    total += sum(x[a] * x[c] for (a, _), (_, c) in zip(best, others, strict=False))
    return total + sum(x[a] * v for (a, _), v in zip(best, x[3:], strict=False))


def list_or_none(x):
    weights = None
    for v in x:
        if v > 0.1:
            weights = [v, x[0], -1.0]
    kept = sum(filter(lambda v: v > -2.0, weights)) + sum(map(np.sin, weights))
    return kept + sum(i * v for i, v in enumerate(weights)) + next(reversed(weights))


def changed_before_it_is_gone_through(x):
    a, b, chosen = [1.0, 2.0], [3.0, 4.0], None
    if x[0] > -2.0:
        chosen = a
    if x[1] > 0.0:
        chosen = b
    pairs = zip(chosen, x, strict=False)
    a[0] = 9.0
    return sum(w * v for w, v in pairs)


@pytest.mark.parametrize("x", SIGNS, ids=range(len(SIGNS)))
@pytest.mark.parametrize("f", [best_list, list_or_none, changed_before_it_is_gone_through])
def test_lists_or_none_are_gone_through_with_others(f, x):
    check(f, x)


@pytest.mark.parametrize("through", [enumerate, reversed, lambda v: zip(v, range(9), strict=False)])
def test_none_is_not_gone_through(through):
    def f(x):
        chosen = None
        if x > 0.0:
            chosen = [x, 2.0 * x]
        if x > 2.0:
            chosen = [x * x, 1.0]
        found = through(chosen)
        return 3.0 * x if found is None else x * len(list(found))

    for x, slope in ((1.0, 2.0), (3.0, 2.0)):
        assert srcgrad.grad(f)(x) == slope
    for fails in (f, srcgrad.grad(f)):
        with pytest.raises(TypeError, match="'NoneType' object is not"):
            fails(-1.0)
