"""What is outside of a function may be another at the next call: it is asked anew each time."""

import collections
import contextlib
import copy
import dataclasses
import importlib.util
import io
import os
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, value_and_grad
from srcgrad.testing import check_grads

from . import random_outside

X = np.array([1.0, 2.0])


class Table:
    """Answers from a dict, in Python."""

    def __init__(self):
        self.entries = {"p": 2.0}
        self.asked = 0

    def __getitem__(self, key):
        self.asked += 1
        return self.entries[key]

    def __contains__(self, key):
        return key in self.entries

    def __len__(self):
        return len(self.entries)

    def __bool__(self):
        return len(self.entries) > 1

    def scale(self):
        return self["p"] * (3.0 if "q" in self else 1.0) * len(self) + (1.0 if self else 0.0)

    def __call__(self, x):
        return x * self.scale()


def test_an_object_that_answers_is_asked_at_each_call():
    table = Table()
    scale, called = table.scale, (table,)

    def by_itself(x):
        return np.sum(x) * table["p"] * (2.0 if "q" in table else 1.0)

    def by_a_method(x):
        return np.sum(x) * scale()

    def by_a_call(x):
        return np.sum(called[0](x))

    for entries in ({"p": 2.0}, {"p": 4.0}, {"p": 4.0, "q": 1.0}, {"p": 2.0}):
        table.entries = entries
        for f in (by_itself, by_a_method, by_a_call):
            np.testing.assert_allclose(grad(f)(X), f(np.ones(1)), err_msg=f.__name__)
    table.asked = 0
    grad(by_itself)(X)
    assert table.asked == 1


def test_what_a_package_holds_and_what_it_lacks():
    settings = collections.ChainMap({"p": 2.0})
    user = collections.UserDict(p=2.0)
    look, find = settings.get, user.get

    def f(x):
        return np.sum(x) * settings["p"] * look("q", 1.0) * find("q", 1.0) * len(user)

    for change in ({}, {"q": 3.0}, {"p": 5.0}):
        settings.update(change)
        user.update(change)
        np.testing.assert_allclose(grad(f)(X), f(np.ones(1)))


def test_the_environment_and_the_command_line(monkeypatch):
    monkeypatch.delenv("SRCGRAD_SCALE", raising=False)
    monkeypatch.setattr(sys, "argv", ["program"])

    def f(x):
        scale = float(os.environ.get("SRCGRAD_SCALE", "2"))
        if "SRCGRAD_SCALE" in os.environ:
            scale *= 10
        if "--fast" in sys.argv:
            scale += 0.5
        if "srcgrad_not_there" in sys.modules:
            scale += 0.25
        return np.sum(x) * scale

    assert grad(f)(X)[0] == 2.0
    monkeypatch.setenv("SRCGRAD_SCALE", "3")
    assert grad(f)(X)[0] == 30.0
    monkeypatch.setenv("SRCGRAD_SCALE", "4")
    assert grad(f)(X)[0] == 40.0
    sys.argv.append("--fast")
    assert grad(f)(X)[0] == 40.5
    monkeypatch.setitem(sys.modules, "srcgrad_not_there", sys)
    assert grad(f)(X)[0] == 40.75
    monkeypatch.delenv("SRCGRAD_SCALE")
    assert grad(f)(X)[0] == 2.75


def test_standard_output_is_what_it_is_at_the_call():
    def f(x):
        sys.stdout.write("written\n")
        print("printed", file=sys.stdout)
        return np.sum(x**2)

    for _ in range(2):
        buffer = io.StringIO()
        with contextlib.redirect_stdout(buffer):
            grad(f)(X)
        assert buffer.getvalue() == "written\nprinted\n"


class Counting:
    def __init__(self):
        self.weights, self.history, self.count = np.ones(2), [], 0

    def step(self, x):
        self.count += 1
        self.history.append(self.count)
        self.weights *= x
        return np.sum(self.weights**2) * self.count

    def clone(self):
        return copy.deepcopy(self)


def test_copies_of_objects_outside_are_others():
    model = Counting()

    def by_a_method(x):
        return model.clone().step(x)

    def several(x):
        first, second = copy.deepcopy(model), copy.deepcopy(model)
        return first.step(x) + first.step(x) + second.step(x)

    def of_a_method(x):
        step = copy.deepcopy(model.step)
        return step(x) + step(x)

    for f in (by_a_method, several, of_a_method):
        check_grads(f, (X,))
        grad(f)(X)
        assert model.count == 0 and model.history == []
        np.testing.assert_array_equal(model.weights, np.ones(2))


@dataclasses.dataclass(frozen=True)
class Settings:
    rate: float = 0.5
    inner: object = None


def test_dataclasses_outside_are_replaced_and_made_dicts():
    holder = SimpleNamespace(settings=Settings(inner=Settings(2.0)))

    def f(x):
        faster = dataclasses.replace(holder.settings, rate=holder.settings.rate * 2)
        entries = dataclasses.asdict(holder.settings)
        return np.sum(x) * faster.rate * entries["rate"] * entries["inner"]["rate"]

    for rate in (0.5, 3.0):
        holder.settings = Settings(rate, Settings(2.0))
        np.testing.assert_allclose(grad(f)(X), f(np.ones(1)))


def test_a_copy_of_what_isnt_known_is_refused():
    rng = np.random.default_rng(3)

    def f(x):
        return np.sum(x * copy.deepcopy(rng).normal(size=2))

    with pytest.raises(UnsupportedError, match="a copy of this object can't be followed"):
        grad(f)(X)


class Timer:
    """Keeps to itself."""

    def __init__(self):
        self.total, self.count = 0.0, 0

    def __enter__(self):
        self.began = time.perf_counter()
        return self

    def __exit__(self, *error):
        self.total += time.perf_counter() - self.began
        self.count += 1


class Entries:
    count = 0

    def __enter__(self):
        self.count += 1

    def __exit__(self, *error):
        pass


class Training:
    """Changes what others read."""

    depth = 0
    swallowed = None

    def __enter__(self):
        global TRAINING
        TRAINING = False
        Training.depth += 1
        self.level = 4
        return self

    def __exit__(self, kind, *error):
        global TRAINING
        TRAINING = True
        Training.depth -= 1
        self.level = 2
        return kind is ZeroDivisionError


TRAINING = True
TIMER, ENTRIES, EVALUATING = Timer(), Entries(), Training()
EVALUATING.level = 1


def timed(x):
    total = 0.0
    for i in range(3):
        with TIMER:
            total += np.sum(x**i)
    return total


def how_often_it_was_entered(x):
    with ENTRIES:
        total = np.sum(x**2)
    return total * ENTRIES.count


def evaluated(x):
    with EVALUATING as same:
        y = x**2 if TRAINING else x**3
        y = y * Training.depth * same.level
        with EVALUATING:
            y = y * EVALUATING.depth
    return np.sum(y) * EVALUATING.level if TRAINING else 0.0


def left_by_an_exception(x):
    total = np.sum(x)
    with EVALUATING:
        total = total * 2
        if x[0] > 0:
            raise ZeroDivisionError
        total = total * 5
    return total * (Training.depth + 1)


@pytest.mark.parametrize("f", [timed, how_often_it_was_entered, evaluated, left_by_an_exception])
def test_context_managers_outside_do_what_they_do(f):
    direction = np.array([0.3, -0.7])

    def again(function, *args):
        TIMER.count = ENTRIES.count = 0
        return function(*args), TIMER.count, ENTRIES.count

    for x in (X, -X):
        (value, slope), *counts = again(value_and_grad(f), x)
        assert (pytest.approx(value), *counts) == again(f, x)
        moved = [again(f, x + h * direction)[0] for h in (1e-6, -1e-6)]
        assert slope @ direction == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-6)
        assert TRAINING and Training.depth == 0


class Counted:
    count = 0
    active = True

    def now(self):
        return self.count if self.active else -1


def test_an_attribute_of_a_class_is_read_by_its_objects():
    counted = Counted()

    def f(x):
        Counted.count += 1
        before = counted.now()
        Counted.active = False
        return np.sum(x) * before * counted.count + counted.now()

    Counted.count, Counted.active = 0, True
    np.testing.assert_allclose([grad(f)(X)[0], grad(f)(X)[0]], [1.0, -2.0])


@pytest.mark.parametrize("first", range(0, 240, 20))
def test_random_programs_that_read_what_is_changed(first, tmp_path):
    for seed in range(first, first + 20):
        text, count = random_outside.program(seed)
        path = tmp_path / f"outside_{seed}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        gradient = grad(module.f)
        for i in range(-1, count):
            if i >= 0:
                with contextlib.suppress(AttributeError, TypeError, LookupError):
                    getattr(module, f"change{i}")()
            try:
                expected = module.f(np.ones(1))
            except (TypeError, ValueError, LookupError) as error:
                with pytest.raises((type(error), UnsupportedError)):
                    gradient(X)
                continue
            try:
                found = gradient(X)
            except UnsupportedError:
                continue
            assert found[0] == pytest.approx(expected), text


class Described:
    def __get__(self, thing, cls):
        print("described")
        return 4.0


class KindOfComputing(type):
    @property
    def common(cls):
        print("common")
        return 5.0


class Computing(metaclass=KindOfComputing):
    asked = 0
    described = Described()

    @property
    def counted(self):
        Computing.asked += 1
        print("counted")
        return 2.0

    @property
    def missing(self):
        print("missing")
        raise AttributeError("missing")

    def __getattr__(self, name):
        if not name.startswith("by_"):
            raise AttributeError(name)
        print(name)
        return float(len(name))


def test_attributes_are_computed_when_the_gradient_runs(capsys):
    thing = Computing()

    def f(x):
        total = np.sum(x) * thing.counted * Computing.asked + x[0] * thing.by_name
        total = total * thing.described + x[1] * Computing.common
        total = total * (2.0 if hasattr(thing, "by_hand") else 3.0)
        return total * (2.0 if hasattr(thing, "other") else 5.0) * getattr(thing, "missing", 7.0)

    runs = []
    for function in (f, lambda x: value_and_grad(f)(x)[0]):
        Computing.asked = 0
        values = [function(X), function(X)]
        runs.append((values, capsys.readouterr().out, Computing.asked))
    assert runs[0] == runs[1]
    thing.by_name = 1.0
    assert grad(f)(X)[0] != 0.0 and "by_name" not in capsys.readouterr().out


class Model:
    def __init__(self):
        self.rate = 2.0

    def __str__(self):
        return f"rate {self.rate}"

    def __eq__(self, other):
        return self.rate == other.rate

    def __lt__(self, other):
        return self.rate < other.rate

    def __float__(self):
        return self.rate

    def __abs__(self):
        return self.rate + 1.0

    def __bool__(self):
        return self.rate < 20.0

    __hash__ = None


def test_objects_outside_are_written_and_compared_anew(capsys):
    model, other = Model(), Model()

    def f(x):
        text = f"{model}"
        print(model, text, str(model), "%s" % model, f"{[1]} {model!s:>12}")  # noqa: UP031
        total = np.sum(x) * len(text) * (2.0 if model != other else 3.0)
        total = total * (5.0 if model < other else 7.0) * (11.0 if other > model else 13.0)
        return total * (float(model) + abs(model)) * (2.0 if bool(model) else 3.0)

    for rate in (2.0, 1.5, 30.0):
        model.rate = rate
        expected, printed = f(np.ones(1)), capsys.readouterr().out
        assert grad(f)(X)[0] == pytest.approx(expected)
        assert capsys.readouterr().out == printed
