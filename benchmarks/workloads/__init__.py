"""The programs that the benchmark differentiates, each with its gradient written by hand.

The functions are what a user of NumPy writes: plain, unannotated, no framework. The gradients are
what an expert writes in NumPy when speed matters: the function's own algorithm, loop for loop, run
forward keeping what is needed and then backward; shared intermediates computed once, temporaries
reused, sums of products handed to BLAS. They never swap the algorithm for another, such as the
inverse of a matrix for the derivative of its determinant. No function or gradient changes its
arguments.
"""

from __future__ import annotations

from benchmarks.workloads import dynamics, factorisations, learning, small
from benchmarks.workloads.base import Workload

WORKLOADS: tuple[Workload, ...] = (
    *small.WORKLOADS,
    *learning.WORKLOADS,
    *dynamics.WORKLOADS,
    *factorisations.WORKLOADS,
)

__all__ = ["WORKLOADS", "Workload"]
