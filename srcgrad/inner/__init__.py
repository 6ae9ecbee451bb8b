"""Derivatives taken inside the code being lowered, and functions with rules of their own there.

Each is lowered where it is called: `gradients` in place, by the same stages as an outer gradient;
`derivatives` (`vjp`, `jvp`) and `jacobians` by units; `rules`, `outside` and `implicit` are calls
of what isn't looked into, `captures` what the functions read that these are given. `lowerings` is
the table of which of srcgrad's functions is lowered how.
"""
