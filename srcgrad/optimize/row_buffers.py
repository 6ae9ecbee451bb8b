"""Buffers for rows: NumPy doesn't copy what it needn't, where loops go through parts of matrices.

What NumPy computes from parts of an array, `u[1:-1, 1:-1]`, it first copies to buffers of 8192
numbers, if more than a row goes into one. With smaller buffers it leaves longer rows where they
are, and takes a third to a half of the time (NumPy 2.4, rows of 250 and more; of shorter ones as
much as ever). Setting them takes as long as a few calls: so it is done for loops alone.
"""

from __future__ import annotations

from .. import ir, runtime
from ..analysis.row_parts import is_part_of_rows


def set_buffers(functions: list[ir.Function], units: list[ir.Function]) -> None:
    """Have functions run with small buffers if they or the units that they call gain by it."""
    bodies = [function.block for function in (*functions, *units)]
    loops = [s.body for body in bodies for s in ir.walk(body) if isinstance(s, ir.Loop)]
    if not loops:
        return
    parts = {
        v for body in bodies for s in ir.walk(body) if is_part_of_rows(s) for v in ir.targets(s)
    }
    repeated = (*loops, *(unit.block for unit in units))
    if any(v in parts for block in repeated for v in ir.all_uses(block)):
        for function in functions:
            function.decorators = (runtime.small_buffers,)
