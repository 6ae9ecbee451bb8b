"""Functions of other packages that aren't looked into: they are called when the gradient runs."""

import concurrent.futures
import contextlib
import csv
import ctypes
import io
import json
import multiprocessing.pool
import os
import sys
import textwrap
import threading
import time
import types

import joblib
import numpy as np
import pytest
import rich.progress
import tqdm
import tqdm.auto

from srcgrad import UnsupportedError, grad, jvp, value_and_grad
from srcgrad.testing import check_grads

X = np.array([0.5, 1.5, 2.0])

# What is done with `eval` can't be followed.
PACKAGE = """
    import numpy as np

    CALLS = []
    STATE = {}

    def draw(values, *more, **named):
        eval("1")
        CALLS.append((values, more, named))
        return Handle()

    class Handle:
        def __init__(self):
            self.shown = eval("1")

        def update(self, value):
            eval("1")
            CALLS.append(value)

        def pair(self):
            eval("1")
            return 2.0, 3.0

    def settings():
        eval("1")
        return {"rate": 0.5, "steps": 3, "weights": [1.0, 2.0, 4.0], "name": "euler"}

    def rows():
        eval("1")
        for row in [(1.0, 2.0), (3.0, 4.0)]:
            yield row

    def endless():
        eval("1")
        while True:
            yield 1.0

    def shared():
        eval("1")
        return STATE.setdefault("array", np.zeros(3))

    def keep(value):
        eval("1")
        STATE["kept"] = value

    def kept():
        eval("1")
        return STATE["kept"]

    def halve(values):
        eval("1")
        values *= 0.5

    def norm(values):
        eval("1")
        return (values**2).sum()

    def square(values):
        return values**2

    class Column:
        def __init__(self, values):
            self.values = values

        def mean(self):
            eval("1")
            return self.values.mean()

    class Table:
        def __init__(self, **columns):
            self._columns = columns

        def __getattr__(self, name):
            eval("1")
            if name == "_columns":
                raise AttributeError(name)
            return Column(self._columns[name])

    def level():
        return eval("0.5")

    def scaled(values):
        return level() * values**2

    def tables(count, ratio):
        rows = eval("[[1.0, 2.0], [4.0, 8.0]]")
        return {"rows": rows[:count], "ratio": ratio}

    def weighted(values, more):
        table = tables(2, RATIO)
        total = table["ratio"] * np.sum(values)
        for low, high in table["rows"]:
            total = total + low * np.sum(values**2) + high * more
        return total

    RATIO = 0.25

    def checked(values, others):
        if not isinstance(others, (list, tuple)):
            raise TypeError(f"others must be a list, not {type(others)}")
        return np.sum(values**2) * others[0]
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A module that lies where installed packages do."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "figures.py").write_text(textwrap.dedent(PACKAGE))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "figures", raising=False)
    import figures

    yield figures
    sys.modules.pop("figures", None)


def test_figures_are_drawn_of_copies(package):
    def f(x):
        u = x.copy()
        handle = package.draw(u, label="first")
        history = []
        for _ in range(3):
            u += 0.1 * np.sin(u)
            history.append(np.sum(u))
            handle.update(u)
        package.draw(history, {"last": u, "sizes": (1, 2)}, range(3))
        return np.sum(u**2)

    check_grads(f, (X,))
    package.CALLS.clear()
    f(X)
    expected = list(package.CALLS)
    package.CALLS.clear()
    grad(f)(X)
    assert len(package.CALLS) == len(expected) == 5
    first, *steps, last = package.CALLS
    np.testing.assert_array_equal(first[0], X)  # a copy: `u` has changed since
    assert first[2] == {"label": "first"}
    np.testing.assert_array_equal(steps[-1], expected[-1][1][0]["last"])
    assert not np.array_equal(steps[0], steps[1])
    assert last[0] == expected[-1][0] and last[1][1:] == ([0, 1, 2],)
    assert last[1][0]["sizes"] == (1, 2)


def test_what_is_returned_is_constant(package):
    def f(x):
        options = package.settings()
        for _ in range(options["steps"]):
            x = x - options["rate"] * np.sin(x)
        return np.sum(np.array(options["weights"]) * x)

    check_grads(f, (X,))

    def g(x):
        total = 0.0
        for i, weight in enumerate(package.settings()["weights"]):
            total += weight * x[i] ** 2
        return total if package.settings()["name"] == "euler" else 0.0

    check_grads(g, (X,))
    np.testing.assert_allclose(grad(g)(X), 2 * X * [1, 2, 4])


def test_what_is_returned_is_unpacked_and_gone_through(package):
    def f(x):
        a, b = package.draw(1.0).pair()
        total = a * np.sum(x) + b * x[0] ** 2
        for low, high in package.rows():
            total = total + low * x[1] ** high
        return total

    check_grads(f, (X,))

    def wrong(x):
        a, b, c = package.draw(1.0).pair()
        return np.sum(x) * (a + b + c)

    with pytest.raises(ValueError, match="expected 3 values to unpack"):
        grad(wrong)(X)

    def endless(x):
        for item in package.endless():
            x = x * item
        return np.sum(x)

    with pytest.raises(RuntimeError, match="this generator seems to be endless"):
        grad(endless)(X)


def test_attributes_that_are_made_anew_each_time(package):
    """As the columns of a data frame."""
    table = package.Table(a=np.array([1.0, 2.0, 6.0]), b=np.array([2.0, 4.0, 8.0]))

    def f(x):
        return np.sum(table.a.values * x**2) * table.b.mean()

    gradient = grad(f)
    np.testing.assert_allclose(gradient(X), 2 * X * [1, 2, 6] * 14 / 3)
    table._columns["b"][0] = 5.0
    np.testing.assert_allclose(gradient(X), 2 * X * [1, 2, 6] * 17 / 3)
    table = package.Table(a=np.ones(3), b=np.ones(1))
    np.testing.assert_allclose(gradient(X), 2 * X)


def test_what_can_be_followed_is(package):
    def f(x):
        return np.sum(package.square(x))

    np.testing.assert_allclose(grad(f)(X), 2 * X)


def test_what_is_differentiated_must_be_followed(package):
    def f(x):
        return package.norm(x) * x[0]

    with pytest.raises(UnsupportedError) as caught:
        grad(f)(X)
    assert "figures.norm has no derivative rule" in str(caught.value)
    assert "return package.norm(x) * x[0]" in str(caught.value)
    assert caught.value.filename == __file__  # not a line of the package
    assert "What figures does isn't followed, for this can't be:" in str(caught.value)
    assert 'eval("1")' in str(caught.value)
    with pytest.raises(UnsupportedError, match=r"figures\.norm"):
        jvp(f, (X,), (X,))


def test_functions_that_are_given_constants_are_called(package):
    """What is around them in the package is followed."""

    def f(x):
        return np.sum(package.scaled(x)) + package.weighted(x, x[0])

    check_grads(f, (X,))
    gradient = grad(f)
    np.testing.assert_allclose(gradient(X), X + 10 * X + [10.25, 0.25, 0.25])
    package.RATIO = 1.0
    np.testing.assert_allclose(gradient(X), X + 10 * X + [11.0, 1.0, 1.0])


def test_the_type_of_what_is_unknown_is_told(package):
    def f(x):
        return package.checked(x, package.settings()["weights"])

    check_grads(f, (X,))

    def wrong(x):
        return package.checked(x, package.settings())

    with pytest.raises(TypeError, match="others must be a list, not <class 'dict'>"):
        grad(wrong)(X)


def test_what_a_package_keeps_may_come_out_again(package):
    def f(x):
        package.keep(x[0])
        return package.kept() * x[1]

    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(UnsupportedError, match="is written into an object"):
            derivative()

    def told_only(x):
        package.keep(x[0])
        return x[0] * x[1]

    check_grads(told_only, (X,))


def test_arguments_that_a_package_changes(package):
    def f(x):
        scale = np.ones(3)
        package.halve(scale)
        return np.sum(scale * x)

    with pytest.raises(RuntimeError, match="halve changed an array or a list that it was given"):
        grad(f)(X)


def test_augmented_assignments_of_what_is_unknown(package):
    """`a += 1` writes into an array, and makes another number."""

    def number(x):
        rate = package.settings()["rate"]
        rate += 1.0
        rate *= x[0]
        return rate * x[1]

    check_grads(number, (X,))

    def array(x):
        a = package.shared()
        b = a
        a += 1.0
        return np.sum(b * x)

    with pytest.raises(RuntimeError, match="an augmented assignment writes into this ndarray"):
        grad(array)(X)

    def listed(x):
        weights = package.settings()["weights"]
        others = weights
        weights += [8.0]
        return sum(others) * x[0]

    with pytest.raises(RuntimeError, match="an augmented assignment writes into this list"):
        grad(listed)(X)

    def own(x):
        a = np.array(package.shared())
        a *= x
        b = np.copy(package.shared())
        b -= a
        return np.sum(b * x)

    check_grads(own, (X,))

    def other_shape(x):
        a = np.array(package.shared())
        a += np.outer(x, x)
        return np.sum(a)

    with pytest.raises(ValueError, match="broadcast"):
        other_shape(X)
    with pytest.raises(RuntimeError, match="another shape or dtype"):
        grad(other_shape)(X)


def test_functions_made_here_stay_here(package):
    def f(x):
        package.draw(lambda: x)
        return np.sum(x)

    with pytest.raises(UnsupportedError, match="a function made here can't be passed"):
        grad(f)(X)


def test_settings_in_a_text():
    def f(x):
        options = json.loads('{"rate": 0.5, "steps": 2}')
        for _ in range(options["steps"]):
            x = x - options["rate"] * x**2
        return np.sum(x)

    check_grads(f, (X,))


def test_what_is_written_to_a_file(tmp_path):
    path = tmp_path / "log.txt"

    def f(x):
        with open(path, "w") as file:
            for i in range(2):
                x = np.sin(x)
                json.dump({"step": i, "sum": float(np.sum(x)), "all": x.tolist()}, file)
                file.write("\n")
        return np.sum(x)

    check_grads(f, (X,))
    value, _ = value_and_grad(f)(X)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["step"] for line in lines] == [0, 1]
    assert lines[1]["sum"] == value


class Shown:
    """What a bar shows."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


SHOWN = Shown()


@pytest.mark.parametrize("bar", [tqdm.tqdm, tqdm.auto.tqdm])
def test_progress_bars(bar):
    def f(x):
        for i in bar(range(len(x)), desc="steps", file=SHOWN):
            x = x - 0.1 * i * np.sin(x)
        return np.sum(x**2)

    check_grads(f, (X,))
    SHOWN.text = ""
    grad(f)(X)
    assert "steps: 100%" in SHOWN.text and "3/3" in SHOWN.text


def test_progress_bars_of_all_kinds():
    def told(x):
        total = 0.0
        progress = tqdm.trange(3, disable=True)
        for i in progress:
            total += np.sum(x**2) * i
            progress.set_postfix(total=float(total))
        return total

    def paired(x):
        total = 0.0
        with tqdm.tqdm(zip(x, x[::-1], strict=True), total=3, disable=True) as progress:
            for a, b in progress:
                total += a * b
                progress.set_description(f"{total:.2f}")
        return total

    def by_hand(x):
        progress = tqdm.tqdm(total=2, disable=True)
        for _ in range(2):
            x = np.sin(x)
            progress.update(1)
        progress.close()
        return np.sum(x)

    def left(x):
        for i in tqdm.tqdm(range(100), disable=True):
            x = x - 0.1 * i * np.sin(x)
            if np.sum(x) < 3.0:
                break
        return np.sum(x**2) + i

    def tracked(x):
        for row in rich.progress.track([1.0, 2.0], disable=True):
            x = row * np.sin(x)
        return np.sum(x)

    def of_generator(x):
        return sum(tqdm.tqdm((v * v for v in x), disable=True))

    for f in (told, paired, by_hand, left, tracked, of_generator):
        check_grads(f, (X,))


def test_the_loop_in_a_bar_stays_a_loop():
    def f(x, n):
        for _ in tqdm.tqdm(range(n), disable=True):
            x = x - 0.1 * np.sin(x)
        return np.sum(x)

    gradient = grad(f)
    gradient(X, 50)
    assert "for _ in range(n):" in gradient.source and "bar.update(1)" in gradient.source
    np.testing.assert_allclose(gradient(X, 3), grad(lambda x: f(x, 3))(X))


def test_texts_are_put_together():
    def f(x):
        message = f"sum {np.sum(x):.1f}"
        message += f", first {x[0]}"
        if x[0] > 10:
            message += "!" * 3
        if np.sum(x) < 0:
            raise ValueError(message + " is negative")
        return np.sum(x**2)

    check_grads(f, (X,))
    with pytest.raises(ValueError, match=r"sum -4\.0, first -0\.5 is negative"):
        grad(f)(-X)


class Failure(Exception):
    pass


def test_exceptions_in_texts():
    def f(x):
        try:
            if x[0] > 1:
                raise Failure(f"{x[0]} is large")
            return np.sum(x**2)
        except Failure as error:
            raise ValueError(f"it failed: {error}") from error

    check_grads(f, (X,))
    with pytest.raises(ValueError, match=r"it failed: 2.0 is large"):
        grad(f)(X + 1.5)


def square_sum(a, k=1):
    return k * np.sum(a**2)


def test_pools_of_workers():
    """What workers do is done in the function, with its derivative."""

    def mapped(x):
        def term(i):
            return x[i] ** 2 * i

        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            return sum(executor.map(term, range(3)))

    def submitted(x):
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as executor:
            futures = [executor.submit(square_sum, x * i, k=2) for i in range(3)]
            total = 0.0
            for future in concurrent.futures.as_completed(futures):
                total += future.result()
        return total + futures[1].result()

    def in_a_pool(x):
        with multiprocessing.pool.ThreadPool(2) as pool:
            totals = pool.map(square_sum, [x, 2 * x])
            others = pool.starmap(square_sum, [(x, 1), (x, 2)])
            last = pool.apply_async(square_sum, (x,))
            pool.close()
            pool.join()
        return sum(totals) + sum(others) + last.get()

    def with_joblib(x):
        calls = (joblib.delayed(square_sum)(x * i, k=i) for i in range(3))
        return sum(joblib.Parallel(n_jobs=2, prefer="threads")(calls))

    for f in (mapped, submitted, in_a_pool, with_joblib):
        check_grads(f, (X,))


def halved(a):
    a *= 0.5
    return np.sum(a**2)


class Scaled:
    def __init__(self):
        self.calls = 0

    def value(self, a):
        self.calls += 1
        return np.sum(a) * self.calls


def test_worker_processes_have_copies():
    def mapped(x):
        y, scaled = 2 * x, Scaled()
        with concurrent.futures.ProcessPoolExecutor(1) as executor:
            total = sum(executor.map(halved, [y, y])) + sum(executor.map(scaled.value, [y, y]))
        return total * (1 + scaled.calls) + np.sum(y**3)

    def in_threads(x):
        y = 2 * x
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            return sum(executor.map(halved, [y, y])) + np.sum(y**3)

    def with_joblib(x):
        y = 2 * x
        total = sum(joblib.Parallel(1)(joblib.delayed(halved)(y) for _ in range(2)))
        return total + np.sum(y**3)

    for f in (mapped, in_threads, with_joblib):
        check_grads(f, (X,))
    value, _ = value_and_grad(mapped)(X)
    assert value == pytest.approx(2 * np.sum(X**2) + 2 * 2 * np.sum(X) + 8 * np.sum(X**3))


@pytest.mark.parametrize("sizes", [(2, None, print), (2,)])
def test_what_workers_do_to_begin_with_is_refused(sizes):
    def f(x):
        options = {} if len(sizes) > 1 else {"initializer": print}
        with concurrent.futures.ThreadPoolExecutor(*sizes, **options) as executor:
            return sum(executor.map(square_sum, [x]))

    with pytest.raises(UnsupportedError, match="what workers do to begin with isn't supported"):
        grad(f)(X)


def test_attributes_of_pools_that_arent_followed():
    def f(x):
        found = []
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            future = executor.submit(square_sum, x)
            future.add_done_callback(lambda done: found.append(done.result()))
        return sum(found)

    with pytest.raises(UnsupportedError, match="this attribute of a pool"):
        grad(f)(X)


def test_what_the_system_is_asked_for(tmp_path):
    folder = tmp_path / "results"

    def f(x):
        start = time.perf_counter()
        folder.mkdir(parents=True, exist_ok=True)
        os.makedirs(folder, exist_ok=True)
        before = np.seterr(divide="ignore")
        np.set_printoptions(precision=8)
        with contextlib.redirect_stdout(io.StringIO()) as text:
            print("sum", np.sum(x))
        np.seterr(**before)
        path = os.path.join(folder, "weights.npy")
        if not os.path.exists(path):
            np.save(path, np.ones(len(x)))
        (folder / "log.txt").write_text(f"{text.getvalue()}{time.perf_counter() - start >= 0}")
        return np.sum(np.load(path) * x**2)

    settings = np.geterr()
    check_grads(f, (X,))
    gradient = grad(f)
    gradient(X)
    assert "before = np.seterr(None, 'ignore', None, None, None)" in gradient.source
    assert (folder / "log.txt").read_text() == "sum 4.0\nTrue"
    assert np.geterr() == settings


def test_the_system_is_asked_when_the_gradient_runs():
    def f(x):
        before = np.seterr(divide="ignore")
        held = np.geterr()["divide"]
        np.seterr(**before)
        return np.sum(x) * (2.0 if held == "ignore" else 3.0)

    for settings in ({}, {"divide": "raise"}):
        with np.errstate(**settings):
            assert grad(f)(X).tolist() == [2.0] * len(X)


class Dispatcher:
    """A function as Numba compiles it."""

    def __init__(self, function):
        self.py_func = function

    def __call__(self, *args):
        return self.py_func(*args)


class Ufunc:
    """As what Numba makes of a function of numbers."""

    def __init__(self, function):
        self._dispatcher = Dispatcher(function)

    def __call__(self, *args):
        return np.vectorize(self._dispatcher.py_func)(*args)


@pytest.fixture
def numba(monkeypatch):
    """What there is of Numba, or the like of it where it isn't installed."""
    try:
        import numba
    except ImportError:
        numba = types.ModuleType("numba")
        numba.njit, numba.prange = Dispatcher, lambda *bounds: range(*bounds)
        inner = types.ModuleType("numba.core.registry")
        inner.CPUDispatcher = Dispatcher
        ufuncs = types.ModuleType("numba.np.ufunc.dufunc")
        ufuncs.DUFunc = numba.vectorize = Ufunc
        monkeypatch.setitem(sys.modules, "numba", numba)
        monkeypatch.setitem(sys.modules, "numba.core.registry", inner)
        monkeypatch.setitem(sys.modules, "numba.np.ufunc.dufunc", ufuncs)
    return numba


def test_functions_that_numba_compiles(numba):
    parallel_range = numba.prange

    @numba.njit
    def smoothed(u, n):
        u = u.copy()
        for _ in range(n):
            for i in parallel_range(1, len(u) - 1):
                u[i] += 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
        return u

    def f(x):
        return np.sum(smoothed(x, 3) ** 2)

    check_grads(f, (X,))

    @numba.njit
    def cubes(x):
        return np.sum(x**3)

    np.testing.assert_allclose(grad(cubes)(X), 3 * X**2)

    @numba.vectorize
    def clipped(x, most):
        if x > most:
            return most + 0.1 * (x - most)
        return x * x

    check_grads(lambda x: np.sum(clipped(x[:, None], x[:2] + 0.7)), (X,))
    check_grads(lambda x: clipped(x, 1.0) * clipped(3.0, x), (0.7,))


def test_typed_lists_and_dicts_of_numba(numba):
    typed = pytest.importorskip("numba.typed")
    types = numba.types

    @numba.njit
    def summed(x):
        squares, found = typed.List(), typed.Dict.empty(types.int64, types.float64)
        cubes = typed.List.empty_list(types.float64)
        for i in range(x.shape[0]):
            squares.append(x[i] * x[i])
            cubes.append(squares[i] * x[i])
            found[i % 2] = found.get(i % 2, 0.0) + x[i] * cubes[-1]
        total = 0.0
        for square in squares:
            total += square * len(cubes)
        return total + found[0] * found[1]

    check_grads(summed, (X,), order=1)
    assert value_and_grad(summed)(X)[0] == pytest.approx(summed(X), rel=1e-14)


HOOKED = {"count": 0}


def hooked(entries):
    HOOKED["count"] += 1
    return entries


def halves(entries):
    print(len(entries))
    return {key: np.floor(value / 2) for key, value in entries.items()}


def test_functions_that_change_what_is_outside_arent_passed_on(capsys):
    def counts(x):
        found = json.loads('{"a": {"b": 2}}', object_hook=hooked)
        return np.sum(x) * HOOKED["count"] * found["a"]["b"]

    with pytest.raises(UnsupportedError, match="may change what is outside of it"):
        grad(counts)(X)

    def keeps(x):
        return np.sum(x) * json.loads('{"a": 5}', object_hook=halves)["a"]

    np.testing.assert_array_equal(grad(keeps)(X), np.full(3, 2.0))
    assert capsys.readouterr().out == "1\n"


def test_threads_are_refused():
    def f(x):
        found = np.zeros(3)
        threads = [threading.Thread(target=np.copyto, args=(found, x)) for _ in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
        return np.sum(found)

    with pytest.raises(UnsupportedError, match="what a thread does isn't followed"):
        grad(f)(X)


TEXT = "1,2\n3,4\n"


def by_rows(x):
    return sum(float(a) * x[0] + int(b) * x[1] ** 2 for a, b in list(csv.reader(io.StringIO(TEXT))))


def by_named_rows(x):
    rows = list(csv.DictReader(io.StringIO(TEXT), ["a", "b"]))
    total = 0.0
    for row in rows:
        total += float(row["a"]) * x[0] + int(row["b"]) * x[1] ** 2
    return total


def twice(x):
    lines = io.StringIO(TEXT)
    first, second = list(lines), list(lines)
    return np.sum(x) * len(first) + x[0] * len(second)


def in_part_and_again(x):
    lines, total = io.StringIO(TEXT), 0.0
    for line in lines:
        total += x[0] * float(line[0])
        break
    for line in lines:
        total += x[1] * float(line[0])
    return total


def in_part_in_each_round(x):
    lines, total = csv.reader(io.StringIO(TEXT)), 0.0
    for i in range(2):
        for a, _ in lines:
            total += x[i] * float(a)
            break
    return total


def with_itself(x):
    lines = csv.reader(io.StringIO(TEXT))
    pairs = zip(lines, lines, strict=False)
    return sum(x[0] * float(a) + x[1] * float(d) for (a, _), (_, d) in pairs)


def of_each_file(x):
    total = 0.0
    for i in range(2):
        for a, _ in csv.reader(io.StringIO(TEXT)):
            total += x[i] * float(a)
            break
    return total


def texts_in_an_array(x):
    names = np.array(list(io.StringIO(TEXT)))
    return np.sum(x) * (2.0 if isinstance(names[0], str) else 1.0)


@pytest.mark.parametrize("f", [by_rows, by_named_rows, twice, of_each_file, texts_in_an_array])
def test_what_is_gone_through_is_asked_once(f):
    check_grads(f, (X,), order=1)
    assert value_and_grad(f)(X)[0] == f(X)


@pytest.mark.parametrize("f", [in_part_and_again, in_part_in_each_round, with_itself])
def test_what_was_gone_through_in_part_is_refused(f):
    with pytest.raises(ValueError, match="make a list of it first"):
        grad(f)(X)


def test_functions_of_ctypes_cannot_be_hashed():
    library = ctypes.CDLL(None)

    def f(x, n):
        return library.abs(n) * x**2

    assert value_and_grad(f)(2.0, -3) == (12.0, 12.0)
