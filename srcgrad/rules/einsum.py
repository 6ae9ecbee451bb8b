"""`einsum`: the adjoint of an operand is an einsum of the others, or a product of matrices.

NumPy's einsum multiplies matrices by a plain loop, `@` by BLAS, ten times as fast.
"""

from __future__ import annotations

import string

import numpy as np

from .helpers import check_dtype, known
from .products import rows
from .registry import adjoint, inert
from .shaping import transposed


def from_text(text):
    """The subscripts of the operands of `einsum`, and of the result or None."""
    inputs, *output = text.replace(" ", "").split("->")
    return inputs.split(","), output[0] if output else None


def from_labels(lists):
    """A list of labels, as `einsum` takes them in place of letters, as letters."""
    alphabet = tuple(string.ascii_uppercase + string.ascii_lowercase)  # so an index must be known
    return ["".join(["..." if i is Ellipsis else alphabet[i] for i in labels]) for labels in lists]


def are_labels(lists):
    """Whether lists are such as `einsum` takes: of integers and ellipses."""
    return not any(isinstance(i, str) for labels in lists for i in labels)


def explicit(inputs, output, ndims):
    """The subscripts with letters in the place of '...' and with those of the result."""
    joined = "".join(inputs)
    if output is None:
        once = [c for c in sorted(set(joined)) if c != "." and joined.count(c) == 1]
        output = ("..." if "..." in joined else "") + "".join(once)
    free = [c for c in string.ascii_letters if c not in joined + output]
    extra = [n - len(s.replace("...", "")) for s, n in zip(inputs, ndims, strict=True)]
    letters = "".join(free[: max(extra)])
    inputs = [
        s.replace("...", letters[len(letters) - n :]) for s, n in zip(inputs, extra, strict=True)
    ]
    return inputs, output.replace("...", letters)


def einsum_operand(inputs, output, number):
    """How to get the adjoint of one operand of `einsum`.

    Returns the subscripts of the product with the adjoint of the result first, then the other
    operands, then one unit matrix for each repeated letter, or None if that is the adjoint of the
    result itself; the axes whose lengths the unit matrices have; and, if the operand alone is
    summed over some axes, the key that makes these in the product.
    """
    others = inputs[:number] + inputs[number + 1 :]
    free = [c for c in string.ascii_letters if c not in "".join([*inputs, output])]
    target, units, diagonals = "", [], []
    for axis, letter in enumerate(inputs[number]):
        if letter in inputs[number][:axis]:
            units.append(letter + free[0])
            diagonals.append(axis)
            letter = free.pop(0)
        target += letter
    factors = [output, *others, *units]
    known = "".join(factors)
    key = tuple(slice(None) if letter in known else None for letter in target)
    product = "".join(letter for letter in target if letter in known)
    same = factors == [product]
    return (
        None if same else ",".join(factors) + "->" + product,
        tuple(diagonals),
        key if None in key else None,
    )


@adjoint(np.einsum)
def einsum(*operands, optimize=False, dtype=None, order="K", casting="safe", out, d_out):
    """The adjoint of each operand is an einsum of the others and that of the result."""
    if isinstance(operands[0], str):
        arrays = operands[1:]
        if not known(operands[0]):
            contributions = (None,)
            for number, _ in enumerate(arrays):
                d_x = adjoint_of_operand(number, operands[0], d_out, *arrays)
                contributions = (*contributions, d_x)
            return contributions
        inputs, output = from_text(operands[0])
    else:
        if not are_labels(operands[1::2]):
            raise NotImplementedError("each subscript must be either an integer or an ellipsis")
        inputs, output = from_labels(operands[1::2]), None
        arrays = operands[: len(operands) // 2 * 2 : 2]
        if len(operands) % 2:
            output = from_labels(operands[-1:])[0]
    check_dtype(dtype, *arrays)
    inputs, output = explicit(inputs, output, [np.ndim(x) for x in arrays])
    if not isinstance(optimize, (bool, str)):
        optimize = True
    contributions = (None,) if isinstance(operands[0], str) else ()
    for number, x in enumerate(arrays):
        product, diagonals, key = einsum_operand(inputs, output, number)
        factors = (d_out, *arrays[:number], *arrays[number + 1 :])
        for axis in diagonals:
            factors = (*factors, np.eye(x.shape[axis], dtype=x.dtype))
        d_x = d_out
        if product is not None:
            if len(factors) == 2:
                d_x = contraction(product, *factors)
            elif optimize and len(factors) > 2:
                d_x = np.einsum(product, *factors, optimize=optimize)
            else:
                d_x = np.einsum(product, *factors)
        if key is not None and len(arrays) == 1:
            d_x = np.broadcast_to(np.asarray(d_x)[key], x.shape)
        elif key is not None:  # an axis of one element may stand for many
            d_x = d_x[key]
            d_x = np.broadcast_to(d_x, np.broadcast_shapes(x.shape, d_x.shape))
        contributions = (*contributions, d_x)
        if not isinstance(operands[0], str):
            contributions = (*contributions, None)
    return contributions


inert(np.einsum_path)


def adjoint_of_operand(number, subscripts, d_product, *arrays):
    """The adjoint of one operand of `einsum` whose subscripts only the run tells. Called by
    generated code.

    >>> adjoint_of_operand(0, "ii->i", np.ones(2), np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    x = arrays[number]
    inputs, output = explicit(*from_text(subscripts), [np.ndim(a) for a in arrays])
    product, diagonals, key = einsum_operand(inputs, output, number)
    units = [np.eye(np.shape(x)[axis]) for axis in diagonals]
    d_x = d_product
    if product is not None:
        d_x = np.einsum(product, d_product, *arrays[:number], *arrays[number + 1 :], *units)
    d_x = np.asarray(d_x) if key is None else np.asarray(d_x)[key]
    repeated = tuple([i for i, n in enumerate(np.shape(x)) if n == 1 != d_x.shape[i]])
    return np.broadcast_to(d_x.sum(repeated, keepdims=True), np.shape(x)).copy()


@adjoint(adjoint_of_operand)
def d_adjoint_of_operand(number, subscripts, d_product, *arrays, out, d_out):
    """All of it is one sum of products, with `d_out` in the place of the operand."""
    factors = (*arrays[:number], d_out, *arrays[number + 1 :])
    found = (None, None, np.einsum(subscripts, *factors))
    for i, _ in enumerate(arrays):
        d_x = None if i == number else adjoint_of_operand(i, subscripts, d_product, *factors)
        found = (*found, d_x)
    return found


# Contractions as products of matrices


def contraction(subscripts, first, second):
    """`np.einsum(subscripts, first, second)`, without einsum if that takes less time."""
    one, other, target = subscripts.replace("->", ",").split(",")
    if len(set(one)) < len(one) or len(set(other)) < len(other):
        return np.einsum(subscripts, first, second)  # a diagonal
    if set(target) == set(one + other):
        return placed(first, one, target) * placed(second, other, target)
    found = product_of_matrices(one, other, target)
    turned = product_of_matrices(other, one, target)
    if turned is not None and (found is None or turned[-1] == tuple(range(len(target)))):
        found, first, second = turned, second, first
    if found is None:
        axes = axes_of_product(one, other, target)
        if axes is None:
            return np.einsum(subscripts, first, second)
        alone = [c for c in one + other if (c in one) != (c in other)]
        if alone != list(target):  # neither has its axes in place: those of the adjoint are longer
            alone = [c for c in other + one if (c in one) != (c in other)]
            first, second, axes = second, first, axes[::-1]
        return reordered(np.tensordot(first, second, axes), order_of(alone, target))
    summed, first_order, second_order, order = found
    first, second = reordered(first, first_order), reordered(second, second_order)
    if summed > 1:
        count = rows(first if first.ndim > summed else second)
        first = first.reshape(count, *first.shape[summed:]).T
        second = second.reshape(count, *second.shape[summed:])
    return reordered(first @ second, order)


def placed(x, letters, target):
    """The array with the axes of these letters where they stand in the target, 1 in the others."""
    if not letters:
        return x
    kept = [c for c in target if c in letters]
    x = reordered(x, order_of(letters, kept))
    inner = target[target.index(kept[0]) :]  # broadcasting adds the axes before
    key = tuple([slice(None) if c in letters else None for c in inner])
    return x[key] if None in key else x


def product_of_matrices(x, y, target):
    """How a contraction of two operands with these subscripts is a product of matrices.

    Returns None, or how many axes are summed over, the orders of the axes of both operands, and
    that of the axes of the product. If several are summed over they come first in both operands.
    """
    stack = "".join([c for c in target if c in x and c in y])
    summed = "".join([c for c in x if c in y and c not in target])
    rows = "".join([c for c in x if c not in y])
    columns = "".join([c for c in y if c not in x])
    if not summed or any(c not in target for c in rows + columns):
        return None
    order = order_of(stack + rows + columns, target)
    if len(summed) > 1:
        if stack or len(rows) > 1 or len(columns) > 1 or not rows + columns:
            return None
        return len(summed), order_of(x, summed + rows), order_of(y, summed + columns), order
    if len(columns) > 1 or (stack and not len(rows) == len(columns) == 1):
        return None
    return 1, order_of(x, stack + rows + summed), order_of(y, stack + summed + columns), order


def axes_of_product(x, y, target):
    """The axes that are summed over in a product of matrices that have any number of axes each.

    None if it is none: a product with a vector, or of stacks, is as fast as it is.
    """
    alone = [c for c in x + y if (c in x) != (c in y)]
    if set(alone) != set(target) or len({c in x for c in alone}) < 2:
        return None
    summed = [c for c in x if c in y]
    return tuple([x.index(c) for c in summed]), tuple([y.index(c) for c in summed])


def order_of(letters, wanted):
    """The transposition that brings axes into the order that is wanted."""
    return tuple([letters.index(c) for c in wanted])


def reordered(x, order):
    """The array with its axes in this order; as it is in its own."""
    n = len(order)
    if order == tuple(range(n)):
        return x
    if order == (*range(n - 2), n - 1, n - 2):
        return transposed(x)
    return x.transpose(order)
