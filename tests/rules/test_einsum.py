"""Contractions as products of matrices, or by broadcasting, are what einsum gives."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from srcgrad import grad, jvp
from srcgrad.analysis import inference
from srcgrad.rules.einsum import contraction
from srcgrad.testing import check_grads
from tests.rules import expressions

LETTERS = "abcdef"


def subscripts(rng: random.Random) -> str:
    """Of two operands, with letters once or (seldom) twice in one, and a result of some of them."""
    draw = rng.choices if rng.random() < 0.1 else rng.sample
    one, other = (draw(LETTERS, k=rng.randrange(5)) for _ in range(2))
    letters = sorted({*one, *other})
    target = rng.sample(letters, rng.randint(min(1, len(letters)), len(letters)))
    return f"{''.join(one)},{''.join(other)}->{''.join(target)}"


@pytest.mark.parametrize("seed", range(6))
def test_any_contraction(seed: int) -> None:
    rng, values = random.Random(seed), np.random.default_rng(seed)
    ways = set()
    for _ in range(300):
        text = subscripts(rng)
        lengths = {c: rng.choice([0, 1, 2, 3, 4]) for c in LETTERS}
        x, y = (
            values.normal(size=[lengths[c] for c in part]).astype(rng.choice("dFf"))
            for part in text.partition("->")[0].split(",")
        )
        found, expected = contraction(text, x, y), np.einsum(text, x, y)
        assert np.shape(found) == expected.shape, (text, lengths)
        assert np.allclose(found, expected, rtol=1e-4, atol=1e-4), (text, lengths)
        assert found.dtype == expected.dtype, text
        ways.add(np.shape(found))
    assert len(ways) > 50


def matrices(x, y):
    return np.sum(np.einsum("ij,kj->ik", x, y) ** 3)


def attention(x, y):
    return np.sum(np.einsum("bqd,bkd->bqk", x, y) ** 3)


def vector(x, y):
    return np.sum(np.einsum("ij,j->i", x, y) ** 3)


def projected(x, y):
    return np.sum(np.einsum("btd,hde->bhte", x, y) ** 3)


def summed_alone(x, y):
    return np.sum(np.einsum("ij,kj->k", x, y) ** 3)


@pytest.mark.parametrize(
    ("f", "shapes", "d_x", "d_y"),
    [
        (matrices, ((2, 3), (4, 3)), "d_out.dot(y)", "d_out.T.dot(x)"),
        (attention, ((2, 3, 4), (2, 5, 4)), "d_out @ y", "d_out.swapaxes(-1, -2) @ x"),
        (vector, ((2, 3), (3,)), "d_out[:, None] * y", "d_out.dot(x)"),
        (
            *(projected, ((2, 3, 4), (2, 4, 5)), "np.tensordot(d_out, y, ((1, 3), (0, 2)))"),
            "np.tensordot(x, d_out, ((0, 1), (0, 2))).transpose((1, 0, 2))",
        ),
        (summed_alone, ((2, 3), (4, 3)), None, "np.einsum('k,ij->kj', d_out, x)"),
    ],
)
def test_how_it_is_written(f, shapes, d_x, d_y) -> None:
    rng = np.random.default_rng(0)
    gradient = grad(f, argnums=(0, 1))
    gradient(*(rng.normal(size=shape) for shape in shapes))
    lines = [line.strip() for line in gradient.source.splitlines()]
    d_out = next(line for line in lines if line.startswith("d_")).partition(" = ")[0]
    for name, expected in (("d_x", d_x), ("d_y", d_y)):
        if expected is not None:
            assert f"{name} = {expected.replace('d_out', d_out)}" in lines, gradient.source


@pytest.mark.parametrize("shapes", [((2, 1), (3, 4)), ((2, 3), (1, 4)), ((1, 3), (3, 1))])
def test_lengths_of_one_are_broadcast(shapes: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(0)
    for text in ("ij,jk->ik", "ij,jk->ijk", "ij,jk->i", "ij,jk->j", "ij,jk->"):
        expressions.check(f"np.einsum('{text}', x, y)", *(rng.normal(size=s) for s in shapes))


def chosen(x, y, n):
    """Letters that only the run tells."""
    one = "ijkl"[n]
    return np.sum(np.sin(np.einsum("i" + one + "," + one + "k->ki", x, y)))


def diagonal(x, y, n):
    letters = "ijkl"[:n]
    return np.sum(
        np.sin(np.einsum(letters[0] + letters[0] + ",..." + letters[-1] + "->...i", x, y))
    )


def known_then(x, y, n):
    return np.sum(np.sin(np.einsum("ij,jk->ki", x, y)))


@pytest.mark.parametrize(
    ("f", "shapes"),
    [
        (chosen, ((2, 3), (3, 4))),
        (chosen, ((2, 3), (1, 4))),
        (chosen, ((0, 3), (3, 4))),
        (diagonal, ((3, 3), (2, 4))),
    ],
)
def test_subscripts_that_only_the_run_tells(f, shapes) -> None:
    x, y = (np.random.default_rng(i).normal(size=shape) for i, shape in enumerate(shapes))
    gradient = grad(f, argnums=(0, 1))
    check_grads(lambda x, y: f(x, y, 1 if f is chosen else 3), (x, y))
    assert "adjoint_of_operand(" in (gradient(x, y, 1 if f is chosen else 3), gradient.source)[1]
    if f is chosen:
        for found, expected in zip(
            gradient(x, y, 1), grad(known_then, (0, 1))(x, y, 1), strict=True
        ):
            np.testing.assert_allclose(found, expected)
        moved = np.cos(x)
        second = jvp(lambda x: gradient(x, y, 1), (x,), (moved,))[1]
        other = jvp(lambda x: grad(known_then, (0, 1))(x, y, 1), (x,), (moved,))[1]
        np.testing.assert_allclose(second[0], other[0])
        np.testing.assert_allclose(second[1], other[1])


def clusters(t, v):
    """As coupled clusters contract their amplitudes: letters enough to make samples large."""
    r = np.einsum("klcd,ikac,ljdb->ijab", v, t, t)
    r = r + np.einsum("ijab,ijcd,klab->klcd", v, t, t)
    singles = np.einsum("klcd,ikac->iadl", v, t)
    return np.einsum("klcd,idab,lcia,kj->bj", v, t, singles, r[0, 0]).sum() + np.sum(r**2)


def test_many_letters_take_no_long_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    products = [1]  # of all letters' lengths, for each sample; they took a minute
    called = inference._called

    def counted(function, values, named):
        if function is np.einsum and isinstance(values[0], str):
            terms = values[0].partition("->")[0].split(",")
            lengths: dict[str, int] = {}
            for term, operand in zip(terms, values[1:], strict=True):
                lengths |= dict(zip(term, np.shape(operand), strict=True))
            products.append(math.prod(lengths.values()))
            if products[-1] >= 10**6:
                raise MemoryError  # which isn't waited for: samples that fail are passed over
        return called(function, values, named)

    monkeypatch.setattr(inference, "_called", counted)
    rng = np.random.default_rng(0)
    t, v = rng.normal(size=(2, 2, 2, 2)), rng.normal(size=(2, 2, 2, 2))
    check_grads(clusters, (t, v))
    assert sum(products) < 10**6


@pytest.mark.parametrize(
    ("shapes", "message"), [(((2, 3), (4, 5)), "broadcast"), (((2,), (3, 4)), "subscripts")]
)
def test_operands_that_do_not_fit_are_refused_though_no_value_is_needed(shapes, message) -> None:
    def f(x, y):
        np.einsum("ij,jk->ik", x, y)
        return np.sum(x)

    with pytest.raises(ValueError, match=message):
        grad(f)(*map(np.ones, shapes))
