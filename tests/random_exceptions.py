"""Random programs of nested `try`, `with`, `finally`, `raise`, loops and calls.

What fails are operations as much as `raise`; what leaves a block are exceptions, returns, breaks
and continues; what they meet on their way are handlers of all classes, `finally` and the ends of
context managers. Each program is called with several arguments, that take other paths: where the
function raises, its gradient must raise.

For a long run: `python -m tests.random_exceptions COUNT [first seed]` prints each program that
fails, made as small as it gets.
"""

from __future__ import annotations

import random
import re
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad
from tests.random_statements import LATE, Wrong, along, indented, loaded, shrunk, slope

BEFORE = """import contextlib
import math
import numpy as np
from numpy.linalg import LinAlgError


class Oops(Exception):
    def __init__(self, value, rest=None):
        super().__init__("oops")
        self.value = value


class Worse(Oops):
    pass


class Noting:
    def __init__(self, log, v):
        self.log, self.v, self.how = log, v, 1.0

    def __enter__(self):
        self.log.append(self.v)
        return self

    def __exit__(self, kind, error, trace):
        self.how = 2.0 if kind is None else 3.0
        self.log.append(self.v * self.how)


class Ending(Noting):
    def __exit__(self, kind, error, trace):
        self.log.append(self.v * 0.5)
        return True


class EndingSome(Noting):
    def __exit__(self, kind, error, trace):
        self.log.append(self.v * 0.6)
        return kind is not None and issubclass(kind, (LookupError, ArithmeticError, Oops))


class Closed:
    def __init__(self, log, v):
        self.log, self.v = log, v

    def close(self):
        self.log.append(self.v * 0.9)


@contextlib.contextmanager
def scope(log, v):
    log.append(v)
    try:
        yield v * 2
    finally:
        log.append(v * 0.7)


@contextlib.contextmanager
def handling(log, v):
    try:
        yield v * 3
    except (LookupError, Oops):
        log.append(v * 0.3)
    else:
        log.append(v * 0.2)


@contextlib.contextmanager
def plain(log, v):
    yield v
    log.append(v * 0.4)
"""

NUMBERS = "s t a[0] a[-1] 0.5 np.sin(t) s*t np.sum(a) (a@a) log[0]".split()
TESTS = "t > s;a[0] > 0;k > 1;k == 0;np.sum(a) > s;a[-1] < s;k % 2;s > -1;len(log) > 3".split(";")
INDICES = "k k-1 k+1 n n-1 -k 0 7 i".split()
KINDS = """Exception ValueError IndexError KeyError LookupError ArithmeticError ZeroDivisionError
LinAlgError Oops Worse BaseException AssertionError OverflowError StopIteration TypeError
(ValueError,IndexError) (Oops,KeyError) (ZeroDivisionError,LinAlgError) RuntimeError""".split()
CHANGES = (
    "t += NUM",
    "t *= 0.9",
    "a[0] = NUM",
    "a[-1] *= 0.8",
    "log.append(NUM)",
    "a = a * NUM",
    "table['u'] = NUM",
    "items.append(NUM)",
    "k += 1",
    "t = t * 0.5 + NUM",
    "s = s * 0.9",
)
FAILING = (
    "t += NUM if NUM < [s, None, 'a'][k % 3] else NUM",
    "t += NUM if (k, NUM) >= (1, t if t > s else None) else NUM",
    "t += a[INDEX]",
    "t += a[INDEX] * 0.5",
    "a[INDEX] = NUM",
    "a[INDEX] += NUM",
    "t += items[INDEX]",
    "items[INDEX] = NUM",
    "t += table[KEY]",
    "del table[KEY]",
    "t += table.pop(KEY)",
    "t += items.pop()",
    "t += 1.0 / k",
    "t += 1.0 / (k - 1)",
    "k = 3 // k",
    "k = 7 % k",
    "t += math.sqrt(NUM)",
    "t += math.log(NUM)",
    "t += math.exp(400 * float(NUM)) * 1e-9",
    "t += np.linalg.cholesky(np.diag(a))[0, 0]",
    "a = np.linalg.cholesky(np.diag(a) + s * np.eye(n))[0]",
    "t += np.sum(np.linalg.inv(np.diag(a) * k))",
    "t += np.sum(np.linalg.solve(np.diag(a) * (k - 1), a))",
    "assert TEST",
    "assert TEST, 'no'",
    "t += next(it)",
    "t += float('n/a')",
    "a = a + np.ones(k)",
    "t += (s, t)[k]",
    "u, v = log; t += u * v",
    "t += None * s",
    "t += log.missing",
)
RAISES = (
    "raise Oops(NUM)",
    "raise Worse(NUM, t)",
    "raise ValueError('bad')",
    "raise ValueError(NUM)",
    "raise KeyError('key')",
    "raise IndexError",
    "raise ZeroDivisionError('zero')",
    "raise RuntimeError('so') from None",
    "raise StopIteration",
    "raise LinAlgError('singular')",
)
MANAGERS = (
    "Noting(log, NUM)",
    "Noting(log, NUM) as w",
    "Ending(log, NUM)",
    "EndingSome(log, NUM)",
    "scope(log, NUM) as u",
    "scope(log, NUM)",
    "handling(log, NUM)",
    "plain(log, NUM)",
    "contextlib.suppress(KIND)",
    "contextlib.closing(Closed(log, NUM))",
    "np.errstate(all='ignore')",
    "Noting(log, NUM), scope(log, NUM)",
    "EndingSome(log, NUM), Noting(log, NUM)",
)


class Writer:
    """Writes a program of some functions that call each other."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.callable: list[str] = []
        self.wild = self.random.random() < 0.5  # whether exceptions are many

    def source(self) -> str:
        """The text of `f`, which returns a number, and what it calls."""
        r = self.random
        text = ""
        start = ["t, n, i, u, w = 0.3 * s, len(a), 0, 0.1, 0.2"]
        start += ["items, table, it = [s, t], {'u': t, 'v': s}, iter([s, t])"]
        for number in range(r.randint(0, 2)):
            name = f"g{number}"
            body = [*start, *self.block(1, r.randint(1, 3), False, name), *self.leave(False, 1.0)]
            text += "\n\n" + "\n".join(indented(f"def {name}(a, s, k, log):", body)) + "\n"
            self.callable.append(name)
        body = ["a, log = x * 1.0, [s, s * 0.5]", *start, *self.block(0, r.randint(1, 3), False)]
        end = "t + np.sum(a) + sum((j + 1) * v for j, v in enumerate(log)) + sum(table.values())"
        body.append(f"return {end} + sum(items) * 0.1 + k * s")
        return text + "\n\n" + "\n".join(indented("def f(x, s, k):", body)) + "\n"

    def block(self, depth: int, count: int, loop: bool, name: str = "") -> list[str]:
        return [row for _ in range(count) for row in self.statement(depth, loop, name)]

    def statement(self, depth: int, loop: bool, name: str) -> list[str]:
        r = self.random
        choice = r.random() * (1 if depth < 3 else 0.5)
        if choice < 0.2:
            return [self.filled(r.choice(CHANGES))]
        if choice < 0.4 if self.wild else choice < 0.33:
            return [self.filled(r.choice(FAILING))]
        if choice < 0.43:
            rows = self.leave(loop, 0.5)
            return indented(self.filled("if TEST:"), rows) if r.random() < 0.8 else rows
        if choice < 0.5:
            called = [*self.callable, *([name] if name and r.random() < 0.3 else [])]
            if not called:
                return [self.filled("t += NUM")]
            g = r.choice(called)
            if g == name:
                return indented("if k > 0:", [self.filled(f"t += {g}(a, NUM, k - 1, log)")])
            return [self.filled(f"t += {g}(a, NUM, k, log)")]
        if choice < 0.75:
            return self.attempt(depth, loop, name)
        inside = self.block(depth + 1, r.randint(1, 2), loop, name)
        if choice < 0.87:
            return indented(f"with {self.filled(r.choice(MANAGERS))}:", inside)
        if choice < 0.93:
            rows = indented(self.filled("if TEST:"), inside)
            if r.random() < 0.4:
                rows += indented("else:", self.block(depth + 1, 1, loop, name))
            return rows
        inside = self.block(depth + 1, r.randint(1, 2), True, name)
        heads = ("for i in range(3):", "for i in range(n):", "for i, u in enumerate(a):")
        if r.random() < 0.25:
            return ["i = 0", *indented("while i < 3:", ["i += 1", *inside])]
        rows = indented(r.choice(heads), inside)
        return rows + (indented("else:", [self.filled("t += NUM")]) if r.random() < 0.2 else [])

    def attempt(self, depth: int, loop: bool, name: str) -> list[str]:
        r = self.random
        rows = indented("try:", self.block(depth + 1, r.randint(1, 2), loop, name))
        handlers = r.choice([0, 1, 1, 1, 2])
        for _ in range(handlers):
            kind, bound = r.choice(KINDS), r.random() < 0.4
            inside = self.block(depth + 1, r.choice([1, 1, 2]), loop, name)
            if r.random() < 0.15:
                inside.append(r.choice(["raise", "raise KeyError('again')"]))
            elif bound:
                told = ["t += e.value"] if kind in ("Oops", "Worse") else []
                told += ["t += s * len(type(e).__name__)", "t += s * len(str(e))"]
                inside.insert(0, r.choice(told))
                if r.random() < 0.1:
                    inside.append("raise ValueError('from') from e")
            rows += indented(f"except {kind} as e:" if bound else f"except {kind}:", inside)
        if handlers and r.random() < 0.1:
            rows += indented("except:", self.block(depth + 1, 1, loop, name))
        if handlers and r.random() < 0.25:
            rows += indented("else:", self.block(depth + 1, 1, loop, name))
        if not handlers or r.random() < 0.35:
            inside = self.block(depth + 1, 1, loop, name) if r.random() < 0.5 else []
            rows += indented("finally:", [self.filled(r.choice(CHANGES)), *inside])
        return rows

    def leave(self, loop: bool, returns: float) -> list[str]:
        r = self.random
        if r.random() < returns:
            return [self.filled(r.choice(["return t", "return NUM", "return t * NUM"]))]
        if loop and r.random() < 0.6:
            return [r.choice(["break", "continue"])]
        return [self.filled(r.choice(RAISES))]

    def filled(self, row: str) -> str:
        for word, choices in (
            ("TEST", TESTS), ("NUM", NUMBERS), ("INDEX", INDICES), ("KIND", KINDS),
            ("KEY", ["'u'", "'v'", "'zz'"]),
        ):  # fmt: skip
            while word in row:
                row = row.replace(word, self.random.choice(choices), 1)
        return row


def arguments_of(size: int) -> list[tuple[Any, ...]]:
    """What a program is called with: numbers of both signs, and each `k`."""
    r = np.random.default_rng(size)
    return [(r.normal(size=size) + 0.2, float(r.normal()) * 0.7, k) for k in (0, 1, 2, 3, 1)]


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return (arguments[0].copy(), *arguments[1:])


def result(run: Any) -> Any:
    """What a call returns or raises."""
    try:
        return run()
    except Exception as error:
        return error


def is_stated(error: Exception) -> bool:
    """Whether a program raises an exception by a statement for that."""
    *_, last = traceback.extract_tb(error.__traceback__)
    return (last.line or "").startswith(("raise", "assert"))


def check(text: str, size: int) -> str:
    """What becomes of a program: "right", "invalid" (no test), or "refused: ..."

    Raises:
        Wrong: a derivative is wrong, or isn't what the function raises.
    """
    f = loaded(text)["f"]
    words = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gradient = srcgrad.value_and_grad(f, (0, 1))
        for arguments in arguments_of(size):
            words.append(check_call(f, gradient, arguments))
            if words[-1].startswith("refused"):
                return words[-1]
    return "right" if "right" in words else "raised" if "raised" in words else "invalid"


def check_call(f: Any, gradient: Any, arguments: tuple[Any, ...]) -> str:
    r = np.random.default_rng(0)
    direction = r.normal(size=arguments[0].shape), 0.4
    k = arguments[-1]
    value = result(lambda: f(*copied(arguments)))
    found = result(lambda: gradient(*copied(arguments)))
    if isinstance(found, srcgrad.UnsupportedError):
        return f"refused: {found.message}"
    if isinstance(found, Exception) and any(reason in str(found) for reason in LATE):
        return "refused: when it runs"
    if isinstance(found, TypeError) and "returns None" in str(found):
        return "invalid"
    if isinstance(value, Exception) or isinstance(found, Exception):
        if isinstance(value, Exception) and not isinstance(found, Exception):
            if not is_stated(value):  # by what the result doesn't need
                return "invalid"
        if not isinstance(value, Exception) or not isinstance(found, Exception):
            raise Wrong(f"{found!r} instead of {value!r} with {arguments}")
        if repr(value) != repr(found):  # what isn't needed isn't computed, and raises nothing
            MESSAGES[f"{value!r} became {found!r}"] += 1
        return "raised"
    tangent = (*direction, None)
    forward = result(lambda: srcgrad.jvp(f, copied(arguments), tangent)[1])
    expected = slope(lambda x, s: f(x.copy(), s, k), arguments[:2], direction)
    if not np.allclose(found[0], value, rtol=1e-9, equal_nan=True):
        raise Wrong(f"the value is {found[0]}, not {value} with {arguments}")
    if isinstance(forward, srcgrad.UnsupportedError):
        forward = expected
    elif isinstance(forward, Exception):
        raise Wrong(f"forward mode raises {forward!r} with {arguments}")
    if expected is None or abs(value) > 1e6:
        return "invalid"
    for name, total in {"reverse": along(found[1], direction), "forward": forward}.items():
        if not np.allclose(total, expected, rtol=1e-4, atol=1e-4 * (1 + 0.01 * abs(value))):
            raise Wrong(f"{name}: the derivative is {total}, not {expected} with {arguments}")
    return "right"


MESSAGES: Counter[str] = Counter()


def outcome(text: str, size: int = 3) -> str:
    try:
        return check(BEFORE + text, size)
    except Wrong as error:
        return f"wrong: {error}"


def kind_of(word: str) -> list[str]:
    """What is the same of a failure and that of a smaller program."""
    return re.findall(r"^[a-z: ]+|\w+(?=\()", word.partition(" with (")[0])


def fails_alike(text: str) -> Callable[[str], bool]:
    """Whether another program fails as this one does, and still ends as it does."""
    kind = kind_of(outcome(text))
    return lambda other: text[-90:] in other and kind_of(outcome(other)) == kind


def main(count: int, first: int) -> None:
    """Check programs, print those that fail, and how many ended how."""
    words: Counter[str] = Counter()
    for seed in range(first, first + count):
        text = Writer(seed).source()
        word = outcome(text)
        words[word if word.startswith("refused") else word.split(":")[0]] += 1
        if word.startswith("wrong"):
            small = shrunk(text, fails_alike(text), 20.0)
            print(f"seed {seed}\n{small}\n{outcome(small)}\n", flush=True)
    for word, times in [*words.most_common(), *MESSAGES.most_common()]:
        print(times, word)


if __name__ == "__main__":
    main(int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0]))
