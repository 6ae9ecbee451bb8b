"""Random programs that make, view, write and read structured arrays."""

from __future__ import annotations

import random
import textwrap

HEAD = """\
p = np.{maker}(n, dtype=DTYPE)
p["u"] = x
p["v"] = y
p["k"] = np.arange(n)
s = x[0]
"""
LAST = """\
total = np.sum(np.sin(p["u"])) + np.sum(p["v"] ** 2) * 0.1 + np.sum(p["k"]) * 0.01
return s + total + np.sum(q["u"] * q["v"][..., 0]) + q.size * 0.1
"""
# {p}: an array of records; {i}: an index of it; {s}: a slice; {e}: a number
STATEMENTS = [
    'p["u"] *= {e}',
    'p["u"] += np.cos(p["v"][:, {c}])',
    'p["v"] -= 0.1 * p["u"][:, None]',
    'p["v"][:, {c}] = p["u"] * {e}',
    'p["u"][{i}] = {e}',
    "p[{i}] = ({e}, np.array([{e}, {e}]), 3)",
    'p[{i}]["u"] += {e}',
    'p[{i}]["v"][{c}] = {e}',
    "p[{i}] = p[{i}]",
    "p[{s}] = p[{s}]",
    "q = p[{s}]",
    "q = p[p['u'] > {e}]",
    "q = p[[0, 2, 0]]",
    "q = p.copy()",
    "q = p[::-1]",
    'q["u"] += {e}',
    'q["v"] *= 0.9',
    'q = p[["u", "v"]]',
    'p[["u"]] = q[["u"]][:1]',
    "for row in p:\n    row['u'] += row['v'][{c}] * 0.1\n    s = s + row['u'] * (1 + row['k'])",
    "for i in range(1, n):\n    p[i]['u'] += 0.5 * p[i - 1]['u']",
    "for i in range(n):\n    if p['u'][i] > {e}:\n        p['v'][i] = -p[i]['v']",
    "row = p[{i}]\nrow['u'] = row['u'] ** 2\ns = s + row[0] * row[1][{c}]",
    "u, v, *_ = p[{i}]\ns = s + u * v[{c}]",
    "q = np.concatenate([p, p[{s}]])",
    "q = np.sort(p, order='u')",
    "p = p[np.argsort(p['u'])]",
    "s = s + np.sum(p['u'][{s}]) * len(p)",
    "q = np.zeros_like(p)\nq['u'][{i}] = s",
    "s = s + sum(np.sum(p[name]) for name in p.dtype.names[:2])",
    "r = p['v'].reshape(-1)\nr[{i}] = {e}",
    "r = {q}['u'].ravel()\np['u'] *= 0.8\ns = s + r[0]",
    "s = s + np.sum(np.sin(p['v'].ravel()[::3])) + p['u'].reshape(-1, 1)[0, 0]",
]


def program(seed: int) -> str:
    """The source of a function of a vector `x` of length `n`, an array `y` of two columns, `n`."""
    r = random.Random(seed)

    def statement() -> str:
        return r.choice(STATEMENTS).format(
            i=r.choice(["0", "1", "-1", "n - 2"]),
            s=r.choice([":2", "1:3", "-2:", "1:-1"]),
            e=r.choice(["x[0]", "s * 0.1", "0.7", "np.tanh(y[0, 1])", "p['u'][1]", "p[0]['u']"]),
            c=r.choice(["0", "1", "-1"]),
            q=r.choice(["p", "q", "q.copy()"]),
        )

    lines = HEAD.format(maker=r.choice(["zeros", "empty", "ones"])) + "q = p\n"
    for _ in range(r.randint(2, 7)):
        text = statement()
        if r.random() < 0.15:
            text = f"if s > {r.choice(['0', '0.5'])}:\n" + textwrap.indent(text, "    ")
        lines += text + "\n"
    return "def f(x, y, n):\n" + textwrap.indent(lines + LAST, "    ")
