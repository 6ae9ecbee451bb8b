"""What SciPy's solvers return: a dict, the items of which are attributes, too."""

from __future__ import annotations

from typing import Any


class OptimizeResult(dict[str, Any]):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error

    def __setattr__(self, name, value):
        self[name] = value
