"""Functions of Python's standard library, written in what the compiler reads.

Their own source is in C, or uses what only an interpreter has. Each definition here is inlined
where the function is called, as a user's function is.
"""

from __future__ import annotations

import bisect
import functools
import heapq
import inspect
import itertools
import operator
import statistics
import weakref

import numpy as np

from .registry import definition

# Itertools


@definition(itertools.takewhile)
def takewhile(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            break
        yield item


@definition(itertools.dropwhile)
def dropwhile(predicate, iterable):
    dropping = True
    for item in iterable:
        if dropping and predicate(item):
            continue
        dropping = False
        yield item


@definition(itertools.filterfalse)
def filterfalse(predicate, iterable):
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


@definition(itertools.compress)
def compress(data, selectors):
    for item, selected in zip(data, selectors):  # noqa: B905  (the shorter one decides)
        if selected:
            yield item


@definition(itertools.tee)
def tee(iterable, n=2):
    items = list(iterable)
    return tuple([items for _ in range(n)])


@definition(itertools.zip_longest)
def zip_longest(*iterables, fillvalue=None):
    wholes, lists = [], []
    for k, items in enumerate(iterables):
        same = [n for n, other in enumerate(iterables) if other is items and iter(items) is items]
        if len(same) > 1:  # one iterator, of which each takes an item in turn
            wholes.append(list(items) if same[0] == k else wholes[same[0]])
            lists.append(wholes[k][same.index(k) :: len(same)])
        else:
            wholes.append(list(items))
            lists.append(wholes[k])
    longest = max([len(items) for items in lists])
    rows = []
    for i in range(longest):
        rows.append(tuple([items[i] if i < len(items) else fillvalue for items in lists]))
    return rows


@definition(itertools.groupby)
def groupby(iterable, key=None):
    groups = []
    for item in iterable:
        k = item if key is None else key(item)
        if len(groups) > 0 and groups[-1][0] == k:
            groups[-1][1].append(item)
        else:
            groups.append((k, [item]))
    return groups


def batched(iterable, n, *, strict=False):
    """`itertools.batched`, which came with Python 3.12 (and `strict` with 3.13)."""
    items = list(iterable)
    if strict and len(items) % n:
        raise ValueError("batched(): incomplete batch")
    return [tuple(items[i : i + n]) for i in range(0, len(items), n)]


if hasattr(itertools, "batched"):
    definition(itertools.batched)(batched)

# Operator


class Compared:
    """An item that a function compares with others."""

    def __init__(self, compare, obj):
        self.compare, self.obj = compare, obj

    def __lt__(self, other):
        return self.compare(self.obj, other.obj) < 0

    def __gt__(self, other):
        return self.compare(self.obj, other.obj) > 0

    def __le__(self, other):
        return self.compare(self.obj, other.obj) <= 0

    def __ge__(self, other):
        return self.compare(self.obj, other.obj) >= 0

    def __eq__(self, other):
        return self.compare(self.obj, other.obj) == 0


@definition(functools.cmp_to_key)
def cmp_to_key(mycmp):
    return lambda obj: Compared(mycmp, obj)


@definition(operator.itemgetter)
def itemgetter(item, *items):
    if items:
        return lambda thing: tuple([thing[key] for key in (item, *items)])
    return lambda thing: thing[item]


@definition(operator.attrgetter)
def attrgetter(attr, *attrs):
    def single(name):
        def get(thing):
            for part in name.split("."):
                thing = getattr(thing, part)
            return thing

        return get

    if attrs:
        return lambda thing: tuple([single(name)(thing) for name in (attr, *attrs)])
    return single(attr)


@definition(operator.methodcaller)
def methodcaller(name, *args, **kwargs):
    return lambda thing: getattr(thing, name)(*args, **kwargs)


# Heapq


def sift_down(heap, start, position):
    """Move an item towards the root until its parent isn't larger."""
    item = heap[position]
    while position > start:
        parent_position = (position - 1) // 2
        parent = heap[parent_position]
        if not item < parent:
            break
        heap[position] = parent
        position = parent_position
    heap[position] = item


def sift_up(heap, position):
    """Move the smaller child up until a leaf is reached, then the item down to its place."""
    end, start = len(heap), position
    item = heap[position]
    child = 2 * position + 1
    while child < end:
        right = child + 1
        if right < end:
            if not heap[child] < heap[right]:
                child = right
        heap[position] = heap[child]
        position = child
        child = 2 * position + 1
    heap[position] = item
    sift_down(heap, start, position)


@definition(inspect.Signature.bind)
def bind(self, /, *args, **kwargs):
    """As decorators have it that look at the arguments of what they wrap."""
    bound = bind_partial(self, *args, **kwargs)
    for name, parameter in self.parameters.items():
        variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if not variable and parameter.default is parameter.empty and name not in bound.arguments:
            raise TypeError(f"missing a required argument: {name!r}")
    return bound


@definition(inspect.Signature.bind_partial)
def bind_partial(self, /, *args, **kwargs):
    arguments, left = {}, list(args)
    for name, parameter in self.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            if left:
                arguments[name] = tuple(left)
                left = []
        elif parameter.kind is parameter.VAR_KEYWORD:
            if kwargs:
                arguments[name] = kwargs
                kwargs = {}
        elif left and parameter.kind is not parameter.KEYWORD_ONLY:
            arguments[name] = left.pop(0)
            if name in kwargs and parameter.kind is not parameter.POSITIONAL_ONLY:
                raise TypeError(f"multiple values for argument {name!r}")
        elif name in kwargs and parameter.kind is not parameter.POSITIONAL_ONLY:
            arguments[name] = kwargs.pop(name)
    if left:
        raise TypeError("too many positional arguments")
    if kwargs:
        raise TypeError(f"got an unexpected keyword argument {next(iter(kwargs))!r}")
    return inspect.BoundArguments(self, arguments)


@definition(heapq.heappush)
def heappush(heap, item):
    heap.append(item)
    sift_down(heap, 0, len(heap) - 1)


@definition(heapq.heappop)
def heappop(heap):
    last = heap.pop()
    if len(heap) == 0:
        return last
    smallest = heap[0]
    heap[0] = last
    sift_up(heap, 0)
    return smallest


@definition(heapq.heapify)
def heapify(heap):
    for position in range(len(heap) // 2 - 1, -1, -1):
        sift_up(heap, position)


@definition(heapq.heapreplace)
def heapreplace(heap, item):
    smallest = heap[0]
    heap[0] = item
    sift_up(heap, 0)
    return smallest


@definition(heapq.heappushpop)
def heappushpop(heap, item):
    if len(heap) > 0 and heap[0] < item:
        smallest = heap[0]
        heap[0] = item
        sift_up(heap, 0)
        return smallest
    return item


definition(heapq.nsmallest)(lambda n, iterable, key=None: sorted(iterable, key=key)[:n])
definition(heapq.nlargest)(
    lambda n, iterable, key=None: sorted(iterable, key=key, reverse=True)[:n]
)


@definition(heapq.merge)
def merge(*iterables, key=None, reverse=False):
    items = []
    for iterable in iterables:
        items.extend(iterable)
    return iter(sorted(items, key=key, reverse=reverse))


# Bisect


@definition(bisect.insort_right)
def insort_right(a, x, lo=0, hi=None, *, key=None):
    if key is not None:
        raise NotImplementedError("insort with a key: sort the list by it")
    a.insert(bisect.bisect_right(a, x, lo, len(a) if hi is None else hi), x)


@definition(bisect.insort_left)
def insort_left(a, x, lo=0, hi=None, *, key=None):
    if key is not None:
        raise NotImplementedError("insort with a key: sort the list by it")
    a.insert(bisect.bisect_left(a, x, lo, len(a) if hi is None else hi), x)


# Statistics


def data_points(data):
    """The items of the data; of NumPy's ints the statistics are truncated, or overflow."""
    items = list(data)
    for item in items:
        if isinstance(item, (np.integer, np.bool_)):
            raise NotImplementedError(
                "the statistics of NumPy's ints are ints: use np.mean, np.var or np.std, or floats"
            )
    return items


COUNTS = {1: "one data point", 2: "two data points"}


def enough(data, least, name):
    """The items of the data, of which a statistic needs some."""
    items = data_points(data)
    if len(items) < least:
        raise statistics.StatisticsError(f"{name} requires at least {COUNTS[least]}")
    return items


@definition(statistics.mean)
def mean(data):
    items = enough(data, 1, "mean")
    return sum(items) / len(items)


@definition(statistics.fmean)
def fmean(data, weights=None):
    if weights is None:
        items = enough(data, 1, "fmean")
        return sum(items) / len(items)
    items, factors = data_points(data), data_points(weights)
    if len(items) != len(factors):
        raise statistics.StatisticsError("data and weights must be the same length")
    whole = sum(factors)
    if whole == 0:
        raise statistics.StatisticsError("sum of weights must be non-zero")
    return sum([x * w for x, w in zip(items, factors, strict=True)]) / whole


@definition(statistics.harmonic_mean)
def harmonic_mean(data, weights=None):
    items = enough(data, 1, "harmonic_mean")
    if len(items) == 1 and weights is None and items[0] >= 0:
        return items[0]
    factors = [1] * len(items) if weights is None else data_points(weights)
    if len(items) != len(factors):
        raise statistics.StatisticsError("Number of weights does not match data size")
    total = 0.0
    for x, w in zip(items, factors, strict=True):
        if x < 0 or w < 0:
            raise statistics.StatisticsError("harmonic mean does not support negative values")
        if x == 0 and w != 0:
            return 0
        total += w / x if w != 0 else 0.0
    if total <= 0:
        raise statistics.StatisticsError("Weighted sum must be positive")
    return sum(factors) / total


def mean_square(items, center, freedom):
    middle = sum(items) / len(items) if center is None else center
    return sum([(x - middle) ** 2 for x in items]) / freedom


def deviation(square):
    """The root, with the derivative of `np.std` where nothing deviates: zero."""
    return float(np.sqrt(square)) if square > 0 else float(square)


@definition(statistics.variance)
def variance(data, xbar=None):
    items = enough(data, 2, "variance")
    return mean_square(items, xbar, len(items) - 1)


@definition(statistics.pvariance)
def pvariance(data, mu=None):
    items = enough(data, 1, "pvariance")
    return mean_square(items, mu, len(items))


@definition(statistics.stdev)
def stdev(data, xbar=None):
    items = enough(data, 2, "stdev")
    return deviation(mean_square(items, xbar, len(items) - 1))


@definition(statistics.pstdev)
def pstdev(data, mu=None):
    items = enough(data, 1, "pstdev")
    return deviation(mean_square(items, mu, len(items)))


@definition(statistics.median)
def median(data):
    items = sorted(data)
    n = len(items)
    if n == 0:
        raise statistics.StatisticsError("no median for empty data")
    if n % 2 == 1:
        return items[n // 2]
    return (items[n // 2 - 1] + items[n // 2]) / 2


# Functools


@definition(functools.wraps)
def wraps(wrapped, assigned=None, updated=None):
    return lambda wrapper: wrapper


definition(functools.update_wrapper)(lambda wrapper, wrapped, assigned=None, updated=None: wrapper)


class Memory:
    """What a function that keeps its results has returned so far, by its arguments."""

    def __init__(self, maxsize, typed):
        self.maxsize, self.typed = maxsize, typed


def remembered(memory, function, args, kwargs):
    """What a function returned for the same arguments, as far as they are known when compiling."""
    return function(*args, **kwargs)


def remembering(function, maxsize=128, typed=False):
    memory = Memory(maxsize, typed)
    return lambda *args, **kwargs: remembered(memory, function, args, kwargs)


@definition(functools.cache)
def cache(user_function):
    return remembering(user_function, None)


@definition(functools.lru_cache)
def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return remembering(maxsize)
    return lambda function: remembering(function, maxsize, typed)


definition(functools.total_ordering)(lambda cls: cls)


# Objects


@definition(weakref.ref)
def ref(obj, callback=None):
    return lambda: obj


# NumPy's counterparts


@definition(np.fromiter)
def fromiter(iter, dtype, count=-1, *, like=None):
    if count >= 0:
        return np.array(list(itertools.islice(iter, count)), dtype=dtype)
    return np.array(list(iter), dtype=dtype)
