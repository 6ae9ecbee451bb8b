"""Random programs of functions that are called at several places, with many kinds of arguments."""

from __future__ import annotations

import random
import textwrap

STEPS = [
    "t = u * {v} + s",
    "t = t + np.sin(u)[::-1] * s",
    "for k in range({trips}):\n    t = t * 0.5 + np.tanh(u * s)",
    "for k in range({trips}):\n    t = t.copy()\n    t[k % len(t)] += {v}[0] * 0.3",
    "t = t.copy()\nt[1:] += np.cos({v})[:-1]\nt[0] = s",
    "if s > 0.3:\n    t = t + u**2\nelse:\n    t = t - {v}",
    "parts = []\nfor k in range(2):\n    parts.append(t * (k + 1))\nt = parts[0] - 0.3 * parts[1]",
    "t = np.where(u > {v}, t, u * 0.7)",
    "s = s + np.sum(t) * 0.1",
    "s = s * 0.9 if s < 5 else 1.0",
    "t = np.array([t[0] * t[-1], *(u * {v})[1:]])",
    "while s > 2:\n    s = s * 0.5",
    "t = t + RATE * {v} * {c}",
    "n = len(u)\nt = t + np.arange(n) * s / n",
    "q = {{'a': u, 'b': t}}\nt = q['a'] * 0.2 + q['b']",
    "t = (np.outer(u, {v}) @ t) * 0.1",
    "t = t[::-1].reshape(-1)",
    "t = {v} + 0",
]
RESULTS = {
    "{call}": ["t", "t * s", "np.sin(t)", "t + 0"],
    "{call} * 0.5": ["t", "s", "np.sum(t * u)"],
    "{call}[0]": ["(t, s)", "(t + s, u * 2)", "[t, t * 2]"],
    "sums({call})": ["(t, t[::-1])", "(t, u + 0)", "[t, t]", "(t, t * s)"],
    "{call}[1] * x": ["(t, s)", "(t, np.sum(t))"],
    "{call}['a'] + 1": ["{{'a': t, 'b': s}}", "dict(a=t * 1, b=t)"],
}
SUMS = """\
def sums(pair):
    a, b = pair
    a *= 0.9
    return a * b
"""
AFTER = ["y[0] = 0.3", "y *= 0.8", "z[1:] = y[:-1] * 0.5", "z = y", "y, z = z, y", "z += y",
         "y = z[::-1]", "s = s + np.sum(y)", "y = y * s", "z = np.append(z, s)[1:]"]  # fmt: skip


def program(seed: int) -> str:
    """The source of a function of a vector `x` and a number `s`, and of what it calls."""
    r = random.Random(seed)
    helpers: list[tuple[str, str]] = []  # the name of each, and how its result is used
    text = f"RATE = 0.25\n{SUMS}"

    def call(name: str, vectors: list[str], number: str) -> str:
        first = r.choice(vectors)
        second = first if r.random() < 0.3 or "[" in first else r.choice(vectors)
        if "[" in second and second != first:
            second = first
        arguments = [first, second, number]
        if r.random() < 0.2:
            arguments[2] = f"s={number}"
        if r.random() < 0.3:
            arguments.append(f"c={r.choice(['0.5', '2', 'True', '0.5'])}")
        return f"{name}({', '.join(arguments)})"

    inner = r.random() < 0.4
    for number in range(r.randint(1, 3)):
        used = r.choice(list(RESULTS))
        body = ["t = u * 1.5"]
        for _ in range(r.randint(2, 6)):
            if helpers and r.random() < 0.25:
                name, use = r.choice(helpers)
                found = use.format(call=call(name, ["u", "t", "v"], "s")).replace("* x", "* t")
                body.append(f"t = t * 0.5 + {found}")
                continue
            step = r.choice(STEPS).format(v=r.choice(["v", "v", "u"]), trips=r.choice("023"), c="c")
            body += step.split("\n")
        if inner and r.random() < 0.5:
            body = ["nonlocal w", *body]
            body.insert(r.choice([2, len(body)]), "w = w * 0.9 + np.sum(u) * 0.01")
            body.append("t = t + w")
        result = r.choice(RESULTS[used])
        body.append(f"return {result.format()}")
        helpers.append((f"h{number}", used))
        lines = textwrap.indent("\n".join(body), "    ")
        text += f"def h{number}(u, v, s, c=1.0):\n{lines}\n"

    vectors = ["x", "y", "z", "z", "x[1:]", "y[::2]", "x * 2", "np.cos(x)", "x[::-1]", "y[1:3]"]
    body = ["y = x * 0.7", "z = x.copy()"]
    for _ in range(r.randint(3, 7)):
        name, use = r.choice(helpers)
        target = r.choice(["y", "z", "s"])
        number = r.choice(["s", "s", "0.4", "x[0]", "s * 2", "1"])
        chosen = call(name, vectors, number)
        found = use.format(call=chosen)
        if "[" in chosen and "* x" in found:
            found = found.replace("* x", "* 1.1")
        if target == "s":
            statement = f"s = s * 0.5 + 0.1 * np.sum({found})"
        elif "[" in chosen.partition("(")[2] or chosen.count("[") > 0:
            statement = f"{target} = {target} + np.sum({found})"
        else:
            statement = f"{target} = {found} + 0 * x"
        if r.random() < 0.25:
            head = r.choice(["for k in range(2):", "if s > 0.5:", "for k in range(len(x)):"])
            body += [head, f"    {statement}"]
        else:
            body.append(statement)
        if r.random() < 0.5:
            body.append(r.choice(AFTER))
            if r.random() < 0.3:
                body.append(f"s = s + 0.1 * np.sum({found})")
    body.append(f"return np.sum(np.sin(y)) + np.sum(z * z * 0.1) + s{' + w' * inner}")
    lines = textwrap.indent("\n".join(body), "    ")
    if inner:  # the functions are made inside, with what they read
        head, _, rest = text.partition("\n")
        nested = textwrap.indent(f"RATE = s * 0.1\nw = x[0] * 0.3\n{rest}", "    ")
        return f"{head}\ndef f(x, s):\n{nested}{lines}\n"
    return f"{text}def f(x, s):\n{lines}\n"
