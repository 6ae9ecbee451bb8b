"""Programs that draw random numbers: the gradient draws the same ones, once, in the same order."""

import random
import struct

import numpy as np
import pytest
from scipy import stats

from srcgrad import UnsupportedError, grad, jvp, value_and_grad
from srcgrad.rules import draws

X = np.array([0.7, -1.2, 0.4, 2.1, -0.3, 1.5])


def drawn_indices(x):
    rng = np.random.default_rng(0)
    s = 0.0
    for _ in range(3):
        i = rng.integers(0, 6, size=4)
        s = 0.5 * s + x[i].sum() ** 2
    return s


def writes_at_drawn_indices(x):
    rng = np.random.default_rng(3)
    y = x * x
    for _ in range(3):
        i = rng.integers(0, 6, size=4)
        y[i] += np.sin(x[i])
    return y @ x


def several_axes(x):
    state = np.random.RandomState(3)
    y = x.reshape(2, 3) * 1.0
    i, j = state.randint(0, 2, size=8), state.randint(0, 3, size=8)
    y[i, j] *= x[j]
    return (y**2).sum() + y[i, 1].prod()


def seeded_here(x):
    np.random.seed(0)
    i = np.random.permutation(6)[:3]
    y = x.copy()
    y[i] = y[i] ** 2
    for _ in range(np.random.randint(1, 4)):
        y = y * np.random.uniform(0.5, 1.0)
    return y @ x


def drawn_masks(x):
    rng = np.random.default_rng(3)
    kept = rng.random(6) > 0.5
    y = x * 1.0
    y[kept] *= x[kept]
    z = rng.standard_normal((10, 6))
    return (y**2).sum() + np.mean(np.maximum(z @ x - 0.1, 0))


def drawn_sizes(x):
    n = np.random.default_rng(3).integers(2, 5)
    y = np.zeros(n)
    y[:] = x[:n]
    y *= y
    return y.sum()


def shuffled(x):
    rng, state = np.random.default_rng(3), np.random.RandomState(4)
    y, z, u = x.reshape(2, 3).copy(), x.copy(), x.reshape(3, 2) * x[0]
    rng.shuffle(y, axis=1)
    rng.shuffle(z)
    state.shuffle(u)
    np.random.seed(3)
    np.random.shuffle(z)
    return y[0] @ np.arange(3) + z @ np.arange(6) ** 2 + u[1] @ u[2]


def batches(x):
    order, rng, w = np.arange(6), np.random.default_rng(0), x[:2].copy()
    for _ in range(2):
        rng.shuffle(order)
        for b in range(0, 6, 3):
            k = order[b : b + 3]
            g = w[0] * x[k] + w[1] - x[k] ** 2
            w = w - 0.05 * np.array([(g * x[k]).mean(), g.mean()])
    return w @ w


def pythons_own(x):
    source = random.Random(3)
    s = 0.0
    for _ in range(5):
        s += x[source.randrange(6)] * source.random()
    return s * source.gauss(0.0, 1.0)


def weights_drawn_and_trained_in_place(x):
    rng, data = np.random.default_rng(2), x.reshape(3, 2)
    np.random.seed(2)
    w, bias = rng.standard_normal(2), np.random.rand(3)
    rates = np.random.RandomState(1).dirichlet(np.ones(2))
    for _ in range(3):
        error = data @ w + bias - rng.random(3)
        w -= 0.1 * rates * (error @ data)
        bias[1:] -= 0.1 * error[1:]
    return w @ w + bias @ bias


def softmax(x):
    return np.exp(x) / np.exp(x).sum()


def choices_by_probabilities(x):
    """What is chosen is a number like any other: a state, a factor, a token that is read."""
    rng, state, total = np.random.default_rng(5), 0, 0.0
    np.random.seed(4)
    for t in range(4):
        p = softmax(x[state : state + 3])
        action = rng.choice(3, p=p)
        total += np.log(p[action]) * (t + action) + x[0] * rng.choice([0.5, 1.5, 2.5], p=p)
        total += (rng.choice(np.eye(3), 2, p=p, axis=1) * x[:2]).sum()
        state = (state + action + np.random.choice(range(len(p)), p=p.ravel())) % 3
    both = np.random.choice(p.size, size=2, replace=False, p=p)
    return total + x[both].prod() * np.random.RandomState(1).choice(3, None, True, p)


class Walker:
    def __init__(self, x, number):
        self.x, self.number = x, number


def sampled_by_python(x):
    """Items of all kinds, of lists as long as the run tells, too; both of its ways to sample."""
    random.seed(4)
    walkers = [Walker(v, i) for i, v in enumerate(x)]
    rows = [(v * k, k) for k in range(int(x[0] * 0) + 20) for v in x[:3]]
    total = random.choice(walkers).x * random.choice([x[0], x[1] ** 2])
    random.shuffle(walkers)
    for k, walker in enumerate(walkers):
        walker.x = walker.x * walkers[k - 1].x + walker.number
    for epoch in range(2):
        random.shuffle(rows)
        for k, (v, i) in enumerate(random.sample(rows, 9)):
            total += v * k + rows[k][0] * i * epoch
    for v, _ in random.sample(rows, 3):
        total += v**2
    return total + sum(w.x * (k + 1) for k, w in enumerate(walkers)) * 0.1


def chosen_by_python(x):
    """What is chosen among constants is drawn when the gradient runs."""
    source = random.Random(7)
    parts = {"sum": x[:3].sum(), "first": x[0] ** 2, "last": x[-1]}
    total = parts[source.choice(list(parts))] * source.choice(list(parts.values()))
    for _ in range(5):
        step = source.choice(["add", "times"])
        factor = x[source.choice(range(6))] + source.choices([x[1], x[2]], [1, 3])[0]
        total = total + factor if step == "add" else total * factor
    random.seed(3)
    a, b = random.choices(x, cum_weights=[1, 2, 4, 5, 8, 9], k=2)
    return total + a * b + random.choices([x, x * x, np.sin(x)])[0] @ x


def moved_by_python(x):
    source = random.Random(2)
    random.seed(2)
    total = source.uniform(x[0], x[1] ** 2) ** 2 + source.expovariate(x[2]) * x[1]
    total *= random.uniform(-x[3], x[3]) + random.expovariate(x[5])
    return total + source.gauss(x[0], sigma=x[1]) ** 2 + random.normalvariate(x[4], x[2]) * x[0]


PROGRAMS = (
    *(drawn_indices, writes_at_drawn_indices, several_axes, seeded_here, drawn_masks),
    *(drawn_sizes, shuffled, batches, pythons_own, weights_drawn_and_trained_in_place),
    choices_by_probabilities,
    *(sampled_by_python, chosen_by_python, moved_by_python),
)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    gradient, h = grad(f)(X), 1e-5
    for seed in range(3):
        d = np.random.default_rng(seed).normal(size=6)
        far, near = f(X + 2 * h * d) - f(X - 2 * h * d), f(X + h * d) - f(X - h * d)
        assert gradient @ d == pytest.approx((8 * near - far) / (12 * h), rel=1e-7, abs=1e-8)
        assert jvp(f, (X,), (d,))[1] == pytest.approx(gradient @ d, rel=1e-10, abs=1e-12)


def draw(name, source):
    """A program whose result moves with the parameters of what it draws."""

    def by_generator(x, seed):
        rng = source(seed)
        return np.sum(getattr(rng, name)(*PARAMETERS[name](x), size=5) ** 2)

    def by_global(x, seed):
        np.random.seed(seed)
        return np.sum(getattr(np.random, name)(*PARAMETERS[name](x), size=5) ** 2)

    return by_global if source is np.random.seed else by_generator


PARAMETERS = {
    **dict.fromkeys(["normal", "laplace", "gumbel", "logistic"], lambda x: (x[0], x[1] ** 2)),
    "uniform": lambda x: (x[0], x[0] + x[1] ** 2),
    **dict.fromkeys(["exponential", "rayleigh"], lambda x: (x[0] ** 2,)),
}


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState, np.random.seed])
@pytest.mark.parametrize("name", PARAMETERS)
def test_what_is_drawn_moves_with_location_and_scale(name, source):
    f, x = draw(name, source), np.array([0.7, -1.2])
    for seed in range(3):
        gradient = grad(f)(x, seed)
        for i, d in enumerate(1e-5 * np.eye(2)):
            far, near = f(x + 2 * d, seed) - f(x - 2 * d, seed), f(x + d, seed) - f(x - d, seed)
            assert gradient[i] == pytest.approx((8 * near - far) / 12e-5, rel=1e-7, abs=1e-7)


def test_every_draw_with_a_derivative_is_tested():
    names = (*PARAMETERS, "choice")  # tested with what moves its probabilities
    tested = {getattr(o, n) for o in (*draws.OWNERS, np.random) for n in names}
    in_python = (*draws.PYTHONS, *draws.CHOOSING)  # see `moved_by_python` and those before it
    tested |= {getattr(o, n) for o in (random, random.Random) for n in in_python}
    assert draws.described() == tested


def test_a_generator_that_is_given_is_used_once():
    def f(x, rng):
        return x * rng.normal() + x**2 * rng.uniform()

    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    gradient = grad(f)
    for _ in range(2):
        assert gradient(2.0, ours) == theirs.normal() + 4.0 * theirs.uniform()


def drawn_by_scipy(x, rng):
    stats.norm.rvs(size=2)  # nothing is used of it, but it moves what is drawn after it
    total = np.random.rand()
    for i in range(2):
        step = stats.uniform(0, 2).rvs(3)
        step[1:] *= x[i]
        total = total * x[2] + step @ x[:3] * stats.multivariate_normal([0.0], 1).rvs()
    stats.bootstrap((np.arange(4.0),), np.mean, n_resamples=9, rng=rng)
    return total * np.random.rand() + stats.gamma.rvs(2.0, random_state=rng) * x[3]


def test_scipy_draws_what_it_draws_in_the_function():
    def f(x):
        np.random.seed(1)
        return drawn_by_scipy(x, np.random.default_rng(3))

    test_gradient(f)


def test_compiling_draws_nothing_from_distributions():
    own, of_all = stats.norm(1.0, 2.0), stats.laplace()

    def f(x):
        return x @ own.rvs(2) + x @ of_all.rvs(2) + x @ stats.dirichlet.rvs([1.0, 2.0])[0]

    def start():
        own.random_state = np.random.RandomState(4)
        np.random.seed(4)

    start()
    gradient = grad(f)(np.ones(2))
    start()
    expected = own.rvs(2) + of_all.rvs(2) + stats.dirichlet.rvs([1.0, 2.0])[0]
    assert gradient == pytest.approx(expected, rel=1e-12)


def test_a_choice_among_what_is_differentiated_is_refused():
    with pytest.raises(UnsupportedError, match="by what it chooses from; draw a position"):
        grad(lambda x: np.random.choice(x, p=softmax(x)))(np.ones(3))
    assert grad(lambda x: x[np.random.choice(3, p=softmax(x))])(np.ones(3)).sum() == 1


def test_what_moves_a_distribution_that_draws_is_refused():
    with pytest.raises(UnsupportedError, match="its result is random"):
        grad(lambda x: x * stats.norm.rvs(loc=x))(1.0)
    with pytest.raises(UnsupportedError, match="numbers of its own"):
        grad(lambda x: x * stats.multivariate_normal(np.zeros(1), seed=1).rvs())(1.0)


def test_a_draw_of_which_nothing_is_used_is_made():
    def f(x, rng):
        rng.normal()
        return x * rng.normal()

    gradient = grad(f)(1.0, np.random.default_rng(1))
    assert gradient == np.random.default_rng(1).normal(size=2)[1]


def test_the_source_calls_methods():
    gradient = grad(drawn_indices)
    gradient(X)
    assert "i = rng.integers(0, 6, size=4)" in gradient.source
    assert "add_at(d_x, i, " in gradient.source


def test_shuffling_a_list():
    def f(x, rng):
        items = [x[0], x[1] ** 2, x[2] * x[3]]
        rng.shuffle(items)
        return items[0] + 2 * items[1]

    for seed in range(4):
        for kind in (np.random.default_rng, np.random.RandomState):
            value, gradient = value_and_grad(f)(X, kind(seed))
            assert value == f(X, kind(seed))
            differences = [
                (f(X + d, kind(seed)) - f(X - d, kind(seed))) / 2e-6 for d in 1e-6 * np.eye(6)
            ]
            assert gradient == pytest.approx(differences, abs=1e-8)


def test_as_python_draws():
    """The same of each size: how it samples depends on it."""
    for n, k in ((1, 1), (3, 0), (5, 5), (21, 5), (22, 5), (22, 6), (85, 6), (90, 30), (300, 7)):
        items = np.arange(n).tolist()

        def f(x, n=n, k=k, items=items):
            random.seed(n)
            near, far = random.sample(items, k), random.choices(items, k=3)
            random.shuffle(near)
            return sum(v * x**i for i, v in enumerate([*near, *far, random.choice(items)]))

        assert value_and_grad(f)(0.9)[0] == pytest.approx(f(0.9), rel=1e-13)  # `sum` since 3.12


@pytest.mark.parametrize(
    ("draw", "error"),
    [(lambda x: random.choice(x[:0]), IndexError), (lambda x: random.sample(x, 9), ValueError),
     (lambda x: random.choices(x, [0.0] * 6), ValueError),
     (lambda x: random.choices(x, [1.0]), ValueError)],
)  # fmt: skip
def test_what_python_does_not_draw(draw, error):
    with pytest.raises(error):
        grad(lambda x: np.sum(draw(x.tolist())))(X)


def test_drawing_into_an_array_is_refused():
    def f(x, rng):
        y = x.copy()
        rng.standard_normal(out=y)
        return y @ y

    with pytest.raises(UnsupportedError, match="out= of random numbers isn't supported"):
        grad(f)(X, np.random.default_rng(0))


def test_an_unknown_function_that_writes_an_array_is_noticed():
    def f(x, value):
        y = x.copy()
        struct.pack_into("d", y, 0, value)
        return y @ y

    assert grad(f)(X, X[0]) == pytest.approx(2 * X)
    with pytest.raises(RuntimeError, match="pack_into changed an array or a list"):
        grad(f)(X, 5.0)


class Noise:
    def __init__(self, seed):
        self.own = random.Random(seed)
        self.start(seed)

    def start(self, seed):
        self.source = np.random.RandomState(seed)

    def added(self, x):
        return x + self.source.randn(*x.shape) * self.own.random()


def test_another_generator_outside_needs_no_compiling():
    noise = Noise(0)

    def f(x):
        return noise.added(x) @ noise.added(x) * rng.normal()

    gradient = value_and_grad(f)
    for seed in range(3):
        found = []
        for function in (gradient, f):
            noise.start(seed)
            noise.own.seed(seed)
            rng = np.random.default_rng(seed)
            found.append(function(X))
        assert found[0][0] == pytest.approx(found[1], rel=1e-12)
    assert len(gradient.sources) == 1
    assert "rng.normal()" in gradient.source
