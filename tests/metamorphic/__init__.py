"""Metamorphic tests: programs rewritten so that they mean the same must have the same gradients.

    python -m tests.metamorphic --seeds 0 20 [--programs adi thomas] [--rewrites outline kept]

Rewrites (`tables`, `loops`, `branches`, `functions`, `storage`) change the syntax tree of a module
somewhere, as a random seed says; `driver` composes some, keeps those that leave the value of the
program as it was, and compares gradients. What differs, or isn't compiled any more, is made small.
"""
