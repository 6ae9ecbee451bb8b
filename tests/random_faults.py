"""Calls that NumPy and SciPy may refuse, in a `try`.

One argument of a rule's sample is made one that doesn't fit: of another rank, length, dtype or
class, out of bounds, None or a text. The exception that the function raises leads to a handler, and
so it is to in the gradient's program, whose derivatives are those of what was taken. For a long
run: `python -m tests.random_faults ROUNDS [first seed]`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad

from .random_kinds import OF_ARRAYS, OF_NUMBERS, measured, sample_of
from .random_options import run

UNFIT: dict[str, Callable[[Any], Any]] = {
    "text": lambda a: "x",
    "longer": lambda a: np.concatenate([a, a]),
    "wider": lambda a: np.concatenate([a, a], -1),
    "ragged": lambda a: [a, [1.0]],
    "far": lambda a: 100,
    "negative": lambda a: -3,
    "half": lambda a: 1.5,
    "zeros": lambda a: 0 * a,
    "nan": lambda a: np.full_like(a, np.nan),
    "dict": lambda a: {},
}


def drawn(function: Any, seed: int) -> tuple[Any, int, int, str] | None:
    """A sample, the argument that is differentiated, the one that is changed, and how."""
    found = sample_of(function, seed)
    if found is None:
        return None
    draw, sample, active, changed = found
    kinds = OF_ARRAYS if isinstance(sample.args[changed], np.ndarray) else OF_NUMBERS
    return sample, draw.choice(active), changed, draw.choice([*kinds, *UNFIT, *UNFIT])


def program(
    function: Any, sample: Any, position: int, changed: int, kind: str
) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """What a call is, and the same in a `try`, by what is differentiated."""
    args, named = list(sample.args), sample.kwargs
    ways = UNFIT.get(kind) or {**OF_NUMBERS, **OF_ARRAYS}[kind]
    if not isinstance(args[changed], np.ndarray) and kind in OF_NUMBERS:
        ways = OF_NUMBERS[kind]
    try:
        several = isinstance(function(*args, **named), (tuple, list))
    except Exception:
        several = False
    if position == changed:
        first, last = args[:position], args[position + 1 :]

        def call(x: Any) -> Any:
            return measured(function(*first, ways(x), *last, **named), several)

    else:
        args[changed] = ways(args[changed])
        before, after = args[:position], args[position + 1 :]

        def call(x: Any) -> Any:
            return measured(function(*before, x, *after, **named), several)

    LinAlgError, AxisError = np.linalg.LinAlgError, np.exceptions.AxisError

    def attempted(x: Any) -> Any:
        try:
            return call(x)
        except LinAlgError:
            place = 1
        except AxisError:
            place = 2
        except IndexError:
            place = 3
        except KeyError:
            place = 4
        except ZeroDivisionError:
            place = 5
        except OverflowError:
            place = 6
        except AttributeError:
            place = 7
        except NotImplementedError:
            place = 8
        except ValueError:
            place = 9
        except TypeError:
            place = 10
        return 1e6 * place + np.sum(np.real(x))

    return call, attempted


def check(function: Any, seed: int) -> str:
    """What is said of a call that may not be one: "right", or why it can't be told.

    Raises:
        AssertionError: a value or a derivative is wrong.
    """
    found = drawn(function, seed)
    if found is None:
        return "nothing to change"
    sample, position, changed, kind = found
    try:
        call, attempted = program(function, sample, position, changed, kind)
    except Exception:
        return "doesn't apply"
    x = sample.args[position]
    try:
        value = attempted(x)
    except Exception:
        return "raises"
    try:
        ours, gradient = srcgrad.value_and_grad(attempted)(x)
    except srcgrad.UnsupportedError as error:
        assert not isinstance(error, srcgrad.InternalError), error
        return "refused"
    except Exception as error:
        return f"raises {type(error).__name__} in the gradient"
    np.testing.assert_allclose(ours, value, rtol=1e-6)
    if value > 5e5:
        np.testing.assert_array_equal(gradient, np.ones(np.shape(x)))
        return "right: raised"
    try:
        slope = srcgrad.grad(call)(x)
    except srcgrad.UnsupportedError:
        return "refused alone"
    except Exception:
        return "no derivative alone"
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-12)
    return "right"


if __name__ == "__main__":
    run(check, drawn, "in the gradient")
