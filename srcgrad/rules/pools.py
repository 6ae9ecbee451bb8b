"""Pools of workers: what is given to them is done where it is given, one after the other.

The results are the same: a function that is differentiated depends on nothing else.
"""

from __future__ import annotations

import sys
from typing import Any

from .registry import definition

EXECUTORS = {
    "concurrent.futures": ("ThreadPoolExecutor", "ProcessPoolExecutor"),
    "multiprocessing": ("Pool",),
    "multiprocessing.pool": ("Pool", "ThreadPool"),
    "multiprocessing.dummy": ("Pool",),
}
_loaded: set[str] = set()


def load() -> None:
    """Register the pools of the modules that the user's program has imported."""
    for module in EXECUTORS.keys() - _loaded & sys.modules.keys():
        _loaded.add(module)
        names = EXECUTORS[module]
        definition(*(getattr(sys.modules[module], name) for name in names))(Pool)
        if module == "concurrent.futures":
            definition(sys.modules[module].as_completed)(as_completed)
    joblib: Any = sys.modules.get("joblib")
    if "joblib" not in _loaded and hasattr(joblib, "Parallel") and hasattr(joblib, "delayed"):
        _loaded.add("joblib")
        definition(joblib.Parallel)(Parallel)
        definition(joblib.delayed)(delayed)


class Done:
    """What is there at once, to be asked for later."""

    def __init__(self, value):
        self.value = value

    def result(self, timeout=None):
        return self.value

    def get(self, timeout=None):
        return self.value

    def wait(self, timeout=None):
        return None

    def done(self):
        return True

    def ready(self):
        return True


class Workers:
    """As many as one likes: it's all the same."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class Pool(Workers):
    """A pool of the standard library: `map` and its like, and what is submitted."""

    def map(self, function, *iterables, chunksize=None, timeout=None):
        return [function(*items) for items in zip(*iterables, strict=False)]

    def starmap(self, function, iterable, chunksize=None):
        return [function(*items) for items in iterable]

    def imap(self, function, iterable, chunksize=None):
        return map(function, iterable)

    def imap_unordered(self, function, iterable, chunksize=None):
        return map(function, iterable)

    def apply(self, function, args=(), kwds={}):  # noqa: B006
        return function(*args, **kwds)

    def submit(self, function, /, *args, **kwargs):
        return Done(function(*args, **kwargs))

    def apply_async(self, function, args=(), kwds={}):  # noqa: B006
        return Done(function(*args, **kwds))

    def map_async(self, function, iterable, chunksize=None):
        return Done([function(item) for item in iterable])

    def starmap_async(self, function, iterable, chunksize=None):
        return Done([function(*items) for items in iterable])

    def shutdown(self, wait=True, cancel_futures=False):
        pass

    def close(self):
        pass

    def terminate(self):
        pass

    def join(self):
        pass


def as_completed(fs, timeout=None):
    return fs


class Parallel(Workers):
    """`joblib.Parallel`."""

    def __call__(self, calls):
        return [function(*args, **kwargs) for function, args, kwargs in calls]


def delayed(function):
    return lambda *args, **kwargs: (function, args, kwargs)
