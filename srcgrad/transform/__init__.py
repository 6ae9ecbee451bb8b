"""From IR to IR: a pass takes a function, and changes it in place.

Derivatives: `reverse` (from `contributions`, `lists`, `shadows`, `masks`, `application` and
`unit_calls`, one class in parts), `forward`, and `batching` (with `batched_values` and
`batched_calls`), which makes a linear function one of many inputs at once.

Less arithmetic: `simplify` applies the rewriting rules of `algebra`, `array_algebra`, `spreading`,
`stores` and `keys`, which share `operands` and `elementwise`; `normal` and `restructure` shorten
what arithmetic tells to be equal; `cancel`, `scaling`, `contracting`, `signs`, `invariants`,
`faster_calls` and `prune` are passes of their own.

Memory: `recording` keeps what the reverse sweep needs; `copies`, `accumulation`, `reads`,
`destinations`, `reuse`, `loop_buffers` and `tangent_buffers` save arrays, as `usage`, `footprint`
and `schedule` tell them to; `layouts` says where it matters how they lie in memory. `unboxing`
makes arrays lists, and `splitting` makes two functions of one.

Observation: `tracing` and `checking`.
"""
