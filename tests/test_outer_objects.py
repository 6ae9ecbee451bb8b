"""Objects outside that the function writes and reads: layers, cells, networks with caches."""

import copy
import operator

import numpy as np
import pytest

import srcgrad
import srcgrad.testing

X = np.array([0.3, 0.8, 0.55])


class Thing:
    """An object with attributes, which is put back in place."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


class Dense(Thing):
    def forward(self, inputs):
        self.inputs = inputs
        self.output = np.tanh(inputs @ self.weights + self.bias)
        self.calls += 1


class Norm(Thing):
    def forward(self, inputs):
        self.mean, self.spread = inputs.mean(), inputs.std()
        self.running = 0.9 * self.running + 0.1 * self.mean
        self.output = (inputs - self.running) / (self.spread + 0.1)


class Chain(Thing):
    @property
    def last(self):
        return self._last

    @last.setter
    def last(self, value):
        self._last = value * 1.0

    def __call__(self, x):
        for layer in self.layers:
            layer.forward(x)
            x = layer.output
        self.last = x
        return np.sum(self.last**2)


class Cell(Thing):
    def step(self, x):
        if self.state is None:
            self.state = np.zeros(3)
        self.state = np.tanh(self.state @ self.weights + x)
        self.states.append(self.state)
        self.cache["state"] = self.state
        return self.cache["state"] @ self.states[-1] + self.states[0][0]


class Simulation(Thing):
    def run(self, x, n):
        self.position, self.velocity = x, np.zeros(3)
        for _ in range(n):
            self.velocity = self.velocity - self.dt * self.position
            self.position = self.position + self.dt * self.velocity
            self.time += self.dt
        return self.position @ self.position * self.time


def world():
    rng = np.random.default_rng(0)
    first = Dense(weights=rng.normal(size=(3, 3)), bias=np.zeros(3), calls=0)
    second = Dense(weights=rng.normal(size=(3, 2)), bias=np.ones(2), calls=3)
    norm = Norm(running=0.2)
    return Thing(
        chain=Chain(layers=[first, norm, second], first=first, _last=None),
        cell=Cell(weights=rng.normal(size=(3, 3)), state=None, states=[], cache={}),
        simulation=Simulation(dt=0.1, time=0.0, kept=[1.0]),
        box=Thing(value=2.0, flag=False, name="a", pair=(1.0, 2.0), table={"k": 1.5, "n": {}}),
        twin=Thing(),
    )


WORLD = world()
WORLD.twin.box = WORLD.box
START = copy.deepcopy(WORLD)


def put_back():
    put_back_thing(WORLD, START, set())


def put_back_thing(now, start, seen):
    """Everything as it was, the objects, lists and dicts being the same ones."""
    if id(now) in seen:
        return now
    seen.add(id(now))
    if isinstance(start, Thing):
        old = dict(vars(now))
        vars(now).clear()
        vars(now).update({k: put_back_value(old.get(k), v, seen) for k, v in vars(start).items()})
    elif isinstance(start, dict):
        old = dict(now)
        now.clear()
        now.update({k: put_back_value(old.get(k), v, seen) for k, v in start.items()})
    elif isinstance(start, list):
        old = [*now, *[None] * len(start)]
        now[:] = [put_back_value(o, v, seen) for o, v in zip(old, start, strict=False)]
    return now


KEPT = {}


def put_back_value(now, start, seen):
    if not isinstance(start, (Thing, dict, list)):
        return start
    return put_back_thing(KEPT.setdefault(id(start), now), start, seen)


put_back()


def described(value, seen=()):
    if isinstance(value, Thing):
        if id(value) in seen:
            return "again"
        seen = (*seen, id(value))
        return {k: described(v, seen) for k, v in vars(value).items()}
    if isinstance(value, dict):
        return {k: described(v, seen) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value), *(described(v, seen) for v in value)]
    if isinstance(value, np.ndarray):
        return [value.shape, *np.round(value, 9).ravel().tolist()]
    return round(float(value), 9) if isinstance(value, (float, np.floating)) else value


def caches(x):
    return WORLD.chain(x) * np.sum(WORLD.chain.first.output) * WORLD.chain.layers[1].mean


def weights_assigned(x):
    WORLD.chain.layers[0].weights = np.outer(x, x)
    WORLD.chain.first.bias = x**2
    return WORLD.chain(np.array([0.5, 0.2, 0.1])) + x @ WORLD.chain.layers[0].bias


def cell_in_steps(x):
    total = 0.0
    for k in range(3):
        total = total + WORLD.cell.step(x * (k + 1))
    return total * len(WORLD.cell.states)


def kept_loop(x):
    return WORLD.simulation.run(x, 3 + len(WORLD.simulation.kept)) * WORLD.simulation.time


def written_by_one_name_and_read_by_another(x):
    WORLD.box.value = x[0] * x[1]
    other = WORLD.twin.box
    other.value = other.value * x[2]
    return WORLD.box.value**2 if other is WORLD.box else 0.0


def on_branches(x):
    box = WORLD.box
    if x[0] > 0.2:
        box.value = box.value * x[0]
        box.flag = True
    else:
        box.value = np.exp(x[1])
    if x[1] > 5:
        box.table["k"] = x[1]
    box.name = "b" if box.flag else "c"
    return box.value**3 * box.table["k"]


def dynamic_names(x):
    for k, name in enumerate(["value", "other"]):
        setattr(WORLD.box, name, x[k] ** 2)
    WORLD.box.pair = WORLD.box.pair[::-1]
    return getattr(WORLD.box, "value") * WORLD.box.other * vars(WORLD.box)["pair"][0]  # noqa: B009


def swapped(x):
    box = WORLD.box
    box.pair = (x[0], x[1] * box.pair[0])
    box.value, box.pair = box.pair[1], (box.value, box.pair[0])
    return box.value * box.pair[1] + box.pair[0] * x[2]


def items_of_a_dict(x):
    table = WORLD.box.table
    for k, v in enumerate(x):
        table[f"item{k}"] = v * v
    table["n"]["deep"] = table["item0"] * table["k"]
    table.update(k=table["n"]["deep"] * 2)
    return sum(v for k, v in table.items() if k != "n") * len(table)


def kept_in_two_places(x):
    pair, table = [x[0] * 2, x[1]], {"p": x[2], "q": [x[0]]}
    WORLD.box.value, WORLD.box.kept = pair, pair
    WORLD.box.pair = pair
    WORLD.box.first, WORLD.box.second = table, table
    pair[0] += 1.0
    table["r"] = x[1] * WORLD.box.kept[0]
    return WORLD.box.pair[0] * pair[1] + WORLD.box.second["r"] * table["q"][0]


def asked_what_is_in_it(x):
    table = WORLD.box.table
    table["loss"] = x[0] ** 2
    total = table["loss"] if "loss" in table and "gone" not in table else x[1]
    for name in table:
        total += len(name) * x[2]
    return total if table != {"k": 1.5} else x[1]


def made_if_missing(x):
    box = WORLD.box
    if not hasattr(box, "history"):
        box.history = [x[0]]
    box.history.append(x[1] * box.history[-1])
    return box.history[-1] * x[2]


def filled_in_place(x):
    WORLD.box.out = np.zeros(3)
    for k in range(3):
        WORLD.box.out[k] = x[k] ** 2
    WORLD.box.rows = {"out": WORLD.box.out * 2, "list": [x[0], {"x": x}]}
    return WORLD.box.out @ x + WORLD.box.rows["list"][0]


def in_an_inner_function(x):
    def f(v):
        WORLD.box.value = v[0] * v[1]
        return np.sum(v**3) * WORLD.box.value

    gradient = srcgrad.grad(f)(x)
    return gradient @ x * WORLD.box.value


PROGRAMS = [
    caches, weights_assigned, cell_in_steps, kept_loop, written_by_one_name_and_read_by_another,
    on_branches, dynamic_names, swapped, items_of_a_dict, asked_what_is_in_it,
    kept_in_two_places,
    made_if_missing, filled_in_place,
    in_an_inner_function, WORLD.chain,
]  # fmt: skip


@pytest.fixture(autouse=True)
def outside():
    put_back()
    yield
    put_back()


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: getattr(f, "__name__", "Chain"))
def test_what_is_written_outside(f):
    direction = np.array([0.3, -0.2, 0.5])

    def slope(function):
        sides = []
        for sign in (1, -1):
            put_back()
            sides.append(function(X + sign * 1e-5 * direction))
        return (sides[0] - sides[1]) / 2e-5

    put_back()
    value = f(X.copy())
    end = described(WORLD)
    first = slope(f)
    ways = {
        "grad": (lambda: srcgrad.grad(f)(X) @ direction, first),
        "value_and_grad": (lambda: srcgrad.value_and_grad(f)(X)[1] @ direction, first),
        "value": (lambda: srcgrad.value_and_grad(f)(X)[0], value),
        "jvp": (lambda: srcgrad.jvp(f, (X,), (direction,))[1], first),
        "hvp": (lambda: srcgrad.hvp(f)(X, direction), slope(srcgrad.grad(f))),
    }
    for name, (way, expected) in ways.items():
        for _ in range(2):
            put_back()
            np.testing.assert_allclose(way(), expected, rtol=1e-6, atol=1e-7, err_msg=name)
            assert described(WORLD) == end, name


TREE = {"weight": 2.0, "leaf": {"v": np.ones(3)}}
TREE["leaf"]["parent"] = TREE
ROWS = [3.0]
ROWS.append((ROWS, TREE))


def read_in_a_ring(x):
    return np.sum(x) * TREE["leaf"]["parent"]["weight"] * ROWS[1][0][1][1]["weight"]


def written_in_a_ring(x):
    TREE["leaf"]["v"] = x**2
    TREE["leaf"]["parent"]["weight"] = np.sum(x)
    return np.sum(TREE["leaf"]["parent"]["leaf"]["v"]) * TREE["weight"] * ROWS[0]


@pytest.mark.parametrize("f", [read_in_a_ring, written_in_a_ring])
def test_containers_outside_that_hold_themselves(f):
    TREE["weight"], TREE["leaf"]["v"] = 2.0, np.ones(3)
    srcgrad.testing.check_grads(f, (X,))
    gradient = srcgrad.grad(read_in_a_ring)
    TREE["weight"] = 2.0
    np.testing.assert_allclose(gradient(X), 4.0)
    TREE["weight"] = 3.0
    np.testing.assert_allclose(gradient(X), 9.0)


def test_a_ring_outside_that_is_opened():
    rows = [2.0]
    rows.append(rows)

    def f(x):
        return np.sum(x) * rows[1][0]

    gradient = srcgrad.grad(f)
    np.testing.assert_allclose(gradient(X), 2.0)
    rows[1] = [5.0]
    np.testing.assert_allclose(gradient(X), 5.0)
    rows[1] = rows
    np.testing.assert_allclose(gradient(X), 2.0)


def test_what_is_kept_in_two_places_is_one_thing():
    srcgrad.grad(kept_in_two_places)(X)
    box = WORLD.box
    assert box.value is box.kept and box.kept is box.pair and box.first is box.second
    box.pair.append(1.0)
    assert len(box.value) == 3


class Shaped:
    """An object whose operators are no arithmetic."""

    def __init__(self, scale):
        self.scale = scale

    def __mul__(self, other):
        return np.exp(other) * self.scale

    def __rmul__(self, other):
        return other**2 * self.scale

    def __neg__(self):
        return Shaped(-self.scale)

    def __sub__(self, other):
        return Shaped(self.scale - other.scale)

    def __ror__(self, other):
        return np.sin(other) * self.scale

    def __lt__(self, other):
        return other < self.scale


class MoreShaped(Shaped):
    def __rsub__(self, other):
        return other.scale * self.scale**3


SHAPED = Shaped(2.0)
HOLDER = Thing(state=SHAPED)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * SHAPED + SHAPED * x,
        lambda x: x * (-SHAPED),
        lambda x: x | SHAPED,
        lambda x: (SHAPED - Shaped(x)).scale * x,
        lambda x: SHAPED - MoreShaped(x),
        lambda x: x if x > SHAPED else 3 * x,
        lambda x: x * HOLDER.state,
    ],
)
def test_operators_of_objects_outside_are_their_own(f):
    value, slope = srcgrad.value_and_grad(f)(1.5)
    assert value == f(1.5)
    assert slope == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6)


def test_functions_of_operators_are_those_of_objects_outside():
    def f(x):
        return x * operator.neg(SHAPED)

    assert srcgrad.value_and_grad(f)(1.5) == (f(1.5), -6.0)


class Recurrent(Thing):
    def forward(self, xs):
        state, self.states, self.steps = np.zeros(2), [], []
        for t in range(len(xs)):
            state = np.tanh(self.weights @ state + xs[t])
            self.states.append(state)
            self.steps.append((t, 2.0 * state[0]))
        self.same = self.states
        self.sums = [np.sum(state) for state in self.states]
        return state


def test_lists_that_loops_make_are_kept():
    layer = Recurrent(weights=np.array([[0.3, -0.5], [0.2, 0.7]]))

    def loss(xs):
        return np.sum(layer.forward(xs) ** 2) + sum(layer.sums) * layer.steps[0][1]

    xs, direction = np.cos(np.arange(10.0)).reshape(5, 2), np.sin(np.arange(10.0)).reshape(5, 2)
    for n in (1, 5):
        slope = srcgrad.grad(loss)(xs[:n])
        kept = copy.deepcopy(vars(layer))
        assert layer.states is layer.same
        moved = [loss(xs[:n] + h * direction[:n]) for h in (1e-6, -1e-6)]
        expected = (moved[0] - moved[1]) / 2e-6
        assert np.sum(slope * direction[:n]) == pytest.approx(expected, rel=1e-7)
        _, tangent = srcgrad.jvp(loss, (xs[:n],), (direction[:n],))
        assert tangent == pytest.approx(expected, rel=1e-7)
        loss(xs[:n])
        for name in ("states", "steps", "sums"):
            assert len(kept[name]) == n
            np.testing.assert_allclose(kept[name], getattr(layer, name), rtol=1e-12)


class Registered:
    """Notes what is assigned, as the modules of teaching engines do."""

    def __init__(self, weight):
        self.names = []
        self.weight = weight

    def __setattr__(self, name, value):
        if isinstance(value, np.ndarray):
            self.names.append(name)
        super().__setattr__(name, value)

    def __call__(self, x):
        self.last = x * self.weight
        return np.sum(self.last**2)


def test_an_object_outside_whose_class_has_a_setattr():
    layer, weight = Registered(np.array([0.5, 2.0])), np.array([0.5, 2.0])
    x = np.array([1.0, 3.0])
    gradient = srcgrad.grad(lambda x: layer(x) * layer.last[0])
    for count in (1, 2):
        np.testing.assert_allclose(
            gradient(x), 2 * x * weight**2 * 0.5 + [0.5 * np.sum((x * weight) ** 2), 0.0]
        )
        np.testing.assert_array_equal(layer.last, x * weight)
        assert layer.names == ["weight"] + ["last"] * count


class Direction:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def normalized(self):
        length = (self.x**2 + self.y**2) ** 0.5
        if length != 0.0:
            self.x /= length
            self.y /= length
        return self

    def __sub__(self, other):
        return Direction(self.x - other.x, self.y - other.y)


class Ball:
    def __init__(self, x, y):
        self.centre = Direction(x, y)

    def hit(self, ray):
        if (self.centre - ray.direction).x < 2.0:
            ray.found = self

    def normal(self, point):
        return (point - self.centre).normalized()


class Ray:
    def __init__(self, direction):
        self.direction, self.found = direction, None


BALLS = [Ball(1.0, 2.0), Ball(2.0, 1.0)]


def test_a_method_of_one_that_the_data_choose_is_refused_where_it_is_given_an_object():
    """It isn't followed; that was taken for an operator, and raised TypeError when run."""

    def f(x):
        ray = Ray(Direction(x[0], x[1]).normalized())
        for ball in BALLS:
            ball.hit(ray)
        total = ray.direction.x
        if ray.found is not None:
            total += ray.found.normal(ray.direction - Direction(x[0], 1.0)).x
        return total

    with pytest.raises(srcgrad.UnsupportedError, match="doesn't look into"):
        srcgrad.grad(f)(np.array([0.3, 0.8]))
