"""Random programs over sets and dicts, in which it matters in which order Python goes through them.

`python -m tests.random_orders COUNT [seed]` tries as many, and shows those whose gradient is wrong.
"""

import linecache
import random
import sys
import textwrap

import numpy as np

from srcgrad import UnsupportedError, value_and_grad

KEYS = (0, 1, 2, 3, 8, 9, 16, 17, 33, 64, 65, 128, 130, 190)  # many of one remainder by 8 or 16
STATEMENTS = (
    "{s}.add({k})",
    "{s}.add({i} * 37 % 190)",
    "{s}.discard({k})",
    "{s}.discard({i} * 8)",
    "{s}.update({many})",
    "{s}.update({t})",
    "{s} |= {t}",
    "{s} &= {t} | {many}",
    "{s} -= {t}",
    "{s} ^= {t}",
    "{s} = {s} | {many}",
    "{s} = {t} - {s}",
    "{s} = {s} & {t} | {{{k}}}",
    "{s} = {t} ^ {many}",
    "{s} = {s}.copy()",
    "{s} = set({t})",
    "{s} = {many}",
    "{s} = set(frozenset({s}))",
    "{s} = set(d)",
    "{s} = d.keys() | {t}",
    "{s} = {{k * 3 % 64 for k in {t}}}",
    "{s}.clear()",
    "if {s}:\n    y = 0.7 * y + x[{s}.pop()]",
    "for k in {many}:\n    y = 0.7 * y + x[k]",
    "for k in {s}:\n    y = 0.6 * y + x[k]",
    "y = y + (2.0 if {s} <= {t} else 3.0) * x[{k}]",
    "d[{k}] = x[{k}]",
    "d[{i} * 5] = x[{i}] * y",
    "if {k} in d:\n    y = y + d.pop({k})",
    "if {k} in d:\n    d[{k}] = 2.0 * d.pop({k})",
    "for k in d:\n    y = 0.6 * y + d[k]",
    "for k in {t}:\n    d[k] = x[k] * y",
    "for v in d.values():\n    y = 0.5 * y + v",
)


def program(seed: int) -> str:
    """The text of a function of x and n."""
    rng = random.Random(seed)

    def many() -> str:
        keys = rng.sample(KEYS, rng.randint(1, 5))
        return f"{{{', '.join(map(str, keys))}}}"

    def statement(i: str) -> str:
        s, t = rng.sample(("s", "t"), 2)
        text = rng.choice(STATEMENTS).format(s=s, t=t, k=rng.choice(KEYS), many=many(), i=i)
        if rng.random() < 0.2:
            text = f"if x[{rng.randint(0, 9)}] > 0.5:\n{textwrap.indent(text, '    ')}"
            if rng.random() < 0.4:
                text += f"\nelse:\n{textwrap.indent(statement(i), '    ')}"
        return text

    lines = [f"s, t, d, y = {many()}, set(), {{}}, x[0]"]
    for _ in range(rng.randint(2, 7)):
        if rng.random() < 0.25:
            body = "\n".join(statement("i") for _ in range(rng.randint(1, 3)))
            lines.append(f"for i in range(n):\n{textwrap.indent(body, '    ')}")
        else:
            lines.append(statement(str(rng.randint(0, 9))))
    for name in ("s", "t"):
        lines.append(f"for k in {name}:\n    y = 0.5 * y + x[k] ** 2")
    lines.append("for k in d:\n    y = 0.5 * y + d[k]")
    return f"def f(x, n):\n{textwrap.indent(chr(10).join(lines), '    ')}\n    return y\n"


def compiled(text: str, seed: int):
    name = f"<random orders {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def wrong(seed: int, sizes=(3, 0, 9)) -> str | None:
    """What is wrong with the gradient of a program; None if it is right, or refused."""
    f = compiled(program(seed), seed)
    gradient = value_and_grad(f)
    rng = np.random.default_rng(seed)
    x, direction = rng.uniform(0.1, 1.0, 600), rng.standard_normal(600)
    for n in sizes:
        h = 1e-6
        try:
            value = f(x, n)
        except RuntimeError:  # a set that changes while it is gone through
            return None
        slope = (f(x + h * direction, n) - f(x - h * direction, n)) / (2 * h)
        try:
            found, d_x = gradient(x, n)
        except UnsupportedError:
            return None
        if not np.isclose(found, value, rtol=1e-12):
            return f"n = {n}: the value is {found}, not {value}"
        if not np.isclose(d_x @ direction, slope, rtol=1e-4, atol=1e-6):
            return f"n = {n}: the derivative is {d_x @ direction}, not {slope}"
    return None


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for seed in range(first, first + count):
        try:
            said = wrong(seed)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        if said:
            print(f"seed {seed}: {said}\n{program(seed)}")
