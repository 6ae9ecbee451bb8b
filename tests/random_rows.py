"""Random programs over lists of objects and dicts that they are given, or find outside.

For a long run: `python -m tests.random_rows COUNT [first seed]`.
"""

from __future__ import annotations

import copy
import linecache
import random
import textwrap
from typing import Any

import numpy as np

import srcgrad

from .long_runs import main

SETUP = """\
import copy
import dataclasses
import numpy as np

class Vec:
    def __init__(self, u, v):
        self.u, self.v = u, v

    def dot(self, other):
        return self.u * other.u + self.v * other.v

class Body:
    kind = 2.0

    def __init__(self, x, m, name, at, place):
        self.x, self.m, self.name, self.at, self.place = x, m, name, at, place

    @property
    def weight(self):
        return self.m * self.x

    def energy(self, k):
        return 0.5 * self.m * self.x**2 * k

    def move(self, d):
        self.x = self.x + d

@dataclasses.dataclass
class Point:
    t: float
    y: float
    k: int = 0

def made_bodies(n):
    r = np.random.default_rng(n)
    return [Body(float(r.normal()), float(r.uniform(1, 2)), "abc"[i % 3],
                 Vec(float(r.normal()), 0.1 * i), r.normal(size=2)) for i in range(n)]

def made_rows(n):
    r = np.random.default_rng(n + 100)
    return [{"t": 0.1 * i, "y": float(r.normal()), "k": i % 3, "v": r.normal(size=2)}
            for i in range(n)]

def made_points(n):
    r = np.random.default_rng(n + 200)
    return [Point(0.1 * i, float(r.normal()), i % 2) for i in range(n)]
"""
# {b}: a body; {l}: a list of them; {r}: a row; {w}: a list of those; {p}: a point; {e}: a number
STATEMENTS = """
for b in {l}:
    s = s + b.energy({e}) + b.weight * 0.1

for b in {l}:
    for c in {l}:
        if b is not c:
            s = s + 0.01 * b.m * c.x * {e}

for i, b in enumerate({l}):
    for c in {l}[i + 1 :]:
        s = s + 0.01 * b.at.dot(c.at) * {e}

for b in {l}:
    if b.name == 'a' and b.x > 0:
        s = s + b.m * {e}
    elif b.name == 'b':
        s = s - b.x

for b, c in zip({l}, {l}[1:]):
    s = s + (b.x - c.x) * {e}

for b in {l}:
    b.x = b.x * 0.9 + {e} * 0.1

for b in {l}:
    b.move({e} * 0.1)

for b in {l}:
    b.place += {e} * 0.1

for b in {l}:
    b.at.u = b.at.v * {e}

{b}.x = {e}

{b}.place[0] = {e}

kept = [b for b in {l} if b.x * {e} > 0.1]
s = s + sum(b.m for b in kept) * 0.1 + len(kept)

best = max({l}, key=lambda b: b.x * b.m)
s = s + best.m * {e}

order = sorted({l}, key=lambda b: -b.m)
s = s + order[0].x * {e} + order[-1].at.u

new = copy.deepcopy(bodies)
for b in new:
    b.x = b.x * {e}
s = s + sum(b.x**2 for b in new)

moved = [copy.copy(b) for b in {l}]
moved[2].x = {e}
s = s + moved[2].x * {b}.x

s = s + np.sum(np.array([b.place for b in {l}]) @ x[:2])

groups = {{}}
for b in {l}:
    groups.setdefault(b.name, []).append(b.x * {e})
s = s + sum(sum(g) ** 2 for g in groups.values())

total = 0.0
for b in {l}:
    total += {b}.x * b.x
    if total > 1.5:
        break
s = s + total * {e}

last = bodies[0]
for b in bodies[1:]:
    if b.m * {e} > last.m * {e}:
        last = b
s = s + last.x

bodies = bodies[::-1]

bodies = [b for b in bodies if b.m > 1.1]

{b}, chosen = bodies[3], {b}
s = s + chosen.x * {e}

bodies.append(Body({e}, 1.0, 'a', Vec({e}, 1.0), x[:2]))

s = s + sum(getattr(b, 'm') * b.kind for b in bodies if hasattr(b, 'at')) * {e}

for r in {w}:
    s = s + (r['y'] - {e} * r['t']) ** 2

for r in {w}:
    s = s + x[r['k']] * r['y']

for r in {w}:
    r['y'] = r['y'] * {e}

for r in {w}:
    r['v'][0] += {e}

{r}['y'] = {e}

for r in {w}:
    r = {{**r, 'y': {e}}}
    s = s + r['y'] * r['t']

s = s + sum(r.get('y', 0.0) * {e} for r in {w} if 'k' in r and r['k'] != 1)

s = s + sum(v for r in {w} for name, v in r.items() if name in ('t', 'y')) * {e}

rows.sort(key=lambda r: r['y'])

made = [{{'a': r['y'] * {e}, 'b': r['t']}} for r in {w}]
for m in made:
    m['a'] = m['a'] * 0.5
s = s + sum(m['a'] * m['b'] for m in made)

made = [dict(r) for r in {w}]
made[1]['y'] = {e}
s = s + made[1]['y'] * rows[1]['y']

made = [{{'a': r['y'] * {e}, 'b': r['t']}} for r in {w}]
s = s + max(made, key=lambda m: m['a'])['a'] + made[-1]['b']

for p in {p}:
    s = s + (p.y - p.t * {e}) ** 2 * 0.1

moved = [dataclasses.replace(p, y=p.y * {e}) for p in {p}]
s = s + sum(p.y * p.t for p in moved)

s = s + sum(p == points[0] for p in {p}) * {e}

for p, r in zip({p}, {w}):
    s = s + p.y * r['y'] * {e}

for p in {p}:
    p.y += {e}

i = 0
while i < len(points) and points[i].y * {e} < 0.8:
    s = s + points[i].y * {e}
    i += 1

s = s + points[int(abs(s)) % len(points)].y * {e}
""".strip().split("\n\n")
LAST = """\
s = s + sum(b.x * b.m for b in bodies) * 0.1 + sum(np.sum(b.place) for b in bodies) * 0.01
return s + sum(r["y"] * r["t"] + np.sum(r["v"]) * 0.1 for r in rows) + sum(p.y for p in points)
"""


def program(seed: int) -> str:
    """The text of a function of numbers and three lists."""
    r = random.Random(seed)
    lines = "s = x[0]\n"
    for _ in range(r.randint(1, 4)):
        text = r.choice(STATEMENTS).format(
            b=r.choice(["bodies[2]", "bodies[-1]", "bodies[n - 9]"]),
            l=r.choice(["bodies", "bodies", "bodies[1:]", "reversed(bodies)", "list(bodies)"])
            .replace("reversed(bodies)", "bodies[::-1]"),
            r=r.choice(["rows[0]", "rows[-2]"]),
            w=r.choice(["rows", "rows", "rows[:-1]", "rows[::2]"]),
            p=r.choice(["points", "points", "points[3:]"]),
            e=r.choice(["x[0]", "x[1]", "s * 0.1", "0.7", "np.tanh(s)", "x[0] * x[2]"]),
        )  # fmt: skip
        if r.random() < 0.2:
            text = f"if s > {r.choice(['0', '0.5'])}:\n" + textwrap.indent(text, "    ")
        lines += text + "\n"
    return "def f(x, bodies, rows, points, n):\n" + textwrap.indent(lines + LAST, "    ")


def moved(thing: Any, rng: Any, h: float) -> Any:
    """What objects, dicts and lists hold, moved by `h` in a random direction."""
    if isinstance(thing, list):
        return [moved(item, rng, h) for item in thing]
    if isinstance(thing, (float, np.ndarray)):
        return thing + h * rng.normal(size=np.shape(thing))
    if isinstance(thing, dict):
        return {k: moved(v, rng, h) for k, v in thing.items()}
    if hasattr(thing, "__dict__"):
        new = copy.copy(thing)
        vars(new).update({k: moved(v, rng, h) for k, v in vars(thing).items()})
        return new
    return thing


def along(gradient: Any, rng: Any) -> float:
    """The product of a gradient with the same direction."""
    if isinstance(gradient, list):
        return sum(along(item, rng) for item in gradient)
    if isinstance(gradient, (float, np.ndarray)):
        return float(np.sum(gradient * rng.normal(size=np.shape(gradient))))
    held = gradient if isinstance(gradient, dict) else getattr(gradient, "__dict__", {})
    return sum(along(item, rng) for item in held.values())


def check(seed: int) -> str:
    """Whether the gradients of a program are right, by the numbers and by the lists."""
    text, where = SETUP + "\n" + program(seed), f"<rows {seed}>"
    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    names: dict[str, Any] = {"__name__": __name__}  # a module that there is, for dataclasses
    exec(compile(text, where, "exec"), names)
    f, n = names["f"], 17 + seed % 3
    x = np.array([0.7, 1.3, 0.4])
    lists = [names[f"made_{k}"](n) for k in ("bodies", "rows", "points")]
    try:
        value = f(x.copy(), *copy.deepcopy(lists), n)
    except Exception:  # a list of one body, say
        return "raises"
    which = (0, 1, 3) if seed % 2 else (0,)  # the dicts have ints in them
    given = copy.deepcopy(lists)
    try:
        found, gradients = srcgrad.value_and_grad(f, argnums=which)(x, *given, n)
    except srcgrad.UnsupportedError:
        return "refused"
    np.testing.assert_allclose(found, value, rtol=1e-9)
    for before, after in zip(lists, given, strict=True):  # nobody has changed them
        assert along(before, np.random.default_rng(1)) == along(after, np.random.default_rng(1))

    def at(h: float, direction: int) -> float:
        rng, args = np.random.default_rng(direction), copy.deepcopy([x, *lists])
        for i in which:
            args[i] = moved(args[i], rng, h)
        return f(*args, n)

    for direction in range(3):
        near = [at(h, direction) for h in (1e-5, -1e-5, 2e-5, -2e-5)]
        slope = (near[0] - near[1]) / 2e-5
        if abs(slope - (near[2] - near[3]) / 4e-5) > 1e-5 * max(1, abs(slope)):
            return "kink"
        rng = np.random.default_rng(direction)
        product = along([*gradients], rng)
        np.testing.assert_allclose(product, slope, rtol=2e-5, atol=1e-6)
    return "right"


if __name__ == "__main__":
    main(check, program)
