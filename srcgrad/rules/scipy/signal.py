"""Convolutions and filters."""

from __future__ import annotations

import math

import numpy as np
from scipy import fft, ndimage, signal

from ... import ir
from ...analysis.inference import Inferred
from ...kinds import Array, TupleOf, fresh_size
from ..products import conj
from ..registry import Unknown, adjoint, classified, definition, jumps, kind, refuse, zero
from . import spectra  # noqa: F401  (it registers its rules)
from .kinds import floating, operand_kind
from .left import left
from .ndimage_margins import folded, padded

SCALARS = Unknown("of arrays without dimensions it has no rule; use a product")


def correlate_inside(x, y):
    """The sums of x[k + i] y[i] over i for all k at which x has them all, by Fourier transforms no
    longer than x: what goes round lies outside. Called by generated code.

    >>> correlate_inside(np.array([1.0, 2.0, 5.0, 3.0]), np.array([1.0, 2.0])).round(9)
    array([ 5., 12., 11.])
    """
    real = not (np.iscomplexobj(x) or np.iscomplexobj(y))
    lengths = [fft.next_fast_len(n, real) for n in x.shape]
    forth, back = (fft.rfftn, fft.irfftn) if real else (fft.fftn, fft.ifftn)
    product = back(forth(x, lengths) * forth(np.flip(y), lengths), lengths)
    return product[tuple(slice(m - 1, n) for n, m in zip(x.shape, y.shape, strict=True))].copy()


adjoint(correlate_inside)(
    lambda x, y, *, out, d_out: (signal.fftconvolve(d_out, y), correlate_inside(x, d_out))
)


@kind(signal.convolve, signal.fftconvolve, signal.oaconvolve, signal.correlate, correlate_inside)
@kind(signal.convolve2d, signal.correlate2d)
def of_lengths(args, kwargs):
    """The lengths are sums and differences, which samples would take for numbers."""
    found = [operand_kind(a) for a in args[:2]]
    if len(found) < 2 or any(k is None or not k.shape for k in found):
        return None
    dtypes = [k.dtype for k in found]
    if any(d is None or d.kind not in "fc" for d in dtypes):
        dtype = None
    else:
        dtype = floating(*dtypes)
    return Inferred(Array(dtype, tuple(fresh_size() for _ in found[0].shape)))


def embedded(d_out, n, m, mode, later=0):
    """The adjoint of a shortened convolution as one of the full one, of shapes n and m.

    `later` is 1 where "same" begins in the middle, or after it if there are two middles.
    """
    if mode == "full":
        return d_out
    d_full = np.zeros(tuple(p + q - 1 for p, q in zip(n, m, strict=True)), d_out.dtype)
    if mode == "same":
        starts = tuple((q - 1 + later) // 2 for q in m)
    else:
        starts = tuple(min(p, q) - 1 for p, q in zip(n, m, strict=True))
    key = tuple(slice(s, s + k) for s, k in zip(starts, d_out.shape, strict=True))
    d_full[key] = d_out
    return d_full


@adjoint(signal.convolve)
def convolve(in1, in2, mode="full", method="auto", *, out, d_out):
    if in1.ndim == 0:
        return SCALARS, SCALARS
    d_full = embedded(d_out, in1.shape, in2.shape, mode)
    d_in1 = signal.correlate(d_full, conj(in2), "valid", method)
    return d_in1, signal.correlate(d_full, conj(in1), "valid", method)


@adjoint(signal.fftconvolve, signal.oaconvolve)
def fftconvolve(in1, in2, mode="full", *, out, d_out):
    if in1.ndim == 0:
        return SCALARS, SCALARS
    d_full = embedded(d_out, in1.shape, in2.shape, mode)
    return correlate_inside(d_full, in2), correlate_inside(d_full, in1)


@adjoint(signal.correlate)
def correlate(in1, in2, mode="full", method="auto", *, out, d_out):
    """The convolution with the other, reversed and conjugate."""
    if in1.ndim == 0:
        return SCALARS, SCALARS
    d_full = embedded(d_out, in1.shape, in2.shape, mode)
    d_in1 = signal.convolve(d_full, conj(in2), "valid", method)
    return d_in1, conj(np.flip(signal.correlate(d_full, conj(in1), "valid", method)))


MARGINS = {"wrap": "wrap", "symm": "reflect", "fill": "constant"}


def beyond(in1, in2, mode, boundary, fillvalue):
    """Whether a convolution looks at more than the numbers of its operands and zeros beyond."""
    return mode != "valid" and (boundary not in ("fill", "pad") or fillvalue != 0)


def with_margins(x, shape, boundary, fillvalue):
    """A matrix with all the neighbours that a convolution with one of this shape sees."""
    mode = MARGINS["fill" if boundary == "pad" else boundary]
    return padded(x, [(m - 1, m - 1) for m in shape], mode, fillvalue)


def margins_folded(d_wide, x, shape, boundary):
    mode = MARGINS["fill" if boundary == "pad" else boundary]
    for axis in range(2):
        d_wide = folded(d_wide, x.shape[axis], shape[axis] - 1, axis, mode)
    return d_wide


@adjoint(signal.convolve2d)
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0, *, out, d_out):
    d_full = embedded(d_out, in1.shape, in2.shape, mode)
    if beyond(in1, in2, mode, boundary, fillvalue):
        wide = with_margins(in1, in2.shape, boundary, fillvalue)
        d_wide = signal.correlate2d(d_full, conj(in2), "full")
        d_in1 = margins_folded(d_wide, in1, in2.shape, boundary)
        return d_in1, np.flip(signal.correlate2d(wide, conj(d_full), "valid"))
    d_in1 = signal.correlate2d(d_full, conj(in2), "valid")
    return d_in1, signal.correlate2d(d_full, conj(in1), "valid")


@adjoint(signal.correlate2d)
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0, *, out, d_out):
    if beyond(in1, in2, mode, boundary, fillvalue):
        d_full = embedded(d_out, in1.shape, in2.shape, mode, 1)
        wide = with_margins(in1, in2.shape, boundary, fillvalue)
        d_wide = signal.convolve2d(d_full, conj(in2), "full")
        d_in1 = margins_folded(d_wide, in1, in2.shape, boundary)
        return d_in1, conj(signal.correlate2d(wide, conj(d_full), "valid"))
    if mode == "valid" and np.iscomplexobj(out) and in1.size < in2.size:
        d_out = conj(d_out)  # SciPy, which swaps them, takes the conjugates of the first
    d_full = embedded(d_out, in1.shape, in2.shape, mode, 1)
    d_in1 = signal.convolve2d(d_full, conj(in2), "valid")
    return d_in1, conj(np.flip(signal.correlate2d(d_full, conj(in1), "valid")))


def lagged(d_out, x, count):
    """The sums of d_out[i] x[i - k] along the last axis, for lags k below a count."""
    n = x.shape[-1]
    sums = np.zeros(count, d_out.dtype)
    for k in range(count):
        if k < n:
            sums[k] = np.sum(d_out[..., k:] * x[..., : n - k])
    return sums


def as_vector(x):
    """The coefficients of a filter: a number is the only one."""
    return np.reshape(x, 1) if np.ndim(x) == 0 else x


@adjoint(signal.lfilter)
def lfilter(b, a, x, axis=-1, zi=None, *, out, d_out):
    """With a * y = b * x: a * dy = db * x - da * y, so that one filter 1 / a serves all."""
    b, a = as_vector(b), as_vector(a)
    one = np.ones(1, d_out.dtype if zi is None else d_out[0].dtype)
    if zi is None:
        x, out, d_out = (np.swapaxes(v, axis, -1) for v in (x, out, d_out))
        d_x = np.flip(signal.lfilter(b, a, np.flip(d_out, -1)), -1)
        d_b = lagged(d_out, signal.lfilter(one, a, x), b.shape[0])
        d_a = -lagged(d_out, signal.lfilter(one, a, out), a.shape[0])
        return d_b, d_a, np.swapaxes(d_x, axis, -1)
    # the state adds a[0] * zi to b * x, and is a * y / a[0] of the values to come, were x zero
    y, final = (np.swapaxes(v, axis, -1) for v in out)
    d_y, d_final = (np.swapaxes(v, axis, -1) for v in d_out)
    x, zi = np.swapaxes(x, axis, -1), np.swapaxes(zi, axis, -1)
    zi = np.broadcast_to(zi, final.shape)  # one state may be that of many signals
    n, m = x.shape[-1], zi.shape[-1]
    tail = a[0] * signal.lfilter(one, a, final)
    d_tail = np.flip(signal.lfilter(a / a[0], one, np.flip(d_final, -1)), -1)
    x = np.concatenate((x, np.zeros_like(zi)), -1)
    y, d_y = np.concatenate((y, tail), -1), np.concatenate((d_y, d_tail), -1)
    response = np.flip(signal.lfilter(one, a, np.flip(d_y, -1)), -1)
    d_x = np.flip(signal.lfilter(b, a, np.flip(d_y, -1)), -1)[..., :n]
    d_zi = a[0] * response[..., :m]
    d_b = lagged(d_y, signal.lfilter(one, a, x), b.shape[0])
    d_a = lagged(d_final, tail, a.shape[0]) / a[0]
    d_a = d_a - lagged(d_y, signal.lfilter(one, a, y), a.shape[0])
    d_a[0] += np.sum(response[..., :m] * zi) - np.sum(d_final * final) / a[0]
    return d_b, d_a, np.swapaxes(d_x, axis, -1), None, np.swapaxes(d_zi, axis, -1)


@kind(signal.lfilter)
def lfilter_kind(args, kwargs):
    """With a state there are two results."""
    zi = args[4] if len(args) > 4 else kwargs.get("zi")
    found = [operand_kind(a) for a in args[:3]]
    state = None if zi is None else operand_kind(zi)
    if len(found) < 3 or any(k is None for k in found) or state is None:
        return None
    dtype = floating(*(k.dtype for k in found), state.dtype)
    shape = found[2].shape
    axis = args[3] if len(args) > 3 else kwargs.get("axis", ir.Const(-1))
    final = None if shape is None else tuple(fresh_size() for _ in shape)
    if final is not None and state.shape is not None and isinstance(axis, ir.Const):
        ends = list(shape)
        ends[axis.value] = state.shape[axis.value]
        final = tuple(ends)
    return Inferred(TupleOf((Array(dtype, shape), Array(dtype, final))))


# In terms of these


@definition(signal.sosfilt)
def sosfilt(sos, x, axis=-1, zi=None):
    states = []
    for section in range(sos.shape[0]):
        b, a = sos[section, :3], sos[section, 3:]
        if zi is None:
            x = signal.lfilter(b, a, x, axis)
        else:
            x, state = signal.lfilter(b, a, x, axis, zi[section])
            states.append(state)
    return x if zi is None else (x, np.stack(states))


@definition(signal.sosfilt_zi)
def sosfilt_zi(sos):
    """The states of the sections after a signal of ones, each from the one before."""
    size, states = 1.0, []
    for section in range(sos.shape[0]):
        b, a = sos[section, :3], sos[section, 3:]
        states.append(signal.lfilter_zi(b, a) * size)
        size = size * (np.sum(b) / np.sum(a))
    return np.stack(states)


@definition(signal.lfilter_zi)
def lfilter_zi(b, a):
    """The state of a filter that is at rest after a signal of ones."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    n = max(len(a), len(b))
    b, a = b / a[0], a / a[0]
    b = np.concatenate((b, np.zeros(n - len(b))))
    a = np.concatenate((a, np.zeros(n - len(a))))
    steps = b[1:] - a[1:] * b[0]
    return np.cumsum(a)[:-1] * (np.sum(steps) / np.sum(a)) - (np.cumsum(steps) - steps)


@definition(signal.filtfilt)
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    """Forwards and backwards, from the steady state that continues the first value."""
    if method != "pad":
        raise NotImplementedError("filtfilt has a rule for method='pad'")
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.moveaxis(x, axis, -1)
    count = 3 * max(len(a), len(b)) if padlen is None else padlen
    wide = extended(x, padtype, count)
    state = signal.lfilter_zi(b, a)
    y = signal.lfilter(b, a, wide, -1, zi=state * wide[..., :1])[0][..., ::-1]
    y = signal.lfilter(b, a, y, -1, zi=state * y[..., :1])[0][..., ::-1]
    return np.moveaxis(inner(y, x, padtype, count), -1, axis)


@definition(signal.sosfiltfilt)
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    x = np.moveaxis(x, axis, -1)
    without = min(np.sum(sos[:, 2] == 0), np.sum(sos[:, 5] == 0))
    count = 3 * (2 * sos.shape[0] + 1 - int(without)) if padlen is None else padlen
    y = through_sections(sos, extended(x, padtype, count))[..., ::-1]
    y = through_sections(sos, y)[..., ::-1]
    return np.moveaxis(inner(y, x, padtype, count), -1, axis)


def through_sections(sos, x):
    """A filter in sections, from the steady state that continues the first value."""
    size = x[..., :1]
    for section in range(sos.shape[0]):
        b, a = sos[section, :3], sos[section, 3:]
        x = signal.lfilter(b, a, x, -1, zi=signal.lfilter_zi(b, a) * size)[0]
        size = size * (np.sum(b) / np.sum(a))
    return x


def extended(x, padtype, count):
    """Rows with so many numbers before and behind that continue them."""
    if padtype is None:
        return x
    head, tail = x[..., count:0:-1], x[..., ::-1][..., 1 : count + 1]
    if padtype == "odd":
        head, tail = 2 * x[..., :1] - head, 2 * x[..., -1:] - tail
    if padtype == "constant":
        head, tail = x[..., :1] + 0 * head, x[..., -1:] + 0 * tail
    return np.concatenate((head, x, tail), -1)


def inner(y, x, padtype, count):
    """Of rows that were extended, what was there before."""
    return y if padtype is None else y[..., count : count + x.shape[-1]]


@definition(signal.decimate)
def decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True):
    if ftype != "iir":
        raise NotImplementedError("decimate has a rule for ftype='iir'")
    x = np.moveaxis(x, axis, -1)
    sos = signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos")
    y = signal.sosfiltfilt(sos, x) if zero_phase else signal.sosfilt(sos, x)
    return np.moveaxis(y[..., ::q], -1, axis)


@definition(signal.chirp)
def chirp(t, f0, t1, f1, method="linear", phi=0, vertex_zero=True, *, complex=False):
    t = np.asarray(t)
    if method in ("linear", "lin", "li"):
        turns = linear_turns(t, f0, t1, f1)
    elif method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / t1**2
        if vertex_zero:
            turns = f0 * t + beta * t**3 / 3
        else:
            turns = f1 * t + beta * ((t1 - t) ** 3 - t1**3) / 3
    elif method in ("logarithmic", "log", "lo"):
        if f0 * f1 <= 0:
            raise ValueError(
                "For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign."
            )
        if f0 == f1:
            turns = linear_turns(t, f0, t1, f1)
        else:
            turns = t1 / np.log(f1 / f0) * f0 * ((f1 / f0) ** (t / t1) - 1.0)
    elif method in ("hyperbolic", "hyp"):
        if f0 == 0 or f1 == 0:
            raise ValueError("For a hyperbolic chirp, f0 and f1 must be nonzero.")
        if f0 == f1:
            turns = linear_turns(t, f0, t1, f1)
        else:
            pole = -f1 * t1 / (f0 - f1)
            turns = -pole * f0 * np.log(np.abs(1 - t / pole))
    else:
        raise ValueError(f"method must be 'linear', ..., but a value of {method!r} was given.")
    phase = 2 * np.pi * turns + phi * np.pi / 180
    return np.exp(1j * phase) if complex else np.cos(phase)


def linear_turns(t, f0, t1, f1):
    """What chirps of all kinds are about where both frequencies are the same."""
    return f0 * t + 0.5 * (f1 - f0) / t1 * t**2


@definition(signal.hilbert)
def hilbert(x, N=None, axis=-1):
    n = x.shape[axis] if N is None else N
    k = np.arange(n)
    factors = 2.0 * (k < (n + 1) // 2) - 1.0 * (k == 0) + 1.0 * (2 * k == n)
    spectrum = np.fft.fft(np.moveaxis(x, axis, -1), n) * factors
    return np.moveaxis(np.fft.ifft(spectrum), -1, axis)


@definition(signal.detrend)
def detrend(data, axis=-1, type="linear", bp=0):
    if bp != 0:
        raise NotImplementedError("detrend has a rule without break points only")
    data = np.moveaxis(data, axis, -1)
    rest = data - np.mean(data, axis=-1, keepdims=True)
    if type == "linear" or type == "l":
        n = data.shape[-1]
        t = np.arange(n) - 0.5 * (n - 1)
        rest = rest - (rest @ t)[..., None] * (t / (t @ t))
    return np.moveaxis(rest, -1, axis)


@definition(signal.resample)
def resample(x, num, *, axis=0):
    """By the spectrum; of a frequency that is cut in two, each side has half."""
    n = x.shape[axis]
    x = np.moveaxis(x, axis, -1)
    if np.iscomplexobj(x):
        raise NotImplementedError("resample has a rule for real signals only")
    least = min(num, n)
    kept = least // 2 + 1
    spectrum = np.fft.rfft(x)[..., :kept]
    if least % 2 == 0 and num != n:
        factors = np.ones(kept)
        factors[-1] = 2.0 if num < n else 0.5
        spectrum = spectrum * factors
    return np.moveaxis(np.fft.irfft(spectrum, num), -1, axis) * (num / n)


@definition(signal.savgol_filter)
def savgol_filter(
    x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0
):
    weights = signal.savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta)
    if mode != "interp":
        return ndimage.convolve1d(x, weights, axis, mode=mode, cval=cval)
    half = window_length // 2
    inside = ndimage.convolve1d(x, weights, axis, mode="constant")
    fits = savgol_fits(window_length, polyorder, deriv, delta)
    rows, smooth = np.moveaxis(x, axis, -1), np.moveaxis(inside, axis, -1)
    n = rows.shape[-1]
    first = rows[..., :window_length] @ fits[:half].T
    last = rows[..., n - window_length :] @ fits[window_length - half :].T
    joined = np.concatenate((first, smooth[..., half : n - half], last), -1)
    return np.moveaxis(joined, -1, axis)


def savgol_fits(window_length, polyorder, deriv, delta):
    """The weights of a window's numbers in the polynomial fitted to them, at each of its places.
    Called by generated code.

    >>> savgol_fits(2, 1, 0, 1.0).round(9) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    return np.stack(
        [
            signal.savgol_coeffs(window_length, polyorder, deriv, delta, pos=i, use="dot")
            for i in range(window_length)
        ]
    )


zero(savgol_fits)


@definition(signal.medfilt)
def medfilt(volume, kernel_size=None):
    size = 3 if kernel_size is None else kernel_size
    sizes = tuple(size) if np.ndim(size) else (size,) * volume.ndim
    wide = np.pad(volume, [(k // 2, k // 2) for k in sizes])
    windows = np.lib.stride_tricks.sliding_window_view(wide, sizes)
    return np.median(windows, axis=tuple(range(-volume.ndim, 0)))


def spaced(x, step, count):
    """Along the last axis, the numbers with zeros between them, so many in all."""
    wide = np.zeros((*x.shape[:-1], count), x.dtype)
    wide[..., : (x.shape[-1] - 1) * step + 1 : step] = x
    return wide


MARGINS_OF_UPFIRDN = Unknown("with other margins than zeros it has no rule: pad the signal")


@adjoint(signal.upfirdn)
def upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0, *, out, d_out):
    """Each is used where the signal, with zeros between its numbers, meets the filter."""
    if mode not in (None, "constant") or cval != 0 or np.ndim(h) != 1:
        return MARGINS_OF_UPFIRDN, MARGINS_OF_UPFIRDN
    if np.size(x) == 0:
        return 0.0 * h, 0.0 * x
    x, d_out = np.moveaxis(x, axis, -1), np.moveaxis(d_out, axis, -1)
    long = (x.shape[-1] - 1) * up + h.shape[0]
    d_wide = spaced(d_out, down, long + down - 1)[..., :long]
    shape = (1,) * (x.ndim - 1)
    turned = np.reshape(conj(h), (*shape, -1))
    d_x = signal.correlate(d_wide, turned, "valid")[..., ::up]
    wide = spaced(x, up, (x.shape[-1] - 1) * up + 1)
    d_h = np.zeros(h.shape[0], d_out.dtype)
    rows, d_rows = np.reshape(wide, (-1, wide.shape[-1])), np.reshape(d_wide, (-1, long))
    for i in range(rows.shape[0]):
        d_h += signal.correlate(d_rows[i], conj(rows[i]), "valid")
    return d_h, np.moveaxis(d_x, -1, axis)


@kind(signal.upfirdn)
def upfirdn_kind(args, kwargs):
    found = [operand_kind(a) for a in args[:2]]
    if len(found) < 2 or any(k is None or k.shape is None for k in found):
        return None
    dtypes = [k.dtype for k in found]
    return Inferred(Array(floating(*dtypes), tuple(fresh_size() for _ in found[1].shape)))


resample_poly_left = left(
    signal.resample_poly,
    "it is differentiated without cval, and for padtype 'constant', 'mean', 'median', 'minimum' "
    "or 'maximum'",
)


@definition(signal.resample_poly)
def resample_poly(x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None):
    """Filtered between the two rates, as SciPy does it; the filter is a constant."""
    known = padtype in ("constant", "mean", "median", "minimum", "maximum")
    if not known or (cval is not None and cval != 0):
        return resample_poly_left(x, up, down, axis, window, padtype, cval)
    x = np.asarray(x)
    divisor = math.gcd(int(up), int(down))
    up, down = int(up) // divisor, int(down) // divisor
    if up == 1 and down == 1:
        return x.copy()
    if isinstance(window, (str, tuple)):
        h = low_pass(max(up, down), window)
        h = h.astype(x.dtype) if x.dtype.kind in "fc" else h
    else:
        h = np.asarray(window)
    half = (h.shape[0] - 1) // 2
    before = down - half % down
    removed = (half + before) // down
    count = x.shape[axis] * up
    count = count // down + (1 if count % down else 0)
    missing = (count + removed - 1) * down + 1 - (x.shape[axis] - 1) * up - h.shape[0] - before
    h = np.concatenate((np.zeros(before, h.dtype), h * up, np.zeros(max(missing, 0), h.dtype)))
    level = 0.0
    if padtype == "mean":
        level = np.mean(x, axis=axis, keepdims=True)
    elif padtype == "median":
        level = np.median(x, axis=axis, keepdims=True)
    elif padtype == "minimum":
        level = np.min(x, axis=axis, keepdims=True)
    elif padtype == "maximum":
        level = np.max(x, axis=axis, keepdims=True)
    if padtype != "constant":
        x = x - level
    y = np.moveaxis(signal.upfirdn(h, x, up, down, axis), axis, 0)[removed : removed + count]
    y = np.moveaxis(y, 0, axis)
    return y if padtype == "constant" else y + level


def low_pass(rate, window):
    """The filter of `resample_poly`. Called by generated code.

    >>> len(low_pass(2, "hann"))
    41
    """
    return signal.firwin(20 * rate + 1, 1.0 / rate, window=window)


zero(low_pass)
kind(low_pass)(lambda args, kwargs: Inferred(Array(np.dtype(np.float64), (fresh_size(),))))


@adjoint(signal.sawtooth)
def sawtooth(t, width=1, *, out, d_out):
    """It rises by 2 over the part `width` of a period, and falls by 2 over the rest."""
    phase = t % (2 * np.pi) / (2 * np.pi)
    rising = phase < width
    share = width * rising + (1 - width) * np.logical_not(rising)
    share = np.where((width < 0) | (width > 1), np.nan, share)
    past = np.where(rising, phase, 1 - phase)
    sign = 2.0 * rising - 1.0
    return d_out * sign / (np.pi * share), -d_out * sign * 2 * past / (share * share)


jumps(signal.sawtooth)
zero(signal.square)


gausspulse_left = left(signal.gausspulse, "it is differentiated for times, not for 'cutoff'")


@definition(signal.gausspulse)
def gausspulse(t, fc=1000, bw=0.5, bwr=-6, tpr=-60, retquad=False, retenv=False):
    if isinstance(t, str):
        return gausspulse_left(t, fc, bw, bwr, tpr, retquad, retenv)
    if fc < 0 or bw <= 0 or bwr >= 0:
        raise ValueError("gausspulse needs fc >= 0, bw > 0 and bwr < 0")
    decay = -((np.pi * fc * bw) ** 2) / (4.0 * np.log(10.0 ** (bwr / 20.0)))
    envelope = np.exp(-decay * t * t)
    pulse = envelope * np.cos(2 * np.pi * fc * t)
    if not retquad:
        return (pulse, envelope) if retenv else pulse
    quadrature = envelope * np.sin(2 * np.pi * fc * t)
    return (pulse, quadrature, envelope) if retenv else (pulse, quadrature)


@definition(signal.lombscargle)
def lombscargle(x, y, freqs, *, normalize=False, weights=None, floating_mean=False):
    """M. Zechmeister and M. Kürster (2009), as SciPy has it."""
    x, y, freqs = np.asarray(x), np.asarray(y), np.asarray(freqs)
    w = np.ones(y.shape) if weights is None else np.asarray(weights)
    if x.shape != y.shape or y.shape != w.shape or np.any(w < 0):
        raise ValueError("lombscargle needs x, y and weights of the same length, no weight < 0")
    w = w / np.sum(w)
    phase = freqs[:, None] * x
    cosine, sine = np.cos(phase), np.sin(phase)
    cc, cs = (cosine * cosine) @ w, (cosine * sine) @ w
    ss = 1.0 - cc
    if floating_mean:
        c, s = cosine @ w, sine @ w
        cc, ss, cs = cc - c * c, ss - s * s, cs - c * s
    tau = 0.5 * np.arctan2(2.0 * cs, cc - ss)
    cosine, sine = np.cos(phase - tau[:, None]), np.sin(phase - tau[:, None])
    yc, ys = cosine @ (w * y), sine @ (w * y)
    cc = (cosine * cosine) @ w
    ss = 1.0 - cc
    if floating_mean:
        c, s, mean = cosine @ w, sine @ w, w @ y
        yc, ys, cc, ss = yc - mean * c, ys - mean * s, cc - c * c, ss - s * s
    least = np.finfo(float).epsneg
    a, b = yc / np.maximum(cc, least), ys / np.maximum(ss, least)
    power = 2.0 * (a * yc + b * ys)
    if normalize is False or normalize == "power":
        found = power * (x.shape[0] / 4.0)
    elif normalize is True or normalize == "normalize":
        total = w @ (y * y)
        if floating_mean:
            total = total - (w @ y) ** 2
        found = power * (0.5 / total)
    else:
        found = (a + 1j * b) * np.exp(1j * tau)
    return np.squeeze(found)


@definition(signal.freqz)
def freqz(b, a=1, worN=512, whole=False, plot=None, fs=2 * np.pi, include_nyquist=False):
    """The polynomials of the filter, at points of the unit circle."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    if b.ndim > 1 or a.ndim > 1 or plot is not None:
        raise NotImplementedError("freqz has a rule for one filter, without plot")
    count = 512 if worN is None else worN
    if isinstance(count, (int, np.integer)):
        last = 2 * np.pi if whole else np.pi
        w = np.linspace(0, last, count, endpoint=bool(include_nyquist and not whole))
    else:
        w = 2 * np.pi * np.atleast_1d(count) / fs
    z = np.exp(-1j * w)
    return w * fs / (2 * np.pi), np.polyval(b[::-1], z) / np.polyval(a[::-1], z)


for _name in signal.__all__:
    _function = getattr(signal, _name)
    if callable(_function) and not isinstance(_function, type) and not classified(_function):
        refuse(
            _function,
            reason="it has no rule: write it with np.fft, scipy.signal.convolve or lfilter",
        )
