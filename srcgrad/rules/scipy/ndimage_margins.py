"""What filters of images share: their margins, and arguments that may differ between the axes."""

from __future__ import annotations

import numpy as np

from ..shaping import at

PAD_MODES = {
    "reflect": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "constant": "constant",
    "grid-mirror": "symmetric",
    "grid-wrap": "wrap",
    "grid-constant": "constant",
}


def placed(found, output):
    """The result of a filter that is told where to put it, or of which dtype it is."""
    if output is None:
        return found
    if isinstance(output, np.ndarray):
        output[...] = found
        return output
    return found.astype(output)


def margins(size, origin):
    """How many neighbours before and after a pixel a filter of this size sees."""
    before = size // 2 + origin
    return before, size - 1 - before


def framed(x, widths, cval):
    """An image with margins of one value."""
    shape = tuple(x.shape[i] + widths[i][0] + widths[i][1] for i in range(x.ndim))
    wide = np.full(shape, cval, x.dtype)
    wide[tuple(slice(w[0], w[0] + n) for w, n in zip(widths, x.shape, strict=True))] = x
    return wide


def padded(x, widths, mode, cval):
    if PAD_MODES[mode] == "constant":
        return framed(x, widths, cval)
    for axis in range(x.ndim):
        x = np.take(x, np.pad(np.arange(x.shape[axis]), widths[axis], PAD_MODES[mode]), axis)
    return x


def folded(d_padded, n, before, axis, mode):
    """The adjoint of padding one axis of length n."""
    d_x = d_padded[at(axis, slice(before, before + n))]
    if PAD_MODES[mode] == "constant":
        return d_x
    after = d_padded.shape[axis] - before - n
    source = np.pad(np.arange(n), (before, after), PAD_MODES[mode])
    d_x = d_x.copy()
    np.add.at(d_x, at(axis, source[:before]), d_padded[at(axis, slice(None, before))])
    np.add.at(d_x, at(axis, source[before + n :]), d_padded[at(axis, slice(before + n, None))])
    return d_x


def origin_of(origin, axis):
    return origin[axis] if isinstance(origin, (tuple, list)) else origin


def check_for_axes(rank, *given):
    """What is given for each axis is as many things as there are axes."""
    for values in given:
        if not isinstance(values, str) and is_several(values) and len(values) != rank:
            raise RuntimeError("sequence argument must have length equal to input rank")


def is_several(value):
    """Whether there is one thing for each axis, not one for all of them."""
    return isinstance(value, (tuple, list)) or np.ndim(value) > 0


def each(value, number):
    """What a filter takes for one of the axes."""
    several = is_several(value)
    return value[number] if several else value
