"""Graphs: what is found in one is piecewise constant, and what is summed along it is refused."""

from __future__ import annotations

from scipy.sparse import csgraph

from ..registry import classified, refuse, zero

zero(
    *(
        getattr(csgraph, name)
        for name in (
            "breadth_first_order connected_components depth_first_order "
            "maximum_bipartite_matching min_weight_full_bipartite_matching reverse_cuthill_mckee "
            "structural_rank"
        ).split()
    ),
    note="which nodes, not how long",
)
for _name in csgraph.__all__:
    _function = getattr(csgraph, _name)
    if callable(_function) and not isinstance(_function, type) and not classified(_function):
        refuse(
            _function,
            reason="it has no rule: find the path outside the function (its predecessors don't "
            "change), and add the weights along it",
        )
