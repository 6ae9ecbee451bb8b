"""Tables of statements for `random_statements.py`: what programs keep their numbers in.

Objects with operators and properties, deques, heaps, counters and named tuples, nested lists and
dicts that functions go down, parts of arrays of three axes, and what itertools makes.

For a long run: `python -m tests.random_structures COUNT [first seed] [table ...]`.
"""

from __future__ import annotations

import sys

from .random_statements import Table, lines, main

TABLES: dict[str, Table] = {}

TABLES["algebra"] = Table(
    lines("""
    u = u + v
    u = u - VEC
    u = VEC * u
    u = NUM * u
    u += v
    u += VEC
    u -= NUM
    u *= v
    u = -u
    u = v @ u * u
    v = u
    v = u.copy()
    u, v = v, u
    u = abs(v) ** 2
    u = 1.0 / (u * u + 1.0)
    u[0] = NUM
    u[1:] += v[:-1]
    u[INT % n] *= NUM
    t += u @ v
    t += v[-1] * NUM
    t += (NUM if u > v else s)
    t += NUM if u else 0.3
    t += len(u) * s
    t += sum(u) * NUM
    t += sum(w * e for w, e in zip(u, v))
    t += sum([u, v], Val(VEC)).norm
    t += max([u, v], key=lambda q: q.norm).norm
    t += sorted([u, v, Val(VEC)])[1].norm
    t += u(NUM)
    t += u.total
    t += u.doubled[0]
    u.norm = NUM
    u.extra = NUM | t += u.extra
    t += getattr(u, 'extra', NUM)
    t += (u == v) * NUM
    t += NUM if NUM in u else s
    u = Sub(VEC, NUM)
    u = Sub.zeros(n) + VEC
    v = Sub(u.data, u.norm) if TESTED else v
    u = Val.mix(u, v, NUM)
    u.data = VEC
    u.data[0] = NUM
    v.data = u.data
    with u as w: w *= NUM
    for w in (u, v): w *= NUM
    for w in (u, v): w += v
    for j in range(2): u += v * NUM
    for j in range(n): u[j] = v[j - 1] * NUM
    t += functools.reduce(lambda p, q: p * 0.5 + q, [u, v, u]).norm
    many = [u, v] | many[0] += VEC | t += many[0].norm
    many = {'w': u, 'b': v} | many[KEY] += v | t += many[KEY].norm
    t += float(np.sum(u.data * v.data))
    u = Val(VEC) if isinstance(u, Sub) else u
    match u: |     case Sub(data=w): t += w[0] |     case Val(w): t += w[-1] * NUM
    hold.u = u | hold.u += v | hold.u *= NUM | u = hold.u
    hold.u += NUM
    t += hold.u.norm
    total = 0 | for w in (u, v): total = total + w | t += total.norm
    t += divmod(u, NUM)[0].norm
    u = u.map(np.sin).map(lambda w: w * s)
    u <<= NUM
    t += (u << NUM).norm
    t += hash(u) % 2 * s
    for w, e in enumerate(u): t += w * e
    p0, *p1 = u | t += p0 * sum(p1)
"""),
    ("u.norm", "u @ v", "np.sum(v.data)", "hold.u.norm * s"),
    before="""
import functools


class Base:
    count = 0
    scale = 1.5

    def __getattr__(self, name):
        if name == "total":
            return np.sum(self.data) * self.scale
        if name == "doubled":
            return self.data * 2.0
        raise AttributeError(name)

    @property
    def norm(self):
        return np.sum(self.data**2)

    @norm.setter
    def norm(self, value):
        self.data = self.data * value

    def map(self, f):
        return type(self)(f(self.data))


class Val(Base):
    __match_args__ = ("data",)

    def __init__(self, data):
        self.data = data

    @staticmethod
    def lift(other):
        return other.data if isinstance(other, Val) else other

    @classmethod
    def mix(cls, a, b, w):
        return cls(a.data * w + b.data * (1 - w))

    def copy(self):
        return Val(self.data.copy())

    def __add__(self, other):
        return Val(self.data + self.lift(other))

    __radd__ = __add__

    def __sub__(self, other):
        return Val(self.data - self.lift(other))

    def __rsub__(self, other):
        return Val(other - self.data)

    def __mul__(self, other):
        return Val(self.data * Val.lift(other))

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return Val(self.data / self.lift(other))

    def __rtruediv__(self, other):
        return Val(other / self.data)

    def __neg__(self):
        return Val(-self.data)

    def __abs__(self):
        return Val(np.abs(self.data))

    def __pow__(self, k):
        return Val(self.data**k)

    def __divmod__(self, other):
        return self * other, other

    def __iadd__(self, other):
        self.data += self.lift(other)
        return self

    def __isub__(self, other):
        self.data = self.data - self.lift(other)
        return self

    def __imul__(self, other):
        self.data *= self.lift(other)
        return self

    def __lshift__(self, other):
        return Val(np.roll(self.data, 1) * other)

    def __matmul__(self, other):
        return self.data @ other.data

    def __lt__(self, other):
        return self.norm < other.norm

    def __gt__(self, other):
        return other < self

    def __eq__(self, other):
        return isinstance(other, Val) and bool(np.all(self.data == other.data))

    def __hash__(self):
        return len(self.data)

    def __bool__(self):
        return bool(self.data[0] > 0.2)

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data)

    def __getitem__(self, i):
        return self.data[i]

    def __setitem__(self, i, v):
        self.data[i] = v

    def __contains__(self, v):
        return bool(np.any(self.data > v))

    def __call__(self, v):
        return self.data[0] * v + self.data[-1]

    def __enter__(self):
        self.data = self.data * 0.9
        return self

    def __exit__(self, *args):
        self.data = self.data + 0.1
        return False


class Sub(Val):
    scale = 0.7

    def __init__(self, data, bias=0.5):
        super().__init__(data)
        self.bias = bias

    @classmethod
    def zeros(cls, n):
        return cls(np.zeros(n))

    @property
    def norm(self):
        return super().norm + self.bias

    @norm.setter
    def norm(self, value):
        self.bias = value

    def __add__(self, other):
        out = super().__add__(other)
        return Sub(out.data, self.bias * 0.5)

    def __iadd__(self, other):
        super().__iadd__(other)
        self.bias += 0.1
        return self

    def __call__(self, v):
        return super().__call__(v) * self.bias


class Hold:
    pass


""",
    begin="u, v, hold = Val(a * 1.0), Sub(y * 0.5, s), Hold() | hold.u = v",
)

TABLES["collections"] = Table(
    lines("""
    q.append(VEC)
    q.appendleft(VEC)
    q.rotate(INT)
    if q: t += np.sum(q.popleft()) * NUM
    if q: t += np.sum(q.pop()) * NUM
    if q: q[0] = VEC
    if q: q[-1] *= NUM
    if q: q[0][0] = NUM
    q.extend([VEC, VEC])
    for w in q: t += w[0] * NUM
    for w in list(q): q.append(w * 0.5)
    for w in q: w[0] += NUM
    t += len(q) * s
    q = collections.deque([v * NUM for v in q], maxlen=3)
    q.extendleft([VEC, VEC])
    r.append(NUM)
    r.appendleft(NUM)
    while len(r) > 1: t += r.pop() * r[0]
    t += sum(r) * NUM
    heapq.heappush(heap, (NUM, VEC[0]))
    heapq.heappush(heap, (float(NUM), NUM))
    if heap: w, e = heapq.heappop(heap) ; t += w * e
    for u in x: heapq.heappush(heap, (u * s, u))
    for u in x: heapq.heappush(heap, (-u, NUM))
    while heap: w, e = heapq.heappop(heap) ; t = t * 0.5 + w * e
    t += sum(heapq.nlargest(2, VEC)) * NUM
    t += heapq.nsmallest(1, VEC)[0] * NUM
    h2 = list(VEC) | heapq.heapify(h2) | t += h2[0] * NUM
    h2 = [NUM, NUM, NUM] | heapq.heapify(h2) | t += heapq.heapreplace(h2, NUM) + h2[0]
    t += heapq.heappushpop(sorted([NUM, NUM]), NUM)
    groups[INT % 2].append(NUM)
    groups[INT % 3].append(t)
    for j, u in enumerate(x): groups[j % 2].append(u)
    t += sum(sum(v) for v in groups.values())
    t += len(groups[INT]) * s
    sums[KEY] += NUM
    sums[INT % 2] += NUM
    for j, u in enumerate(x): sums[j % 3] += u * s
    for j, u in enumerate(x): sums['ab'[j % 2]] += u
    t += sum(sums.values()) * s
    t += sums['none'] + s
    t += sum(v * len(str(k)) for k, v in sums.items())
    acc[KEY] += VEC
    acc[KEY] = VEC
    acc[INT % 2] += VEC
    t += sum(np.sum(v) for v in acc.values())
    od[KEY] = NUM
    od.move_to_end(KEY) if KEY in od else None
    od.move_to_end(next(iter(od)))
    if len(od) > 1: w = od.popitem(last=False) ; t += w[1] * NUM
    t += sum(v * (k + 1) for k, v in enumerate(od.values()))
    cnt[KEY] += 1 | t += cnt[KEY] * NUM
    cnt.update('aab') | t += cnt['a'] * NUM
    t += sum(c for _, c in cnt.most_common(2)) * NUM
    bisect.insort(srt, NUM)
    t += bisect.bisect(srt, NUM) * s
    t += sum(v * k for k, v in enumerate(srt))
    p = P(NUM, VEC)
    p = p._replace(u=NUM)
    p = p._replace(v=VEC)
    p = R(p.u, p.v * NUM)
    p.v[0] = NUM
    t += p.norm() * NUM
    t += p[0] * p.v[-1] + p[1][0]
    w, e = p | t += w * e[0]
    t += sum(np.sum(v) for v in p._asdict().values())
    match p: |     case P(u=w) if w > s: t += w |     case P(w, e): t += w * e[0] |     case R(): t += p.u
    match p: |     case R(w, e): t += w * e[0] |     case (w, e): t -= w * e[-1]
    pts.append(P(NUM, VEC))
    t += sum(p.u * p.v[0] for p in pts)
    pts = [p._replace(u=p.u * NUM) for p in pts]
    pts = sorted(pts, key=lambda p: p.u)
    t += max(pts, key=lambda p: p.u).v[0]
    for p in pts: p.v[0] += 0.1
    tab[INT % 2, KEY] = NUM
    t += tab.get((INT % 2, KEY), NUM)
    for j in range(2): tab[j, 'w'] = tab.get((j - 1, 'w'), s) * NUM
    t += sum(v for (j, k), v in tab.items() if j == 0)
    t += sum(v * j for (j, k), v in tab.items())
    cm = collections.ChainMap({'w': NUM}, sums) | t += cm['w']
"""),  # noqa: E501
    (
        "sum(np.sum(w) for w in q)",
        "sum(r)",
        "p.u * p.v[0]",
        "sum(sums.values())",
        "sum(od.values())",
        "sum(srt)",
        "sum(w * e for w, e in heap)",
        "sum(tab.values())",
    ),
    before="""
import bisect
import collections
import heapq
from typing import NamedTuple

P = collections.namedtuple("P", "u v")


class R(NamedTuple):
    u: float
    v: object = None

    def norm(self):
        return self.u * np.sum(self.v)


P.norm = lambda self: self.u + self.v[0]


""",
    begin="""q, r = collections.deque([a, y * s], maxlen=4), collections.deque([s])
heap, srt, groups, sums = [], [], collections.defaultdict(list), collections.defaultdict(float)
acc = collections.defaultdict(lambda: np.zeros(n))
od, cnt, tab = collections.OrderedDict(w=s, b=t), collections.Counter(), {(0, 'w'): s}
p, pts = P(s, a * 1.0), []""",
)

TABLES["trees"] = Table(
    lines("""
    tree = tree_map(np.sin, tree)
    tree = tree_map(lambda v: v * NUM, tree)
    tree = tree_map2(lambda u, v: u - 0.1 * v, tree, grads)
    grads = tree_map2(lambda u, v: u * v, tree, tree)
    tree, grads = grads, tree
    tree['w'][0] = VEC
    tree['w'][0][0] = NUM
    tree['w'][1]['k'] = VEC
    tree['w'][1]['k'] *= NUM
    tree['b'] = (NUM, tree['b'][1])
    tree = {**tree, 'b': (NUM, [VEC])}
    tree['w'].append(VEC) | tree['w'].pop()
    t += sum(np.sum(v) for v in leaves(tree))
    t += sum(np.sum(v) * k for k, v in enumerate(leaves(grads)))
    t += folded(lambda p, v: p * 0.5 + np.sum(v), tree, s)
    t += total_of(tree) * NUM
    t += total_of([VEC, [VEC, NUM], (NUM, {'a': NUM})])
    t += depth(tree) * NUM
    t += collected(NUM) * s
    t += collected(VEC[0], log) * s
    t += named(VEC, w=NUM, b=t)
    t += named(VEC, **{KEY: NUM})
    t += star(*VEC, k=NUM)
    t += star(*[NUM, NUM], *VEC[:1])
    t += star(NUM, *log)
    t += OPS[OP](NUM, NUM)
    t += functools.reduce(OPS[OP], [NUM, NUM, s])
    t += functools.reduce(lambda p, k: OPS[k](p, NUM), ['add', OP, OP], t)
    a = OPS[OP](VEC, VEC)
    t += functools.partial(OPS[OP], NUM)(s)
    t += functools.partial(named, b=NUM)(VEC, w=t)
    t += kept(INT, 2) * NUM
    t += sum(kept(j, 1) for j in range(3)) * NUM
    t += shown(NUM) + shown(VEC) + shown([NUM, NUM])
    t += shown(tree['b'])
    for name, size in LAYERS: t = RUN[name](t, size)
    for name in f"{OP},{OP}".split(','): t += OPS[name](t, NUM) * 0.1
    for j in range(2): t += OPS[f"{'add' if j else OP}"](NUM, s)
    t += {('a', j): NUM * j for j in range(3)}[('a', INT % 3)]
    t += dict(zip(['w', 'b'], VEC))['w']
    flat, rebuild = unflatten(tree) | tree = rebuild([v * NUM for v in flat])
    flat, rebuild = unflatten(grads) | t += np.sum(flat[0]) * NUM
    list1 = build([VEC, VEC, NUM]) | t += walk(list1)
    t += walk(build([NUM, NUM, t]))
    t += node_sum(grow(NUM, 2)) * s
    t += node_sum(grow(x[0], 3)) * s
    t += poly(NUM, *LAYERS_COEF)
    t += compose(np.sin, np.cos, lambda v: v * s)(NUM)
    a = compose(np.sin, lambda v: v * s)(VEC)
    t += counter() * NUM
    t += later[INT % len(later)](NUM)
    later.append(lambda v, k=NUM: v * k)
    later.append(functools.partial(OPS[OP], NUM))
    t += sum(f2(s) for f2 in later)
    t += RATE * NUM * CONST['k'][1]
    t += np.sum(WEIGHT * a[:1])
    params.w[0] = NUM
    params.w += VEC
    params = dataclasses.replace(params, b=NUM)
    params = dataclasses.replace(params, w=VEC)
    params.views.append(params.w[::-1]) | params.views[-1][0] = NUM
    params.views.append(VEC)
    for w in params.views: w *= NUM
    t += sum(w[0] for w in params.views)
    t += sum(np.sum(getattr(params, f2.name)) for f2 in dataclasses.fields(params) if f2.name != 'views')
    t += params.size * s + params.energy
    params.b += NUM
    q2 = params | q2.w *= NUM | q2.b = t
    other = Params(VEC, NUM) | other.views = params.views | other.views[0][0] = NUM
    t += Frozen(NUM, NUM).area
    t += max(Frozen(NUM, s), Frozen(NUM, t)).area
    t += (Frozen(s, t) == Frozen(s, NUM)) * NUM
    t += sum(dataclasses.astuple(Frozen(NUM, NUM)))
"""),  # noqa: E501
    (
        "total_of(tree)",
        "total_of(grads) * s",
        "params.b * np.sum(params.w)",
        "sum(np.sum(w) for w in params.views)",
        "sum(log)",
    ),
    before="""
import dataclasses
import functools
import operator

RATE = 0.7
CONST = {"k": (1, 0.3), "w": np.array([1.0, 2.0])}
WEIGHT = np.array([0.5])
LAYERS = [("half", 2), ("tanh", 1)]
LAYERS_COEF = (0.5, -1.0, 2.0)
OPS = {"add": operator.add, "mul": operator.mul, "max": np.maximum}
OPS["mix"] = lambda u, v: u * 0.3 + v * v
RUN = {"half": lambda v, k: v / (k + 1), "tanh": lambda v, k: np.tanh(v) * k}


def tree_map(f, tree):
    if isinstance(tree, dict):
        return {k: tree_map(f, v) for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(tree_map(f, v) for v in tree)
    return f(tree)


def tree_map2(f, tree, other):
    if isinstance(tree, dict):
        return {k: tree_map2(f, v, other[k]) for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)([tree_map2(f, v, u) for v, u in zip(tree, other)])
    return f(tree, other)


def leaves(tree):
    match tree:
        case {}:
            for v in tree.values():
                yield from leaves(v)
        case [*items]:
            for v in items:
                yield from leaves(v)
        case _:
            yield tree


def unflatten(tree):
    if isinstance(tree, dict):
        parts = [unflatten(v) for v in tree.values()]
        def rebuild(flat):
            out, k = {}, 0
            for key, (f, make) in zip(tree, parts):
                out[key] = make(flat[k : k + len(f)])
                k += len(f)
            return out
        return [v for f, _ in parts for v in f], rebuild
    if isinstance(tree, (list, tuple)):
        parts = [unflatten(v) for v in tree]
        def rebuild(flat):
            out, k = [], 0
            for f, make in parts:
                out.append(make(flat[k : k + len(f)]))
                k += len(f)
            return type(tree)(out)
        return [v for f, _ in parts for v in f], rebuild
    return [tree], lambda flat: flat[0]


def folded(f, tree, start):
    out = start
    for v in leaves(tree):
        out = f(out, v)
    return out


def total_of(tree):
    if isinstance(tree, dict):
        return sum(total_of(v) for v in tree.values())
    if isinstance(tree, (list, tuple)):
        return sum(map(total_of, tree))
    return np.sum(tree)


def depth(tree):
    if isinstance(tree, dict):
        return 1 + max(depth(v) for v in tree.values())
    if isinstance(tree, (list, tuple)):
        return 1 + max((depth(v) for v in tree), default=0)
    return 0


def collected(v, into=None):
    into = [] if into is None else into
    into.append(v)
    return sum(into)


def named(v, /, w=1.0, *, b=0.5, **others):
    return np.sum(v) * w + b


def star(first, *rest, k=2.0):
    return first * k + (rest[-1] if rest else k) * len(rest)


@functools.lru_cache(maxsize=None)
def kept(k, j):
    return kept(k - 1, j) + j if k > 0 else 1


@functools.singledispatch
def shown(v):
    return v * 0.3


@shown.register
def _(v: np.ndarray):
    return v[0] * v[-1]


@shown.register(list)
@shown.register(tuple)
def _(v):
    return shown(v[0]) * 2


def build(items):
    out = None
    for v in reversed(items):
        out = (v, out)
    return out


def walk(node):
    total = 0.0
    while node is not None:
        v, node = node
        total = total * 0.5 + np.sum(v)
    return total


def grow(v, k):
    if k == 0:
        return None
    return {"v": v, "left": grow(v * 0.5, k - 1), "right": grow(v * v, k - 1) if k > 1 else None}


def node_sum(node):
    if node is None:
        return 0.0
    left = node_sum(node["left"])
    return node["v"] + 0.5 * left * node_sum(node["right"]) + left


def poly(v, *coef):
    if not coef:
        return 0.0
    head, *tail = coef
    return head + v * poly(v, *tail)


def compose(*fs):
    def inner(v):
        for f in fs:
            v = f(v)
        return v
    return inner


def counting():
    k = 0
    def up():
        nonlocal k
        k += 1
        return k
    return up


@dataclasses.dataclass
class Params:
    w: np.ndarray
    b: float = 0.5
    views: list = dataclasses.field(default_factory=list)
    size: int = dataclasses.field(init=False, default=0)

    def __post_init__(self):
        self.size = len(self.w)

    @property
    def energy(self):
        return self.b * np.sum(self.w**2)


@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    u: float
    v: float

    @functools.cached_property
    def area(self):
        return self.u * self.v


""",
    begin="""tree = {'w': [a * 1.0, {'k': y * s}], 'b': (s, [x * 0.5])}
grads = {'w': [np.cos(x), {'k': y + s}], 'b': (t, [a * 2.0])}
log, counter, later = [s], counting(), [lambda v: v * s]
params = Params(a * 1.0, s, [y * 1.0])""",
)

TABLES["strides"] = Table(
    lines("""
    VIEW[...] = NUM
    VIEW[...] *= NUM
    VIEW[...] += VIEW
    VIEW[::2] = NUM
    VIEW[::-1][0] += NUM
    VIEW[1:] += VIEW[:-1]
    VIEW[:-1] += VIEW[1:]
    VIEW[::-1] += VIEW
    VIEW[1::2] -= NUM
    VIEW += NUM
    k3[..., 0] += NUM
    k3[:, None, 0, :] *= NUM
    k3[:, ::-1] += k3
    k3[1, ..., -1] = NUM
    k3[::-1, :, 0] = k3[:, 0]
    k3[..., np.newaxis] *= NUM
    k3[[0, 1, 0], :, [0, -1, 0]] += NUM
    k3[:, mask2] += NUM
    k3[k3 > NUM] *= 0.5
    k3[0][mask2] = NUM
    k3[np.array([True, False])] += NUM
    k3[0, idx2] += VEC
    k3[0, idx2, 0] += NUM
    k3[..., idx2] = k3[..., idx2[::-1]]
    k3[1] += k3[0].T
    k3 += k3.transpose(0, 2, 1)
    k3[0].T[...] += VEC
    k3.swapaxes(0, 2)[0] *= NUM
    k3.reshape(2, -1)[:, ::n] += NUM
    k3.reshape(-1)[::3] = NUM
    k3.ravel()[1:] += k3.ravel()[:-1]
    k3.T[0, 0] = NUM
    np.add.at(k3, (0, idx2), VEC)
    np.add.at(k3, (slice(None), idx2, 0), NUM)
    np.add.at(k3[0], idx2, VEC)
    np.multiply.at(k3, 0, NUM)
    np.subtract.at(VIEW, 0, NUM)
    np.add.at(m, (idx2, idx2), NUM)
    np.add.at(m, (mask2,), NUM)
    np.put(m, [0, 1, -1], [NUM, NUM])
    np.put(m[::-1], [0, 0], NUM)
    np.place(m, m > NUM, [NUM])
    np.put_along_axis(m, np.argmax(m, axis=0)[None], NUM, 0)
    np.copyto(m, VEC, where=mask2)
    np.copyto(m.T, VEC, where=m > 0)
    np.copyto(k3[..., 0], VEC)
    np.add(m, VEC, out=m, where=mask2)
    np.multiply(m[1:], m[:-1], out=m[1:])
    np.add(k3[0], k3[1].T, out=k3[0])
    np.exp(m, out=m, where=m < NUM)
    np.add.accumulate(m, axis=1, out=m)
    np.add.reduce(k3, axis=0, out=m)
    np.add.reduce(k3, axis=(0, 2), out=a)
    np.matmul(m, m, out=k3[0])
    np.matmul(k3, m, out=k3)
    t += np.sum(np.lib.stride_tricks.sliding_window_view(VEC, 2) * NUM)
    t += np.sum(np.lib.stride_tricks.sliding_window_view(a, 2)[0] * VEC[0])
    w = np.lib.stride_tricks.sliding_window_view(a, 2) | a[0] = NUM | t += np.sum(w ** 2)
    w = np.lib.stride_tricks.sliding_window_view(m, (2, 2), writeable=True) | w[0, 0] *= NUM
    w = np.broadcast_to(a, (2, n)) | a[0] = NUM | t += np.sum(w * VEC)
    t += np.sum(np.broadcast_to(NUM, (2, n)) * VEC)
    w, e = np.broadcast_arrays(a, m) | a[0] = NUM | t += np.sum(w * e)
    w = m.diagonal() | m[0, 0] = NUM | t += np.sum(w * VEC)
    w = k3.diagonal(0, 1, 2) | k3[0, 0] = NUM | t += np.sum(w * w)
    w = k3.reshape(-1) | w[::2] += NUM
    w = m.T.ravel() | w[0] = NUM | t += w @ w
    w = m.ravel() | w[:n] *= VEC
    w = m.T.reshape(-1) | w *= NUM | t += np.sum(w * m.ravel())
    w = m.flatten() | w[0] = NUM | t += w @ m.ravel()
    w = np.squeeze(m[:1]) | w *= NUM
    w = m[None, ..., None] | w[0, 0] *= NUM
    w = np.moveaxis(k3, 0, -1) | w[0, 0] += [NUM, NUM]
    w = np.rollaxis(k3, 2) | w[0] *= NUM
    w = np.hsplit(m, [1])[1] | w += NUM
    w = np.array_split(a, 2)[0] | w *= NUM
    w = k3.view() | w[0] = NUM
    w = a.real | w[0] = NUM
    w = np.asarray(a) | w += NUM
    w = np.require(a, float) | w[0] *= NUM
    w = a if TESTED else a.copy() | w[0] = NUM
    w = a[::-1] if TESTED else m[0] | w[...] += VEC
    w = m[INT % n] | w += m[INT % n]
    w = k3[INT % 2, :, INT % n] | w += NUM | w *= VEC
    w = m[1:] - m[:-1] | m[1:] += w
    for j in range(n): m[j] += m[j - 1] * NUM
    for j in range(n): m[:, j] *= m[j]
    for j in range(n): m[j:, j] += NUM ; m[j, :j] = VEC[j]
    for j in range(n): m[j, j:] -= m[0, j:] * NUM
    for j in range(n): k3[j % 2, j] = k3[j % 2 - 1, j] * NUM
    for j in range(n): a[j] += a[n - 1 - j] * NUM
    for j in range(n): a[idx2[j % len(idx2)]] += m[j, 0]
    for j in range(1, n): a[j:] += a[:-j] * NUM
    for w in m: w += m[0] * NUM
    for w in k3: w[0] = w[-1] * NUM
    for w in m.T: w[...] = w[::-1] * NUM
    for w, e in zip(m, m.T): w[0] += e[-1]
    for j, w in np.ndenumerate(m): m[j] = w * NUM
    for j in np.ndindex(2, n): k3[j][0] = NUM
    for w in np.nditer(m): t += float(w) * s
    a = m[np.argmax(a)]
    a = a[np.argsort(a)] * VEC
    t += m[np.unravel_index(np.argmax(m), m.shape)] * NUM
    t += np.partition(a, INT % n)[INT % n] * NUM
    t += np.median(VEC) * NUM + np.percentile(VEC, 30)
    t += np.sum(np.where(mask2, m, VEC) * NUM)
    t += np.sum(np.select([m > 0.5, m > 0.1], [m * s, VEC], NUM))
    t += np.sum(np.choose(idx2 % 2, [VEC[0], NUM]))
    t += np.sum(np.bincount(idx2, weights=VEC[idx2], minlength=n) * x)
    t += np.sum(np.interp(VEC, [-1.0, 0.0, 2.0], [NUM, NUM, s]))
    t += np.sum(np.searchsorted(np.sort(VEC), VEC) * x)
    t += np.sum(np.add.reduceat(VEC, [0, n // 2]) * NUM)
    t += np.sum(np.diff(VEC, prepend=NUM) * x)
    t += np.sum(np.insert(VEC, 0, NUM)[:n] * x)
    t += np.sum(np.delete(VEC, 0) ** 2)
    t += np.sum(np.pad(m, ((1, 0), (0, 1)), mode='edge')[:-1, 1:] * m)
    t += np.sum(np.tile(VEC, 2)[1:n + 1] * x)
    t += np.sum(np.repeat(VEC, idx2.size)[:n] * x)
    t += np.sum(np.r_[VEC, NUM][1:] * x)
    t += np.sum(np.c_[VEC, VEC] * NUM)
    t += np.trapezoid(VEC, x) * s
    t += np.linalg.norm(m, axis=INT % 2)[0] * NUM
    t += np.sum(np.apply_along_axis(lambda v: v * v[0], INT % 2, m))
    t += np.sum(np.cumsum(m, axis=INT % 2)[-1] * VEC)
    t += np.sum(np.tensordot(k3, m, 1) * NUM)
    t += np.sum(np.einsum('kij,ij->k', k3, m))
    t += np.sum(np.unique(np.round(VEC, 3)))
    t += np.ptp(m, axis=0)[0] + np.var(m, axis=1, ddof=0)[0]
    t += np.vectorize(lambda v, w: v * w if v > 0 else s)(VEC, VEC)[0]
    t += np.sum(np.fromiter((v * s for v in VEC), float))
    a = np.roll(a, INT)
    mask2 = m > NUM
    idx2 = idx2[::-1] | idx2[0] = 0
    idx2 = np.argsort(VEC)
    z3[:] = VEC | z3 *= 1j | t += np.sum(np.abs(z3) ** 2)
    z3.real[...] = VEC
    z3.imag += VEC
    z3[0] = NUM + 1j * NUM
    t += np.sum((z3 * np.conj(z3)).real) * NUM
    t += (z3 @ z3).imag
    z3 = np.where(VEC > NUM, z3, z3.conj())
    t += np.real(np.sum(np.fft.ifft(np.fft.fft(z3) * VEC)))
    f3 = m.astype(np.float32).astype(float) * 1.0 | t += 0 * np.sum(f3)
    i3 = np.arange(n) | i3 = i3 * NUM | t += i3 @ VEC
    i3 = np.ones(n, int) | a += i3 | a *= i3 + INT
    t += np.sum(m, where=mask2) + np.mean(m[0], where=np.array([True] * n))
    t += np.max(m, initial=-5.0, where=m < NUM)
    a[mask2[0]] = VEC[mask2[0]]
    a[mask2[0] & (VEC > NUM)] += NUM
    if np.any(mask2): t += np.sum(m[mask2]) * NUM
    t += np.argmax(VEC) * NUM
    while np.max(np.abs(a)) > 1.5: a *= 0.5
    while count < 4: count += 1 ; a = np.sort(a) * NUM
    e3 = m[0:0] | e3 += NUM | t += np.sum(e3 * VEC) + e3.size
    for w in m[n:]: t += w[0] * NUM
    for w in x[:INT]: t += w * NUM
"""),
    ("np.sum(np.sin(k3))", "np.sum(np.abs(z3))", "np.sum(m[mask2])", "np.sum(a[idx2])"),
    begin="k3, z3 = np.stack([m, m.T * s]), x + 1j * a | "
    "mask2, idx2 = m > 0.1, np.array([0, n - 1, 0])",
)

TABLES["loops"] = Table(
    lines("""
    for u, v in itertools.product(VEC, [s, NUM]): t += u * v * 0.1
    for u, v in itertools.product(x, repeat=2): t += u * v * 0.1
    for k, g in itertools.groupby(VEC, key=lambda v: v > NUM): t += sum(g) * (2 if k else s)
    for k, g in itertools.groupby(range(n), key=lambda j: j // 2): t += sum(a[j] for j in g)
    t += sum(itertools.islice(VEC, 1, None)) * s
    t += sum(itertools.islice(itertools.cycle(VEC), INT + 2)) * s
    t += list(itertools.accumulate(VEC))[-1]
    t += list(itertools.accumulate(VEC, lambda p, q: p * NUM + q, initial=s))[-1]
    t += sum(itertools.accumulate(VEC, max)) + list(itertools.accumulate(VEC, operator.mul))[-1]
    p, q = itertools.tee(VEC) | next(p, None) | t += sum(u * v for u, v in zip(p, q))
    p, q = itertools.tee(v * s for v in VEC) | t += sum(p) * max(q)
    for u, v in itertools.zip_longest(VEC, VEC[1:], fillvalue=NUM): t += u * v
    for u, v in itertools.zip_longest(log, VEC, fillvalue=s): t += u * v
    for u in itertools.chain(VEC, log, [NUM]): t = t * 0.9 + u
    for u in itertools.chain.from_iterable(m): t = t * 0.9 + u
    for u in itertools.takewhile(lambda v: v < NUM, VEC): t += u * s
    for u in itertools.dropwhile(lambda v: v < NUM, VEC): t += u * s
    for u in itertools.compress(VEC, VEC > NUM): t += u
    for u, v in itertools.combinations(VEC, 2): t += u * v
    for u, v in itertools.permutations(x, 2): t += u * v ** 2
    for u, v in itertools.pairwise(VEC): t += (u - v) ** 2
    t += sum(itertools.starmap(lambda u, v: u * v, zip(VEC, VEC)))
    t += sum(u * v for u, v in zip(VEC, itertools.count(1)))
    t += sum(u * v for u, v in zip(VEC, itertools.repeat(NUM)))
    t += sum(filter(None, [NUM, 0, s]))
    t += sum(map(operator.mul, VEC, VEC))
    t += sum(map(lambda u, k: u ** k, VEC, range(1, n + 1)))
    c2 = averaging() | next(c2) | t += c2.send(NUM) | t += c2.send(a[0]) * s
    c2 = averaging() | next(c2) | for u in VEC: t += c2.send(u)
    c2 = averaging() | next(c2) | t += c2.send(NUM) | c2.close()
    t += sum(delegated(VEC, log))
    t += sum(delegated(log, VEC)) * NUM
    for u in delegated(VEC, VEC): |     if u > NUM: break |     t += u
    for u in walked(VEC): t += u * s
    for u in walked(log): t += u * s
    for u in inorder(VEC): t = t * 0.5 + u
    for u in Countdown(INT, NUM): t += u
    t += sum(Countdown(3, NUM)) * s
    for j in range(n, 0, -1): t += a[j - 1] * j
    for j in reversed(range(n)): a[j] = a[j - 1] * NUM
    for j, u in enumerate(reversed(VEC), 2): t += u * j
    log += [NUM, NUM]
    log[:] = [u * NUM for u in log]
    log.sort() | t += log[0] * s
    log = sorted(log, key=lambda u: -u)[:3]
    log.reverse()
    log[1:1] = [NUM]
    del log[1:]
    log = log * 2
    t += log[INT % len(log)] * NUM
    t += sum(u for u in log if u > NUM)
    t += [u for u in log][-1] + max(log) * min(log)
    t += min(enumerate(log), key=lambda p: p[1])[0] * NUM
    u, *rest = log | t += u * sum(rest)
    (u, v), *rest = [(NUM, NUM), (s, t)] | t += u * v
    t += any(u > NUM for u in VEC) * s + all(u > NUM for u in VEC) * NUM
    j = 0 | while j < n: |     j += 1 |     if a[j - 1] > NUM: continue |     t += a[j - 1] | else: |     t *= 0.9
    j = 0 | while True: |     try: |         j += 1 |         if j > 3: break |         if a[j % n] > NUM: continue |         t += a[j % n] |     finally: |         t = t * 0.9
    j = 0 | while j < 5: |     j += 1 |     for u in VEC: |         if u > NUM: break |         t += u * j |     else: |         continue |     break
    for j in range(3): |     try: |         t += log[j] * NUM |     except IndexError: |         t -= s |         break |     else: |         log.append(t * 0.1)
    for j in range(3): |     with Scoped(log, NUM) as w: |         if w > NUM: continue |         t += w
    left = list(VEC) | while left: |     u = left.pop(0) |     t += u * len(left) |     if u > 2: left.clear()
    left = [(NUM, 2)] | while left: |     u, k = left.pop() |     t += u |     if k: left.extend([(u * 0.5, k - 1), (u * s, k - 1)])
    seen = set() | for j in [0, 1, 0, 2]: |     if j in seen: continue |     seen.add(j) |     t += a[j % n]
    memo = {} | t += fib(4, NUM, memo)
    best, where = -9.0, 0 | for j, u in enumerate(VEC): |     if u > best: best, where = u, j | t += best * where + a[where]
    lo, hi = 0.0, 3.0 | for _ in range(8): |     mid = (lo + hi) / 2 |     if mid * mid < abs(NUM): lo = mid |     else: hi = mid | t += lo * s
    w = NUM | for _ in range(6): w = w - (w * w - abs(s) - 1) / (2 * w + 3) | t += w
    prev, cur = a, b | for _ in range(3): prev, cur = cur, 0.5 * (prev + cur[::-1]) | t += np.sum(prev * cur)
    cols = list(zip(*m)) | t += sum(u * v for u, v in zip(cols[0], cols[-1]))
    trans = [list(c2) for c2 in zip(*m.tolist())] | t += trans[0][-1] * s
    mat = [[u * v for u in VEC] for v in VEC] | t += sum(map(sum, mat))
    mat = [[0.0] * n for _ in range(n)] | for j in range(n): |     for k in range(j + 1): mat[j][k] = a[j] * a[k] - mat[k][k] | t += sum(mat[-1])
    t += sum(row[j] for j, row in enumerate(m)) * NUM
    t += dict(enumerate(VEC))[0] * NUM
    t += {k: v for k, v in zip('wb', [NUM, NUM])}['w']
    t += sum({j % 2: u for j, u in enumerate(VEC)}.values())
    words = f"{INT}:{count}" | t += len(words) * NUM
    t += float(f"{1.5:.2f}") * NUM
"""),  # noqa: E501
    ("sum(log)", "log[0] * s", "log[-1]"),
    before="""
import itertools
import operator


def averaging():
    total, k, v = 0.0, 0, 0.0
    try:
        while True:
            v = yield total / max(k, 1)
            total += v
            k += 1
    finally:
        total = 0.0


def inner(items):
    last = 0.0
    for v in items:
        last = last * 0.5 + v
        yield v * last
    return last


def delegated(p, q):
    one = yield from inner(p)
    two = yield from inner(q)
    yield one * two


def walked(items):
    if len(items) == 0:
        return
    yield items[0]
    yield from (v * 0.5 for v in items[1:])


def inorder(v):
    if len(v) > 1:
        k = len(v) // 2
        yield from inorder(v[:k])
        yield v[k]
        yield from inorder(v[k + 1 :])
    elif len(v):
        yield v[0] * 2


class Countdown:
    def __init__(self, k, v):
        self.k, self.v = k, v

    def __iter__(self):
        return self

    def __next__(self):
        if self.k <= 0:
            raise StopIteration
        self.k -= 1
        self.v = self.v * 0.5
        return self.v


class Scoped:
    def __init__(self, log, v):
        self.log, self.v = log, v

    def __enter__(self):
        self.log.append(self.v)
        return self.v * 0.5

    def __exit__(self, kind, error, trace):
        self.log[0] += self.v * 0.1


def fib(k, v, memo):
    if k < 2:
        return v * k
    if k not in memo:
        memo[k] = fib(k - 1, v, memo) + fib(k - 2, v * 0.5, memo)
    return memo[k]


""",
    begin="log = [s, t]",
)


if __name__ == "__main__":
    main(int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0]), tuple(sys.argv[3:]), TABLES)
