"""Pools of workers: what is given to them is done where it is given, one after the other.

The results are the same: a function that is differentiated depends on nothing else. What worker
processes are given is copied.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

from .registry import definition

THREADS = {
    "concurrent.futures": "ThreadPoolExecutor",
    "multiprocessing.pool": "ThreadPool",
    "multiprocessing.dummy": "Pool",
}
PROCESSES = {
    "concurrent.futures": "ProcessPoolExecutor",
    "multiprocessing": "Pool",
    "multiprocessing.pool": "Pool",
}
MODULES = tuple(dict.fromkeys((*THREADS, *PROCESSES)))
_loaded: set[str] = set()


def load() -> None:
    """Register the pools of the modules that the user's program has imported."""
    for module in [m for m in MODULES if m not in _loaded and m in sys.modules]:
        _loaded.add(module)
        for names, pool in ((THREADS, Pool), (PROCESSES, PoolOfProcesses)):
            if module in names:
                definition(getattr(sys.modules[module], names[module]))(pool)
        if module == "concurrent.futures":
            definition(sys.modules[module].as_completed)(as_completed)
    if "threading" in sys.modules and "threading" not in _loaded:
        _loaded.add("threading")
        definition(sys.modules["threading"].Thread, sys.modules["threading"].Timer)(thread)
    joblib: Any = sys.modules.get("joblib")
    if "joblib" not in _loaded and hasattr(joblib, "Parallel") and hasattr(joblib, "delayed"):
        _loaded.add("joblib")
        definition(joblib.Parallel)(Parallel)
        definition(joblib.delayed)(delayed)


class Followed:
    """What has no other attributes than it says here."""

    def __getattr__(self, name):
        raise NotImplementedError("this attribute of a pool, or what it returns, isn't supported")


class Done(Followed):
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


class Workers(Followed):
    """As many as one likes: it's all the same."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class Pool(Workers):
    """A pool of the standard library: `map` and its like, and what is submitted."""

    def __init__(self, *sizes, initializer=None, **options):
        if initializer is not None or any(map(callable, sizes)):
            raise NotImplementedError("what workers do to begin with isn't supported")

    def do(self, function, args, kwargs):
        return function(*args, **kwargs)

    def map(self, function, *iterables, chunksize=None, timeout=None):
        return [self.do(function, items, {}) for items in zip(*iterables, strict=False)]

    def starmap(self, function, iterable, chunksize=None):
        return [self.do(function, items, {}) for items in iterable]

    def imap(self, function, iterable, chunksize=None):
        return iter([self.do(function, (item,), {}) for item in iterable])

    def imap_unordered(self, function, iterable, chunksize=None):
        return self.imap(function, iterable)

    def apply(self, function, args=(), kwds={}):  # noqa: B006
        return self.do(function, args, kwds)

    def submit(self, function, /, *args, **kwargs):
        return Done(self.do(function, args, kwargs))

    def apply_async(self, function, args=(), kwds={}):  # noqa: B006
        return Done(self.do(function, args, kwds))

    def map_async(self, function, iterable, chunksize=None):
        return Done(self.map(function, iterable))

    def starmap_async(self, function, iterable, chunksize=None):
        return Done(self.starmap(function, iterable))

    def shutdown(self, wait=True, cancel_futures=False):
        pass

    def close(self):
        pass

    def terminate(self):
        pass

    def join(self):
        pass


class PoolOfProcesses(Pool):
    """What processes are given are copies."""

    def do(self, function, args, kwargs):
        return _done_apart(function, args, kwargs)


def _done_apart(function, args, kwargs):
    function, args, kwargs = copy.deepcopy((function, args, kwargs))
    return function(*args, **kwargs)


def thread(*args, **kwargs):
    raise NotImplementedError(
        "what a thread does isn't followed: use concurrent.futures.ThreadPoolExecutor"
    )


def as_completed(fs, timeout=None):
    return fs


class Parallel(Workers):
    """`joblib.Parallel`: processes, unless it says otherwise."""

    def __init__(
        self, n_jobs=None, backend=None, return_as="list", *args,
        prefer=None, require=None, **options,
    ):  # fmt: skip
        threads = backend in ("threading", "sequential") or prefer == "threads"
        self.together = n_jobs in (None, 1) or threads or require == "sharedmem"
        self.return_as = return_as

    def __call__(self, calls):
        if self.together:
            made = [function(*args, **kwargs) for function, args, kwargs in calls]
        else:
            made = [_done_apart(*call) for call in calls]
        return made if self.return_as == "list" else iter(made)


def delayed(function):
    return lambda *args, **kwargs: (function, args, kwargs)
