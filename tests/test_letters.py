"""Texts that a program goes through letter by letter, in loops that stay loops."""

import collections

import numpy as np
import pytest

import srcgrad

from .small_programs import X, check, programs

SHORT = "GATTACACATTAGGCATCAG"
LONG = SHORT * 7
PLACES = {"A": 0, "C": 1, "G": 2, "T": 0}
WORDS = "cats and dogs and birds " * 8


def aligned(x, first, second):
    """The best way to align two sequences (Needleman and Wunsch), with a soft maximum."""
    score = np.zeros((len(first) + 1, len(second) + 1))
    place = {"A": 0, "C": 1, "G": 2, "T": 3}
    alike = np.outer(np.append(x, 0.5), np.append(x[::-1], 0.25))
    for i in range(len(first) + 1):
        score[i, 0] = -x[0] * i
    for j in range(len(second) + 1):
        score[0, j] = -x[0] * j
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            match = score[i - 1, j - 1] + alike[place[first[i - 1]], place[second[j - 1]]]
            gaps = score[i - 1, j] - x[0], score[i, j - 1] - x[0]
            score[i, j] = np.log(np.sum(np.exp(np.array([match, *gaps]))))
    return score[-1, -1]


def alignment(x):
    return aligned(x, SHORT, SHORT[::-1])


def edit_distance(x):
    cost = np.zeros((len(SHORT) + 1, len(SHORT) + 1))
    cost[:, 0] = np.arange(len(SHORT) + 1) * x[0]
    cost[0, :] = np.arange(len(SHORT) + 1) * x[1]
    for i, a in enumerate(SHORT, 1):
        for j, b in enumerate(reversed(SHORT), 1):
            change = cost[i - 1, j - 1] + (0.0 if a == b else x[2])
            cost[i, j] = min(cost[i - 1, j] + x[0], cost[i, j - 1] + x[1], change)
    return cost[-1, -1]


def places_of_letters(x):
    total = 0.0
    for letter in LONG:
        total += x["ACG".find(letter)] * x[ord(letter) % 3]
    return total


def parts(x):
    total = 0.0
    for i in range(len(LONG) - 2):
        part = LONG[i : i + 3]
        total += np.exp(0.1 * x[(part.count("G") + part.count("C")) % 3])
        if part[::-1] == part or part.lower().startswith("ga"):
            total *= 0.9 + 0.1 * x[len(part.strip("A")) % 3]
    return total


def frequencies(x):
    counts = {}
    for letter in LONG:
        counts[letter] = counts.get(letter, 0) + x[PLACES[letter]]
    whole = sum(counts.values())
    return -sum(n / whole * np.log(n / whole) for n in counts.values())


def no_such_letter(x):
    total = 0.0
    for letter in LONG:
        try:
            place = "AC".index(letter)
        except ValueError:
            place = 2
        total += x[place] ** 2
    return total


def functions_of_letters(x):
    total = 0.0
    for letter in LONG:
        f = {"A": np.sin, "C": np.cos, "G": np.exp, "T": np.tanh}[letter]
        total += f(x[0])
    return total


def letters_matched(x):
    total = 0.0
    for letter in LONG:
        match letter:
            case "A" | "T":
                total += x[0] ** 2
            case "C":
                total -= x[1]
            case _:
                total *= x[2]
    return total


def numbers_of_pairs(x):
    pairs = {}
    for a, b in zip(LONG, LONG[1:]):  # noqa: RUF007, B905
        pairs.setdefault(a + b, 0.0)
        pairs[a + b] += x[PLACES[a]] * x[PLACES[b]]
    return sum(v * v for v in pairs.values())


def complement(x):
    other = {"A": "T", "T": "A", "C": "G", "G": "C"}
    back = "".join(other[letter] for letter in reversed(LONG))
    total = 0.0
    for a, b in zip(LONG, back, strict=True):
        total += x[0] ** 2 if a == b else x[PLACES[b]]
    return total


def runs_of_letters(x):
    total, before, length = 0.0, "", 0
    for letter in LONG:
        if letter == before:
            length += 1
        else:
            total += x[length % 3] * length
            length, before = 1, letter
    return total


def words(x):
    total = 0.0
    for word in WORDS.split():
        total += x[len(word) % 3] ** 2
        if word.endswith("s"):
            total *= 0.9
    return total


def parts_in_order(x):
    """Parts whose letters are the same count as one."""
    seen, total = {}, 0.0
    for i in range(len(LONG) - 3):
        key = "".join(sorted(LONG[i : i + 3]))
        seen[key] = seen.get(key, 0.0) + x[i % 3]
        total += x[int(sorted(LONG[i : i + 3], reverse=True)[0] == "T")]
    return total + sum(v * v for v in seen.values())


def ordered_while_there_is_some(x):
    text, total = LONG, 0.0
    while len(text) > 3:
        total += x[len(text) % 3] * ord(sorted(text)[0])
        text = text[2:]
    return total**2


def translated(x):
    table = str.maketrans("ACGT", "TGCA", "N")
    longer = str.maketrans({"A": "xx", "T": None, ord("C"): 71})
    total = 0.0
    for i in range(len(LONG) - 3):
        total += x[LONG[i : i + 3].translate(table).count("A") % 3] ** 2
        total += x[len(LONG[i : i + 3].translate(longer)) % 3]
    for letter in "GATTNACA".translate(OUTSIDE):
        total += x["ACGT".index(letter) % 3] ** 2
    return total


def translated_by_other_tables(x):
    """Whatever has items by number, and says LookupError of what it lacks, is a table."""
    listed = [None] * 65 + ["C", "", "xx"]
    kept = collections.defaultdict(lambda: "A", {ord("C"): "GG"})
    total = 0.0
    for i in range(len(LONG) - 3):
        part = LONG[i : i + 3]
        total += x[len(part.translate(listed)) % 3] ** 2
        total += x[part.translate(kept).count("A") % 3] * len(part.translate(kept))
    return total * len(kept)


OUTSIDE = str.maketrans("ACGT", "TGCA", "N")


@pytest.mark.parametrize("program", programs(globals()))
def test_letters(program):
    check(program, X)


def test_text_given_is_read_by_its_name():
    gradient = srcgrad.grad(aligned)
    found = gradient(X, SHORT, SHORT[::-1])
    assert "place[place_places[first[previous_i]]]" in gradient.source
    assert "place_places = {'A': 0, 'C': 1, 'G': 2, 'T': 3}\n" in gradient.source
    assert gradient.source.count("\n") < 90
    np.testing.assert_allclose(found, srcgrad.grad(alignment)(X), rtol=1e-12)
    other = gradient(X, SHORT[2:], SHORT)
    near = [
        (aligned(X + h, SHORT[2:], SHORT) - aligned(X - h, SHORT[2:], SHORT)) / 2e-6
        for h in 1e-6 * np.eye(3)
    ]
    np.testing.assert_allclose(other, near, rtol=1e-6)


def test_kinds_of_methods_are_known():
    for program in (places_of_letters, parts, frequencies):
        gradient = srcgrad.grad(program)
        gradient(X)
        assert "check_unwritten" not in gradient.source
        assert "project(" not in gradient.source


def test_a_part_that_is_missing_is_told_where_nothing_needs_its_place():
    def unused(x):
        total = 0.0
        for i in range(len(LONG) - 3):
            LONG[i : i + 3].index("Z")
            total += x[0]
        return total

    for f in (unused, srcgrad.grad(unused), lambda x: srcgrad.jvp(unused, (x,), (x,))):
        with pytest.raises(ValueError, match="substring not found"):
            f(X)
