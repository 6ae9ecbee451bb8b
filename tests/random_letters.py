"""Random programs that go through texts: letters, parts and words, looked up, counted and compared.

The texts are short, in which case loops over them are unrolled unless that gets long, or long.
"""

from __future__ import annotations

import random

from .random_words import several, statement

HEAD = """\
import numpy as np


def f(x, n):
    s, t, u, w = 0.1, 0, "", "GAT"
    seq = TEXT
    place = {"A": 0, "C": 1, "G": 2, "T": 3}
    held = {"A": x[0], "C": x[1] * 2.0}
    seen = {}
    many = [x[1], 0.5]
    c, k = "A", 1
    table = str.maketrans("ACGT", "TGCA")
"""
LETTERS = [
    "c", "seq[k % len(seq)]", "w[0]", "seq[-1]", "'ACGT'[k % 4]", "c.lower()", "c.upper()", "u[:1]",
    "(c + w)[k % 2]",
]  # fmt: skip
TEXTS = [
    "w", "seq[k:k + 3]", "seq[:k % 5]", "w[::-1]", "c", "u", "seq[k % 7:]", "(w + c)",
    "(w * 2)[:6]", "w.replace(c, 'T')", "w.strip('A')", "w.lower()", "c.join(w)", "f'{c}{k % 3}'",
    "w.title()", "''.join(sorted(w))", "str(k % 3)", "max(w + c)",
]  # fmt: skip
INTS = [
    "k", "len(TEXTS)", "place.get(LETTERS, 4)", "w.count(LETTERS)", "ord(c) % 5", "w.find(LETTERS)",
    "seq.count(TEXTS)", "t", "(c == LETTERS)", "'ACGT'.find(LETTERS)", "w.rfind('A')", "len(seen)",
]  # fmt: skip
NUMBERS = [
    "x[I]", "x[INTS % 6]", "s", "0.5", "held.get(LETTERS, 0.1)", "held['A']", "many[INTS % 2]",
    "float(INTS)", "float(str(k % 4))", "seen.get(TEXTS, 0.3)", "many[-1]", "sum(many)",
    "len(TEXTS) * x[I]", "(x[I] if TESTS else s)",
]  # fmt: skip
TESTS = [
    "c == LETTERS", "TEXTS == TEXTS", "LETTERS in TEXTS", "LETTERS not in seen", "c < LETTERS",
    "TEXTS.startswith(c)", "TEXTS.endswith('A')", "c.isupper()", "w.isalpha()", "LETTERS in 'AG'",
    "x[I] > 0.9", "TEXTS", "k % 2 == 0", "LETTERS in place", "c != 'A' and w > 'C'",
]  # fmt: skip
STATEMENTS = [
    "s += NUMBERS", "s = s * 0.5 + NUMBERS", "s += NUMBERS * NUMBERS", "t += INTS", "k = INTS",
    "c = LETTERS", "w = TEXTS", "u = (u + c)[-4:]", "u += c", "s += x[place.get(c, 0)]",
    "held[LETTERS] = NUMBERS", "held['A'] += NUMBERS", "seen[TEXTS] = NUMBERS",
    "seen[c] = seen.get(c, 0.0) + NUMBERS", "seen.setdefault(LETTERS, NUMBERS)",
    "many.append(NUMBERS)", "many[INTS % 2] = NUMBERS", "t = sum(1 for a in TEXTS if a == c)",
    "s += sum(x[INTS % 6] for a in TEXTS)", "s += np.sin(NUMBERS)",
    "try:\n    k = TEXTS.index(LETTERS)\nexcept ValueError:\n    s *= 0.9",
    "try:\n    s += x[place[LETTERS]]\nexcept KeyError:\n    t += 1",
    "try:\n    k = int(TEXTS)\nexcept ValueError:\n    s += x[I]",
    "a, b = c, w\ns += x[I] * (a == b)", "w = ''.join(place_[a] for a in w if a in place_)"
    .replace("place_", "{'A': 'T', 'T': 'A', 'C': 'G', 'G': 'C'}"),
    "s += {'A': x[0], 'C': x[1], 'G': s}.get(LETTERS, 0.2)",
    "s += {'A': np.sin, 'C': np.cos}.get(LETTERS, np.tanh)(NUMBERS)",
    "match c:\n    case 'A' | 'T':\n        s += NUMBERS\n    case 'C':\n        s *= 0.9",
    "if TESTS:\n    continue_ = 1\n    s += NUMBERS", "assert isinstance(c, str)",
]  # fmt: skip
HEADS = [
    "for c in seq:", "for k, c in enumerate(seq):", "for c, w in zip(seq, reversed(seq)):",
    "for k in range(len(seq) - 2):", "for c in TEXTS:", "for w in ('GA ' + seq + ' AT A').split():",
    "for c in sorted(set(seq)):", "if TESTS:", "if TESTS:", "for _ in range(n):",
    "for c in seq:\n    if TESTS:\n        break", "for c in seq:\n    if TESTS:\n        continue",
    "for c in list(seq):", "for i in range(0, len(seq), 3):\n    w = seq[i:i + 3]",
    "for c in dict.fromkeys(seq):", "for c, v in held.items():\n    s += v",
]  # fmt: skip


def program(seed: int) -> str:
    r = random.Random(seed)
    long = r.choice((5, 12, 30, 130))
    text = "".join(r.choice("ACGT") for _ in range(long))
    words = {
        "LETTERS": LETTERS, "TEXTS": TEXTS, "INTS": INTS, "NUMBERS": NUMBERS, "TESTS": TESTS,
        "I": several(6),
    }  # fmt: skip
    rows = [HEAD.replace("TEXT", repr(text))]
    for _ in range(r.randint(3, 6)):
        nesting = 0.6 if long < 100 else 0.4
        found = statement(r, words, STATEMENTS, HEADS, nesting, 2, 3, 8)
        rows += ["    " + row for row in found]
    rows.append("    return s + sum(many) * 0.1 + t * x[0] + sum(seen.values())")
    return "\n".join(rows) + "\n"
