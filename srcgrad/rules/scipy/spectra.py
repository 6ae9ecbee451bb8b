"""Spectra of overlapping parts of signals."""

from __future__ import annotations

import inspect

import numpy as np
from scipy import signal

from ..registry import definition

# the names of windows that SciPy takes depend on its version
WINDOW_OF_SPECTROGRAM = inspect.signature(signal.spectrogram).parameters["window"].default
WINDOW_OF_ISTFT = inspect.signature(signal.istft).parameters["window"].default
WINDOW_OF_STFT = inspect.signature(signal.stft).parameters["window"].default


def cut(window, nperseg, length):
    """How many numbers each part of a signal of this length has, and how they are weighted."""
    if nperseg is not None and nperseg < 1:
        raise ValueError("nperseg must be a positive integer")
    if isinstance(window, (str, tuple)):
        n = min(256 if nperseg is None else nperseg, length)
        return n, signal.get_window(window, n)
    weights = np.asarray(window)
    if weights.ndim != 1:
        raise ValueError("window must be 1-D")
    n = len(weights)
    if length < n:
        raise ValueError("window is longer than input signal")
    if nperseg is not None and nperseg != n:
        raise ValueError("value specified for nperseg is different from length of window")
    return n, weights


def overlap_of(n, noverlap):
    """How many numbers two parts have in common that follow each other."""
    common = n // 2 if noverlap is None else noverlap
    if common >= n:
        raise ValueError("noverlap must be less than nperseg.")
    return common


def transformed_length(n, nfft):
    """Of how many numbers the Fourier transform of a part is."""
    if nfft is None:
        return n
    if nfft < n:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    return nfft


def parts_of(x, window, nperseg, noverlap, detrend):
    """The overlapping parts of rows of a signal, without their trend, and the window's weights."""
    if detrend not in ("constant", "linear", False):
        raise NotImplementedError("spectra have a rule for detrend='constant', 'linear' or False")
    length = x.shape[-1]
    n, weights = cut(window, nperseg, length)
    step = n - overlap_of(n, noverlap)
    parts = x[..., np.arange(0, length - n + 1, step)[:, None] + np.arange(n)]
    if detrend:
        parts = signal.detrend(parts, -1, detrend)
    return parts, as_precise(weights, x)


def as_precise(weights, x):
    """The weights of a window, as precise as the spectrum of x is."""
    if np.iscomplexobj(weights):
        raise NotImplementedError("spectra have a rule for windows of real numbers")
    return weights.astype(np.result_type(x.real, np.float32))


def unit_of(weights, fs, scaling):
    """What a spectrum of powers is divided by."""
    return fs * np.sum(weights**2) if scaling == "density" else np.sum(weights) ** 2


def is_one_sided(return_onesided, x):
    """Whether a spectrum has but the frequencies that aren't negative: not those of complex x."""
    return return_onesided and not np.iscomplexobj(x)


def spectra_of(parts, weights, fs, nfft, one_sided):
    """The Fourier transforms of the parts, weighted, and the frequencies."""
    n = transformed_length(parts.shape[-1], nfft)
    if one_sided:
        return np.fft.rfft(parts * weights, n), np.fft.rfftfreq(n, 1 / fs)
    return np.fft.fft(parts * weights, n), np.fft.fftfreq(n, 1 / fs)


def factors_of(weights, fs, scaling, n, one_sided):
    """What the powers by frequency are multiplied by: twice, if the negative ones are left out."""
    unit = unit_of(weights, fs, scaling)
    if not one_sided:
        return 1.0 / unit
    both = np.full(n // 2 + 1, 2.0, weights.dtype)
    both[0] = 1.0
    if n % 2 == 0:
        both[-1] = 1.0
    return both / unit


def powers(parts, weights, fs, nfft, scaling, one_sided):
    """The power of each part, by frequency, and the frequencies."""
    spectra, frequencies = spectra_of(parts, weights, fs, nfft, one_sided)
    n = transformed_length(parts.shape[-1], nfft)
    squares = spectra.real**2 + spectra.imag**2
    return squares * factors_of(weights, fs, scaling, n, one_sided), frequencies


def averaged(power, average):
    """The mean of the parts, or their median without its bias.

    B. Allen et al. (2012): FINDCHIRP, appendix B.
    """
    if average == "mean":
        return np.mean(power, axis=-2)
    if average != "median":
        raise ValueError("Parameter average must be 'median' or 'mean'!")
    even = 2.0 * np.arange(1, (power.shape[-2] - 1) // 2 + 1)
    return np.median(power, axis=-2) / (1.0 + np.sum(1.0 / (even + 1.0) - 1.0 / even))


def middles(x, n, noverlap, fs):
    """The times of the middles of the parts of a signal."""
    return np.arange(n / 2, x.shape[-1] - n / 2 + 1, n - noverlap) / float(fs)


@definition(signal.welch)
def welch(
    x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
    return_onesided=True, scaling="density", axis=-1, average="mean",
):  # fmt: skip
    """P. D. Welch (1967): the mean of the squared spectra of overlapping parts."""
    one_sided = is_one_sided(return_onesided, x)
    parts, weights = parts_of(np.moveaxis(x, axis, -1), window, nperseg, noverlap, detrend)
    power, frequencies = powers(parts, weights, fs, nfft, scaling, one_sided)
    return frequencies, np.moveaxis(averaged(power, average), -1, axis)


@definition(signal.csd)
def csd(
    x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
    return_onesided=True, scaling="density", axis=-1, average="mean",
):  # fmt: skip
    """Of a signal with itself, that is `welch`, and real."""
    x, y = np.asarray(x), np.asarray(y)
    if y is x:
        return signal.welch(
            x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis,
            average,
        )  # fmt: skip
    one_sided = is_one_sided(is_one_sided(return_onesided, x), y)
    frequencies, cross = cross_spectrum(
        np.moveaxis(np.asarray(x), axis, -1), np.moveaxis(np.asarray(y), axis, -1),
        fs, window, nperseg, noverlap, nfft, detrend, scaling, one_sided,
    )  # fmt: skip
    if average == "mean":
        cross = np.mean(cross, axis=-2)
    else:
        cross = averaged(cross.real, average) + 1j * averaged(cross.imag, average)
    return frequencies, np.moveaxis(cross, -1, axis)


def with_zeros(x, count):
    """Rows that are made so long by zeros behind."""
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, count - x.shape[-1])])


def cross_spectrum(x, y, fs, window, nperseg, noverlap, nfft, detrend, scaling, one_sided):
    """The spectra of two signals multiplied with one another, part by part."""
    count = max(x.shape[-1], y.shape[-1])
    x, y = with_zeros(x, count), with_zeros(y, count)
    parts, weights = parts_of(x, window, nperseg, noverlap, detrend)
    others, _ = parts_of(y, window, nperseg, noverlap, detrend)
    in_x, frequencies = spectra_of(parts, weights, fs, nfft, one_sided)
    in_y, _ = spectra_of(others, weights, fs, nfft, one_sided)
    n = transformed_length(parts.shape[-1], nfft)
    return frequencies, np.conj(in_x) * in_y * factors_of(weights, fs, scaling, n, one_sided)


@definition(signal.coherence)
def coherence(
    x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
    axis=-1,
):  # fmt: skip
    how = (fs, window, nperseg, noverlap, nfft, detrend)
    frequencies, in_x = signal.welch(x, *how, axis=axis)
    _, in_y = signal.welch(y, *how, axis=axis)
    _, cross = cross_spectrum(
        np.moveaxis(np.asarray(x), axis, -1), np.moveaxis(np.asarray(y), axis, -1),
        *how, "density", is_one_sided(is_one_sided(True, x), y),
    )  # fmt: skip
    cross = np.moveaxis(np.mean(cross, axis=-2), -1, axis)
    return frequencies, (cross.real**2 + cross.imag**2) / in_x / in_y


@definition(signal.spectrogram)
def spectrogram(
    x, fs=1.0, window=WINDOW_OF_SPECTROGRAM, nperseg=None, noverlap=None,
    nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1, mode="psd",
):  # fmt: skip
    if mode not in ("psd", "complex", "magnitude", "angle", "phase"):
        raise ValueError("unknown value for mode")
    one_sided = is_one_sided(return_onesided, x)
    rows = np.moveaxis(x, axis, -1)
    n, weights = cut(window, nperseg, rows.shape[-1])
    if noverlap is None:
        noverlap = n // 8
    parts, weights = parts_of(rows, weights, n, noverlap, detrend)
    if mode == "psd":
        result, frequencies = powers(parts, weights, fs, nfft, scaling, one_sided)
    else:
        spectra, frequencies = spectra_of(parts, weights, fs, nfft, one_sided)
        result = spectra / np.sqrt(unit_of(weights, fs, scaling))
        if mode == "magnitude":
            result = np.abs(result)
        elif mode != "complex":
            result = np.angle(result)
        if mode == "phase":
            result = np.unwrap(result, axis=-1)  # by frequency
    result = np.moveaxis(result, -1, axis - 1 if axis < 0 else axis)
    return frequencies, middles(rows, n, noverlap, fs), result


@definition(signal.stft)
def stft(
    x, fs=1.0, window=WINDOW_OF_STFT, nperseg=256, noverlap=None, nfft=None,
    detrend=False, return_onesided=True, boundary="zeros", padded=True, axis=-1,
    scaling="spectrum",
):  # fmt: skip
    if boundary not in ("zeros", None):
        raise NotImplementedError("stft has a rule for boundary='zeros' or None")
    one_sided = is_one_sided(return_onesided, x)
    rows = np.moveaxis(x, axis, -1)
    n, weights = cut(window, nperseg, rows.shape[-1])
    noverlap = overlap_of(n, noverlap)
    before = n // 2 if boundary is not None else 0
    wide = rows.shape[-1] + 2 * before
    after = before + (-(wide - n) % (n - noverlap) % n if padded else 0)
    rows = np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(before, after)])
    parts, weights = parts_of(rows, weights, n, noverlap, detrend)
    spectra, frequencies = spectra_of(parts, weights, fs, nfft, one_sided)
    unit = np.sqrt(unit_of(weights, fs, "density" if scaling == "psd" else scaling))
    spectra = np.moveaxis(spectra / unit, -1, axis - 1 if axis < 0 else axis)
    times = middles(rows, n, noverlap, fs)
    if boundary is not None:
        times = times - n / 2 / fs
    return frequencies, times, spectra


@definition(signal.periodogram)
def periodogram(
    x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True,
    scaling="density", axis=-1,
):  # fmt: skip
    if nfft is not None:
        x = np.moveaxis(np.moveaxis(x, axis, 0)[:nfft], 0, axis)
    length = x.shape[axis]
    return signal.welch(x, fs, window, length, 0, nfft, detrend, return_onesided, scaling, axis)


@definition(signal.istft)
def istft(
    Zxx, fs=1.0, window=WINDOW_OF_ISTFT, nperseg=None, noverlap=None, nfft=None,
    input_onesided=True, boundary=True, time_axis=-1, freq_axis=-2, scaling="spectrum",
):  # fmt: skip
    """The parts laid over each other, and divided by the sum of the squared windows."""
    in_time, in_frequency = time_axis % Zxx.ndim, freq_axis % Zxx.ndim
    spectra = np.moveaxis(Zxx, (in_time, in_frequency), (-2, -1))
    usual = 2 * (spectra.shape[-1] - 1) if input_onesided else spectra.shape[-1]
    n = usual if nperseg is None else nperseg
    if nfft is None:
        nfft = n if input_onesided and n == usual + 1 else usual
    nfft = transformed_length(n, nfft)
    step = n - overlap_of(n, noverlap)
    found, weights = cut(window, None if nperseg is None else n, n)
    if found != n:
        raise ValueError(f"window must have length of {n}")
    weights = as_precise(weights, Zxx)
    unit = np.sqrt(unit_of(weights, fs, "density" if scaling == "psd" else scaling))
    back = np.fft.irfft if input_onesided else np.fft.ifft
    parts = back(spectra, nfft)[..., :n] * (weights * unit)
    count = parts.shape[-2]
    x = np.zeros((*parts.shape[:-2], n + (count - 1) * step), parts.dtype)
    norm = np.zeros(n + (count - 1) * step, parts.real.dtype)
    for i in range(count):
        x[..., i * step : i * step + n] += parts[..., i, :]
        norm[i * step : i * step + n] += weights**2
    if boundary:
        x, norm = x[..., n // 2 : -(n // 2)], norm[n // 2 : -(n // 2)]
    x = x / np.where(norm > 1e-10, norm, 1.0)
    x = np.moveaxis(x, -1, in_time - 1 if in_frequency < in_time else in_time)
    return np.arange(x.shape[0]) / float(fs), x
