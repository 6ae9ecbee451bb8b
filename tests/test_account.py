"""What the account of a compilation says of each line."""

import numpy as np
import pytest

from srcgrad import grad, value_and_grad
from srcgrad.inspect.account import account_of
from tests.golden_programs import PROGRAMS, heat, logistic_loss, mlp, newton_root, views


def account(function):
    arguments, argnums = PROGRAMS[function]
    return account_of(grad(function, argnums=argnums), *arguments)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_every_line_comes_from_the_primal(function):
    made = account(function)
    gradient = grad(function, argnums=PROGRAMS[function][1])
    gradient(*PROGRAMS[function][0])
    assert made.final.text + "\n" == gradient.source
    primal = {line.places[0]: line.text.strip() for line in made.primals[0].lines}
    comments = 0
    for line in made.final.lines:
        assert set(line.places) <= set(primal)
        if line.text.lstrip().startswith("#"):
            comments += 1
            assert line.text.strip("# ") in {primal[place] for place in line.places}
    assert comments
    assert {p.place for p in made.primitives} <= set(primal)


def partners(function, text, part):
    """The generated lines of a part that come from a primal line."""
    made = account(function)
    place = next(x.places[0] for x in made.primals[0].lines if x.text.strip() == text)
    return [x.text.strip() for x in made.final.lines if place in x.places and x.part == part]


def test_parts():
    line = "h = np.tanh(x @ w1 + b1)"
    assert partners(mlp, line, "forward") == [line]
    assert any(x.startswith("d_w1 = x.T.dot(") for x in partners(mlp, line, "reverse"))
    line = "u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.01 * u[1:-1] ** 2"
    assert partners(heat, line, "recorded") == [
        "u_inner_saved = []", "u_inner_1 = u_inner.copy()", "u_inner_saved.append(u_inner_1)",
        "u_inner = u_inner_saved.pop()",
    ]  # fmt: skip


def primitives(function):
    return {p.text: p for p in account(function).primitives}


def test_rules_are_told_in_the_names_of_the_operands():
    found = primitives(mlp)
    assert found["h = np.tanh(total)"].rule.formula == "d_total += d_h * (1 - h * h)"
    assert found["product_1 = h @ w2"].rule.formula == (
        "d_h += d_product_1 @ w2.T\nd_w2 += h.T @ d_product_1"
    )
    assert found["product_1 = h @ w2"].name == "x @ y"
    # x has no adjoint: only w1 is wanted
    assert found["product = x @ w1"].rule.formula == "d_w1 += x.T @ d_product"
    # of the rule's branches the one for these operands, its helpers written out
    assert (
        found["power = difference ** 2"].rule.formula
        == "d_difference += d_power * (2 * difference)"
    )
    assert primitives(newton_root)["ratio = x / y"].rule.formula == (
        "contribution = d_ratio / y\nd_x += contribution\nd_y -= contribution * ratio"
    )
    assert primitives(views)["z[0] = power"].rule.formula == (
        "d_value = d_z[0]\nd_z[0] = 0\nd_power += d_value"
    )
    assert primitives(views)["z = y[1:]"].rule.formula == ("d_z = d_y[1:]  # a view")


def test_what_became_of_a_primitive():
    found = primitives(mlp)
    assert found["mean = np.mean(power)"].fate == "dead"
    assert found["h = np.tanh(total)"].fate == ""
    assert found["power = difference ** 2"].fate == "merged"


def test_what_is_kept():
    kept = {k.name: k for k in account(logistic_loss).kept}
    texts = account(logistic_loss).final.text.splitlines()
    assert texts[kept["p"].line - 1].strip().startswith("p = 1.0 / ")
    assert all("p" in texts[n - 1] for n in kept["p"].uses)
    assert not kept["p"].listed
    saved = next(k for k in account(heat).kept if k.listed)
    assert (saved.name, saved.variables) == ("u_inner_saved", ("u_inner_1",))


def outer(x):
    return np.sum(inner(x) * 2)


def inner(z):
    return z * np.sin(z)


def test_functions_that_are_inlined_are_shown():
    made = account_of(grad(outer), np.ones(3))
    assert [p.name for p in made.primals] == ["outer", "inner"]
    lines = {line.places[0][1] for line in made.primals[1].lines}
    assert any(lines & {n for _, n in line.places} for line in made.final.lines)


def test_the_latest_call_is_told_of_without_arguments():
    gradient = value_and_grad(outer)
    with pytest.raises(TypeError, match="give the arguments of outer, as in a call"):
        account_of(gradient)
    gradient(np.ones(3))
    assert account_of(gradient).final.text + "\n" == gradient.source
    # the arguments are not kept
    assert gradient._latest.compiled.example["x"].strides == (0,)
