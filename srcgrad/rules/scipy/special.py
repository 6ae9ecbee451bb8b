"""Special functions.

Where the derivative by one argument is known only as an infinite series (by the order of a Bessel
function, the shape of an incomplete gamma function), that one is refused and the others are not.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from ..elementwise import power_by_base
from ..registry import (
    Unknown,
    adjoint,
    classified,
    definition,
    elementwise,
    inert,
    kind,
    refuse,
    zero,
)
from ..shaping import present
from .kinds import like_first

BY_ORDER = Unknown("by its order there is no closed form; use an int, or a constant")
BY_SHAPE = Unknown("by its shape parameters there is no closed form")
OF_COMPLEX = Unknown("of complex numbers it has no rule")

# The gamma function and its relatives


@elementwise(special.gamma)
def gamma(z, *, out):
    return out * special.digamma(z)


@elementwise(special.gammaln, special.loggamma)
def gammaln(x, *, out):
    return special.digamma(x)


@elementwise(special.rgamma)
def rgamma(z, *, out):
    """At the poles of the gamma function, -psi(z) / gamma(z) has the limit (-1)^n n!."""
    if np.iscomplexobj(z):
        return -out * special.digamma(z)
    pole = (z <= 0) & (z == np.floor(z))
    at_pole = np.cos(np.pi * z) * special.gamma(1 - np.minimum(z, 0))
    return np.where(pole, at_pole, -out * special.digamma(z + pole * (1 - z)))


@elementwise(special.digamma)
def digamma(z, *, out):
    """Of a negative number by reflection: SciPy's polygamma is right for positive ones only."""
    if np.iscomplexobj(z):
        return OF_COMPLEX
    negative = z < 0
    trigamma = special.polygamma(1, np.where(negative, 1 - z, z))
    reflected = (np.pi / np.sin(np.pi * (z + (z == 0)))) ** 2 - trigamma
    return np.where(negative, reflected, trigamma)


@adjoint(special.polygamma)
def polygamma(n, x, *, out, d_out):
    return None, d_out * special.polygamma(n + 1, x)


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


@elementwise(special.gammainc)
def gammainc(a, x, *, out):
    return BY_SHAPE, gamma_density(a, x)


@elementwise(special.gammaincc)
def gammaincc(a, x, *, out):
    return BY_SHAPE, -gamma_density(a, x)


@elementwise(special.gammaincinv)
def gammaincinv(a, y, *, out):
    return BY_SHAPE, 1 / gamma_density(a, out)


@elementwise(special.gammainccinv)
def gammainccinv(a, y, *, out):
    return BY_SHAPE, -1 / gamma_density(a, out)


@elementwise(special.betainc)
def betainc(a, b, x, *, out):
    return BY_SHAPE, BY_SHAPE, beta_density(a, b, x)


@elementwise(*present(special, "betaincc"))
def betaincc(a, b, x, *, out):
    return BY_SHAPE, BY_SHAPE, -beta_density(a, b, x)


@elementwise(special.betaincinv)
def betaincinv(a, b, y, *, out):
    return BY_SHAPE, BY_SHAPE, 1 / beta_density(a, b, out)


@elementwise(*present(special, "betainccinv"))
def betainccinv(a, b, y, *, out):
    return BY_SHAPE, BY_SHAPE, -1 / beta_density(a, b, out)


@adjoint(special.zeta)
def zeta(x, q=None, *, out, d_out):
    if q is None:
        return BY_ORDER
    return BY_ORDER, -x * d_out * special.zeta(x + 1, q)


# The error function and its relatives


@elementwise(special.erf)
def erf(z, *, out):
    return 2 / math.sqrt(math.pi) * np.exp(-z * z)


@elementwise(special.erfc)
def erfc(z, *, out):
    return -2 / math.sqrt(math.pi) * np.exp(-z * z)


@elementwise(special.erfcx)
def erfcx(z, *, out):
    return 2 * z * out - 2 / math.sqrt(math.pi)


@elementwise(special.erfi)
def erfi(z, *, out):
    return 2 / math.sqrt(math.pi) * np.exp(z * z)


@elementwise(special.erfinv)
def erfinv(y, *, out):
    return math.sqrt(math.pi) / 2 * np.exp(out * out)


@elementwise(special.erfcinv)
def erfcinv(y, *, out):
    return -math.sqrt(math.pi) / 2 * np.exp(out * out)


@elementwise(special.dawsn)
def dawsn(x, *, out):
    return 1 - 2 * x * out


@elementwise(special.wofz)
def wofz(z, *, out):
    return 2j / math.sqrt(math.pi) - 2 * z * out


@elementwise(special.ndtr)
def ndtr(x, *, out):
    return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


@elementwise(special.log_ndtr)
def log_ndtr(x, *, out):
    if np.iscomplexobj(x):
        return np.exp(-0.5 * x * x - out) / math.sqrt(2 * math.pi)
    return math.sqrt(2 / math.pi) / special.erfcx(-math.sqrt(0.5) * x)


@elementwise(special.ndtri)
def ndtri(y, *, out):
    return math.sqrt(2 * math.pi) * np.exp(0.5 * out * out)


@elementwise(special.ndtri_exp)
def ndtri_exp(y, *, out):
    return math.sqrt(2 * math.pi) * np.exp(0.5 * out * out + y)


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


@adjoint(special.fresnel)
def fresnel(z, *, out, d_out):
    d_s, d_c = d_out
    phase = math.pi / 2 * z * z
    d_z = 0
    if d_s is not None:
        d_z = d_s * np.sin(phase)
    if d_c is not None:
        d_z = d_z + d_c * np.cos(phase)
    return d_z


# Bessel functions


def _cylinder(function):
    """The rule of a Bessel function with C'(v) = (C(v - 1) - C(v + 1)) / 2: DLMF 10.6.1."""

    @elementwise(function)
    def rule(v, z, *, out):
        return BY_ORDER, 0.5 * (function(v - 1, z) - function(v + 1, z))

    return rule


for _function in (special.jv, special.yv, special.hankel1, special.hankel2, special.yn):
    _cylinder(_function)


@elementwise(special.jve)
def jve(v, z, *, out):
    if np.iscomplexobj(z):
        return OF_COMPLEX, OF_COMPLEX
    return BY_ORDER, 0.5 * (special.jve(v - 1, z) - special.jve(v + 1, z))


@elementwise(special.yve)
def yve(v, z, *, out):
    if np.iscomplexobj(z):
        return OF_COMPLEX, OF_COMPLEX
    return BY_ORDER, 0.5 * (special.yve(v - 1, z) - special.yve(v + 1, z))


@elementwise(special.hankel1e)
def hankel1e(v, z, *, out):
    return BY_ORDER, 0.5 * (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) - 1j * out


@elementwise(special.hankel2e)
def hankel2e(v, z, *, out):
    return BY_ORDER, 0.5 * (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) + 1j * out


@elementwise(special.iv)
def iv(v, z, *, out):
    return BY_ORDER, 0.5 * (special.iv(v - 1, z) + special.iv(v + 1, z))


@elementwise(special.ive)
def ive(v, z, *, out):
    if np.iscomplexobj(z):
        return OF_COMPLEX, OF_COMPLEX
    return BY_ORDER, 0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z)) - np.sign(z) * out


@elementwise(special.kv)
def kv(v, z, *, out):
    return BY_ORDER, -0.5 * (special.kv(v - 1, z) + special.kv(v + 1, z))


@elementwise(special.kn)
def kn(n, x, *, out):
    return BY_ORDER, -0.5 * (special.kv(n - 1, x) + special.kv(n + 1, x))


@elementwise(special.kve)
def kve(v, z, *, out):
    return BY_ORDER, out - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z))


@elementwise(special.j0)
def j0(x, *, out):
    return -special.j1(x)


@elementwise(special.j1)
def j1(x, *, out):
    return 0.5 * (special.j0(x) - special.jv(2, x))


@elementwise(special.y0)
def y0(x, *, out):
    return -special.y1(x)


@elementwise(special.y1)
def y1(x, *, out):
    return 0.5 * (special.y0(x) - special.yn(2, x))


@elementwise(special.i0)
def i0(x, *, out):
    return special.i1(x)


@elementwise(special.i1)
def i1(x, *, out):
    return 0.5 * (special.i0(x) + special.iv(2, x))


@elementwise(special.i0e)
def i0e(x, *, out):
    return special.i1e(x) - np.sign(x) * out


@elementwise(special.i1e)
def i1e(x, *, out):
    return 0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * out


@elementwise(special.k0)
def k0(x, *, out):
    return -special.k1(x)


@elementwise(special.k1)
def k1(x, *, out):
    return -0.5 * (special.k0(x) + special.kn(2, x))


@elementwise(special.k0e)
def k0e(x, *, out):
    return out - special.k1e(x)


@elementwise(special.k1e)
def k1e(x, *, out):
    return out - 0.5 * (special.k0e(x) + special.kve(2, x))


@adjoint(special.jvp)
def jvp(v, z, n=1, *, out, d_out):
    return BY_ORDER, d_out * special.jvp(v, z, n + 1)


@adjoint(special.yvp)
def yvp(v, z, n=1, *, out, d_out):
    return BY_ORDER, d_out * special.yvp(v, z, n + 1)


@adjoint(special.ivp)
def ivp(v, z, n=1, *, out, d_out):
    return BY_ORDER, d_out * special.ivp(v, z, n + 1)


@adjoint(special.kvp)
def kvp(v, z, n=1, *, out, d_out):
    return BY_ORDER, d_out * special.kvp(v, z, n + 1)


@adjoint(special.h1vp)
def h1vp(v, z, n=1, *, out, d_out):
    return BY_ORDER, d_out * special.h1vp(v, z, n + 1)


@adjoint(special.h2vp)
def h2vp(v, z, n=1, *, out, d_out):
    return BY_ORDER, d_out * special.h2vp(v, z, n + 1)


def spherical_second(function, n, z, out, sign):
    """The second derivative of a spherical Bessel function, from its equation: DLMF 10.47."""
    return sign * (1 + sign * n * (n + 1) / (z * z)) * function(n, z) - 2 / z * out


@adjoint(special.spherical_jn)
def spherical_jn(n, z, derivative=False, *, out, d_out):
    if derivative:
        return None, d_out * spherical_second(special.spherical_jn, n, z, out, -1)
    return None, d_out * special.spherical_jn(n, z, True)


@adjoint(special.spherical_yn)
def spherical_yn(n, z, derivative=False, *, out, d_out):
    if derivative:
        return None, d_out * spherical_second(special.spherical_yn, n, z, out, -1)
    return None, d_out * special.spherical_yn(n, z, True)


@adjoint(special.spherical_in)
def spherical_in(n, z, derivative=False, *, out, d_out):
    if derivative:
        return None, d_out * spherical_second(special.spherical_in, n, z, out, 1)
    return None, d_out * special.spherical_in(n, z, True)


@adjoint(special.spherical_kn)
def spherical_kn(n, z, derivative=False, *, out, d_out):
    if derivative:
        return None, d_out * spherical_second(special.spherical_kn, n, z, out, 1)
    return None, d_out * special.spherical_kn(n, z, True)


@elementwise(special.struve)
def struve(v, x, *, out):
    """DLMF 11.4.24, with the gamma function's sign."""
    power = (0.5 * x) ** v * special.rgamma(v + 1.5) / math.sqrt(math.pi)
    return BY_ORDER, 0.5 * (special.struve(v - 1, x) - special.struve(v + 1, x) + power)


@elementwise(special.modstruve)
def modstruve(v, x, *, out):
    power = (0.5 * x) ** v * special.rgamma(v + 1.5) / math.sqrt(math.pi)
    return BY_ORDER, 0.5 * (special.modstruve(v - 1, x) + special.modstruve(v + 1, x) + power)


@adjoint(special.airy)
def airy(z, *, out, d_out):
    """Both Ai and Bi satisfy w'' = z w."""
    ai, aip, bi, bip = out
    d_ai, d_aip, d_bi, d_bip = d_out
    d_z = 0
    if d_ai is not None:
        d_z = d_z + d_ai * aip
    if d_aip is not None:
        d_z = d_z + d_aip * z * ai
    if d_bi is not None:
        d_z = d_z + d_bi * bip
    if d_bip is not None:
        d_z = d_z + d_bip * z * bi
    return d_z


@elementwise(special.ber)
def ber(x, *, out):
    return special.berp(x)


@elementwise(special.bei)
def bei(x, *, out):
    return special.beip(x)


@elementwise(special.ker)
def ker(x, *, out):
    return special.kerp(x)


@elementwise(special.kei)
def kei(x, *, out):
    return special.keip(x)


# Their second derivatives: both ber + i bei and ker + i kei satisfy w'' + w' / x = i w, DLMF 10.61


@elementwise(special.berp)
def berp(x, *, out):
    return -out / (x + (x == 0)) - special.bei(x)


@elementwise(special.beip)
def beip(x, *, out):
    return np.where(x == 0, 0.5, -out / (x + (x == 0)) + special.ber(x))


@elementwise(special.kerp)
def kerp(x, *, out):
    return -out / x - special.kei(x)


@elementwise(special.keip)
def keip(x, *, out):
    return -out / x + special.ker(x)


# The logistic function, softmax, and what else machine learning uses


@elementwise(special.expit)
def expit(x, *, out):
    return out * (1 - out)


@adjoint(special.logit)
def logit(x, *, out, d_out):
    return d_out / (x * (1 - x))


@elementwise(special.log_expit)
def log_expit(x, *, out):
    return special.expit(-x)


@adjoint(*present(special, "softplus"))
def softplus(x, *, out, d_out):
    return d_out * special.expit(x)


@adjoint(special.softmax)
def softmax(x, axis=None, *, out, d_out):
    scaled = d_out * out
    return scaled - out * np.sum(scaled, axis=axis, keepdims=True)


@adjoint(special.log_softmax)
def log_softmax(x, axis=None, *, out, d_out):
    return d_out - np.exp(out) * np.sum(d_out, axis=axis, keepdims=True)


@adjoint(special.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, out, d_out):
    """The weights are a softmax; the lower bound makes them 0 where all are -inf, not nan."""
    if return_sign:
        out, sign = out
        d_out = d_out[0]
        if np.iscomplexobj(a) or np.iscomplexobj(b):
            return OF_COMPLEX, None, OF_COMPLEX
        d_out = d_out * sign
    if axis is not None and not keepdims and np.ndim(a) > 0:
        out, d_out = np.expand_dims(out, axis), np.expand_dims(d_out, axis)
    if not np.iscomplexobj(out):
        out = np.maximum(out, -3e38)
    if b is None:
        return d_out * np.exp(a - out)
    weights = d_out * np.exp(a - out)
    return b * weights, None, weights


@elementwise(special.xlogy)
def xlogy(x, y, *, out):
    """At 0, 0 both are 0."""
    y = y + ((x == 0) & (y == 0))
    return np.log(y), x / y


@elementwise(special.xlog1py)
def xlog1py(x, y, *, out):
    y = y + ((x == 0) & (y == -1))
    return np.log1p(y), x / (1 + y)


@elementwise(special.entr)
def entr(x, *, out):
    return -1 - np.log(x)


@elementwise(special.rel_entr)
def rel_entr(x, y, *, out):
    ratio = x / y
    return 1 + np.log(ratio), -ratio


@elementwise(special.kl_div)
def kl_div(x, y, *, out):
    ratio = x / y
    return np.log(ratio), 1 - ratio


@elementwise(special.huber)
def huber(delta, r, *, out):
    return np.maximum(np.abs(r) - delta, 0.0), np.clip(r, -delta, delta)


@elementwise(special.pseudo_huber)
def pseudo_huber(delta, r, *, out):
    ratio = r / delta
    root = np.sqrt(1 + ratio * ratio)
    slope = r / root
    return delta * (2 * (root - 1) - ratio * ratio / root), slope


# Powers, exponentials, angles


@elementwise(special.expm1)
def expm1(x, *, out):
    return out + 1


@adjoint(special.log1p)
def log1p(x, *, out, d_out):
    return d_out / (1 + x)


@adjoint(special.cbrt)
def cbrt(x, *, out, d_out):
    return d_out / (3 * out * out)


@adjoint(special.exp2)
def exp2(x, *, out, d_out):
    return math.log(2.0) * d_out * out


@adjoint(special.exp10)
def exp10(x, *, out, d_out):
    return math.log(10.0) * d_out * out


@elementwise(special.powm1)
def powm1(x, y, *, out):
    return power_by_base(x, y), (out + 1) * special.xlogy(out != -1, x)


def exprel_slope(x):
    """The derivative of (exp(x) - 1) / x, in the form that doesn't cancel near 0."""
    return 0.5 * special.hyp1f1(2, 3, x)


@elementwise(special.exprel)
def exprel(x, *, out):
    return exprel_slope(x)


@elementwise(special.boxcox)
def boxcox(x, lmbda, *, out):
    log = np.log(x)
    return x ** (lmbda - 1), log * log * exprel_slope(lmbda * log)


@elementwise(special.boxcox1p)
def boxcox1p(x, lmbda, *, out):
    log = np.log1p(x)
    return np.exp((lmbda - 1) * log), log * log * exprel_slope(lmbda * log)


@elementwise(special.inv_boxcox)
def inv_boxcox(y, lmbda, *, out):
    log = np.log(out)
    slope = np.exp((1 - lmbda) * log)
    return slope, -slope * log * log * exprel_slope(lmbda * log)


@elementwise(special.inv_boxcox1p)
def inv_boxcox1p(y, lmbda, *, out):
    log = np.log1p(out)
    slope = np.exp((1 - lmbda) * log)
    return slope, -slope * log * log * exprel_slope(lmbda * log)


@elementwise(special.cosm1)
def cosm1(x, *, out):
    return -np.sin(x)


@elementwise(special.sindg)
def sindg(x, *, out):
    return math.pi / 180 * special.cosdg(x)


@elementwise(special.cosdg)
def cosdg(x, *, out):
    return -math.pi / 180 * special.sindg(x)


@elementwise(special.tandg)
def tandg(x, *, out):
    return math.pi / 180 * (1 + out * out)


@elementwise(special.cotdg)
def cotdg(x, *, out):
    return -math.pi / 180 * (1 + out * out)


@adjoint(special.radian)
def radian(d, m, s, *, out, d_out):
    return math.pi / 180 * d_out, math.pi / 10800 * d_out, math.pi / 648000 * d_out


@adjoint(special.lambertw)
def lambertw(z, k=0, *, tol=1e-8, out, d_out):
    return d_out * np.exp(-out) / (1 + out)


@adjoint(special.wrightomega)
def wrightomega(z, *, out, d_out):
    return d_out * out / (1 + out)


# Integrals


@elementwise(special.ellipk)
def ellipk(m, *, out):
    """DLMF 19.25.1: in Carlson's form nothing cancels near 0."""
    return special.elliprd(0, 1, 1 - m) / 6


@elementwise(special.ellipkm1)
def ellipkm1(p, *, out):
    return -special.elliprd(0, 1, p) / 6


@elementwise(special.ellipe)
def ellipe(m, *, out):
    return -special.elliprd(0, 1 - m, 1) / 6


@elementwise(special.ellipkinc)
def ellipkinc(phi, m, *, out):
    turns = np.round(phi / np.pi)
    s, c = np.sin(phi - np.pi * turns), np.cos(phi)
    squared = 1 - m * s * s
    d_m = s**3 * special.elliprd(c * c, 1, squared) / 6
    return 1 / np.sqrt(squared), d_m + turns * special.elliprd(0, 1, 1 - m) / 3


@elementwise(special.ellipeinc)
def ellipeinc(phi, m, *, out):
    turns = np.round(phi / np.pi)
    s, c = np.sin(phi - np.pi * turns), np.cos(phi)
    squared = 1 - m * s * s
    d_m = -(s**3) * special.elliprd(c * c, squared, 1) / 6
    return np.sqrt(squared), d_m - turns * special.elliprd(0, 1 - m, 1) / 3


@elementwise(special.elliprf)
def elliprf(x, y, z, *, out):
    return (
        -special.elliprd(y, z, x) / 6,
        -special.elliprd(x, z, y) / 6,
        -special.elliprd(x, y, z) / 6,
    )


@adjoint(special.ellipj)
def ellipj(u, m, *, out, d_out):
    sn, cn, dn, _ = out
    d_sn, d_cn, d_dn, d_ph = d_out
    d_u = 0
    if d_sn is not None:
        d_u = d_u + d_sn * cn * dn
    if d_cn is not None:
        d_u = d_u - d_cn * sn * dn
    if d_dn is not None:
        d_u = d_u - d_dn * m * sn * cn
    if d_ph is not None:
        d_u = d_u + d_ph * dn
    return d_u, BY_SHAPE


@elementwise(special.expi)
def expi(x, *, out):
    return np.exp(x) / x


@elementwise(special.exp1)
def exp1(z, *, out):
    return -np.exp(-z) / z


@elementwise(special.expn)
def expn(n, x, *, out):
    of_0 = -out * (1 + 1 / x)
    return BY_ORDER, np.where(n == 0, of_0, -special.expn(np.maximum(n - 1, 0), x))


@adjoint(special.sici)
def sici(x, *, out, d_out):
    d_si, d_ci = d_out
    d_x = 0
    if d_si is not None:
        d_x = d_si * (np.sin(x) / x if np.iscomplexobj(x) else np.sinc(x / np.pi))
    if d_ci is not None:
        d_x = d_x + d_ci * np.cos(x) / x
    return d_x


@adjoint(special.shichi)
def shichi(x, *, out, d_out):
    d_shi, d_chi = d_out
    d_x = 0
    if d_shi is not None:
        d_x = d_shi * np.sinh(x) / x
    if d_chi is not None:
        d_x = d_x + d_chi * np.cosh(x) / x
    return d_x


def of_several(*slopes):
    """The rule of a function of x with several results, of these derivatives."""

    def rule(x, *, out, d_out):
        total = 0
        for slope, d in zip(slopes, d_out, strict=True):
            if d is not None:
                total = total + d * slope(x)
        return total

    return rule


adjoint(special.itj0y0)(of_several(special.j0, special.y0))
adjoint(special.iti0k0)(of_several(special.i0, special.k0))


@adjoint(special.it2j0y0)
def it2j0y0(x, *, out, d_out):
    return d_out[0] * (1 - special.j0(x)) / x - d_out[1] * special.y0(x) / x


@adjoint(special.it2i0k0)
def it2i0k0(x, *, out, d_out):
    return d_out[0] * (special.i0(x) - 1) / x - d_out[1] * special.k0(x) / x


@elementwise(special.itstruve0)
def itstruve0(x, *, out):
    return special.struve(0, x)


@elementwise(special.itmodstruve0)
def itmodstruve0(x, *, out):
    return special.modstruve(0, x)


@elementwise(special.elliprc)
def elliprc(x, y, *, out):
    """Where both are equal, the limits."""
    same = x == y
    twice = 2 * (y - x + same)
    d_x = np.where(same, -out / (6 * x), (out - 1 / np.sqrt(x)) / twice)
    return d_x, np.where(same, -out / (3 * x), (np.sqrt(x) / y - out) / twice)


@definition(special.assoc_laguerre)
def assoc_laguerre(x, n, k=0.0):
    return special.eval_genlaguerre(n, k, x)


@elementwise(special.spence)
def spence(z, *, out):
    past = z - 1
    if np.iscomplexobj(z):
        return -np.log(z) / past
    at_1 = past == 0
    return -(np.log1p(past) + at_1) / (past + at_1)


# Hypergeometric functions, polynomials


@elementwise(special.hyp0f1)
def hyp0f1(v, z, *, out):
    return BY_SHAPE, special.hyp0f1(v + 1, z) / v


@elementwise(special.hyp1f1)
def hyp1f1(a, b, x, *, out):
    return BY_SHAPE, BY_SHAPE, a / b * special.hyp1f1(a + 1, b + 1, x)


@elementwise(special.hyp2f1)
def hyp2f1(a, b, c, z, *, out):
    return BY_SHAPE, BY_SHAPE, BY_SHAPE, a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z)


@elementwise(special.hyperu)
def hyperu(a, b, x, *, out):
    return BY_SHAPE, BY_SHAPE, -a * special.hyperu(a + 1, b + 1, x)


@elementwise(special.wright_bessel)
def wright_bessel(a, b, x, *, out):
    return BY_SHAPE, BY_SHAPE, special.wright_bessel(a, a + b, x)


@elementwise(special.eval_legendre)
def eval_legendre(n, x, *, out):
    return BY_ORDER, np.where(n == 0, 0.0, 0.5 * (n + 1) * special.eval_jacobi(n - 1, 1, 1, x))


@elementwise(special.eval_jacobi)
def eval_jacobi(n, alpha, beta, x, *, out):
    inner = special.eval_jacobi(n - 1, alpha + 1, beta + 1, x)
    slope = np.where(n == 0, 0.0, 0.5 * (n + alpha + beta + 1) * inner)
    return BY_ORDER, BY_SHAPE, BY_SHAPE, slope


@elementwise(special.eval_chebyt)
def eval_chebyt(n, x, *, out):
    return BY_ORDER, n * special.eval_chebyu(n - 1, x)


@elementwise(special.eval_chebyu)
def eval_chebyu(n, x, *, out):
    return BY_ORDER, np.where(n == 0, 0.0, 2 * special.eval_gegenbauer(n - 1, 2, x))


@elementwise(special.eval_chebyc)
def eval_chebyc(n, x, *, out):
    return BY_ORDER, n * special.eval_chebys(n - 1, x)


@elementwise(special.eval_chebys)
def eval_chebys(n, x, *, out):
    return BY_ORDER, np.where(n == 0, 0.0, special.eval_gegenbauer(n - 1, 2, 0.5 * x))


@elementwise(special.eval_gegenbauer)
def eval_gegenbauer(n, alpha, x, *, out):
    inner = special.eval_gegenbauer(n - 1, alpha + 1, x)
    return BY_ORDER, BY_SHAPE, np.where(n == 0, 0.0, 2 * alpha * inner)


@elementwise(special.eval_hermite)
def eval_hermite(n, x, *, out):
    return BY_ORDER, np.where(n == 0, 0.0, 2 * n * special.eval_hermite(np.maximum(n - 1, 0), x))


@elementwise(special.eval_hermitenorm)
def eval_hermitenorm(n, x, *, out):
    return BY_ORDER, np.where(n == 0, 0.0, n * special.eval_hermitenorm(np.maximum(n - 1, 0), x))


@elementwise(special.eval_laguerre)
def eval_laguerre(n, x, *, out):
    return BY_ORDER, np.where(n == 0, 0.0, -special.eval_genlaguerre(n - 1, 1, x))


@elementwise(special.eval_genlaguerre)
def eval_genlaguerre(n, alpha, x, *, out):
    inner = special.eval_genlaguerre(n - 1, alpha + 1, x)
    return BY_ORDER, BY_SHAPE, np.where(n == 0, 0.0, -inner)


@elementwise(special.eval_sh_legendre)
def eval_sh_legendre(n, x, *, out):
    inner = special.eval_jacobi(n - 1, 1, 1, 2 * x - 1)
    return BY_ORDER, np.where(n == 0, 0.0, (n + 1) * inner)


@elementwise(special.eval_sh_chebyt)
def eval_sh_chebyt(n, x, *, out):
    return BY_ORDER, 2 * n * special.eval_chebyu(n - 1, 2 * x - 1)


@elementwise(special.eval_sh_chebyu)
def eval_sh_chebyu(n, x, *, out):
    inner = special.eval_gegenbauer(n - 1, 2, 2 * x - 1)
    return BY_ORDER, np.where(n == 0, 0.0, 4 * inner)


# Distribution functions


def t_density(df, t):
    half = 0.5 * (df + 1)
    log = -half * np.log1p(t * t / df) - special.betaln(0.5 * df, 0.5)
    return np.exp(log) / np.sqrt(df)


@elementwise(special.stdtr)
def stdtr(df, t, *, out):
    return BY_SHAPE, t_density(df, t)


@elementwise(special.stdtrit)
def stdtrit(df, p, *, out):
    return BY_SHAPE, 1 / t_density(df, out)


@elementwise(special.chdtr)
def chdtr(v, x, *, out):
    return BY_SHAPE, 0.5 * gamma_density(0.5 * v, 0.5 * x)


@elementwise(special.chdtrc)
def chdtrc(v, x, *, out):
    return BY_SHAPE, -0.5 * gamma_density(0.5 * v, 0.5 * x)


@elementwise(special.chdtri)
def chdtri(v, p, *, out):
    return BY_SHAPE, -2 / gamma_density(0.5 * v, 0.5 * out)


def f_density(dfn, dfd, x):
    ratio = dfn * x / (dfd + dfn * x)
    scale = dfn * dfd / (dfd + dfn * x) ** 2
    return scale * beta_density(0.5 * dfn, 0.5 * dfd, ratio)


@elementwise(special.fdtr)
def fdtr(dfn, dfd, x, *, out):
    return BY_SHAPE, BY_SHAPE, f_density(dfn, dfd, x)


@elementwise(special.fdtrc)
def fdtrc(dfn, dfd, x, *, out):
    return BY_SHAPE, BY_SHAPE, -f_density(dfn, dfd, x)


@elementwise(special.fdtri)
def fdtri(dfn, dfd, p, *, out):
    return BY_SHAPE, BY_SHAPE, 1 / f_density(dfn, dfd, out)


@elementwise(special.gdtr)
def gdtr(a, b, x, *, out):
    density = gamma_density(b, a * x)
    return x * density, BY_SHAPE, a * density


@elementwise(special.gdtrc)
def gdtrc(a, b, x, *, out):
    density = gamma_density(b, a * x)
    return -x * density, BY_SHAPE, -a * density


def binomial_slope(k, n, p):
    """The derivative of the binomial distribution function by p."""
    k = np.floor(k)
    return (k - n) * special.binom(n, k) * p**k * (1 - p) ** (n - k - 1)


@elementwise(special.bdtr)
def bdtr(k, n, p, *, out):
    return None, BY_SHAPE, binomial_slope(k, n, p)


@elementwise(special.bdtrc)
def bdtrc(k, n, p, *, out):
    return None, BY_SHAPE, -binomial_slope(k, n, p)


@elementwise(special.pdtr)
def pdtr(k, m, *, out):
    return None, -gamma_density(np.floor(k) + 1, m)


@elementwise(special.pdtrc)
def pdtrc(k, m, *, out):
    return None, gamma_density(np.floor(k) + 1, m)


@elementwise(special.nbdtr)
def nbdtr(k, n, p, *, out):
    return None, BY_SHAPE, beta_density(n, np.floor(k) + 1, p)


@elementwise(special.nbdtrc)
def nbdtrc(k, n, p, *, out):
    return None, BY_SHAPE, -beta_density(n, np.floor(k) + 1, p)


# Everything else

zero(special.gammasgn, special.round)
inert(special.geterr, special.seterr)
for _name in special.__all__:
    _function = getattr(special, _name)
    if callable(_function) and not classified(_function) and not isinstance(_function, type):
        refuse(_function, reason="its derivative has no closed form that SciPy can compute")
