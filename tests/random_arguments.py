"""Random calls of functions of NumPy and SciPy, with arguments that are seldom given.

`random_arguments.txt` has a call a line, with choices in it; what a choice makes of the others is
nobody's business: what NumPy or SciPy refuse is no test. For a long run:
`python -m tests.random_arguments COUNT [first seed] [word of the line]` prints what is wrong.
"""

from __future__ import annotations

import linecache
import random
import re
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import srcgrad

LINES = Path(__file__).with_suffix(".txt").read_text().splitlines()
SHORT = dict(re.findall(r"^%(\w+) = (.*)$", "\n".join(LINES), re.MULTILINE))
CALLS = [line for line in LINES if line and line[0] not in "#%"]
SERIES = {
    "poly": "polynomial", "cheb": "chebyshev", "leg": "legendre", "herme": "hermite_e",
    "herm": "hermite", "lag": "laguerre",
}  # fmt: skip
MODULES = "fft fftpack integrate interpolate linalg ndimage signal sparse special stats".split()
NAMES = {
    "s": "np.sin(X[0, 1]) + y[1, 1]",
    "v": "np.concatenate([X[0], y[1, 1:2]])",
    "w3": "y[:2, :3] * 1.5",
    "S": "np.concatenate([X, y[:1]]) + 0.5 * np.eye(4)",
    "P": "S @ S.T + np.eye(4)",
}


def call(seed: int, word: str = "") -> str:
    """An expression in X and y."""
    r = random.Random(seed)
    text = r.choice([line for line in CALLS if word in line])
    text = re.sub(r"%(\w+)", lambda match: SHORT[match[1]], text)
    while (inner := re.search(r"\{([^{}]*)\}", text)) is not None:  # the innermost choice
        text = text[: inner.start()] + r.choice(inner[1].split("|")) + text[inner.end() :]

    def of_series(match: re.Match[str]) -> str:
        family = next(name for name in SERIES if match[1].startswith(name))
        return f"np.polynomial.{SERIES[family]}.{match[1]}"

    return re.sub(r"\bP\.(\w+)(?=\()", of_series, text).replace("(, ", "(")


def program(expression: str) -> Any:
    """The function of X and y that adds up the real and imaginary parts, with weights."""
    lines = ["def f(X, y):"]
    for name, value in NAMES.items():
        if re.search(rf"\b{name}\b", expression) or (name == "S" and "P" in expression):
            lines.append(f"    {name} = {value}")
    lines += [
        f"    out = np.asarray({expression})",
        "    places = np.arange(out.size).reshape(out.shape)",
        "    return np.sum(out.real * np.cos(places)) + np.sum(out.imag * np.sin(1 + places))",
    ]
    text = "\n".join(lines) + "\n"
    filename = f"<arguments {expression}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace: dict[str, Any] = {"np": np}
    for module in MODULES:
        exec(f"from scipy import {module}", namespace)
    exec("from scipy.spatial import distance", namespace)
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


def check(expression: str) -> str:
    """What becomes of a call: "right", "invalid" (no test), "refused: ..." or "wrong: ..."."""
    r = np.random.default_rng(0)
    point = [r.normal(size=(3, 4)), r.normal(size=(3, 4))]
    direction = [r.normal(size=(3, 4)), r.normal(size=(3, 4))]
    try:
        f = program(expression)
    except SyntaxError:  # an argument twice
        return "invalid"

    def slope(step: float) -> Any:
        ahead, behind = (
            f(*(p + sign * step * d for p, d in zip(point, direction, strict=True)))
            for sign in (1, -1)
        )
        return (ahead - behind) / (2 * step)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value, near, far = f(*point), slope(1e-6), slope(1e-5)
        except Exception:
            return "invalid"
        smooth = np.isfinite(value) and np.isfinite(near) and np.isclose(near, far, 1e-3, 1e-4)
        if not smooth or abs(near) > 1e5:
            return "invalid"
        try:
            found, gradient = srcgrad.value_and_grad(f, (0, 1))(*point)
            moved = srcgrad.jvp(f, tuple(point), tuple(direction))[1]
        except srcgrad.UnsupportedError as error:
            return f"refused: {error.message}"
        except ValueError as error:  # what is known when the gradient runs
            return f"refused: {error}"
        except Exception as error:
            return f"wrong: {type(error).__name__}: {error}"
    total = sum(np.sum(g * d) for g, d in zip(gradient, direction, strict=True))
    if not np.isclose(found, value, 1e-7, 1e-9):
        return f"wrong: the value is {found}, not {value}"
    for name, slopes in (("reverse", total), ("forward", moved)):
        if not np.isclose(slopes, near, 1e-4, 1e-5):
            return f"wrong: the {name} derivative is {slopes}, not {near}"
    return "right"


def main(count: int, first: int, word: str) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(first, first + count):
        expression = call(seed, word)
        found = check(expression)
        outcomes[found.partition(":")[0]] += 1
        if found.startswith("wrong"):
            print(seed, expression, found, sep="\n    ", flush=True)
    print(dict(outcomes))


if __name__ == "__main__":
    given = sys.argv[1:] + ["0"] * (3 - len(sys.argv))
    main(int(given[0]), int(given[1]), sys.argv[3] if len(sys.argv) > 3 else "")
