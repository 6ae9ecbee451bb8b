"""Trees and linked lists of tuples, named tuples and short lists that the data shape."""

import collections
import copy
import linecache
from collections import abc
from typing import Any, NamedTuple

import numpy as np
import pytest

import srcgrad
from tests import random_links
from tests.small_programs import X, check, programs

Node = collections.namedtuple("Node", "v next")
Place = collections.namedtuple("Place", "location left right")


class Typed(NamedTuple):
    v: float
    next: Any = None

    def double(self):
        return 2.0 * self.v

    @property
    def half(self):
        return self.v / 2.0


class Vector(NamedTuple):
    v: float
    next: Any = None

    def __add__(self, other):
        return Vector(self.v + other, self.next)


def built(points, depth=0):
    if not len(points):
        return None
    points = sorted(points, key=lambda p: p[depth % 2])
    m = len(points) // 2
    left, right = built(points[:m], depth + 1), built(points[m + 1 :], depth + 1)
    return Place(points[m], left, right)


def nearest(node, q, depth, best):
    if node is None:
        return best
    d = (node.location[0] - q[0]) ** 2 + (node.location[1] - q[1]) ** 2
    best = d if d < best else best
    away = q[depth % 2] - node.location[depth % 2]
    near, far = (node.left, node.right) if away < 0 else (node.right, node.left)
    best = nearest(near, q, depth + 1, best)
    return nearest(far, q, depth + 1, best) if away**2 < best else best


def neighbours(x):
    """A k-d tree, as Wikipedia has it."""
    points = [(x[i % 3] * (i + 1.37) % 1.0, x[(i + 1) % 3] * (i + 2.23) % 1.0) for i in range(14)]
    root = built(points)
    return nearest(root, (0.3, 0.4), 0, 1e9) + 2.0 * nearest(root, (0.8, 0.1), 0, 1e9)


def inserted(t, v):
    if t is None:
        return (v, None, None)
    w, left, right = t
    if v < w:
        return (w, inserted(left, v), right)
    return (w, left, inserted(right, v))


def total(t, depth=1):
    if t is None:
        return 0.0
    v, left, right = t
    return v * v * depth + total(left, depth + 1) + total(right, depth + 1)


def search_tree(x):
    t = None
    for i in range(9):
        t = inserted(t, x[i % 3] * (i + 1.37) % 1.0)
    return total(t)


def replaced_fields(x):
    def inserted(t, v):
        if t is None:
            return Place(v, None, None)
        if v < t.location:
            return t._replace(left=inserted(t.left, v))
        return t._replace(right=inserted(t.right, v))

    t = None
    for i in range(9):
        t = inserted(t, x[i % 3] * (i + 1.37) % 1.0)
    return total(t)


def stack(x):
    head, s = None, 0.0
    for i in range(20):
        if x[i % 3] * (i + 0.37) % 1.0 > 0.4:
            head = (x[i % 3] * i, head)
        elif head is not None:
            s, head = s + head[0] * x[0], head[1]
    while head is not None:
        v, head = head
        s = s * 0.9 + v**2
    return s


def huffman(x):
    """Nested lists, sorted and joined until there is one."""
    queue = [[v * (i + 1), i, None, None] for i, v in enumerate([*x, *x, *x, *x])]
    while len(queue) > 1:
        queue.sort(key=lambda n: n[0])
        a, b = queue.pop(0), queue.pop(0)
        queue.append([a[0] + b[0], -1, a, b])

    def length(n, depth):
        if n[2] is None:
            return n[0] * depth
        return length(n[2], depth + 1) + length(n[3], depth + 1)

    return length(queue[0], 0)


def stored_into(x):
    """Lists of two items, linked one after the other and changed in place."""
    first = last = [x[0], None]
    for i in range(12):
        if x[i % 3] * (i + 0.37) % 1.0 > 0.35:
            last[1] = [x[i % 3] * i, None]
            last = last[1]
            last[0] *= 0.5
    s, n = 0.0, first
    while n is not None:
        n[0] += x[1]
        s = 0.9 * s + n[0] ** 2
        n = n[1]
    return s + first[0]


def rotated(x):
    """A tree of lists whose children change places."""

    def grown(v, depth):
        if depth == 0 or v < 0.05:
            return None
        return [v, grown(0.7 * v, depth - 1), grown(v * x[1], depth - 1)]

    def turned(n):
        if n is not None:
            n[1], n[2] = n[2], n[1]
            turned(n[1])

    root = grown(x[0], 4)
    before = total(root)
    turned(root)
    return before * 2.0 + total(root)


def grown(x):
    """A rapidly-exploring random tree, whose nodes are tuples that hold their parent."""
    nodes = [(x[0], x[1], None)]
    for i in range(6):
        p = (x[i % 3] * (i + 0.37) % 1.0, x[(i + 1) % 3] * (i + 0.61) % 1.0)
        near = min(nodes, key=lambda n: (n[0] - p[0]) ** 2 + (n[1] - p[1]) ** 2)
        nodes.append((0.5 * (near[0] + p[0]), 0.5 * (near[1] + p[1]), near))
    n, s = nodes[-1], 0.0
    while n[2] is not None:
        s += np.hypot(n[0] - n[2][0], n[1] - n[2][1])
        n = n[2]
    return s


def added(x):
    n = None
    for v in x:
        if v > 0.4:
            n = Vector(v, n)
    s = 0.0
    while n is not None:
        n = n + x[0]
        s += n.v**2
        n = n.next
    return s


def shared_arrays(x):
    """The arrays that they hold are those that others hold, too."""
    a, n = 2.0 * x, None
    for v in x:
        if v > 0.4:
            n = (a[1:], v, n)
    while n is not None:
        part, v, n = n
        part[0] += v
        part *= 1.1
    return a[1] ** 2 + a[2]


@pytest.mark.parametrize("function", programs(globals()))
def test_program(function):
    check(function)


def test_loops_over_them_stay_loops():
    """The code doesn't depend on how many there are."""
    gradient = srcgrad.grad(search_tree)
    gradient(X.copy())
    assert gradient.source.count("\n") < 160
    assert "= forward_inserted(" in gradient.source

    def chain(x):
        head, s = None, 0.0
        for v in x:
            head = (v * v, head) if v > 0.3 else head
        while head is not None:
            v, head = head
            s = 0.5 * s + v
        return s

    gradient = srcgrad.grad(chain)
    x = np.random.default_rng(0).random(300)
    h = 1e-6 * np.eye(300)[:5]
    found = gradient(x)
    np.testing.assert_allclose(
        found[:5], [(chain(x + e) - chain(x - e)) / 2e-6 for e in h], atol=1e-8
    )
    assert gradient.source.count("\n") < 60


PROGRAM = """
def f(x):
    head = None
    for v in x:
        if v > 0.3:
            head = {made}
    s, n = 0.0, head
    while n is not None:
        {body}
        n = n[1]
    return s
"""

QUESTIONS = [
    "n[1] is None", "n[-1] is None", "n[1:] == (None,)", "n[1:] == [None]", "len(n) == 2",
    "n == None", "n == (0.09, None)", "n[1] == (0.09, None)", "n[1] == [0.09, None]", "not n",
    "not n[1]", "n and n[0] > 0.5", "isinstance(n, tuple)", "isinstance(n[1], list)",
    "type(n) is tuple", "type(n[1]) is tuple", "type(n) is type(n[1])", "isinstance(n, dict)",
    "isinstance(n, abc.Sequence)", "n in [n]", "n[1] in (None,)", "None in n", "n[0] in n",
    "n.count(None) == 1", "n.index(n[0]) == 0", "sum(1 for q in n) == 2", "list(n)[0] > 0.5",
    "tuple(n)[0] > 0.5", "len(n * 2) == 4", "f'{{n[1]}}' == 'None'", "str(n[1]) == 'None'",
    "str(n).startswith('(')", "repr(n)[:1] == '['", "(n[0],) < (0.5,)",
    "max([n], key=lambda k: k[0])[0] > 0.5", "n is n", "n[1] is n[1]",
    "(lambda a, b: a)(*n) > 0.5", "list(enumerate(n))[0][1] > 0.5",
    "list(zip(n, 'ab'))[0][0] > 0.5", "any(n)", "all(n)", "callable(n)", "hasattr(n, 'count')",
    "hasattr(n, 'append')", "n.__class__ is tuple", "n.__class__.__name__ == 'list'",
    "n[0:1][0] > 0.5", "n[::-1][1] > 0.5", "('%.3f %s' % tuple(n)).endswith('None')",
    "np.array(n[:1]).sum() > 0.5", "bool(n[1])", "n[1] or n[0] > 0.5",
    "(n[1] or (9.0,))[0] > 0.5", "n[1] is not None and n[1][0] > 0.3",
    "getattr(n, 'v', 0.0) > 0.5", "hasattr(n, 'v')", "copy.copy(n)[0] > 0.5",
    "n[1] is not None and len(n[1]) == 2", "isinstance(n[1], (tuple, list))", "n[1] in [3, None]",
]  # fmt: skip
OF_FIELDS = [
    "n.v > 0.5", "n.next is None", "n._fields == ('v', 'next')", "n._asdict()['v'] > 0.5",
    "n._replace(v=9.0).v == 9.0", "n._replace(next=None).next is None", "isinstance(n, type(n))",
    "type(n).__name__[0] == str(n)[0]", "hasattr(n.next, 'v')", "getattr(n, 'w', None) is None",
    "type(n)._make(n).v > 0.5", "n.next is not None and n.next.v > 0.3", "isinstance(n, Typed)",
    "type(n.next) is Node", "hasattr(n, 'double') and n.double() > 1.0",
    "hasattr(n, 'half') and n.half > 0.3", "n[0] == n.v",
]  # fmt: skip
UNPACKED = [
    "v, w = n\n        s += v ** 2 if w is None else v",
    "v, *w = n\n        s += v ** 2 if w == [None] else v",
    "*v, w = n\n        s += v[0] ** 2 if w is None else v[0]",
    "for i, q in enumerate(n):\n            s += q * q if i == 0 else 1.0",
    "m = n\n        while m[1] is not None: m = m[1]\n        s += m[0] * n[0]",
    "m = n if n[0] > 0.4 else None\n        s += m[0] if m else n[0] ** 2",
    "kept = [n, n]\n        kept.append(n)\n        s += kept[2][0] * len(kept)",
    "try: s += n[1][0]\n        except TypeError: s += n[0] ** 2",
    "try: n[5]; s += 1.0\n        except IndexError: s += n[0]",
    "try: v, w, z = n; s += 1.0\n        except ValueError: s += n[0]",
    "try: v, w = n[1]; s += v\n        except TypeError: s += n[0] ** 2",
    "try: n < 3; s += 1.0\n        except TypeError: s += n[0]",
    "try: n.zz = 3.0; s += 1.0\n        except AttributeError: s += n[0]",
    "s += x[len(n)] * n[0]",
    "match n:\n            case (v, None): s += v ** 2\n            case (v, w): s += v",
]
OF_TUPLES = [
    "try: n[0] = 3.0; s += 1.0\n        except TypeError: s += n[0]",
    "try: n + [1]; s += 1.0\n        except TypeError: s += n[0]",
    "m = n\n        m += (2.0,)\n        s += m[2] * n[0] + len(n)",
    "n = (n[0] * 2, n[1])\n        s += n[0]",
    "s += hash(n[:1]) == hash((n[0],))",
]
OF_LISTS = [
    "m = n\n        m[0] = 2.0 * x[0]\n        s += n[0] * x[1]",
    "m = n.copy()\n        m[0] = 2.0 * x[0]\n        s += n[0] * m[0]",
    "m = copy.copy(n)\n        m[0] *= 2.0\n        s += n[0] * m[0]",
    "m = n[:]\n        m[0] *= 2.0\n        s += n[0] * m[0]",
    "m = list(n)\n        m.append(x[0])\n        s += n[0] * m[2] * len(n)",
    "n[-2] **= 2\n        s += n[0]",
]
ASKED = "if {}: s += n[0] ** 2\n        else: s += n[0]"
DATA = np.array([0.55, 0.2, 0.93, 0.7])


def written(made, body):
    text = PROGRAM.format(made=made, body=body)
    name = f"<{made} {body}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"np": np, "abc": abc, "copy": copy, "Node": Node, "Typed": Typed}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("made", ["(v * v, head)", "[v * v, head]", "Node(v * v, head)",
                                  "Typed(v * v, next=head)"])  # fmt: skip
@pytest.mark.parametrize("part", range(4))
def test_questions(made, part):
    """What Python answers is answered, for one after the other."""
    bodies = [ASKED.format(q.format()) for q in QUESTIONS] + UNPACKED
    bodies += OF_LISTS if made[0] == "[" else OF_TUPLES
    bodies += [ASKED.format(q) for q in OF_FIELDS] if made[0] not in "[(" else []
    refused = 0
    for body in bodies[part::4]:
        f = written(made, body)
        try:
            value, gradient = srcgrad.value_and_grad(f)(DATA.copy())
        except srcgrad.UnsupportedError:
            refused += 1
            continue
        assert value == pytest.approx(f(DATA), rel=1e-12), body
        steps = 1e-6 * np.eye(4)
        expected = [(f(DATA + h) - f(DATA - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(gradient, expected, atol=1e-7, err_msg=body)
    assert refused <= 4


class Clashing(NamedTuple):
    v: float
    next: Any = None

    def _items(self):
        return 7.0


def test_names_that_are_ours_are_refused():
    def f(x):
        n = None
        for v in x:
            if v > 0.4:
                n = Clashing(v, n)
        s = 0.0
        while n is not None:
            n = Clashing(n.v * x[0], n.next)
            s += n.v * n._items()
            n = n.next
        return s

    with pytest.raises(srcgrad.UnsupportedError):
        srcgrad.grad(f)(X.copy())


@pytest.mark.parametrize("first", range(0, 12, 4))
def test_random_programs(first):
    for seed in range(first, first + 4):
        random_links.check(seed)
