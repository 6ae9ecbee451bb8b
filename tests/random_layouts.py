"""Random programs in which a name is one of several dicts, tuples or objects, or None.

`python -m tests.random_layouts COUNT [seed]` tries as many, and shows whose gradient is wrong.
"""

import random
import sys
import textwrap

import numpy as np

from srcgrad import UnsupportedError, jvp, value_and_grad

from .random_orders import compiled

KEYS = ("a", "b", "c")
DICTS = (
    "{{'a': {v}}}",
    "{{'a': {v}, 'b': {w}}}",
    "{{'b': {v}, 'c': [{w}]}}",
    "{{**{d}, 'a': {v}}}",
)
TUPLES = ("({v},)", "({v}, {w})", "({w}, {v}, 2.0)", "{t}[1:]", "(*{t}, {v})")
STATEMENTS = (
    "{d} = {dict}",
    "{d} = {dict} if {test} else {dict2}",
    "{d} = {e} if {test} else {dict}",
    "{d} = {e}",
    "if {test}:\n    {d} = {e}",
    "{d}['a'] = {v}\nif {test}:\n    {e} = {d}",
    "{e}['a'] = {w}\nif 'a' in {d}:\n    y = 0.5 * y + {d}['a']",
    "if {test}:\n    {l} = {k2}",
    "{d} = dict({e})",
    "{d} = copy.deepcopy({e})",
    "{d} = copy.copy({e})",
    "{d}['a'] = {v}",
    "{d}['{k}'] = {d}.get('a', {v}) * {w}",
    "{d}.setdefault('a', {v})",
    "{d}.update({e})",
    "{d}.pop('b', None)",
    "if 'a' in {d}:\n    y = y + {d}['a'] * {w}",
    "if 'c' in {d}:\n    {d}['c'].append({v})",
    "if 'c' in {d} and {test}:\n    {d}['c'][0] *= {w}",
    "if 'b' in {d}:\n    del {d}['b']",
    "y = 0.5 * y + ({v} if {d} is {e} else {w})",
    "y = 0.5 * y + len({d}) * {v}",
    "y = 0.5 * y + total({d}) * {v}",
    "y = 0.5 * y + keyed(**{d})",
    "{t} = {tuple}",
    "{t} = {tuple} if {test} else {tuple2}",
    "{t} = {u} if {test} else {tuple}",
    "y = 0.5 * y + sum({t}) * {v}",
    "y = 0.5 * y + len({t}) * {v}",
    "if len({t}) == 2:\n    r, q = {t}\n    y = 0.7 * y + r * q",
    "if {t}:\n    y = 0.6 * y + {t}[0] * {t}[-1]",
    "y = 0.5 * y + added(*{t})",
    "for v in {t}:\n    y = 0.6 * y + v",
    "{m} = None",
    "{m} = ({v}, {w}) if {test} else None",
    "if {test}:\n    {m} = ({w}, {v})",
    "if {m} is not None:\n    y = 0.5 * y + {m}[0] * {m}[1]",
    "y = 0.5 * y + ({v} if {m} is None else {m}[1])",
    "if {m}:\n    {m} = ({m}[1], {m}[0] * {w})",
    "{m} = pair({v}, {w})",
    "{d} = options({v}, {w})",
    "{o} = Part({v}, {w})",
    "{o} = {p} if {test} else Part({v}, {w})",
    "{o} = {p}",
    "{o} = Other({v}) if {test} else {p}",
    "{o}.a = {v}",
    "{o}.items.append({v})",
    "y = 0.5 * y + {o}.a * sum({o}.items)",
    "y = 0.5 * y + ({v} if {o} is {p} else {w})",
    "{l} = [{v}]",
    "{l} = {o}.items",
    "{l} = {k2} if {test} else [{v}, {w}]",
    "{l}.append({v})",
    "{l}[0] = {v}",
    "y = 0.5 * y + sum({l}) * len({l})",
)
# What names that only a loop binds may be
BOUND = ("{d}", "{o}", "{l}", "({d}, {v})", "{o} if {test} else {p}", "{d} if {test} else {dict}")
HELPERS = """\
class Part:
    def __init__(self, a, b):
        self.a, self.items = a, [b]
class Other(Part):
    def __init__(self, a):
        self.a, self.items = a, [a, 0.5]
def seen(thing):
    if isinstance(thing, dict):
        return total(thing)
    if isinstance(thing, tuple):
        return total(thing[0]) * thing[1]
    return sum(thing) if isinstance(thing, list) else thing.a * sum(thing.items)
def total(d):
    t = 0.0
    for k, v in d.items():
        t = 0.7 * t + (sum(v) if k == 'c' else v)
    return t
def keyed(a=0.3, b=0.7, c=()):
    return a * b + sum(c)
def added(*values):
    return sum(v * (i + 1) for i, v in enumerate(values))
def pair(v, w):
    if v > w:
        return v, v * w
    return None
def options(v, w):
    if v > 0.6:
        return {'a': v}
    if w > 0.6:
        return {'a': w, 'b': v}
    return {'b': v * w, 'c': [w]}
"""


def program(seed: int) -> str:
    """The text of a function of x and n."""
    rng = random.Random(seed)

    def number() -> str:
        k = rng.randint(0, 5)
        return rng.choice((f"x[{k}]", f"x[{k}] ** 2", f"x[{k}] * x[{rng.randint(0, 5)}]"))

    def test(i: str) -> str:
        return rng.choice(
            (f"x[{rng.randint(0, 5)}] > 0.6", f"{i} % 2 == 0", "y > 0.8", f"x[{i} % 6] > 0.5")
        )

    def statement(i: str) -> str:
        names = dict(zip("de", rng.sample(("d", "e", "f"), 2), strict=True))
        names |= dict(zip("tu", rng.sample(("s", "t"), 2), strict=True))
        names |= dict(zip("op", rng.sample(("o", "p"), 2), strict=True))
        names |= dict(zip(("l", "k2"), rng.sample(("k", "l"), 2), strict=True))
        names |= {"m": rng.choice("mn"), "k": rng.choice(KEYS[:2])}

        def filled(text: str) -> str:
            return text.format(v=number(), w=number(), test=test(i), **names, **made)

        made: dict[str, str] = {}
        made = {
            "dict": filled(rng.choice(DICTS)), "dict2": filled(rng.choice(DICTS)),
            "tuple": filled(rng.choice(TUPLES)), "tuple2": filled(rng.choice(TUPLES)),
        }  # fmt: skip
        text = filled(rng.choice(STATEMENTS))
        if i == "i" and rng.random() < 0.2:
            held.append(f"g{len(held)}")
            return f"{held[-1]} = {filled(rng.choice(BOUND))}"
        if rng.random() < 0.3:
            text = f"if {test(i)}:\n{textwrap.indent(text, '    ')}"
            if rng.random() < 0.5:
                text += f"\nelse:\n{textwrap.indent(statement(i), '    ')}"
        return text

    held: list[str] = []
    lines = [
        f"o, p = Part({number()}, {number()}), Other({number()})",
        f"k, l = [{number()}], [{number()}, {number()}]",
        f"d, e, f = {{'a': {number()}}}, {{'a': {number()}, 'b': 0.5}}, {{'b': {number()}}}",
        f"s, t, y = ({number()},), ({number()}, {number()}), {number()}",
        f"m, n = None, ({number()}, {number()})",
    ]
    for _ in range(rng.randint(3, 8)):
        if rng.random() < 0.25:
            body = "\n".join(statement("i") for _ in range(rng.randint(1, 3)))
            lines.append(f"for i in range({rng.choice(('count', '3'))}):\n"
                         f"{textwrap.indent(body, '    ')}")  # fmt: skip
        else:
            lines.append(statement(str(rng.randint(0, 5))))
    lines += ["y = y + total(d) + 2.0 * total(e) * x[0] + 3.0 * keyed(**f)"]
    lines += ["y = y + added(*s) * x[1] + 0.5 * sum(t) + (x[2] if m is None else m[0] * m[1])"]
    lines += ["y = y + seen(o) + 2.0 * seen(p) * x[5] + sum(k) * 0.5 + sum(l) * x[1]"]
    lines += [f"y = y + seen({name}) * {k + 2}.0" for k, name in enumerate(held)]
    lines += ["y = y + (x[3] if n is None else n[0] + n[1] * x[4])"]
    body = textwrap.indent("\n".join(lines), "    ")
    return f"import copy\n{HELPERS}def f(x, count):\n{body}\n    return y\n"


def wrong(seed: int) -> str | None:
    """What is wrong with the derivatives of a random program; None if nothing is."""
    text = program(seed)
    rng = np.random.default_rng(seed)
    x, count, steps = rng.uniform(0.1, 1.1, 6), int(rng.integers(0, 5)), 1e-6 * np.eye(6)
    f = compiled(text, seed)
    try:
        value = f(x, count)
    except (KeyError, IndexError, TypeError, ValueError, NameError):
        return None
    expected = np.array([(f(x + h, count) - f(x - h, count)) / 2e-6 for h in steps])
    again = np.array([(f(x + 3 * h, count) - f(x - 3 * h, count)) / 6e-6 for h in steps])
    if not np.allclose(expected, again, rtol=1e-5, atol=1e-6):
        return None  # a kink
    try:
        found_value, found = value_and_grad(f)(x.copy(), count)
        _, slope = jvp(lambda x: f(x, count), (x,), (np.arange(6.0),))
    except UnsupportedError as error:
        return f"refused: {error}"
    except Exception as error:
        return f"{text}\n{type(error).__name__}: {error}"
    right = np.allclose(found, expected, rtol=1e-5, atol=1e-6) and np.isclose(found_value, value)
    if right and np.isclose(slope, expected @ np.arange(6.0), rtol=1e-5, atol=1e-6):
        return None
    return f"{text}\nvalue {found_value} for {value}, {found} for {expected}"


if __name__ == "__main__":
    count = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    refused = 0
    for seed in range(first, first + count):
        problem = wrong(seed)
        if problem is not None and problem.startswith("refused"):
            refused += 1
        elif problem is not None:
            print(seed, problem, flush=True)
    print(f"{count} programs, of which {refused} were refused")
