"""Random loops that multiply matrices and vectors, step by step, as recurrent networks do."""

from __future__ import annotations

import random
import textwrap

HEAD = """\
n = len(b)
h = {h}
m = {m}
y = np.zeros((len(x), n))
v = x.copy()
s = 0.0
"""
LAST = """\
return s + np.sum(np.sin(h)) + np.sum(y * y) + np.sum(v * 0.1) + np.sum(m * m) * 0.01
"""
STEPS = [
    "h = np.tanh({matrix} @ h + {vector})",
    "h = np.tanh(np.dot({vector}, {matrix}) + b)",
    "h = np.sin({matrix} @ {vector} + {matrix} @ h) + h * 0.5",
    "h = h + 0.1 * {matrix}.T @ np.cos({vector})",
    "g = 1 / (1 + np.exp(-({matrix} @ {vector}))); h = g * h + (1 - g) * {vector}",
    "s = s + h @ {matrix} @ {vector} * 0.1",
    "y[{row}] = {matrix} @ {vector}",
    "y[{row}] += {vector}",
    "v[{row}] = np.sin({matrix} @ h)",
    "h[0] = s * 0.01",
    "h = h.copy(); h *= 0.5",
    "m = m * 0.9",
    "m += np.outer({vector}, h) * 0.01",
    "m[0] = {vector}",
    "s += np.sum({matrix} * {matrix}) * 0.01",
    "h = np.where({vector} > 0, h, {matrix}[0] * h)",
    "h = np.tanh({matrix}[:, {part}] @ {vector}[{part}])",
    "h = np.tanh({vector}[{part}] @ {matrix}[{part}] + h)",
    "h = h.copy(); h[{part}] = np.sin({matrix}[{part}, {other}] @ {vector}[{other}])",
    "s += np.sum((v[:, {trip}] @ v[:, {part}]) ** 2) * 0.01 if {trip} < n else 0.0",
    "s += np.sum(np.cos(x[{part}, {trip} % n] @ x[{part}, {other}])) * 0.1",
]
PARTS = ["{t}:", "{t}:", "{t}:n", "{t} + 1:n", "{t} + 1:k", ":{t}", ":{t}", ":{t} + 1", ":", ":n",
         "{t}:-1", "{t}:{t} + 2", "n - {t}:", ":n - {t}", "1:{t}", "{t}::2", ":k"]  # fmt: skip
RANGES = ["len(x)", "len(x)", "len(x)", "1, len(x)", "2, len(x)", "len(x) - 1", "0", "1, 1", "k",
          "k - 1", "k - 9"]  # fmt: skip


def program(seed: int) -> str:
    """The source of a function of a square matrix `w`, a vector `b`, rows `x` and an int `k`."""
    r = random.Random(seed)

    def step(t: str) -> str:
        rows = [t, t, t, f"{t} - 1", "0"]
        part = r.choice(PARTS).format(t=t)
        vectors = ["h", "h", "b", f"x[{t}]", f"x[{t}]", f"v[{t}]", f"v[{t} - 1]", "y[0]", "w[1]"]
        return r.choice(STEPS).format(
            matrix=r.choice(["w", "w", "w", "m", "w.T", "x[:n]"]), vector=r.choice(vectors),
            row=r.choice(rows), trip=t, part=part, other=r.choice([part, *PARTS]).format(t=t),
        )  # fmt: skip

    def loop(t: str, depth: int) -> list[str]:
        body: list[str] = []
        for _ in range(r.randint(1, 4)):
            statements = step(t).split("; ")
            if r.random() < 0.2:
                test = r.choice([f"{t} % 2 == 0", "s < 1", f"{t} > 1", f"x[{t}, 0] > 0"])
                body += [f"if {test}:", *("    " + line for line in statements)]
                if r.random() < 0.4:
                    body += ["else:", *("    " + line for line in step(t).split("; "))]
            elif depth == 0 and r.random() < 0.1:
                body += loop("j", 1)
            else:
                body += statements
        if r.random() < 0.07:
            body.append(f"if s > 2: {r.choice(['break', 'continue'])}")
        head = f"for {t} in range({r.choice(RANGES)}):"
        if r.random() < 0.15:
            head = head.replace("range(", "reversed(range(").replace("):", ")):")
        return [head, *("    " + line for line in body)]

    text = HEAD.format(
        h=r.choice(["np.zeros(n)", "b", "b.copy()", "x[0]", "w[0] * 1.0"]),
        m=r.choice(["w", "w.copy()", "w * 0.5", "np.eye(n)"]),
    )
    for _ in range(r.randint(1, 2)):
        text += "\n".join(loop("t", 0)) + "\n"
    return "def f(w, b, x, k):\n" + textwrap.indent(text + LAST, "    ")
