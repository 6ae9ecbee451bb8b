"""From IR to text.

`python` makes the syntax tree, with `inlining` (what is written where it is used), `names`,
`references` and `spelling`. `printer` prints a tree, with `expressions`, `words`, `levels` (where
brackets stand) and `layout` (where lines break); `verification` reads the text again.
"""
