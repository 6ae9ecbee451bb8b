"""Symbolic regression: expressions as nested tuples, evaluated recursively with `match`; the score
of a small population of formulas on data, with their constants as parameters."""

import numpy as np

ARGNUMS = (0, 1)


def evaluate(expression, x, constants):
    match expression:
        case "x":
            return x
        case int(index):
            return constants[index]
        case ("+", left, right):
            return evaluate(left, x, constants) + evaluate(right, x, constants)
        case ("-", operand):
            return -evaluate(operand, x, constants)
        case ("*", left, right):
            return evaluate(left, x, constants) * evaluate(right, x, constants)
        case ("/", left, right) if right != left:
            denominator = evaluate(right, x, constants)
            return evaluate(left, x, constants) / (1.0 + denominator**2)
        case ("sin" | "exp" as name, operand):
            function = {"sin": np.sin, "exp": np.exp}[name]
            return function(evaluate(operand, x, constants))
        case (_, *_):
            raise ValueError(f"unknown operation {expression[0]}")
    return 1.0


def complexity(expression):
    if not isinstance(expression, tuple):
        return 1
    return 1 + sum(complexity(part) for part in expression[1:])


def program(constants, x, y, population):
    fitness = []
    for expression in population:
        predicted = evaluate(expression, x, constants)
        error = np.mean((predicted - y) ** 2)
        fitness.append(error * (1.0 + 0.01 * complexity(expression)))
    best = min(fitness)
    return best + 0.1 * sum(fitness) / len(fitness)


def inputs(size=None):
    n = 12 if size is None else size
    rng = np.random.default_rng(0)
    x = np.linspace(-1.0, 2.0, n)
    y = np.sin(1.3 * x) + 0.5 * x + 0.1 * rng.normal(size=n)
    population = [
        ("+", ("sin", ("*", 0, "x")), ("*", 1, "x")),
        ("/", ("*", 2, ("*", "x", "x")), ("+", 0, ("-", "x"))),
        ("exp", ("*", 1, ("sin", "x"))),
        ("+", 2, None),
    ]
    return np.array([1.1, 0.4, 0.8]), x, y, population
