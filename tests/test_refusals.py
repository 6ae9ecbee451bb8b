"""What can't be differentiated is refused when compiling: message, line, caret, advice."""

import asyncio
import bisect
import collections
import contextvars
import dataclasses
import functools
import io
import linecache
import tempfile
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

import srcgrad

CALLS = []
LEVEL = 1.0
HISTORY = [1.0, 2.0]
CONTEXT = contextvars.ContextVar("CONTEXT")
FILE = str(Path(tempfile.gettempdir()) / "srcgrad_test_refusals.npy")


class Box:
    def __init__(self, a):
        self.a = a


BOX = Box(2.0)


def define(text, **names):
    """A function from its text, where errors can show the line."""
    text = textwrap.dedent(text).lstrip("\n")
    filename = f"<refused {len(linecache.cache)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {
        "np": np, "Box": Box, "BOX": BOX, "CALLS": CALLS, "HISTORY": HISTORY, "LEVEL": LEVEL,
        "asyncio": asyncio, "bisect": bisect, "collections": collections,
        "dataclasses": dataclasses, "functools": functools, **names,
    }  # fmt: skip
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


# the text (the line that is at fault has a mark), what is underlined, the message
CASES = {
    "how much a cache keeps": (
        """
        def f(x):
            @functools.lru_cache(maxsize=8 if x[0] > 0 else 4)
            def item(k):
                return x[k]
            return item(0)  # <-
        """,
        "item(0)",
        "maxsize must be known when compiling",
    ),
    "slots that a loop gives": (
        """
        def f(x):
            class Slotted:
                while True:  # <-
                    try:
                        __slots__ = ("v",)
                    except KeyError:
                        continue
                    break
            kept = Slotted()
            kept.v = x[0]
            return kept.v
        """,
        None,
        "__slots__ must be known when compiling",
    ),
    "what nditer is asked for": (
        """
        def f(x):
            for v in np.nditer(x, flags=["multi_index"] if x[0] > 0 else []):  # <-
                return v * v
            return x[0]
        """,
        'np.nditer(x, flags=["multi_index"] if x[0] > 0 else [])',
        "what nditer is asked for must be known when compiling",
    ),
    "written from itself, item by item": (
        """
        def f(x):
            y = x * 2
            y.flat[:] = y[::-1]  # <-
            return y[0]
        """,
        None,
        "NumPy reads what it has just written here",
    ),
    "written by a mask from itself": (
        """
        def f(x):
            y = x * 2
            y[np.array([False, True])] = y[:1]  # <-
            return y[0]
        """,
        None,
        "NumPy reads what it has just written here",
    ),
    "joined into one of the parts": (
        """
        def f(x):
            y = x * 2
            np.concatenate([y[1:], y[:1]], out=y)  # <-
            return y[0]
        """,
        None,
        "NumPy reads what it has just written here",
    ),
    "iterator with a name in an expression": (
        """
        def f(x):
            return (flat := x.flat)[1] + flat[0]  # <-
        """,
        None,
        "an iterator over an array, x.flat, has no name here",
    ),
    "iterator that is kept": (
        """
        def f(x):
            kept = []
            for _ in range(len(x)):
                kept.append(x.flat)  # <-
            return kept[0][1]
        """,
        None,
        "an iterator over an array, x.flat, can't be kept in a list that is built in a loop",
    ),
    "iterator of what was written": (
        """
        def f(x):
            kept = [x.flat]
            x *= 2
            return np.sum(kept[0])  # <-
        """,
        "np.sum(kept[0])",
        "an iterator over an array, x.flat, is read here after the array was written",
    ),
    "iterator with a name": (
        """
        def f(x):
            flat = x.flat  # <-
            return flat[1] + flat[0]
        """,
        None,
        "an iterator over an array, x.flat, has no name here",
    ),
    "structured array": (
        """
        def f(x):
            y = np.zeros(4, [("a", float), ("b", [("c", float)])])
            y["a"] = x  # <-
            return y["a"].sum()
        """,
        'y["a"] = x',
        "a structured array has no derivative",
    ),
    "field": (
        """
        def f(x):
            y = np.zeros(4, dtype=[("a", float), ("b", float)])
            y["a"] = x
            return y.view(float).sum()  # <-
        """,
        "y.view(float)",
        "a structured array viewed as anything else: use its fields",
    ),
    "method of an enumeration": (
        """
        import enum
        def f(x):
            class Unit(enum.Enum):
                M = 1
                MM = 2
                def factor(self):  # <-
                    return 10.0 ** self.value
                MICRO = 6
            return x[0] * Unit.MM.factor()
        """,
        "def factor(self):  # <-",
        "an enumeration made here can only have constants, and 'factor' is none",
    ),
    "resize in place": (
        """
        def f(x):
            y = x.copy()
            z = y
            y.resize(2)  # <-
            return z.sum()
        """,
        "y.resize(2)",
        "this array has other names, whose shape would change too",
    ),
    "function of another iteration": (
        """
        def f(x):
            def times(k):
                return lambda v: v * k
            h, total = times(x[0]), 0.0
            for i in range(x.size):
                total += h(x[i])  # <-
                h = times(x[i])
            return total
        """,
        "h(x[i])",
        "this function may have been made in an earlier iteration of a loop, by a call whose "
        "variables aren't known any more",
    ),
    "global": (
        """
        def f(x):
            global LEVEL
            LEVEL = x[0]  # <-
            return LEVEL * 2
        """,
        "LEVEL = x[0]",
        "assigning the global 'LEVEL' can't be differentiated",
    ),
    "global counter": (
        """
        def f(x):
            global LEVEL
            LEVEL += x[0]  # <-
            return LEVEL
        """,
        "LEVEL += x[0]",
        "assigning the global 'LEVEL' can't be differentiated",
    ),
    "eval": (
        """
        def f(x):
            return eval("x[0] * 2")  # <-
        """,
        'eval("x[0] * 2")',
        "eval isn't supported",
    ),
    "exec": (
        """
        def f(x):
            exec("y = x[0]")  # <-
            return x[0]
        """,
        'exec("y = x[0]")',
        "exec isn't supported",
    ),
    "generator that escapes": (
        """
        def f(x):
            CALLS.append(v * v for v in x)  # <-
            return x[0]
        """,
        "CALLS.append(v * v for v in x)",
        "only numbers, arrays, and new tuples, lists and dicts of them can be kept outside",
    ),
    "generator kept by an object of the caller": (
        """
        def f(x):
            BOX.a = (v * v for v in x)  # <-
            return x[0]
        """,
        "BOX.a = (v * v for v in x)",
        "only numbers, arrays, and new tuples, lists and dicts of them can be kept outside",
    ),
    "next of a generator that yields in an expression": (
        """
        def f(x):
            def squared():
                for v in x:
                    print((yield v * v))  # <-
            squares = squared()
            first = next(squares)
            return first * next(squares)
        """,
        "yield v * v",
        "a generator that is asked for items several times can't go on from this yield",
    ),
    "view as a class derived from np.ndarray": (
        """
        def f(x):
            y = x.view(np.matrix)  # <-
            y[0, 0] = 3.0 * x[1]
            return np.sum(np.asarray(y * x[0]))
        """,
        "x.view(np.matrix)",
        "matrix is a class derived from np.ndarray, whose operations may differ",
    ),
    "class that can't be made": (
        """
        def f(x):
            class Inner(int, str):  # <-
                pass
            return x[0]
        """,
        None,
        "this class can't be made when compiling",
    ),
    "memory of an array": (
        """
        def f(x):
            return x.data[0] * x[1]  # <-
        """,
        "x.data",
        "the attribute 'data' isn't supported",
    ),
    "base of a view, written": (
        """
        def f(x):
            y = x * 2
            y[:2].base[0] = x[1]  # <-
            return np.sum(y)
        """,
        "y[:2].base[0] = x[1]",
        "the base of a view isn't written",
    ),
    "base of a view, added to": (
        """
        def f(x):
            y = x * 2
            base = y[:2].base
            base += 1  # <-
            return np.sum(y * y)
        """,
        "base += 1",
        "the base of a view isn't written",
    ),
    "property without a setter": (
        """
        class Half:
            @property
            def value(self):
                return np.zeros(2)

        def f(x):
            half = Half()
            half.value += x[0]  # <-
            return x[0]
        """,
        "half.value += x[0]",
        "property 'value' of 'Half' object has no setter",
    ),
    "item of a tuple, written in place": (
        """
        def f(x):
            pair = (x * 2, 1)
            pair[0] += 1  # <-
            return np.sum(pair[0])
        """,
        "pair[0] += 1",
        "a tuple can't be assigned to by index",
    ),
    "bits of numbers": (
        """
        def f(x):
            i = x.view(np.int64)  # <-
            y = (0x5FE6EB50C7B537A9 - (i >> 1)).view(np.float64)
            return np.sum(y * (1.5 - 0.5 * x * y * y))
        """,
        "x.view(np.int64)",
        "view can't be differentiated: the bits of a number are read as something else",
    ),
    "parts of a fraction": (
        """
        def f(x):
            n, d = float(x[0]).as_integer_ratio()  # <-
            return n / d
        """,
        "float(x[0]).as_integer_ratio()",
        "as_integer_ratio can't be differentiated: the bits of a number are read as something else",
    ),
    "base of a view": (
        """
        def f(x):
            y = x[1:].base  # <-
            return y[0] * x[1]
        """,
        "x[1:].base",
        "the attribute 'base' can't be differentiated: it is none that srcgrad knows, or the "
        "memory of an array: use the array itself",
    ),
    "async": (
        """
        def f(x):
            async def g():  # <-
                return x[0]
            return asyncio.run(g())
        """,
        None,
        "asynchronous code can't be differentiated",
    ),
    "bare raise": (
        """
        def f(x):
            if x[0] > 100:
                raise  # <-
            return x[0]
        """,
        "raise",
        "there is no exception here that a bare raise could raise again",
    ),
    "a tuple of unknown length": (
        """
        def f(x):
            y = np.zeros((2, 2))
            y[(0,) * int(x[0])] = x[1]  # <-
            return y.sum()
        """,
        "(0,) * int(x[0])",
        "a tuple repeated an unknown number of times",
    ),
    "the shape of an array with two names": (
        """
        def f(x):
            y = x * 2
            z = y
            y.shape = (2, 2)  # <-
            return z[0]
        """,
        "y.shape = (2, 2)",
        "this array has other names, whose shape would change too",
    ),
    "a view of the imaginary part": (
        """
        def f(x):
            z = x + 1j * x
            part = z.imag[1:]  # <-
            part *= 2
            return np.sum(np.abs(z) ** 2)
        """,
        "z.imag",
        "a view of another dtype of an array that is written in place",
    ),
    "frozen dataclass": (
        """
        def f(x):
            @dataclasses.dataclass(frozen=True)
            class Point:
                a: float
            p = Point(x[0])
            p.a = x[1]  # <-
            return p.a
        """,
        "p.a = x[1]",
        "cannot assign to field 'a'",
    ),
    "recursion": (
        """
        def f(x):
            def g(v):
                return g(v / 2) + g(v / 3)
            return g(x[0])  # <-
        """,
        "g(x[0])",
        "'g' calls itself on every way through it",
    ),
    "keys that are floats": (
        """
        def f(x):
            d = {}
            for i in range(len(x)):
                d[x[i]] = i
            return sum(d.keys())  # <-
        """,
        "sum(d.keys())",
        "the keys of this dict or set are floats, whose derivatives would be lost",
    ),
    "values of different kinds": (
        """
        def f(x):
            d = {}
            k = int(np.argmax(x))
            d[k] = x[0]
            d[k + 1] = (x[0], 1.0)
            return d[k]  # <-
        """,
        "return d[k]",
        "whether f returns a number is known only when it runs",
    ),
    "attribute added on some paths": (
        """
        def f(x):
            if x[0] > 0:
                BOX.added = x[0]  # <-
            return x[0]
        """,
        None,
        "'added' of what is outside is written on some paths only, and isn't there before",
    ),
    "not assigned": (
        """
        def f(x):
            y = z + x[0]  # <-
            z = 1.0
            return y
        """,
        "z",
        "'z' is used before it is assigned",
    ),
    "unknown name": (
        """
        def f(x):
            return x[0] + nothing  # <-
        """,
        "nothing",
        "name 'nothing' is not defined",
    ),
    "different kinds": (
        """
        def f(x):
            if x[0] > 0:
                y = x[0]
            else:
                y = (v for v in x)
            return y * 2  # <-
        """,
        "y",
        "'y' has values of different kinds after this branch",
    ),
    "a number or a text": (
        """
        def f(x):
            if x[0] > 0:
                y = x[0]
            else:
                y = "none"
            return y * 2  # <-
        """,
        "return y * 2",
        "whether f returns a number is known only when it runs",
    ),
    "kind changes in a loop": (
        """
        def f(x):
            y = x[0]
            while x[1] > 0:
                y = (y, x[0])
            return y[0]  # <-
        """,
        "y[0]",
        "'y' changes its kind in this loop",
    ),
    "float into ints": (
        """
        def f(x):
            y = np.zeros(3, dtype=int)
            y[0] = x[0]  # <-
            return np.sum(y * x[1])
        """,
        None,
        "a float is written into 'y', an array of ints: it would be cut off",
    ),
    "import star": (
        """
        def f(x):
            import math as m
            return undefined_function(x[0])  # <-
        """,
        "undefined_function",
        "name 'undefined_function' is not defined",
    ),
    "missing argument": (
        """
        def f(x):
            def g(a, b):
                return a + b
            return g(x[0])  # <-
        """,
        "g(x[0])",
        "g() is missing the argument 'b'",
    ),
    "wrong keyword": (
        """
        def f(x):
            def g(a):
                return a
            return g(b=x[0])  # <-
        """,
        "g(b=x[0])",
        "g() got an unexpected keyword argument 'b'",
    ),
    "too many to unpack": (
        """
        def f(x):
            a, b = x[0], x[1], x[2]  # <-
            return a + b
        """,
        None,
        "3 values can't be unpacked into 2 names",
    ),
    "attribute": (
        """
        def f(x):
            return x.summ()  # <-
        """,
        "x.summ",
        "an array has no attribute 'summ'",
    ),
    "argument": (
        """
        def f(x):
            return np.sum(x, axes=0)  # <-
        """,
        "np.sum(x, axes=0)",
        "np.sum has no argument 'axes'",
    ),
    "attribute of a module": (
        """
        def f(x):
            return np.linalg.normm(x)  # <-
        """,
        "np.linalg.normm",
        "module 'numpy.linalg' has no attribute 'normm'",
    ),
    "recursion without an end": (
        """
        def f(x):  # <-
            return f(x) + x[0]
        """,
        None,
        "'f' calls itself on every way through it, or raises",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refusal(name):
    text, underlined, message = CASES[name]
    f = define(text)
    with pytest.raises(srcgrad.UnsupportedError) as caught:
        srcgrad.grad(f)(np.array([0.5, 1.5, 0.25, 2.0]))
    error = caught.value
    assert type(error).__name__ == "UnsupportedError"
    assert message in error.message
    assert "srcgrad." not in error.message  # modules of its own
    assert error.text is not None and error.text.endswith("# <-"), f"{error}"
    if underlined is not None:
        span = error.span
        assert error.text[span.column : span.end_column] == underlined
        shown = str(error).split("\n")
        carets = next(line for line in shown if set(line.strip()) == {"^"})
        assert len(carets.strip()) == len(underlined)


def test_advice_is_shown():
    f = define(
        """
        def f(x):
            items = collections.deque([x[0]])
            for v in items:
                items.append(v)
            return items[0]
        """
    )
    with pytest.raises(srcgrad.UnsupportedError, match=r"iterate over a copy, list\(\.\.\.\), or"):
        srcgrad.grad(f)(np.ones(2))


def test_raise_that_is_not_reached_is_no_refusal():
    def f(x):
        if x[0] > 100:
            raise ValueError("too large")
        return x[0] ** 2

    assert srcgrad.grad(f)(np.array([3.0]))[0] == 6.0
    with pytest.raises(ValueError, match="too large"):
        srcgrad.grad(f)(np.array([300.0]))


def test_none_in_arithmetic_fails_as_it_does_in_the_function():
    missing = None
    for f in (lambda x: np.sum(x * missing), lambda x, b=None: np.sum(x + b)):
        with pytest.raises(TypeError, match="NoneType"):
            srcgrad.grad(f)(np.ones(3))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: (x, x).first, "'tuple' has no attribute 'first'"),
        (lambda x: np.sum(x) + (-None), "bad operand type for unary -: 'NoneType'"),
    ],
)
def test_mistakes_are_refused_with_what_python_says(f, message):
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(np.ones(3))


def into_an_array_of_objects(x):
    values = np.empty((2, 1, 1), dtype=object)
    values[0, 0, 0] = x[0]
    return values[0, 0, 0] ** 2


def by_a_memoryview(x):
    y = x.copy()
    memoryview(y)[0] = 5.0
    return np.sum(y**2)


def through_a_buffer(x):
    buffer = io.BytesIO()
    buffer.write(x.tobytes())
    buffer.seek(0)
    return np.sum(np.frombuffer(buffer.read()) ** 2)


def saved_in_a_buffer(x):
    buffer = io.BytesIO()
    np.save(buffer, x)
    buffer.seek(0)
    return np.sum(np.load(buffer) ** 2)


def printed_into_a_buffer(x):
    buffer = io.StringIO()
    for v in x:
        print(v, file=buffer)
    return float(buffer.getvalue().split()[0]) ** 2


def saved_in_a_file(x):
    np.save(FILE, x)
    return np.sum(np.load(FILE) ** 2)


def through_an_open_file(x):
    with open(FILE, "wb") as file:
        file.write(x.tobytes())
    with open(FILE, "rb") as file:
        return np.sum(np.frombuffer(file.read()) ** 2)


def through_a_context_variable(x):
    CONTEXT.set(x * 2)
    return np.sum(CONTEXT.get() ** 2)


def on_one_branch(x):
    buffer = io.BytesIO()
    if x[0] > 0:
        write = buffer.write
        write(x.tobytes())
    return np.sum(np.frombuffer(buffer.getvalue()) ** 2)


BUFFER = io.BytesIO()


def squared_until_large(x):
    BUFFER.write(x.tobytes())
    return x[0] if x[0] > 3 else squared_until_large(x * x + 1)


def in_a_recursion(x):
    last = squared_until_large(x)
    BUFFER.seek(0)
    return last * np.frombuffer(BUFFER.read())[0]


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (in_a_recursion, "an object that srcgrad doesn't know"),
        (through_a_buffer, "an object that srcgrad doesn't know"),
        (saved_in_a_buffer, "an object that srcgrad doesn't know"),
        (printed_into_a_buffer, "an object that srcgrad doesn't know"),
        (saved_in_a_file, "an object that srcgrad doesn't know|np.load can't be differentiated"),
        (through_an_open_file, "an object that srcgrad doesn't know"),
        (through_a_context_variable, "an object that srcgrad doesn't know"),
        (on_one_branch, "an object that srcgrad doesn't know"),
        (into_an_array_of_objects, "an array of objects has no derivative"),
        (by_a_memoryview, "memoryview isn't supported"),
    ],
)
def test_writes_that_cannot_be_followed_are_refused_in_every_mode(f, message):
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(x)
    with pytest.raises(srcgrad.UnsupportedError):
        srcgrad.jvp(f, (x,), (x,))


def test_what_is_written_and_not_read_is_no_matter(tmp_path):
    scale = np.array([1.0, 2.0, 3.0])
    np.save(tmp_path / "scale.npy", scale)

    def f(x):
        buffer = io.StringIO()
        counts = io.BytesIO(bytes(3))
        for v in x:
            print(v, file=buffer)
            buffer.write(f"{v:.3f}")
        return np.sum(x * x * np.load(tmp_path / "scale.npy")) * len(counts.getvalue())

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(srcgrad.grad(f)(x), 6 * x * scale)
    np.testing.assert_allclose(srcgrad.jvp(f, (x,), (x,))[1], np.sum(6 * x * x * scale))


def test_numbers_do_not_come_back_from_text():
    def by_text(x):
        return float(str(x)) * x

    def by_bytes(x):
        return np.sum(np.frombuffer(np.array([x, x]).tobytes()))

    def by_an_array_of_text(x):
        return np.sum(np.array([x, x]).astype(str).astype(float))

    def by_formatting(x):
        return float(np.format_float_positional(x)) * x

    for f, message in (
        (by_text, "read from text has no derivative"),
        (by_bytes, "np.frombuffer"),
        (by_an_array_of_text, "text has no derivative"),
        (by_formatting, "read from text has no derivative"),
    ):
        with pytest.raises(srcgrad.UnsupportedError, match=message):
            srcgrad.grad(f)(2.0)


def test_arrays_of_objects_are_refused():
    def converted(x):
        return (np.array([x, x]).astype(object) ** 2).sum()

    def chosen(x):
        return np.sin(x) + np.sum(np.where(x < 0, None, x)).real

    for f in (converted, chosen):
        with pytest.raises(srcgrad.UnsupportedError, match="an array of objects has no derivative"):
            srcgrad.grad(f)(2.0)


def test_names_are_not_looked_up_by_text():
    def by_globals(x):
        return globals()["TABLE"] * x

    def by_eval(x):
        return eval("x * 2")

    for f, message in ((by_globals, "globals isn't supported"), (by_eval, "eval isn't supported")):
        with pytest.raises(srcgrad.UnsupportedError, match=message):
            srcgrad.grad(f)(2.0)


class Squares:
    def __init__(self, x):
        self.items = (v * v for v in x)


def test_a_generator_may_be_kept_where_it_is_made():
    def f(x):
        total = sum(Squares(x).items)
        for i in range(3):
            total += sum(Squares(x * i).items)
        return total

    x = np.array([1.0, 2.0, 3.0])
    assert srcgrad.grad(f)(x).tolist() == (12 * x).tolist()


def test_a_generator_may_be_used_on_either_branch():
    def doubled(items):
        return 2 * sum(items)

    def chosen(x):
        f = doubled if x[0] > 1 else sum
        return f(v * v for v in x)

    def branched(x):
        kept = Squares(x)
        return sum(kept.items) if x[0] < 1 else 2 * sum(kept.items)

    x = np.array([1.5, 2.0, 3.0])
    for f in (chosen, branched):
        assert srcgrad.grad(f)(x).tolist() == (4 * x).tolist()
        assert srcgrad.grad(f)(x / 2).tolist() == x.tolist()


def test_what_is_another_object_each_time():
    """As the units of a registry are: what was compiled would hold for none of them."""
    module = types.ModuleType("units")
    module.__getattr__ = lambda name: object()  # (PEP 562)
    names = {"np": np, "units": module}
    text = "def f(x):\n    return np.sum(x) * (2 if units.meter else 1)\n"
    exec(compile(text, "<units>", "exec"), names)
    linecache.cache["<units>"] = len(text), None, text.splitlines(True), "<units>"
    with pytest.raises(srcgrad.UnsupportedError, match="something else each time"):
        srcgrad.grad(names["f"])(np.ones(2))


def test_results_of_different_kinds():
    """One of two dicts, or what a recursion makes of a tuple and None: with words for users."""

    def ohm(voltage, current, resistance):
        if voltage == 0:
            return {"voltage": current * resistance}
        return {"current": voltage / resistance}

    def nested(x):
        return None if x <= 0 else (x, nested(x - 1))

    with pytest.raises(srcgrad.UnsupportedError, match="which of several objects is returned"):
        srcgrad.vjp(ohm, 0.0, 2.0, 3.0)
    with pytest.raises(srcgrad.UnsupportedError, match="the result' changes its kind"):
        srcgrad.vjp(nested, 2.0)


def test_what_is_unrolled_without_end_is_refused(monkeypatch):
    for name, limit in (("LONG", 20), ("TOO_LONG", 50), ("ENDLESS", 100)):
        monkeypatch.setattr(srcgrad.compiler, name, limit)
    steps = [np.sin, np.cos, np.tanh] * 50

    def chained(x):
        for step in steps:
            x = step(x)
        return x

    with pytest.raises(srcgrad.UnsupportedError, match="has more than 100 statements when its"):
        srcgrad.grad(chained)(1.0)
