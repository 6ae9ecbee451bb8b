"""The gamma function, the error function, and their relatives."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from ..helpers import BERNOULLI
from ..registry import Unknown, adjoint, elementwise, kind
from ..shaping import present
from .kinds import like_first
from .special_arguments import BY_ORDER, BY_SHAPE


@elementwise(special.gamma)
def gamma(z, *, out):
    return out * special.digamma(z)


elementwise(special.gammaln, special.loggamma)(lambda x, *, out: special.digamma(x))


@elementwise(special.rgamma)
def rgamma(z, *, out):
    """By reflection where the gamma function has its poles: 1 / gamma(z) is
    gamma(1 - z) sin(pi z) / pi."""
    if np.iscomplexobj(z):
        return -out * special.digamma(z)
    reflected = z < 0.5
    other = np.where(reflected, 1 - z, 1.0)
    slope = np.cos(np.pi * z) - special.digamma(other) * np.sin(np.pi * z) / np.pi
    positive = np.where(reflected, 1.0, z)
    return np.where(reflected, special.gamma(other) * slope, -out * special.digamma(positive))


@elementwise(special.digamma)
def digamma(z, *, out):
    """Of a negative number by reflection: SciPy's polygamma is right for positive ones only."""
    if np.iscomplexobj(z):
        return polygamma_of_complex(1, z)
    negative = z < 0
    trigamma = special.polygamma(1, np.where(negative, 1 - z, z))
    reflected = (np.pi / np.sin(np.pi * (z + (z == 0)))) ** 2 - trigamma
    return np.where(negative, reflected, trigamma)


def polygamma_of_complex(order, z):
    """A derivative of the digamma function of complex numbers: DLMF 5.15.5 and 5.15.8.

    >>> np.round(polygamma_of_complex(1, 1 + 0j), 12)  # pi**2 / 6
    np.complex128(1.644934066848+0j)
    """
    z = np.asarray(z)
    factorial, total = math.factorial(order), np.zeros(z.shape, complex)
    steps = math.ceil(max(0.0, 20 + order - np.min(z.real, initial=math.inf)))
    for k in range(steps):
        total += factorial / (z + k) ** (order + 1)
    z = z + steps
    total += factorial / order / z**order + factorial / (2 * z ** (order + 1))
    for k, bernoulli in enumerate(BERNOULLI, 1):
        ratio = math.gamma(2 * k + order) / math.gamma(2 * k + 1)
        total += bernoulli * ratio / z ** (2 * k + order)
    return (-1) ** (order + 1) * total[()]


adjoint(polygamma_of_complex)(
    lambda order, z, *, out, d_out: (None, d_out * polygamma_of_complex(order + 1, z))
)
adjoint(special.polygamma)(lambda n, x, *, out, d_out: (None, d_out * special.polygamma(n + 1, x)))


@adjoint(special.multigammaln)
def multigammaln(a, d, *, out, d_out):
    total = special.digamma(a)
    for j in range(1, d):
        total = total + special.digamma(a - 0.5 * j)
    return d_out * total


kind(special.multigammaln)(like_first)  # a sample may be too small


@elementwise(special.beta)
def beta(a, b, *, out):
    both = special.digamma(a + b)
    return out * (special.digamma(a) - both), out * (special.digamma(b) - both)


@elementwise(special.betaln)
def betaln(a, b, *, out):
    both = special.digamma(a + b)
    return special.digamma(a) - both, special.digamma(b) - both


@elementwise(special.binom)
def binom(n, k, *, out):
    rest = special.digamma(n - k + 1)
    return out * (special.digamma(n + 1) - rest), out * (rest - special.digamma(k + 1))


@adjoint(special.comb)
def comb(N, k, *, exact=False, repetition=False, out, d_out):
    if exact:
        return None, None
    if repetition:
        rest = special.digamma(N)
        both = special.digamma(N + k)
        return d_out * out * (both - rest), d_out * out * (both - special.digamma(k + 1))
    rest = special.digamma(N - k + 1)
    d_N = d_out * out * (special.digamma(N + 1) - rest)
    return d_N, d_out * out * (rest - special.digamma(k + 1))


@adjoint(special.perm)
def perm(N, k, exact=False, *, out, d_out):
    if exact:
        return None, None
    rest = special.digamma(N - k + 1)
    return d_out * out * (special.digamma(N + 1) - rest), d_out * out * rest


@adjoint(special.factorial)
def factorial(n, exact=False, *, extend="zero", out, d_out):
    if exact:
        return None
    if extend != "zero":
        return Unknown("with extend='complex' it has no rule")
    return d_out * out * special.digamma(np.maximum(n, 0) + 1)


@elementwise(special.poch)
def poch(z, m, *, out):
    both = special.digamma(z + m)
    return out * (both - special.digamma(z)), out * both


def gamma_density(a, x):
    """The density of the gamma distribution with shape a."""
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


def beta_density(a, b, x):
    return np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


elementwise(special.gammainc)(lambda a, x, *, out: (BY_SHAPE, gamma_density(a, x)))
elementwise(special.gammaincc)(lambda a, x, *, out: (BY_SHAPE, -gamma_density(a, x)))
elementwise(special.gammaincinv)(lambda a, y, *, out: (BY_SHAPE, 1 / gamma_density(a, out)))
elementwise(special.gammainccinv)(lambda a, y, *, out: (BY_SHAPE, -1 / gamma_density(a, out)))
elementwise(special.betainc)(lambda a, b, x, *, out: (BY_SHAPE, BY_SHAPE, beta_density(a, b, x)))
elementwise(*present(special, "betaincc"))(
    lambda a, b, x, *, out: (BY_SHAPE, BY_SHAPE, -beta_density(a, b, x))
)
elementwise(special.betaincinv)(
    lambda a, b, y, *, out: (BY_SHAPE, BY_SHAPE, 1 / beta_density(a, b, out))
)
elementwise(*present(special, "betainccinv"))(
    lambda a, b, y, *, out: (BY_SHAPE, BY_SHAPE, -1 / beta_density(a, b, out))
)


@adjoint(special.zeta)
def zeta(x, q=None, *, out, d_out):
    if q is None:
        return BY_ORDER
    return BY_ORDER, -x * d_out * special.zeta(x + 1, q)


# The error function and its relatives

elementwise(special.erf)(lambda z, *, out: 2 / math.sqrt(math.pi) * np.exp(-z * z))
elementwise(special.erfc)(lambda z, *, out: -2 / math.sqrt(math.pi) * np.exp(-z * z))
elementwise(special.erfcx)(lambda z, *, out: 2 * z * out - 2 / math.sqrt(math.pi))
elementwise(special.erfi)(lambda z, *, out: 2 / math.sqrt(math.pi) * np.exp(z * z))
elementwise(special.erfinv)(lambda y, *, out: math.sqrt(math.pi) / 2 * np.exp(out * out))
elementwise(special.erfcinv)(lambda y, *, out: -math.sqrt(math.pi) / 2 * np.exp(out * out))
elementwise(special.dawsn)(lambda x, *, out: 1 - 2 * x * out)
elementwise(special.wofz)(lambda z, *, out: 2j / math.sqrt(math.pi) - 2 * z * out)
elementwise(special.ndtr)(lambda x, *, out: np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi))


@elementwise(special.log_ndtr)
def log_ndtr(x, *, out):
    if np.iscomplexobj(x):
        return np.exp(-0.5 * x * x - out) / math.sqrt(2 * math.pi)
    return math.sqrt(2 / math.pi) / special.erfcx(-math.sqrt(0.5) * x)


elementwise(special.ndtri)(lambda y, *, out: math.sqrt(2 * math.pi) * np.exp(0.5 * out * out))
elementwise(special.ndtri_exp)(
    lambda y, *, out: math.sqrt(2 * math.pi) * np.exp(0.5 * out * out + y)
)


@elementwise(special.owens_t)
def owens_t(h, a, *, out):
    d_h = -np.exp(-0.5 * h * h) * special.erf(math.sqrt(0.5) * a * h) / math.sqrt(8 * math.pi)
    factor = 1 + a * a
    return d_h, np.exp(-0.5 * h * h * factor) / (2 * math.pi * factor)


@elementwise(special.voigt_profile)
def voigt_profile(x, sigma, gamma, *, out):
    """The real part of wofz(z) / (sigma sqrt(2 pi)) at z = (x + i gamma) / (sigma sqrt(2))."""
    scale = math.sqrt(2) * sigma
    z = (x + 1j * gamma) / scale
    derivative = (2j / math.sqrt(math.pi) - 2 * z * special.wofz(z)) / (scale * math.sqrt(math.pi))
    d_sigma = -(out + np.real(derivative * z)) / sigma
    return np.real(derivative) / scale, d_sigma, -np.imag(derivative) / scale


@adjoint(special.fresnel, unused=None)
def fresnel(z, *, out, d_out):
    d_s, d_c = d_out
    phase = math.pi / 2 * z * z
    d_z = 0
    if d_s is not None:
        d_z = d_s * np.sin(phase)
    if d_c is not None:
        d_z = d_z + d_c * np.cos(phase)
    return d_z
