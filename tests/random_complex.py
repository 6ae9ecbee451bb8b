"""Random programs of complex arrays, written in place through their real and imaginary parts."""

from __future__ import annotations

import random

from .random_words import several, statement

HEAD = """\
import cmath

import numpy as np


def poke(z, v):
    z.real[0] = v
    z.imag[1:] += v
    return z


def turned(z, t):
    return z * np.exp(1j * t)


def energy(z):
    return np.sum(z.real**2 + z.imag**2)


def halves(z):
    for part in (z.real, z.imag):
        part *= 0.5
    return z


def f(x, n):
    s, k = 0.1, 0
    z = x[:3] + 1j * x[3:]
    w = np.zeros((2, 3), dtype=complex)
    w[0] = z * 0.5
    c = complex(x[0], x[1])
    rows = [z.copy(), w[0].copy()]
"""
ARRAYS = [
    "z", "z", "w[0]", "w[I]", "rows[I]", "w[:, J]", "z[::-1]", "w.T[J]", "rows[-1]", "z.conj()",
]  # fmt: skip
OWNED = ["z", "z", "w[0]", "w[1]", "rows[0]", "rows[1]", "w", "z[1:]", "z[::-1]", "w[:, 1]"]
PLACES = ["[J]", "[-1]", "[1:]", "[:2]", "[...]", "[[0, 1]]"]
NUMBERS = [
    "x[K]", "s", "0.5", "z[J].real", "z[J].imag", "c.real", "c.imag", "abs(c)", "abs(z[J])",
    "np.angle(z[J])", "np.real(w[I, J])", "energy(ARR)", "z.real[J]", "w.imag[I, J]",
]  # fmt: skip
COMPLEX = [
    "c", "z[J]", "1j * NUM", "NUM + 1j * NUM", "complex(NUM, NUM)", "w[I, J]", "np.conj(c)",
    "c.conjugate()", "cmath.exp(1j * NUM)", "np.exp(1j * NUM)", "NUM * COMPLEX",
    "np.vdot(ARR, z)", "np.sum(ARR)", "2 - 0.5j",
]  # fmt: skip
STATEMENTS = [
    "OWN.real@AT = NUM", "OWN.real@AT += NUM", "OWN.imag@AT = NUM", "OWN.imag@AT += NUM",
    "OWN.real@AT *= NUM", "OWN.imag@AT *= NUM", "OWN.real = NUM", "OWN.imag = NUM",
    "OWN.real += NUM", "OWN.imag -= NUM", "OWN.imag += OWN.real", "OWN.real *= OWN.imag",
    "OWN.real = OWN.imag", "z.real[:], z.imag[:] = z.imag * 1.0, z.real * 1.0",
    "OWN@AT = COMPLEX", "OWN@AT *= COMPLEX", "OWN@AT += COMPLEX", "OWN@AT = NUM",
    "OWN *= COMPLEX", "OWN += NUM", "OWN -= np.conj(OWN)", "z = ARR * COMPLEX",
    "z = turned(ARR, NUM)[:3]", "z = ARR + z", "poke(OWN, NUM)", "z = poke(z, NUM)",
    "halves(OWN)", "rows.append(ARR * COMPLEX)", "rows[0] = z", "rows[1] = ARR.copy()",
    "s += NUM", "s = s * 0.5 + NUM", "s += abs(COMPLEX)", "s += (COMPLEX).real",
    "s += (COMPLEX).imag * NUM", "s += np.vdot(ARR, ARR).real", "s += np.abs(np.vdot(z, ARR))",
    "s += np.sum(np.abs(ARR) ** 2)", "s += np.sum(np.abs(ARR))", "c = COMPLEX", "c *= COMPLEX",
    "c = c.conjugate() * NUM", "c = complex(s, NUM)", "u = OWN.real\nu[0] = NUM",
    "u = OWN.imag\ns += u[-1]", "u = OWN.real\nu *= NUM",
    "u, v = OWN.real, OWN.imag\nu[0] += v[1] * NUM", "u = z\nu.real[1] = NUM",
    "z = np.where(z.real > LIMIT, z, ARR)", "z[z.real > LIMIT] *= COMPLEX",
    "z[np.abs(z) > LIMIT] = COMPLEX", "z.real[z.imag > LIMIT] = NUM", "s += np.linalg.norm(ARR)",
    "s += np.real(ARR @ z)", "s += np.imag(np.dot(z, ARR))", "w[1] = ARR", "w = w * COMPLEX",
    "w = np.outer([NUM, NUM], z)", "s += np.real(np.trace(w @ w.conj().T))",
    "z = np.fft.fft(z)[:3]", "z = np.conj(z)", "np.conj(z, out=z)",
    "np.multiply(z, COMPLEX, out=z)", "z = z.real + 1j * ARR.imag", "z = z.astype(complex)",
    "z = np.array([COMPLEX, COMPLEX, COMPLEX])", "z = np.stack([z, ARR])[I]", "z.real = x[:3]",
    "z.imag[:2] = x[:2] * NUM", "s += float(np.real(COMPLEX))", "s += np.isrealobj(z) * NUM",
    "z = z / (1 + abs(COMPLEX))", "z = z / (2.0 + COMPLEX * np.conj(COMPLEX))",
    "z = np.sqrt(z * z + 3)", "z = np.exp(z * 0.1)", "s += np.sum(np.angle(ARR * 0.1 + 2))",
    "z = z ** 2 * 0.3", "s += np.sum(np.real(np.log(ARR * 0.1 + 2)))", "z = np.cumsum(z)",
    "z = np.roll(z, 1)", "z.sort()", "z = np.where(ARR.imag > LIMIT, COMPLEX, z)",
    "s += np.max(np.abs(ARR))", "z = z.real * 1.0 + 0j", "z[0], z[1] = z[1], z[0]",
    "z.real[0], z.imag[0] = NUM, NUM", "z.real[:2] += z.imag[1:]",
    "np.add.at(z, [0, 0], COMPLEX)", "for q in w: q.real[0] = NUM",
    "for q in rows: q.imag += NUM", "w.real[I, J] = NUM", "w.imag[:, J] *= NUM",
    "w.real[I] = z.imag", "w[I].real[J] = NUM", "w.T.imag[J] += NUM",
    "w.reshape(-1).real[2] = NUM", "w.ravel().imag[:2] = NUM", "z.flat[1] = COMPLEX",
    "s += np.einsum('i,i->', z, ARR.conj()).real",
]  # fmt: skip
HEADS = [
    "for i in range(n):", "for i in range(2):", "if x[K] > LIMIT:", "if s > LIMIT:",
    "while k < n:\n    k += 1", "for i in range(n, 0, -1):", "if (COMPLEX).real > LIMIT:",
    "for v in x[:2]:",
]  # fmt: skip
LAST = """\
    weights = np.arange(1.0, 4.0)
    s = np.sum(s) + np.sum(np.real(z)[:3] * 0.7 + np.imag(z)[:3] * 1.3)
    s += c.real * 0.3 + c.imag * 0.4
    s += np.sum(w[0].real * weights) + np.sum(w.imag) * 0.2
    return s + sum(np.sum(q.real * 0.9 + q.imag * 0.6) for q in rows)
"""


def program(seed: int) -> str:
    """A function `f` of a vector of six positive numbers and an int."""
    r = random.Random(seed)
    words = {
        "ARR": ARRAYS, "OWN": OWNED, "NUM": NUMBERS,
        "COMPLEX": COMPLEX, "LIMIT": ["0.7", "1.1", "1.6"],
        "I": several(2), "J": several(3), "K": several(6), "AT": PLACES,
    }  # fmt: skip

    rows = [row for _ in range(r.randint(3, 8)) for row in statement(r, words, STATEMENTS, HEADS)]
    rows = [row.replace("@[", "[") for row in rows]
    return HEAD + "".join(f"    {row}\n" for row in rows) + LAST
