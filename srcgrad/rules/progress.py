"""Progress bars: what a loop goes through is followed, and the bar shown as it runs.

What `tqdm` or `rich.progress.track` goes through is gone through by itself, beside a bar that is
told of each item that is done.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from .registry import definition, unseen

TQDM = ("tqdm", "tqdm.auto", "tqdm.autonotebook", "tqdm.notebook", "tqdm.rich", "tqdm.gui")
_loaded: set[Any] = set()


def load() -> None:
    """Register the bars of the packages that the user's program has imported."""
    if "tqdm" in sys.modules:
        for module in filter(None, map(sys.modules.get, TQDM)):
            bar, of_range = getattr(module, "tqdm", None), getattr(module, "trange", None)
            if bar is not None and bar not in _loaded:
                _loaded.add(bar)
                definition(bar)(_tqdm(bar))
            if of_range is not None and of_range not in _loaded:
                _loaded.add(of_range)
                definition(of_range)(_trange(bar))
    track = getattr(sys.modules.get("rich.progress"), "track", None)
    if track is not None and track not in _loaded:
        _loaded.add(track)
        definition(track)(_tracked)


class Bar:
    """What a loop goes through, and the bar that shows how far it has come."""

    def __init__(self, bar: Any, items: Any) -> None:
        self.bar, self.items = bar, items

    def __iter__(self) -> Any:
        for item in self.items:
            yield item
            self.bar.update(1)
        self.bar.close()

    def __len__(self) -> int:
        return len(self.items)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bar, name)


def _tqdm(make: Any) -> Callable[..., Any]:
    def tqdm(iterable=None, desc=None, total=None, *args, **kwargs):
        if total is None and iterable is not None:
            with contextlib.suppress(TypeError):
                total = len(iterable)
        bar = unseen(make, None, desc, total, *args, **kwargs)
        return bar if iterable is None else Bar(bar, iterable)

    return tqdm


def _trange(make: Any) -> Callable[..., Any]:
    def trange(*bounds, **kwargs):
        items = range(*bounds)
        kwargs.setdefault("total", len(items))
        return Bar(unseen(make, **kwargs), items)

    return trange


def _tracked(sequence, description="Working...", total=None, **kwargs):
    """The items of a sequence; the bar is an iterator that is asked for as many numbers."""
    count = len(sequence) if total is None else int(total)
    shown = unseen(_numbers_shown, count, description, **kwargs)
    for item in sequence:
        unseen(next, shown, None)
        yield item
    unseen(next, shown, None)


def _numbers_shown(count, description, **kwargs):
    return iter(sys.modules["rich.progress"].track(range(count), description, **kwargs))
