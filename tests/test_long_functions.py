"""What compiling takes grows with the length of a function, not with its square."""

import itertools
import linecache
import sys
from collections import Counter

import numpy as np

import srcgrad

FEW = 4000  # calls that don't matter
NAMES = "emit/names.py"  # where names that are alike are compared, by a few operations on bits


def stores(n):
    """Items of arrays that are written and read in turn."""
    forms = itertools.cycle(["a[{i}] = b[{j}] * x[1]", "b[{j}] += np.sin(a[{i}])"])
    lines = [next(forms).format(i=i * 5 % 9, j=i % 3) for i in range(n)]
    return ["a = np.zeros(9)", "b = x * 1.0", *lines, "return np.sum(a) + np.sum(b)"]


def calls_to_compile(lines):
    """How often each function of srcgrad is called to compile one of these lines."""
    text = "def f(x):\n" + "".join(f"    {line}\n" for line in lines)
    filename = f"<long function {len(lines)} {hash(text)}>"
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    names = {"np": np}
    exec(compile(text, filename, "exec"), names)
    found = Counter()

    def note(frame, event, _):
        if event == "call" and "srcgrad" in frame.f_code.co_filename:
            found[frame.f_code] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        srcgrad.grad(names["f"])(np.array([0.3, 0.2, 0.1]))
    finally:
        sys.setprofile(before)
    return found


def test_calls_grow_with_the_length():
    calls_to_compile(stores(20))  # what is done but once
    short, long = (calls_to_compile(stores(n)) for n in (80, 160))
    slow = {
        f"{code.co_filename}:{code.co_firstlineno} {code.co_qualname}": (short[code], n)
        for code, n in long.items()
        if n > FEW and n > 3 * short[code] and not code.co_filename.endswith(NAMES)
    }
    assert not slow
