"""From IR to IR: what makes derivatives shorter and faster. Any of it may be skipped when reading.

Each pass takes a function, and changes it in place. None makes a derivative right that wasn't; most
can be left out, and the derivatives stay what they are (`tests/test_optimize.py` does).

Begin with `prune` (dead code) and `simplify`, which applies the rewriting rules of `algebra`,
`array_algebra`, `spreading` and `stores`; `operands` is what these share.

Less Python: `vectorizing` (`whole_loops`, `vectorized_rows`; `choices` for branches) makes loops
whose iterations are independent operations on whole arrays, before anything is differentiated, and
arrays of the lists that they fill (`filled_lists`, `list_reads`, `hoisting`).
Where loops stay, `distribution` does so with what they only add to in reverse, `gathering` makes
the `outer_products` that they add up one product of matrices, and `unboxing` makes arrays lists.
`flags` has truth values tested as they are; by `rows` objects that nobody keeps are just numbers,
by `sublists` loops over parts of lists go through the lists, by `made_once` lists of single items
are made before the loops that read them, by `repeated_items` those of one item are `[item] * n`,
and `unpacking` takes tuples apart at once.

Less arithmetic: `normal` and `restructure` shorten what arithmetic tells to be equal; `cancel`,
`scaling`, `contracting`, `signs`, `invariants`, `shifts` (stencils add vectors) and `faster_calls`
are passes of their own; so are `packing` and `row_buffers`, by which loops go through parts of
matrices as fast as through whole ones.

Memory: `accumulation` (where adjoints are added up), `copies`, `reads`, `destinations`, `reuse`,
`loop_buffers`, `tangent_buffers` and `release` save arrays, as `footprint` and `schedule` tell them
to. What may be overwritten, `popped` and `keeping` know. `components` lays out rows of few
components the other way round.
"""
