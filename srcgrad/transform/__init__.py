"""From IR to IR: the derivatives.

`reverse` is reverse mode, one class in parts. Read `contributions` (how adjoints are added up),
`application` (how rules are applied; `misfits` refuses those that don't fit) and `shadows` (the
adjoints of memory that is written) before it, then `recording`, which keeps what the reverse sweep
needs, but for what is `repeated` in each iteration. `lists`, `masks` (what isn't taken contributes
nothing), `joined_tuples` and `unit_calls` (of functions that stay functions; `saturation` tells by
what they are active) are parts that most programs don't need.

`forward` is forward mode, by `tangent_rules`, and `batching` (with `batched_values` and
`batched_calls`) makes a linear function one of many inputs at once. `splitting` makes two functions
of one, `conformity` keeps what a function demands of shapes demanded, and `layouts` how its arrays
lie in memory where that matters. `tracing` and `checking` observe.
"""
