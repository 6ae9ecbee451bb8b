"""Random programs that read something outside of them, which is changed from call to call.

A program puts together a place outside (an attribute, an item, a default, ...), what stands there,
a question that is asked of it, and what is done to it between the calls.
"""

from __future__ import annotations

import random

HEAD = """
import collections, dataclasses, functools, operator, sys, types
import numpy as np

class Box:
    def __init__(self, v): self.v = v
    def get(self): return self.v
    def __call__(self): return self.v
    def call(self, f): return f(self.v)

class Slots:
    __slots__ = ("v",)
    def __init__(self, v): self.v = v

class Computed:
    def __init__(self, v): self.held = v
    @property
    def v(self): return self.held

class Asked:
    def __init__(self, v): self.held = {"v": v}
    def __getattr__(self, name):
        if name == "held" or name.startswith("__"): raise AttributeError(name)
        return self.held[name]
    def __getitem__(self, key): return self.held[key]

class Kind: v = None

class Meta(type):
    @property
    def v(cls): return cls.held

class Made(metaclass=Meta): pass

Pair = collections.namedtuple("Pair", "v w")

@dataclasses.dataclass
class Record:
    v: object = None

def worth(v):
    if v is None: return 0.5
    if isinstance(v, (bool, int, float, np.number)): return v * 1.0
    if isinstance(v, str): return len(v) + (10.0 if v.startswith("b") else 0.0)
    if isinstance(v, np.ndarray): return float(v.sum())
    if isinstance(v, (list, tuple, set, frozenset, collections.deque)):
        return sum(worth(i) for i in v) + 3.0 * len(v)
    if isinstance(v, dict): return sum(worth(i) for i in v.values()) + 5.0 * len(v)
    if callable(v): return v(2.0)
    return 7.0
"""
# What stands outside: at first, and what is done to it
THINGS = {
    "2": ["PLACE = 3", "PLACE = 5.5"],
    "2.0": ["PLACE = 3.5", "PLACE = 4", "PLACE = None"],
    "True": ["PLACE = False", "PLACE = True"],
    "None": ["PLACE = 3.0", "PLACE = None"],
    "'abc'": ["PLACE = 'bcd'", "PLACE = 'aa'"],
    "[1.0, 2.0]": ["PLACE.append(3.0)", "PLACE[0] = 9.0", "PLACE = [4.0]", "PLACE.clear()"],
    "['a', 'bb']": ["PLACE.append('ccc')", "PLACE[0] = 'bzz'", "PLACE[1] = 2.0"],
    "[[1.0], {'a': [2.0]}]": ["PLACE[1]['a'].append(3.0)", "PLACE[0][0] = 9", "PLACE[1]['b'] = 4"],
    "{'a': 1.0, 'b': 2}": [
        "PLACE['a'] = 3.0",
        "PLACE['c'] = 1",
        "del PLACE['b']",
        "PLACE['a'] = ''",
    ],
    "(1.0, 2)": ["PLACE = (1.0, 3)", "PLACE = (1.0, 3, 4)"],
    "Pair(1.0, 2)": ["PLACE = PLACE._replace(w=5)", "PLACE = Pair('bq', 3)"],
    "{1, 2}": ["PLACE.add(7)", "PLACE.discard(1)"],
    "frozenset([1, 2])": ["PLACE = frozenset([1, 2, 9])"],
    "collections.deque([1.0, 2.0])": ["PLACE.append(3.0)", "PLACE[0] = 9.0", "PLACE.popleft()"],
    "collections.OrderedDict(a=1.0)": ["PLACE['a'] = 3.0", "PLACE['c'] = 1.5"],
    "collections.defaultdict(int, a=1.0)": ["PLACE['a'] = 3.0", "PLACE['c'] = 1.5"],
    "collections.Counter('aab')": ["PLACE['a'] += 3", "PLACE['c'] = 1"],
    "np.array([1.0, 2.0])": ["PLACE[0] = 5.0", "PLACE = np.array([[3, 4]])", "PLACE *= 2"],
    "(lambda a: a * 2)": ["PLACE = lambda a: a * 3", "PLACE = np.sin"],
    "functools.partial(lambda a, k: a * k, k=2.0)": ["PLACE.keywords['k'] = 5.0"],
    "Box(2.0)": ["PLACE = Box(3.0)"],
    "int": ["PLACE = float", "PLACE = str"],
}
# Where: how it is made, the place, and how the program gets there
PLACES = [
    ("P = THING", "P", "P"),
    ("o = Box(THING)", "o.v", "o.v"),
    ("o = Box(THING)", "o.v", "o.get()"),
    ("o = Box(THING); get = o.get", "o.v", "get()"),
    ("o = Box(THING)", "o.v", "o()"),
    ("o = Box(THING)", "o.v", "o.call(lambda q: q)"),
    ("o = Box(THING)", "o.v", "getattr(o, 'v')"),
    ("o = Box(THING); p = functools.partial(lambda b: b.v, o)", "o.v", "p()"),
    ("o = Box(THING); p = operator.attrgetter('v')", "o.v", "p(o)"),
    ("o = Slots(THING)", "o.v", "o.v"),
    ("o = Computed(THING)", "o.held", "o.v"),
    ("o = Asked(THING)", "o.held['v']", "o.v"),
    ("o = Asked(THING)", "o.held['v']", "o['v']"),
    ("o = Asked(THING); get = o.__getitem__", "o.held['v']", "get('v')"),
    ("Kind.v = [THING]", "Kind.v[0]", "Kind.v[0]"),
    ("Kind.v = [THING]; o = Kind()", "Kind.v[0]", "o.v[0]"),
    ("Made.held = THING", "Made.held", "Made.v"),
    ("d = {'k': THING}", "d['k']", "d['k']"),
    ("d = {'k': THING}", "d['k']", "d.get('k', 1)"),
    ("d = {'k': Box(THING)}", "d['k'].v", "d['k'].v"),
    ("d = collections.UserDict(k=THING)", "d['k']", "d['k']"),
    ("d = collections.ChainMap({}, {'k': THING})", "d.maps[1]['k']", "d['k']"),
    ("rows = [0, THING]", "rows[1]", "rows[-1]"),
    ("rows = [THING]", "rows[0]", "[q for q in rows][0]"),
    ("rows = [THING, 1]", "rows[0]", "(lambda a, b: a)(*rows)"),
    ("d = {'k': THING}; d['d'] = d", "d['k']", "d['d']['d']['k']"),
    ("rows = [THING, 1]; rows[1] = (rows, 2)", "rows[0]", "rows[1][0][0]"),
    (
        "d = {'leaf': {'v': THING}}; d['leaf']['up'] = d",
        "d['leaf']['v']",
        "d['leaf']['up']['leaf']['v']",
    ),
    ("t = (Box(THING), 2)", "t[0].v", "t[0].v"),
    ("n = types.SimpleNamespace(a=types.SimpleNamespace(v=THING))", "n.a.v", "n.a.v"),
    ("n = Record(THING)", "n.v", "n.v"),
    ("def h(q=[THING]): return q[0]", "h.__defaults__[0][0]", "h()"),
    ("def h(): return h.v\nh.v = THING", "h.v", "h()"),
    ("P = THING\ndef h(): return P", "P", "h()"),
    ("P = THING\ndef h(): yield P", "P", "next(h())"),
    ("P = THING", "P", "sys.modules[__name__].P"),
]
QUESTIONS = [
    "worth(IT)",
    "worth(IT)",
    "(3.0 if IT else 1.0) + worth(IT)",
    "(3.0 if IT is None else 1.0)",
    "(3.0 if IT == THING else 1.0)",
    "(3.0 if isinstance(IT, (int, list, str)) else 1.0)",
    "(len(IT) * 2.0 if hasattr(IT, '__len__') else 1.5)",
    "((3.0 if 3.0 in IT else 1.0) if isinstance(IT, (list, tuple, set, dict)) else 1.5)",
    "(3.0 if type(IT) is type(THING) else 1.0)",
]


def program(seed: int) -> tuple[str, int]:
    """The source of a module with `f`, and `change0`, `change1`, ...; and how many of these."""
    r = random.Random(seed)
    thing = r.choice(list(THINGS))
    made, place, access = r.choice(PLACES)
    changes = r.sample(THINGS[thing], len(THINGS[thing]))
    name = place.partition(".")[0].partition("[")[0]
    value = r.choice(QUESTIONS).replace("IT", access).replace("THING", thing)
    lines = [
        HEAD,
        made.replace("THING", thing),
        "",
        "def f(x):",
        f"    return np.sum(x) * ({value})",
    ]
    for i, change in enumerate(changes):
        lines += ["", f"def change{i}():"]
        lines += [f"    global {name}"] * (name == place)
        lines.append(f"    {change.replace('PLACE', place)}")
    return "\n".join(lines) + "\n", len(changes)
