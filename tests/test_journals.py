"""Lists, dicts and sets outside, which the function writes: histories, statistics, counts."""

import collections
import contextlib
import copy
import functools
import time

import numpy as np
import pytest

import srcgrad

X = np.array([0.4, 0.7, 1.1, 1.3])
STATS = {"calls": 0, "loss": 0.0, "best": 9.0, "done": False}
HISTORY = []
COUNT = [0, 0]
LOG = {"x": [], "loss": []}
SEEN = set()
LAST = collections.deque(maxlen=3)
BY_NAME = collections.defaultdict(list)


def first(numbers=COUNT):
    return numbers[0]


PARTS = {"calls": 0, "count": COUNT}
FIRST = functools.partial(first, COUNT)


def counted(x):
    STATS["calls"] += 1
    COUNT[0] += 1
    COUNT[-1] += 2
    return np.sum(x**2) * STATS["calls"] * COUNT[0]


def history(x):
    loss = np.sum(x**2)
    HISTORY.append(float(loss))
    HISTORY.append((len(HISTORY), loss))
    return loss


def in_a_loop(x):
    for k in range(4):
        x = x - 0.1 * x**2
        if x[0] < 0.33:
            HISTORY.append(np.linalg.norm(x))
        HISTORY.append({"k": k, "x": x, "parts": [x[0], k]})
        HISTORY.append({"two words": k, "class": x[1], 3: {}})
    return np.sum(x)


def arrays(x):
    u = x.copy()
    for _ in range(3):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        LOG["x"].append(u.copy())
        LOG["loss"].append(u @ u)
    return np.sum(u**3)


def statistics(x):
    loss = np.sum(np.sin(x))
    STATS["loss"] += loss
    if loss < STATS["best"]:
        STATS["best"] = loss
    STATS["done"] = True
    STATS["new"] = [loss, 1]
    return loss * x[0]


def others(x):
    if not HISTORY:
        HISTORY.extend([1.0, x[0]])
    SEEN.add(len(HISTORY))
    LAST.append(x[1])
    BY_NAME["x"].append(x[2])
    STATS.update(loss=x[0], done=x[0] > 1)
    return np.prod(x)


def in_a_while(x):
    y, log = x[0], HISTORY
    while True:
        COUNT[1] += 1
        log.append(y)
        new = 0.5 * (y + x[1] / y)
        if abs(new - y) < 1e-10:
            return new * x[2]
        y = new


def raised(x):
    try:
        HISTORY.append(1)
        if x[0] > 0:
            raise ValueError("no")
        HISTORY.append(2)
    except ValueError:
        HISTORY.append(3)
        return np.sum(x**2)
    finally:
        COUNT[0] += 1
    return np.sum(x)


def in_an_inner_gradient(x):
    def f(v):
        HISTORY.append(v[0])
        return np.sum(v**3)

    return np.sum(srcgrad.grad(f)(x) * x)


def helper(v, log):
    log["loss"].append(v)
    return v**2


def passed_on(x):
    return sum(helper(v, LOG) for v in x)


def read_again(x):
    HISTORY.append(x[0])
    return HISTORY[-1] * x[1]


def searched(x):
    HISTORY.extend([x[0], 1.0])
    return x[HISTORY.index(1.0)] ** 2


def total(x):
    STATS["loss"] += x[0]
    return STATS["loss"] ** 2 * x[1]


def summed(x):
    HISTORY.append(x[0])
    return sum(HISTORY)


def a_list_in_use(x):
    row = [x[0]]
    HISTORY.append(row)
    row.append(x[1])
    return row[1]


READ_AGAIN = (read_again, searched, total, summed, a_list_in_use)


def factory():
    counter, values = {"calls": 0}, []

    def objective(x):
        counter["calls"] += 1
        r = x - 1
        values.append(r @ r)
        return r @ r

    return objective


class Objective:
    """It keeps what it was called with."""

    def __init__(self, target):
        self.target, self.calls, self.history, self.me = target, 0, [], self

    def __call__(self, x):
        self.calls += 1
        value = self.residual(x) @ self.residual(x)
        self.history.append(value)
        return value

    def residual(self, x):
        self.history.append("residual")
        return x - self.target


IN_CELLS, OBJECTIVE = factory(), Objective(0.5)


def world():
    cells = [c.cell_contents for c in IN_CELLS.__closure__]
    return [STATS, HISTORY, COUNT, LOG, SEEN, LAST, BY_NAME, *cells, OBJECTIVE.history]


def put(known):
    for thing, old in zip(world(), copy.deepcopy(known), strict=True):
        thing.clear()
        thing.extend(old) if isinstance(thing, (list, collections.deque)) else thing.update(old)
    for name in LOG:  # the lists in it are looked up when a gradient is called
        LOG[name] = list(LOG[name])


def described(value):
    """A value with its types, to compare exactly what is kept."""
    if isinstance(value, dict):
        return {k: described(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, collections.deque)):
        return [type(value), *map(described, value)]
    if isinstance(value, np.ndarray):
        return [np.ndarray, value.shape, *map(float, np.round(value, 9).ravel())]
    if isinstance(value, (float, np.floating)):
        return round(float(value), 9)
    return value


@pytest.fixture
def outside():
    before = copy.deepcopy(world())
    put([{"calls": 0, "loss": 0.0, "best": 9.0, "done": False}, [], [0, 0], {"x": [], "loss": []},
         set(), [], {}, *map(copy.deepcopy, before[7:9]), []])  # fmt: skip
    yield
    put(before)


@pytest.mark.parametrize(
    "function",
    [
        counted, history, in_a_loop, arrays, statistics, others, in_a_while, raised,
        in_an_inner_gradient, passed_on, IN_CELLS, OBJECTIVE, read_again, searched, total, summed,
        a_list_in_use,
    ],
    ids=lambda f: getattr(f, "__name__", "Objective"),
)  # fmt: skip
def test_what_is_kept_outside_is_kept_once(function, outside):
    direction = np.array([0.3, -0.2, 0.5, 0.1])
    ways = {
        "grad": lambda: srcgrad.grad(function)(X) @ direction,
        "value_and_grad": lambda: srcgrad.value_and_grad(function)(X)[1] @ direction,
        "jvp": lambda: srcgrad.jvp(function, (X,), (direction,))[1],
        "hvp": lambda: srcgrad.hvp(function)(X, direction),
        "hessian": lambda: srcgrad.hessian(function)(X) @ direction,
    }
    if function in READ_AGAIN:  # what it computes depends on how often it has been called
        with pytest.raises(srcgrad.UnsupportedError, match="would be called several times"):
            ways.pop("hessian")()
    for round_ in range(2):
        start = copy.deepcopy(world())
        function(X)
        end = copy.deepcopy(world())
        slopes = []
        for sign in (1, -1):
            put(start)
            slopes.append(function(X + sign * 1e-6 * direction))
        gradients = []
        for sign in (1, -1):
            put(start)
            gradients.append(srcgrad.grad(function)(X + sign * 1e-6 * direction))
        for name, way in ways.items():
            put(start)
            found = way()
            assert described(world()) == described(end), (name, round_)
            second = name in ("hvp", "hessian")
            moved = gradients if second else slopes
            expected = (moved[0] - moved[1]) / 2e-6
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=name)
        put(end)


def test_a_history_that_grows_is_compiled_once(outside):
    gradient = srcgrad.grad(history)
    for _ in range(8):
        gradient(X)
    assert len(gradient.sources) == 1
    assert "HISTORY.append(float(loss))" in gradient.source
    objective = srcgrad.grad(OBJECTIVE)
    for _ in range(8):
        objective(X)
    assert len(objective.sources) == 1


def written_later(x):
    u = x.copy()
    HISTORY.append(u)
    u[0] = 0.0
    return np.sum(u**2)


def by_a_partial(x):
    COUNT[0] = float(x[0])
    return FIRST() * x[1]


def by_a_default(x):
    COUNT[0] = float(x[0])
    return first.__defaults__[0][0] * x[1]


def by_a_part(x):
    PARTS["calls"] += 1
    PARTS["count"][0] = float(x[0])
    return COUNT[0] * x[1]


def into_attributes(x):
    OBJECTIVE.__dict__.update(scale=float(x[0]))
    return OBJECTIVE.scale * x[1]


def an_attribute(x):
    OBJECTIVE.__dict__["scale"] = float(x[0])
    return OBJECTIVE.scale * x[1]


@pytest.mark.parametrize(
    "function, message, line",
    [
        (into_attributes, "'OBJECTIVE.__dict__' belongs to the caller", "    OBJECTIVE.__dict__"),
        (an_attribute, "'OBJECTIVE.__dict__' belongs to the caller", "    OBJECTIVE.__dict__"),
        (read_again, "the result depends on what is read from 'HISTORY', which the function writes",
         "    return HISTORY[-1] * x[1]\n           ^^^^^^^^^^^"),
        (searched, "'HISTORY' is written by this function, so that what it holds isn't known",
         "    return x[HISTORY.index(1.0)] ** 2\n             ^^^^^^^^^^^^^^^^^^"),
        (written_later, "this array is kept outside of the function, and written in place besides",
         "    HISTORY.append(u)\n    ^^^^^^^^^^^^^^^^^"),
        (summed, "'HISTORY' is written by this function",
         "    return sum(HISTORY)\n           ^^^^^^^^^^^^"),
        (a_list_in_use, "only numbers, arrays, and new tuples, lists and dicts of them can be kept",
         "    HISTORY.append(row)\n    ^^^^^^^^^^^^^^^^^^^"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_what_would_go_wrong_is_refused(function, message, line, outside):
    HISTORY.extend([1.0] * 20)  # longer than what is taken in
    before = copy.deepcopy(world())
    with pytest.raises(srcgrad.UnsupportedError) as caught:
        srcgrad.grad(function)(X)
    assert message in str(caught.value) and line in str(caught.value)
    assert described(world()) == described(before)


@pytest.mark.parametrize("function", [by_a_partial, by_a_default, by_a_part])
@pytest.mark.parametrize("start", [0, 0.0])
def test_what_is_written_by_one_way_and_read_by_another(function, start, outside):
    COUNT[0] = start
    try:
        if isinstance(start, float):
            expected = [X[1], X[0], 0.0, 0.0]
            np.testing.assert_allclose(srcgrad.grad(function)(X), expected, rtol=1e-12)
            assert COUNT[0] == X[0]
        else:  # an int has no derivative, and is one when the gradient runs
            with pytest.raises(TypeError, match="'float' object cannot be interpreted as an int"):
                srcgrad.grad(function)(X)
    finally:
        COUNT[0] = 0


KEPT = {}
WARNED = set()
TIMES = {}


@contextlib.contextmanager
def timed(name):
    start = time.perf_counter()
    try:
        yield
    finally:
        TIMES.setdefault(name, []).append(time.perf_counter() - start)


def kept_by_name(x, n):
    with timed("loop"), np.errstate(over="raise"):
        for i in range(n):
            if not np.all(np.isfinite(x)):
                break
            KEPT.setdefault("step", []).append(i)
            KEPT.setdefault("sums", {})[i] = float(np.sum(x))
            for name, value in (("first", x[0]), ("last", x[-1])):
                if name not in KEPT:
                    KEPT[name] = []
                KEPT[name].append(float(value))
            if "warned" not in WARNED:
                WARNED.add("warned")
                KEPT["warnings"] = i
            x = x * x
    return np.sum(x)


def test_containers_are_made_when_something_is_kept_in_them():
    gradient, x = srcgrad.grad(kept_by_name), np.array([1.0, 2.0])
    for times in (1, 2):
        np.testing.assert_allclose(gradient(x, 2), 4 * x**3)
        assert KEPT["step"] == times * [0, 1] and KEPT["last"] == times * [2.0, 4.0]
        assert KEPT["sums"] == {0: 3.0, 1: 5.0} and KEPT["warnings"] == 0
        assert len(TIMES["loop"]) == times and len(WARNED) == 1
    KEPT["warnings"] = 7
    np.testing.assert_allclose(srcgrad.grad(lambda x: kept_by_name(x, 2))(x), 4 * x**3)
    assert len(KEPT["step"]) == 6 and KEPT["warnings"] == 7


CALLS = 0


def counted(x):
    global CALLS
    CALLS += 1
    return x * x


def test_the_pullback_of_what_counts_in_a_global():
    """The module is given to the forward sweep: from there is a way to all others, in circles."""
    counted(X)
    out, pullback = srcgrad.vjp(counted, X)
    assert globals()["CALLS"] == 2
    np.testing.assert_array_equal(out, X * X)
    np.testing.assert_array_equal(pullback(np.ones(4))[0], 2 * X)


CLOCKS = []


@pytest.mark.parametrize("clock", ["time", "perf_counter", "monotonic", "process_time"])
def test_what_a_clock_shows_is_a_number(clock):
    show = getattr(time, clock)

    def clocked(x):
        CLOCKS.append(show())
        value = np.sum(x**2)
        CLOCKS.append([show(), float(value)])
        return value

    CLOCKS.clear()
    first = show()
    assert srcgrad.grad(clocked)(X).tolist() == (2 * X).tolist()
    before, (after, value) = CLOCKS
    assert value == np.sum(X**2) and type(before) is float
    assert first <= before <= after <= show()
