"""Gradients of random programs (`fuzz_programs.py`) against finite differences.

A wrong gradient is a failure; a refusal (UnsupportedError) is counted. For a long run:

    python -m tests.test_fuzz 5000 [first seed] [inside]

prints each failing program, made as small as it gets, and a summary; `inside` takes derivatives of
programs that take derivatives of the random ones.
"""

from __future__ import annotations

import ast
import collections
import random
import signal
import sys
import time
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import srcgrad
from srcgrad.errors import UnsupportedError
from tests import fuzz_programs
from tests.fuzz_programs import M, N


class Invalid(Exception):
    """The program itself fails, or is not smooth enough to be checked."""


class Wrong(Exception):
    """The gradient is wrong."""


def inputs(dtype=np.float64):
    r = np.random.default_rng(7)
    x, w = r.normal(size=N), r.normal(size=(M, N))
    return x.astype(dtype), w.astype(dtype), 0.4, 3


def difference(f, args, direction, step):
    values = []
    for sign in (1, -1, 2, -2):
        moved = [np.array(a) + sign * step * d if np.ndim(a) else a + sign * step * d
                 for a, d in zip(args[:3], direction, strict=True)]  # fmt: skip
        values.append(float(f(*moved, args[3])))
    near = (values[0] - values[1]) / (2 * step)
    far = (values[2] - values[3]) / (4 * step)
    return (4 * near - far) / 3


def derivative(f, args, direction):
    """The derivative along a direction, from differences with two steps that agree."""
    try:
        a, b = (difference(f, args, direction, step) for step in (1e-4, 2.7e-5))
    except Exception as error:
        raise Invalid from error
    if not np.isfinite(a) or abs(a) > 1e5 or abs(a - b) > 1e-7 * (1 + abs(a)):
        raise Invalid
    return b


def check(text):
    """Compare the gradient of a program with differences.

    Raises:
        Invalid: the program is no test.
        Wrong: the gradient is wrong.
        UnsupportedError: srcgrad refuses the program.
    """
    f = fuzz_programs.load(text)
    args = inputs()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        r = np.random.default_rng(3)
        directions = [
            (r.normal(size=N), r.normal(size=(M, N)), float(r.normal())) for _ in range(2)
        ]
        expected = [derivative(f, args, d) for d in directions]
        primal = float(f(*(np.array(a) if np.ndim(a) else a for a in args)))
        gradient = srcgrad.value_and_grad(f, argnums=(0, 1, 2))
        mine = [np.array(a) if np.ndim(a) else a for a in args]
        try:
            value, found = gradient(*mine)
        except UnsupportedError:
            raise
        except Exception as error:
            raise Wrong(f"{type(error).__name__}: {error}\n{gradient.source}") from error
    for a, b in zip(args, mine, strict=True):
        if not np.array_equal(a, b):
            raise Wrong(f"an argument was changed\n{gradient.source}")
    if abs(value - primal) > 1e-12 * (1 + abs(primal)):
        raise Wrong(f"the value is {value}, not {primal}\n{gradient.source}")
    for g, a in zip(found, args[:3], strict=True):
        if np.shape(g) != np.shape(a):
            raise Wrong(f"a gradient of shape {np.shape(g)} for {np.shape(a)}\n{gradient.source}")
    for d, e in zip(directions, expected, strict=True):
        total = sum(float(np.sum(g * v)) for g, v in zip(found, d, strict=True))
        if not abs(total - e) <= 1e-5 * (1 + abs(e)):
            raise Wrong(f"the derivative is {total}, not {e}\n{gradient.source}")
    check_returned(text, args)
    check_single(f, gradient, found, "while" in text or "break" in text)


def check_returned(text, args):
    """The pullback of the program that returns its arguments too, which it may have written, and
    some of what it has computed on the way.

    It may be called again: it leaves what it needs as it was.
    """
    more = ["x", "w", *kept_names(text)]
    f = fuzz_programs.load(
        text.replace("    return total\n", f"    return total, {', '.join(more)}\n")
    )
    weights = [0.3, 0.7, -0.4, 0.2, 0.9]

    def added_up(x, w, s, n):
        total, *others = f(x, w, s, n)
        return total + sum(np.sum(v * weight) for v, weight in zip(others, weights, strict=False))

    r = np.random.default_rng(5)
    d = r.normal(size=N), r.normal(size=(M, N)), float(r.normal())
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = derivative(added_up, args, d)
        mine = [np.array(a) if np.ndim(a) else a for a in args]
        try:
            (_, *others), pullback = srcgrad.vjp(f, *mine)
            seeds = [np.full(np.shape(v), t)[()] for v, t in zip(others, weights, strict=False)]
            found = [pullback((1.0, *seeds))[:3] for _ in range(2)]
        except UnsupportedError:
            return
        except Exception as error:
            raise Wrong(f"vjp: {type(error).__name__}: {error}") from error
    for g in found:
        slope = sum(float(np.sum(a * b)) for a, b in zip(g, d, strict=True))
        if not abs(slope - expected) <= 1e-5 * (1 + abs(expected)):
            raise Wrong(f"the pullback's derivative is {slope}, not {expected}\n{pullback.source}")


def kept_names(text):
    """Up to three numbers and arrays that a program computes whatever happens."""
    body = ast.parse(text).body[-1].body
    named = [s.targets[0].id for s in body if isinstance(s, ast.Assign) and is_name(s.targets[0])]
    kept = [v for v in dict.fromkeys(named) if v not in ("total", "x", "w", "z", "n")]
    if not kept:
        return []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        names = ", ".join(kept)
        f = fuzz_programs.load(text.replace("    return total\n", f"    return ({names},)\n"))
        try:
            values = f(*inputs())
        except Exception:  # it returns earlier, perhaps
            return []
    if not isinstance(values, tuple):
        return []
    floats = (float, np.floating)
    return [
        v
        for v, value in zip(kept, values, strict=True)
        if isinstance(value, floats) or getattr(value, "dtype", None) == np.float64
    ][-3:]


def is_name(target):
    return isinstance(target, ast.Name)


def check_single(f, gradient, expected, jumpy):
    """With float32 arguments the gradients are float32, and about the same.

    A loop that ends at a test may end elsewhere with float32; then only dtypes are compared.
    """
    args = inputs(np.float32)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value = float(f(*(np.array(a) if np.ndim(a) else a for a in args)))
        try:
            mine, found = gradient(*args)
        except UnsupportedError:
            return
        except Exception as error:
            raise Wrong(f"float32: {type(error).__name__}: {error}\n{gradient.source}") from error
    if abs(mine - value) > 1e-5 * (1 + abs(value)):
        raise Wrong(f"float32: the value is {mine}, not {value}\n{gradient.source}")
    for g, e, a in zip(found, expected, args, strict=False):
        if np.ndim(a) and g.dtype != np.float32:
            raise Wrong(f"a gradient of dtype {g.dtype}\n{gradient.source}")
        if not jumpy and not np.allclose(g, e, rtol=0.02, atol=0.02 * (1 + np.max(np.abs(e)))):
            raise Wrong(f"float32: the gradient is {g}, not {e}\n{gradient.source}")


def slopes_inside(f):
    """Functions in whose code derivatives of `f` are taken."""

    def along(x, w, s, n):
        value, slope = srcgrad.jvp(
            lambda x, w, s: f(x, w, s, n), (x, w, s), (np.cos(x), w * s, 0.3)
        )
        return slope + value * s + np.sum(x * w)

    def back(x, w, s, n):
        value, pullback = srcgrad.vjp(lambda x, w, s: f(x, w, s, n), x, w, s)
        d_x, d_w, d_s = pullback(np.sin(value * s))
        return np.sum(d_x * x) + np.sum(d_w * np.cos(w)) + d_s + np.sum(x * w)

    def gradients(x, w, s, n):
        d_x, d_w = srcgrad.grad(f, (0, 1))(x, w, s, n)
        return np.sum(d_x * x) + np.sum(d_w * np.cos(w)) + np.sum(x * w)

    return along, back, gradients


def check_inside(text):
    """Compare derivatives of derivatives of a program with differences, in both modes."""
    f = fuzz_programs.load(text)
    args = inputs()
    refused = None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        r = np.random.default_rng(3)
        d = r.normal(size=N), r.normal(size=(M, N)), float(r.normal())
        for h in slopes_inside(f):
            expected = derivative(h, args, d)
            for mode in ("reverse", "forward"):
                mine = [np.array(a) if np.ndim(a) else a for a in args]
                try:
                    if mode == "reverse":
                        found = srcgrad.grad(h, (0, 1, 2))(*mine)
                        slope = sum(float(np.sum(a * b)) for a, b in zip(found, d, strict=True))
                    else:
                        slope = srcgrad.jvp(lambda *a, h=h: h(*a, args[3]), mine[:3], d)[1]
                except UnsupportedError as error:
                    refused = error
                    continue
                except Exception as error:
                    raise Wrong(f"{h.__name__}, {mode}: {type(error).__name__}: {error}") from error
                if not abs(slope - expected) <= 1e-5 * (1 + abs(expected)):
                    raise Wrong(f"{h.__name__}, {mode}: the derivative is {slope}, not {expected}")
                if not all(np.array_equal(a, b) for a, b in zip(args, mine, strict=True)):
                    raise Wrong(f"{h.__name__}, {mode}: an argument was changed")
    if refused is not None:
        raise refused


@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_random_programs(data):
    def choose(n):
        return data.draw(st.integers(0, n - 1))

    text = fuzz_programs.source(fuzz_programs.program(choose))
    try:
        check(text)
    except (Invalid, UnsupportedError):
        return
    except Wrong as error:
        pytest.fail(f"{text}\n{error}", pytrace=False)


@pytest.mark.parametrize("seed", range(2))
def test_seeded_programs(seed):
    counts, failures = campaign(15, 1000 * seed)
    assert not failures, "\n".join(failures)
    assert counts["refused"] <= 5


def generated(seed):
    r = random.Random(seed)
    return fuzz_programs.program(lambda n: r.randrange(n))


@pytest.mark.parametrize("seed", range(1))
def test_derivatives_inside(seed):
    counts, failures = campaign(3, 1000 * seed, checked=check_inside)
    assert not failures, "\n".join(failures)
    assert counts["right"] >= 2


def outcome(lines, checked=check):
    """What happens with a program: a word, and details."""
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, 10 if checked is check else 60)
    try:
        checked(fuzz_programs.source(lines))
    except Invalid:
        return "invalid", ""
    except UnsupportedError as error:
        return "refused", error.message
    except Wrong as error:
        return "wrong", str(error)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return "right", ""


def _stop(*_):
    raise Invalid("it doesn't end")


def shrunk(lines, seconds=8.0, checked=check):
    """The smallest program that is still wrong."""
    end = time.time() + seconds
    again = True
    while again and time.time() < end:
        again = False
        for candidate in fuzz_programs.smaller(lines):
            if time.time() > end:
                break
            try:
                if outcome(candidate, checked)[0] == "wrong":
                    lines, again = candidate, True
                    break
            except (SyntaxError, IndentationError):
                continue
    return lines


def campaign(count, first=0, shrink=False, most=12, checked=check):
    """Run random programs; how many ended how, and the wrong ones."""
    counts, reasons, failures = collections.Counter(), collections.Counter(), []
    for seed in range(first, first + count):
        lines = generated(seed)
        word, details = outcome(lines, checked)
        counts[word] += 1
        if word == "refused":
            reasons[details[:100]] += 1
        if word == "wrong":
            if shrink:
                lines = shrunk(lines, 8.0 if checked is check else 60.0, checked)
                details = outcome(lines, checked)[1]
            text = fuzz_programs.text_of(lines)
            failures.append(f"seed {seed}\n{text}\n{details}\n")
            if shrink:
                print(failures[-1], "-" * 80, sep="\n", flush=True)
            if len(failures) >= most:
                break
    if shrink:
        for reason, n in reasons.most_common(30):
            print(n, reason)
        print(dict(counts))
    return counts, failures


if __name__ == "__main__":
    inside = "inside" in sys.argv
    arguments = [int(a) for a in sys.argv[1:] if a != "inside"] or [1000]
    first = arguments[1] if len(arguments) > 1 else 0
    campaign(arguments[0], first, True, checked=check_inside if inside else check)
