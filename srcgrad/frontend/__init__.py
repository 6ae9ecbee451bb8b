"""From a function object to IR, by running the program on abstract values.

Read `values` first (and `predicates`: what can be asked of them; `structure`: their parts;
`wording`: what messages call them; `restarts`: what lowering raises to begin again), then `source`
and `names` (with `recent`: what is new in Python), then the interpreter: `machine` lists the
modules it consists of, from `emission` of statements to `lower`, where it begins. Beside it stand
`merging` (the state where branches meet), `units` (calls that aren't inlined, with
`unit_templates`, `finished_units`, `effects`, and `purity`: of functions that users give a rule),
`absences` (None in the place of an option or an array), `settled` (items of constant arrays),
`naming` (of temporaries), `likeness` (which lists may be one and the same), and what programs mean
at run time: `operations` (the compiler's own primitives), `running` (of lists), `item_counts` (how
long they are), `tables` and `slots` (of dicts and sets), `links` (of tuples and lists that hold
others), `boxes` (of lists with items of several kinds) and `subclasses`. `columns` has the tables
of objects that `objects` reads and writes.
"""
