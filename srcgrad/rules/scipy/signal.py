"""Convolutions and filters."""

from __future__ import annotations

import numpy as np
from scipy import fft, ndimage, signal

from ... import ir
from ...analysis.inference import Inferred
from ...kinds import Array, TupleOf, fresh_size
from ..products import conj
from ..registry import Unknown, adjoint, classified, definition, kind, refuse, zero
from . import spectra  # noqa: F401  (it registers its rules)
from .kinds import floating, operand_kind

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


@adjoint(signal.convolve2d)
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0, *, out, d_out):
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError("with other boundaries use scipy.ndimage.convolve")
    d_full = embedded(d_out, in1.shape, in2.shape, mode)
    d_in1 = signal.correlate2d(d_full, conj(in2), "valid")
    return d_in1, signal.correlate2d(d_full, conj(in1), "valid")


@adjoint(signal.correlate2d)
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0, *, out, d_out):
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError("with other boundaries use scipy.ndimage.correlate")
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


@definition(signal.upfirdn)
def upfirdn(h, x, up=1, down=1):
    if x.ndim != 1:
        raise NotImplementedError("upfirdn has a rule for one-dimensional signals only")
    wide = np.zeros((x.shape[0] - 1) * up + 1, x.dtype)
    wide[::up] = x
    return signal.convolve(wide, h)[::down]


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
