"""Exceptions that only the run knows of, and what follows them, whichever way a block is left."""

import contextlib
import functools
import inspect
import math
import threading

import numpy as np
import pytest

import srcgrad
import srcgrad.testing
from tests.small_programs import check

X = np.array([0.7, 1.3, 2.1])
INDEFINITE = np.array([[1.0, 2.0, 0.1], [2.0, 1.3, 0.2], [0.1, 0.2, 1.0]])
DEFINITE = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 0.2]])


class Bad(Exception):
    def __init__(self, value, where=0):
        super().__init__(value)
        self.value = value
        self.where = where


class Worse(Bad):
    pass


def raise_in_loop(x):
    s = 0.0
    try:
        for i in range(3):
            if x[i] > 1.2:
                raise ValueError("big")
            s = s + x[i] ** 2
    except ValueError:
        s = s * 3
    return s + x[2]


def raise_in_loop_n(x):
    n = len(x)
    s = 0.0
    try:
        for i in range(n):
            if x[i] > 1.2:
                raise ValueError("big")
            s = s + x[i] ** 2
    except ValueError:
        s = s * 3 + x[i]
    return s + x[2]


def raise_value(x):
    n = len(x)
    s = 0.0
    try:
        for i in range(n):
            if x[i] > 1.2:
                raise Bad(x[i] * s, i)
            s = s + x[i] ** 2
    except Bad as e:
        s = s * 3 + e.value * (1 + e.where)
    return s + x[2]


def raise_args(x):
    try:
        if x[0] > 0.5:
            raise ValueError("a", x[0] * x[1])
        y = x[0]
    except ValueError as e:
        y = e.args[1] * 2
    return y * x[2]


def nested_branch(x):
    y = x[0]
    try:
        if x[1] > 0:
            y = y * 2
            if x[2] > 2:
                y = y * 3
                raise KeyError
            y = y * 5
        y = y * 7
    except KeyError:
        y = y * 11
    return y


def finally_run(x):
    y = x[0]
    try:
        try:
            if x[1] > 0:
                raise ValueError
            y = y * 3
        finally:
            y = y * 5
        y = y * 7
    except ValueError:
        y = y + x[1]
    return y * x[2]


def two_handlers(x):

    def f(v):
        if v > 2:
            raise ValueError
        if v > 1:
            raise KeyError
        return v * v

    out = 0.0
    for i in range(3):
        try:
            out = out + f(x[i])
        except ValueError:
            out = out * 2
        except KeyError:
            out = out * 3 + x[i]
        else:
            out = out + x[0]
        finally:
            out = out * 1.1
    return out


def fperr2(x):
    with np.errstate(over="raise"):
        try:
            y = np.exp(1000 * x).sum()
        except FloatingPointError:
            y = np.sum(x * x)
    return y


def reraise(x):
    y = x[0]
    try:
        try:
            if x[1] > 0:
                raise ValueError
        except ValueError:
            y = y * 2
            raise
    except ValueError:
        y = y * x[1]
    return y


def raise_from(x):
    y = x[0]
    try:
        try:
            if x[1] > 0:
                raise ValueError("q")
        except ValueError as e:
            raise RuntimeError("w") from e
    except RuntimeError:
        y = y * x[1]
    return y


def subclass(x):
    try:
        if x[0] > 0.5:
            raise Worse(x[1] * 2)
        y = x[0]
    except Bad as e:
        y = e.value * x[2]
    return y


def stop_iter(x):
    it = iter([x[0], x[1]])
    s = 0.0
    try:
        while True:
            s = s + next(it) ** 2
    except StopIteration:
        pass
    return s * x[2]


def index_err(x):
    i = 0
    s = 0.0
    while True:
        try:
            s = s + x[i] ** 2 * (i + 1)
        except IndexError:
            break
        i += 1
    return s


def key_err(x):
    d = {}
    for i in range(5):
        k = i % 3
        try:
            d[k] = d[k] + x[k] ** 2 * i
        except KeyError:
            d[k] = x[k]
    return d[0] + d[1] * d[2]


def assert_nested(x):
    y = x[2]
    try:
        for v in x:
            assert v < 1, "small"
            y = y * v
    except AssertionError:
        y = y * x[1] ** 2
    return y


def return_in_try_loop(x):

    def f(x):
        for v in x:
            try:
                if v > 1:
                    raise ValueError
                y = v * 2
            except ValueError:
                return v * v
        return y

    return f(x) * x[0]


def continue_in_handler(x):
    n = len(x)
    s = 0.0
    for i in range(n):
        try:
            if x[i] > 1 and x[i] < 2:
                raise ValueError
            s = s + x[i]
        except ValueError:
            continue
        s = s * 2
    return s


def with_exit(x):

    class C:
        def __init__(self):
            self.v = x[0]

        def __enter__(self):
            return self

        def __exit__(self, t, e, tb):
            self.v = self.v * (2 if t is None else 3)
            return t is ValueError

    c = C()
    with c:
        if x[1] > 1:
            raise ValueError
        c.v = c.v * x[2]
    return c.v


class Conv(RuntimeError):
    pass


def newton(x):

    def step(z):
        d = 2 * z
        if abs(d) < 0.001:
            raise ZeroDivisionError("flat")
        return z - (z * z - x[0] * 3) / d

    z = x[1]
    for _ in range(50):
        try:
            new = step(z)
        except ZeroDivisionError:
            z = z + 0.5
            continue
        if abs(new - z) < 1e-12:
            break
        z = new
    else:
        raise Conv("no")
    return z * x[2]


def list_in_try(x):
    n = len(x)
    out = []
    for i in range(n):
        try:
            if x[i] > 1:
                raise ValueError
            out.append(x[i] * 2)
        except ValueError:
            out.append(x[i] ** 2)
            out.append(1.0)
    return sum(((k + 1) * v for k, v in enumerate(out)))


def list_across(x):
    n = len(x)
    out = []
    try:
        for i in range(n):
            out.append(x[i] * 2)
            if x[i] > 1:
                raise ValueError
            out.append(x[i] ** 3)
    except ValueError:
        out.append(x[0])
    return sum(((k + 1) * v for k, v in enumerate(out)))


def dict_static(x):
    d = {"a": x[0]}
    try:
        d["b"] = x[1]
        if x[1] > 1:
            raise ValueError
        d["a"] = x[2]
    except ValueError:
        d["b"] = d["b"] * 3
    return d["a"] * d["b"]


def obj_attr(x):

    class S:
        pass

    s = S()
    s.v = x[0]
    s.n = 0

    def go():
        s.v = s.v * 2
        s.n += 1
        if s.v > 1:
            raise Bad(s.v * x[1])
        s.v = s.v * 5

    try:
        go()
        go()
        go()
    except Bad as e:
        s.v = s.v + e.value
    return s.v * (s.n + 1)


def inplace(x):
    y = x.copy()
    try:
        y[0] *= 3
        if y[1] > 1:
            raise ValueError
        y[1] *= 5
    except ValueError:
        y[2] *= y[0]
    finally:
        y += 1
    return np.sum(y * y)


def inplace_loop(x):
    n = len(x)
    y = x.copy()
    for i in range(n):
        try:
            y[i] *= 3
            for j in range(n):
                if y[j] > 2:
                    raise Bad(y[j], j)
                y[j] *= 1.1
        except Bad as e:
            y[e.where] = e.value * 0.3
    return np.sum(y * y)


def ternary(x):

    def f(v):
        if v > 1:
            raise ValueError
        return v

    try:
        y = (f(x[0]) if x[2] > 2 else 0.0) + (f(x[1]) if x[0] > 0 else 1.0)
    except ValueError:
        y = x[1] ** 3
    return y


def comp(x):

    def f(v):
        if v > 2:
            raise ValueError("x", v)
        return v * v

    try:
        y = sum([f(v) for v in x])
    except ValueError as e:
        y = e.args[1] ** 3
    return y


def comp_n(x):
    n = len(x)

    def f(v):
        if v > 2:
            raise ValueError("x", v)
        return v * v

    try:
        y = sum([f(x[i]) for i in range(n)])
    except ValueError as e:
        y = e.args[1] ** 3
    return y


def boolop(x):

    def f(v):
        if v > 1:
            raise ValueError
        return v > 0

    try:
        if f(x[0]) and f(x[1]):
            y = x[0]
        else:
            y = x[1]
    except ValueError:
        y = x[2] ** 2
    return y


def while_test(x):
    s = 0.0
    k = 0

    def f(k):
        if k == 2:
            raise StopIteration
        return k < 10

    try:
        while f(k):
            s = s + x[k] ** 2
            k += 1
    except StopIteration:
        s = s * 3
    return s


def while_test_data(x):
    s = x[0]

    def f(v):
        if v > 5:
            raise ValueError
        return v < 100

    try:
        while f(s):
            s = s * 1.7
    except ValueError:
        s = s * x[1]
    return s * x[2]


def nested_try_loop(x):
    n = len(x)
    t = 0.0
    try:
        for i in range(n):
            try:
                if x[i] > 2:
                    raise KeyError
                if x[i] > 1:
                    raise ValueError
                t = t + x[i]
            except ValueError:
                t = t * 2 + x[i]
    except KeyError:
        t = t + x[n - 1] ** 2
    return t


def finally_loop(x):
    n = len(x)
    t = 0.0
    try:
        for i in range(n):
            try:
                if x[i] > 2:
                    raise KeyError
                t = t + x[i]
            finally:
                t = t * 1.5
    except KeyError:
        t = t + 7 * x[0]
    return t


def return_finally(x):
    log = []

    def f(v):
        try:
            if v > 1:
                return v * v
            return v
        finally:
            log.append(v)

    y = f(x[0]) + f(x[1])
    return y * log[0] * log[1]


def return_finally_n(x):
    n = len(x)
    c = [0.0]

    def f(v):
        try:
            if v > 1:
                return v * v
            return v
        finally:
            c[0] = c[0] + v

    y = 0.0
    for i in range(n):
        y = y + f(x[i])
    return y * c[0]


@contextlib.contextmanager
def cm(log):
    log.append(1.0)
    try:
        yield 3.0
    except ValueError:
        log.append(2.0)
    finally:
        log.append(5.0)


def cm_run(x):
    log = []
    with cm(log) as c:
        if x[1] > 1:
            raise ValueError
        log.append(c * x[0])
    return sum(((k + 1) * v for k, v in enumerate(log))) * x[2]


@contextlib.contextmanager
def plain(log):
    log[0] = log[0] * 2
    yield
    log[0] = log[0] + 1


def cm_return(x):
    log = [x[0]]

    def f():
        with plain(log):
            return x[1] * log[0]

    y = f()
    return y * log[0]


def cm_break(x):
    n = len(x)
    log = [x[0]]
    y = 0.0
    for i in range(n):
        with plain(log):
            if x[i] > 1:
                break
            y = y + x[i] * log[0]
    return y * log[0]


def cm_continue(x):
    n = len(x)
    log = [x[0]]
    y = 0.0
    for i in range(n):
        with plain(log):
            if x[i] > 1:
                continue
            y = y + x[i] * log[0]
    return y * log[0]


def retry_limit(x):

    def attempt(k):
        if x[0] * k < 2:
            raise Conv(k)
        return x[0] * k

    last = None
    for k in range(1, 10):
        try:
            y = attempt(k)
            break
        except Conv as e:
            last = e
    else:
        raise last
    return y * x[1]


def err_flag(x):
    err = None
    try:
        if x[1] > 1:
            raise ValueError("q")
        y = x[0]
    except ValueError as e:
        err = str(e)
        y = x[1]
    if err is not None:
        y = y * x[2]
    return y


def multi(x):
    y = 0.0
    for v in x:
        try:
            if v < 1:
                raise KeyError(v)
            elif v < 2:
                raise IndexError(v * 2)
            else:
                raise ValueError(v * 3)
        except LookupError as e:
            y = y + e.args[0] ** 2
        except ValueError as e:
            y = y + e.args[0] ** 3
    return y


def tuple_handlers(x):
    y = 0.0
    for v in x:
        try:
            if v < 1:
                raise KeyError(v)
            elif v < 2:
                raise TypeError(v * 2)
            y = y + v
        except (KeyError, TypeError) as e:
            y = y + e.args[0] ** 2 * (2.0 if isinstance(e, KeyError) else 3.0)
    return y


def raise_in_handler(x):
    y = x[0]
    try:
        try:
            if x[0] > 0.5:
                raise ValueError
        except ValueError:
            if x[1] > 1:
                raise KeyError  # noqa: B904
            y = y * 2
    except KeyError:
        y = y * x[2]
    return y


def raise_in_else(x):
    y = x[0]
    try:
        try:
            if x[0] > 5:
                raise ValueError
        except ValueError:
            y = y * 2
        else:
            if x[1] > 1:
                raise ValueError
            y = y * 7
    except ValueError:
        y = y * x[2]
    return y


def err_undefined(x):
    try:
        a = x[0] * 2
        if x[1] > 1:
            raise ValueError
        b = a * x[1]
    except ValueError:
        b = a + x[2]
    return a * b


def err_arr(x):
    n = len(x)
    acc = 0.0
    try:
        for i in range(n):
            if i == 2:
                raise ValueError
            acc = acc + x * x[i]
    except ValueError:
        acc = acc * 2
    return np.sum(acc)


def rec(x):

    def f(n):
        if n == 0:
            raise ValueError
        return x[0] * f(n - 1)

    try:
        y = f(3)
    except ValueError:
        y = x[1]
    return y


def attr_err(x):

    class A:
        pass

    a = A()
    try:
        v = a.foo
    except AttributeError:
        a.foo = x[0]
        v = a.foo * 2
    return v * x[1]


def lstsq_nested(x):
    A = np.outer(x, x)

    def solve(A, b):
        try:
            return np.linalg.solve(A, b)
        except np.linalg.LinAlgError:
            return b * 2

    for k in range(3):
        A = A + np.diag(x) * k
        b = solve(A + 0.5 * np.eye(3), x)
    return np.sum(b)


def backtrack(x):

    def obj(t):
        if t > 1.5:
            raise Bad(t, 1)
        return (t - x[0]) ** 2

    t = x[2]
    while True:
        try:
            v = obj(t)
            break
        except Bad as e:
            t = e.value * 0.6
    return v + t


def else_return(x):

    def f(v):
        try:
            if v > 1:
                raise ValueError
        except ValueError:
            pass
        else:
            return v * 3
        return v * v

    return f(x[0]) * f(x[1])


def cond_swallow(x):

    class C:
        def __enter__(self):
            self.v = x[0]
            return self

        def __exit__(self, t, e, tb):
            if t is None:
                return False
            self.v = self.v * e.value
            return bool(e.where)

    c = C()
    y = 1.0
    try:
        with c:
            if x[1] > 1:
                raise Bad(x[1], 1 if x[2] > 2 else 0)
            y = 3.0
    except Bad as e:
        y = e.value * 5
    return y * c.v


def chained(x):
    try:
        try:
            if x[0] > 0.5:
                raise ValueError("a")
            y = 1.0
        except ValueError as e:
            raise Conv("b") from e
    except Conv:
        y = x[1] ** 2
    return y


def break_try(x):
    n = len(x)
    s = 0.0
    for i in range(n):
        try:
            if x[i] > 2:
                break
            if x[i] > 1:
                raise ValueError
            s = s + x[i]
        except ValueError:
            s = s * x[i]
        finally:
            s = s + 1
    return s


class Plain(Exception):
    pass


class Scaled(Plain):
    code = 3.0

    def __init__(self, v, *, scale=2.0):
        self.v = v
        self.scale = scale
        super().__init__(v)

    def val(self):
        return self.v * self.scale

    @property
    def prop(self):
        return self.v + 1

    def __str__(self):
        return "Scaled!"


def exc_object_before(x):
    err = Scaled(x[0])
    try:
        if x[1] > 1:
            raise err
        y = 1.0
    except Scaled as e:
        y = e.v * x[2]
    return y * x[1]


def array_attr(x):

    class A(Exception):
        def __init__(self, arr):
            self.arr = arr

    try:
        if x[1] > 1:
            raise A(x * 2)
        y = x
    except A as e:
        y = e.arr**2
    return np.sum(y)


def local_exc_loop(x):
    n = len(x)

    class A(Exception):
        def __init__(self, arr, k):
            self.arr = arr
            self.k = k

    t = np.zeros(3)
    for i in range(n):
        try:
            t = t + x * i
            if t[0] > 1:
                raise A(t * 2, i)
        except A as e:
            t = e.arr**2 / (e.k + 1)
    return np.sum(t)


def mutated_list_in_exc(x):

    class A(Exception):
        def __init__(self, items):
            self.items = items

    try:
        values = [x[0], x[1]]
        if x[2] > 2:
            raise A(values)
        y = 0.0
    except A as e:
        e.items.append(x[2])
        y = sum(e.items) * len(values)
    return y * x[0]


def div_loop(x):
    n = len(x)
    s = 0.0
    for i in range(n):
        a = float(x[i])
        try:
            s = s + 1 / (i - 1) * a
        except ZeroDivisionError:
            s = s + a * a
    return s


def swallow_in_branch(x):
    y = x[0]
    if x[1] > 0:
        for v in x:
            try:
                if v > 1:
                    raise ValueError
                y = y * v
            except ValueError:
                pass
            else:
                y = y + 1
    return y * x[2]


def while_true_count(x):
    n = 0
    z = x[0]
    while True:
        try:
            n += 1
            z = z * 1.5
            if z > 4:
                raise StopIteration
        except StopIteration:
            break
    return z * n


def order(x):
    log = []

    def f(k, v):
        log.append(k * v)
        if v > 1:
            raise ValueError
        return v

    try:
        y = f(1, x[0]) + f(2, x[1]) * f(3, x[2])
    except ValueError:
        y = x[0]
    return y * sum(log)


def aug(x):

    def f(v):
        if v > 1:
            raise ValueError
        return v

    s = x[0]
    try:
        s += f(x[0])
        s *= f(x[1])
    except ValueError:
        s -= x[2]
    return s


def sub_store(x):

    def f(v):
        if v > 1:
            raise ValueError
        return v

    y = np.zeros(3)
    for i in range(3):
        try:
            y[i] = f(x[i])
        except ValueError:
            y[i] = x[i] ** 2
    return np.sum(y * np.arange(1, 4))


def sub_aug(x):

    def f(v):
        if v > 1:
            raise ValueError
        return v

    y = np.ones(3)
    try:
        for i in range(3):
            y[i] += f(x[i])
    except ValueError:
        y *= x[2]
    return np.sum(y * x)


def unpack(x):

    def f(v):
        if v > 1:
            raise ValueError
        return (v, v * v)

    try:
        a, b = f(x[0])
        c, d = f(x[1])
    except ValueError:
        c, d = (a, x[2])
    return a * b + c * d


def kwcall(x):

    def f(v, w=1.0):
        if v > 1:
            raise ValueError
        return v * w

    def g(a, b):
        return a * b

    try:
        y = g(f(x[0]), b=f(x[1], w=x[2]))
    except ValueError:
        y = x[1]
    return y


def lambda_raise(x):

    def thrower(e):
        raise e

    def f(v):
        return v * v if v < 1 else thrower(ValueError(v))

    try:
        y = f(x[0]) + f(x[1])
    except ValueError as e:
        y = e.args[0] * 3
    return y


def fstr(x):
    msgs = []
    try:
        if x[1] > 1:
            raise ValueError(f"value {x[1]:.2f}")
        y = x[0]
    except ValueError as e:
        msgs.append(str(e))
        y = x[2]
    return y * len(msgs) + x[0]


def retry_decorated(x):

    def retry(f):

        @functools.wraps(f)
        def w(v):
            for k in range(5):
                try:
                    return f(v * 0.6**k)
                except ValueError:
                    continue
            raise RuntimeError

        return w

    @retry
    def g(v):
        if v > 1:
            raise ValueError
        return v * v

    return g(x[0]) + g(x[2])


def gen_consumer(x):

    def g():
        for v in x:
            if v > 2:
                raise Plain
            yield (v * v)

    s = 0.0
    try:
        for v in g():
            s = s + v
    except Plain:
        s = s * x[0]
    return s


def early_arr(x):
    try:
        y = np.array(x)
        if np.any(y > 2):
            raise ValueError("too large")
        y = y / np.sum(y)
    except ValueError:
        y = y / np.max(y)
    return np.sum(y * y)


def checks(x):

    def validate(v):
        if not np.all(np.isfinite(v)):
            raise ValueError("nan")
        if v.ndim != 1:
            raise TypeError
        if v[0] < 0:
            raise ValueError("neg")
        return np.sqrt(v)

    try:
        y = validate(x - 0.5)
    except (ValueError, TypeError):
        y = np.abs(x)
    return np.sum(y)


def nested_loops(x):
    n = len(x)
    hits = 0
    s = 0.0
    for i in range(n):
        for j in range(n):
            try:
                if i == j:
                    continue
                d = x[i] - x[j]
                if abs(d) > 1:
                    raise Plain
                s = s + d * d
            except Plain:
                hits += 1
                if hits > 1:
                    break
        else:
            s = s * 1.5
    return s * (1 + hits)


def outer_found(x):
    n = len(x)

    class Found(Exception):
        pass

    try:
        for i in range(n):
            for j in range(n):
                if x[i] * x[j] > 2:
                    raise Found
    except Found:
        return x[i] * x[j] ** 2
    return x[0]


def finally_break(x):
    n = len(x)
    s = 0.0
    for i in range(n):
        try:
            if x[i] > 1:
                raise ValueError
            s = s + x[i]
        except ValueError:
            s = s * 2
            if x[i] > 2:
                break
        finally:
            s = s + 0.1 * x[0]
    return s


def none_then(x):
    r = None
    for v in x:
        try:
            if v < 1:
                raise ValueError
            r = v * v
        except ValueError:
            if r is None:
                r = v
            else:
                r = r + v
    return r * x[0]


def conditional_expressions_in_a_loop(x):
    total = 0.0
    try:
        for i in range(3):
            total += x[i] if x[i] > 1 else x[i] / (i - int(x[0] < 0.5))
    except ZeroDivisionError:
        total += x[0] ** 2
    return total


class Passing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def returned_by_finally(n):
    weights = []
    try:
        pass
    finally:
        for i in range(n):
            a, b = i / n, (i + 1) / n
            weights.append(b**2 - a**2 if b <= 0.5 else 1 - 2 * min(a, 0.5) ** 2)
        total = sum(weights)
        return [w / total for w in weights]  # noqa: B012


def a_finally_that_returns_in_a_with(x):
    with Passing():
        out = np.zeros(3)
        for lag, weight in enumerate(returned_by_finally(3)):
            out[lag:] += weight * x[lag] ** 2
        return np.sum(out)


class Ending:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is ValueError


def first_or_none(x):
    if x[0] > 1.2:
        raise ValueError("large")
    if x[0] < 0.5:
        raise RuntimeError("small")
    return x[1] ** 2


def one_of_several_ends_it(x):
    total = x[2]
    with Passing(), Ending():
        total = first_or_none(x) if x[1] < 1.2 else first_or_none(x[::-1])
        total *= x[0]
    return total


PROGRAMS = [
    thing
    for _, thing in sorted(globals().items())
    if inspect.isfunction(thing)
    and thing.__module__ == __name__
    and list(inspect.signature(thing).parameters) == ["x"]
]


@pytest.mark.parametrize("scale", [1.0, 0.73, 0.4])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f, scale):
    try:
        f(X * scale)
    except Exception as error:
        with pytest.raises(type(error)):
            srcgrad.grad(f)(X * scale)
        return
    check(f, X * scale)


def until_it_is_definite(a):
    jitter = 1e-6
    while True:
        try:
            factor = np.linalg.cholesky(a + jitter * np.eye(3))
            break
        except np.linalg.LinAlgError:
            jitter *= 10
    return np.sum(factor**2 * np.arange(3)) + jitter


def some_times(a):
    for k in range(10):
        try:
            factor = np.linalg.cholesky(a + 10.0 ** (k - 6) * np.eye(3))
        except np.linalg.LinAlgError:
            continue
        else:
            break
    else:
        raise ValueError("not definite")
    return np.sum(factor**2 * np.arange(3))


def factor_with_jitter(a, maxtries=9):
    diagonal = np.diag(a)
    if np.any(diagonal <= 0.0):
        raise np.linalg.LinAlgError("not definite: non-positive diagonal")
    jitter = diagonal.mean() * 1e-6
    tries = 1
    while tries <= maxtries and np.isfinite(jitter):
        try:
            return np.linalg.cholesky(a + np.eye(3) * jitter)
        except np.linalg.LinAlgError:
            jitter *= 10
        finally:
            tries += 1
    raise np.linalg.LinAlgError("not definite, even with jitter")


def in_a_helper(a):
    return np.sum(factor_with_jitter(a) ** 2 * np.arange(3))


def returned_early(a):
    for k in range(10):
        try:
            return np.sum(np.linalg.cholesky(a + 10.0 ** (k - 6) * np.eye(3)) ** 2 * np.arange(3))
        except np.linalg.LinAlgError:
            pass
    return 0.0


def none_where_it_fails(a):
    def factor(b):
        try:
            return np.linalg.cholesky(b)
        except np.linalg.LinAlgError:
            return None

    found = factor(a)
    jitter = 1e-4
    while found is None:
        found = factor(a + jitter * np.eye(3))
        jitter *= 4
    return np.sum(found**2 * np.arange(3))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program_whose_paths_meet_before_the_handler(f, monkeypatch):
    monkeypatch.setattr("srcgrad.frontend.paths.MOST_REPEATED", -1)
    for scale in (1.0, 0.4):
        test_program(f, scale)


def polished(a):
    for _ in range(12):
        a = a + 0.1 * np.sin(a) * np.cos(2 * a) - 0.05 * a**2 / (1 + a * a)
        a = a * 0.9 + 0.01 * np.exp(-a) + 0.02 * np.tanh(a)
    return a


def solved(a, b):
    """Each of what may fail leads to the same long way around, where the same may fail again."""
    try:
        c = math.sqrt(math.log(a) - b)
        if c > 2:
            raise ValueError("too far")
        return math.sqrt(c - a) + math.log(c - b)
    except ValueError:
        try:
            return math.sqrt(polished(polished(a)) - 2 * b) * math.log(a - 1)
        except ValueError:
            for _ in range(2):
                a = polished(a) + polished(polished(b))
            return a * b


def test_a_long_handler_is_not_repeated_for_each_path():
    def f(x):
        return solved(x[0] + 1, x[1]) * solved(x[1], x[2]) + solved(x[2] * 9, x[0])

    gradient = srcgrad.grad(f)
    gradient(X)
    assert gradient.source.count("\n") < 900
    for scale in (1.0, 2.0, 5.0):
        check(f, X * scale)


@pytest.mark.parametrize("a", [DEFINITE, INDEFINITE], ids=["definite", "indefinite"])
@pytest.mark.parametrize(
    "f",
    [until_it_is_definite, some_times, in_a_helper, returned_early, none_where_it_fails],
    ids=lambda f: f.__name__,
)
def test_factorization(f, a):
    direction = np.random.default_rng(0).normal(size=(3, 3))
    value, gradient = srcgrad.value_and_grad(f)(a)
    assert value == f(a)
    h = 1e-6
    expected = (f(a + h * direction) - f(a - h * direction)) / (2 * h)
    assert np.sum(gradient * direction) == pytest.approx(expected, rel=1e-6)
    _, tangent = srcgrad.jvp(f, (a,), (direction,))
    assert tangent == pytest.approx(np.sum(gradient * direction), rel=1e-10)


def test_floating_point_errors_are_caught():
    def f(x):
        with np.errstate(all="raise"):
            try:
                return np.sum(x / (x - 1.3))
            except FloatingPointError:
                return np.sum(x * x)

    np.testing.assert_allclose(srcgrad.grad(f)(X), 2 * X)
    np.testing.assert_allclose(srcgrad.grad(f)(X + 1), -1.3 / (X - 0.3) ** 2)


def test_each_exception_has_its_handler():
    def f(x):
        v = float(x[0])
        try:
            y = v**-2.0
        except ZeroDivisionError:
            y = v * 3
        except OverflowError:
            y = v * 5
        return y

    gradient = srcgrad.grad(f)
    assert gradient(np.array([2.0])) == pytest.approx([-0.25])
    assert gradient(np.array([0.0])) == 3
    assert gradient(np.array([1e-200])) == 5


def test_what_a_statement_did_before_it_failed_stays():
    def f(a, x):
        y = x * 2

        def overwritten():
            y[0] = 1.0
            return a

        try:
            z = np.linalg.inv(overwritten())
        except np.linalg.LinAlgError:
            z = y
        return np.sum(z * y)

    gradient = srcgrad.grad(f, argnums=1)
    np.testing.assert_allclose(gradient(np.ones((3, 3)), X), [0, 8 * X[1], 8 * X[2]])


def test_what_is_not_caught_is_raised():
    def f(x):
        try:
            try:
                if x[0] < 0:
                    raise KeyError("negative", float(x[0]))
                if x[0] > 1:
                    raise Scaled(x[1])
            except Scaled as error:
                if x[1] > 1:
                    raise
                return error.v * x[2]
        except IndexError:
            return x[1]
        return x[0]

    gradient = srcgrad.grad(f)
    with pytest.raises(KeyError, match=r"'negative', -0\.7"):
        gradient(-X)
    with pytest.raises(Scaled, match="Scaled!"):
        gradient(X * 2)
    np.testing.assert_allclose(gradient(np.array([2.0, 0.5, 3.0])), [0, 3, 0.5])


def test_the_message_of_a_failure_is_that_of_the_call(capsys):
    def f(a):
        try:
            return np.sum(np.linalg.cholesky(a))
        except np.linalg.LinAlgError as error:
            print("failed:", error)
            return np.sum(a)

    srcgrad.grad(f)(INDEFINITE)
    assert capsys.readouterr().out == "failed: Matrix is not positive definite\n"


def test_what_a_failure_holds_is_refused():
    def f(a):
        try:
            return np.sum(np.linalg.cholesky(a))
        except np.linalg.LinAlgError as error:
            return np.sum(a) * len(error.args)

    with pytest.raises(srcgrad.UnsupportedError, match="'args' is asked of it"):
        srcgrad.grad(f)(INDEFINITE)


def with_settings(x):
    with np.errstate(all="raise"):
        y = np.log(x) * x
    return np.sum(y * y)


def in_a_loop_with_settings(x):
    y = 1.0
    for v in x:
        with np.errstate(all="raise"), np.errstate(under="ignore"):
            if v < 0:
                raise ValueError("negative")
            y = y / v
    return y * y


LOCK = threading.Lock()


def with_a_lock(x):
    with LOCK:
        return np.sum(np.linalg.inv(np.diag(x)) ** 2)


@pytest.mark.parametrize("f", [with_settings, in_a_loop_with_settings, with_a_lock])
@pytest.mark.parametrize("x", [np.array([0.5, 0.0]), np.array([0.0, -1.0])])
def test_a_context_is_left_when_an_exception_passes_it(f, x):
    gradient = srcgrad.grad(f)
    srcgrad.testing.check_grads(f, (np.array([0.5, 2.0]),))
    before = np.geterr()
    with contextlib.suppress(ArithmeticError, ValueError):
        gradient(x)
    assert np.geterr() == before and not LOCK.locked()
    entered = "try:" if f is with_a_lock else "with np.errstate(all='raise'):"
    assert entered in gradient.source


def test_what_no_trip_before_the_first_has_raised():
    """Which exception a trip raised is asked of the one before, of which the first has none."""

    def f(x, n):
        total = x[1] ** 2
        for i in range(n, 4):
            try:
                if i > 0:
                    return total + x[0]
                scale = np.sin
            except IndexError:
                scale = np.cos
            total += scale(x[0])
        return total

    for n in (0, 1, 5):
        value, slope = srcgrad.value_and_grad(f)(X, n)
        assert value == f(X, n)
        added = [1.0 + np.cos(X[0]), 1.0, 0.0][min(n, 2)]
        np.testing.assert_allclose(slope, [added, 2 * X[1], 0.0])


def of_definite_matrices(x):
    """What is computed in the branch is used nowhere if the other one is taken."""
    total = 0.0
    for k in range(3):
        w, v = np.linalg.eigh(np.outer(x, x) + np.diag(x) + k * np.eye(3))
        if np.all((w > 0) & np.isfinite(w)):
            lengths, volume = np.sqrt(w), np.log(w).sum()
        else:
            raise ValueError(f"singular: {w} {v}")
        total = total * volume + np.sum(lengths)
    return total


def of_some_matrices(x):
    total = 0.0
    for k in range(3):
        _, r = np.linalg.qr(np.outer(x, x) + np.diag(x) + k * np.eye(3))
        sizes, volume = np.zeros(3), 1.0
        if np.all((r != 0) | (np.tri(3, k=-1) > 0)) and k != 1:
            sizes, volume = np.diag(r) ** 2, np.sum(r**2)
        total = total * volume + np.sum(sizes) + x[k]
    return total


@pytest.mark.parametrize("f", [of_definite_matrices, of_some_matrices])
def test_factors_that_one_branch_needs(f):
    check(f)
