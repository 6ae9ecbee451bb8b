"""What is true of a function in IR, without changing it.

`inference` (with `samples` and `patterns`) finds the kind of a primitive's result, for the
frontend. `aliasing` and `activity` come before the sweeps: which variables share memory, and which
carry a derivative. `regions` and `jumps` answer questions that few programs ask.
"""
