"""What is true of a function in IR, without changing it.

`inference` (with `samples`, `patterns` and `alternatives`) finds the kind of a primitive's result,
for the frontend. `aliasing` and `activity` come before the sweeps: which variables share memory,
and which carry a derivative; `buffers` tells apart what loops swap; `records` are lists from which
comes back what was pushed. `affine` proves inequalities between ints, from which `lengths` tells
how long slices are, and `independence` finds the loops whose iterations don't depend on each other.
`elementwise`, `keys`, `items` and `row_parts` know arithmetic and indices for the passes, and
`handed_on` what branches and loops hand on for nobody. `usage`, `wholly` and `positivity` tell
where zero may meet infinity. `regions`, `jumps`, `fields`, `momentary`, `first_trips`, `ownership`,
`permissions`, `quantities`, `recalled` and `unknown_objects` answer questions that few programs
ask.
"""

from .. import rules  # noqa: F401  (whose kinds it samples, and which ask it for kinds)
