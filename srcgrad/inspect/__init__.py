"""Looking at how a gradient is made.

`account` compiles once more and gathers what happens: `primitives` (with `calls` and `formulas`).
`explain` tells it in text, `page` as HTML, `graph` as a drawing; `stages` shows the IR, and `trace`
runs the gradient and watches values and adjoints. `directions` compares with finite differences,
`highlight` colours source. `rules` and `supported` list what has a rule.
"""
