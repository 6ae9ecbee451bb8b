"""How strongly expressions bind: an operand weaker than its place asks for is put in brackets."""

NAMED, YIELD, TUPLE, TEST, OR, AND, NOT, COMPARE = range(8)
BITOR, BITXOR, BITAND, SHIFT, SUM, TERM, FACTOR, POWER, AWAIT, ATOM = range(8, 18)

OPERATOR_LEVELS = {
    **dict(zip(("Or", "And", "Not"), (OR, AND, NOT), strict=True)),
    **dict(zip(("BitOr", "BitXor", "BitAnd"), (BITOR, BITXOR, BITAND), strict=True)),
    **dict.fromkeys(("LShift", "RShift"), SHIFT),
    **dict.fromkeys(("Add", "Sub"), SUM),
    **dict.fromkeys(("Mult", "MatMult", "Div", "Mod", "FloorDiv"), TERM),
    **dict.fromkeys(("UAdd", "USub", "Invert"), FACTOR),
    "Pow": POWER,
}
