"""Samples for Fourier transforms."""

import numpy as np

from .kit import case

rng = np.random.default_rng(5)
NUMPY_2 = int(np.__version__.split(".")[0]) >= 2


def r(*shape):
    return rng.normal(size=shape)


def c(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def one_axis(x):
    """Samples for a transform of one axis; `x` makes arrays of numbers it takes."""
    cases = [case(x(n)) for n in (2, 4, 5)]
    cases += [case(x(5), n) for n in (1, 2, 3, 4, 5, 6, 8, 9, 12)]
    cases += [case(x(4, 3), None, 0), case(x(4, 3, 5), None, 1), case(x(4, 3, 5), 4, -2)]
    cases += [
        case(x(4, 5), n, norm=norm)
        for n in (None, 4, 7)
        for norm in ("backward", "ortho", "forward")
    ]
    cases += [case(np.asfortranarray(x(4, 5))), case(x(8)[::-2]), case(x(3, 0, 4))]
    return cases


def some_axes(x, axes=None):
    """Samples for a transform of several axes; axes=None where that is all of them."""
    cases = [case(x(4, 5)), case(x(2, 3, 4)), case(x(4, 5), norm="ortho")]
    cases += [case(x(4, 5), norm="forward"), case(x(4, 5), (3, 7), (0, 1))]
    cases += [case(x(4, 5, 3), None, (0, 1)), case(x(4, 5, 3), None, (2, 0))]
    cases += [case(x(4, 5, 3), (6, 3), (-1, 0))]
    cases += [case(x(4, 5, 3), (6, 3), axes=(1, 2), norm="forward")]
    cases += [case(x(4, 3, 5), (2, 4), axes=(-2, -1), norm="ortho")]
    if axes is None:
        cases += [case(x(4)), case(x(4, 5, 3), axes=(1,)), case(x(2, 3, 2, 4))]
        cases += [case(x(4, 5, 3), (3, 4, 5), (0, 1, 2))]
        if not NUMPY_2:
            cases += [case(x(4, 5, 3), (3, 4))]
    if NUMPY_2:
        cases += [case(x(4, 5), (-1, 6), (0, 1))]
    return cases


SAMPLES = {
    np.fft.fft: [*one_axis(c), *one_axis(r)],
    np.fft.ifft: [*one_axis(c), *one_axis(r)],
    np.fft.rfft: one_axis(r),
    np.fft.irfft: [*one_axis(c), *one_axis(r)],
    np.fft.hfft: [*one_axis(c), *one_axis(r)],
    np.fft.ihfft: one_axis(r),
    np.fft.fftn: [*some_axes(c), *some_axes(r), case(c(3, 4), axes=(0, 0))],
    np.fft.ifftn: some_axes(c),
    np.fft.fft2: some_axes(c, (-2, -1)),
    np.fft.ifft2: some_axes(c, (-2, -1)),
    np.fft.rfftn: some_axes(r),
    np.fft.irfftn: [*some_axes(c), *some_axes(r)],
    np.fft.rfft2: some_axes(r, (-2, -1)),
    np.fft.irfft2: some_axes(c, (-2, -1)),
    np.fft.fftshift: [case(r(5)), case(r(4, 3)), case(r(4, 3), 1), case(c(4, 3), (0, 1))],
    np.fft.ifftshift: [case(r(5)), case(r(4, 3)), case(r(4, 3), -1), case(c(4, 3), (0, 1))],
    np.fft.fftfreq: [case(5), case(4, 0.3)],
    np.fft.rfftfreq: [case(5), case(4, 0.3)],
}
