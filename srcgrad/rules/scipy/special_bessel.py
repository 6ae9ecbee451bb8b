"""Bessel functions and their relatives: Airy, Kelvin, Hankel."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from ..registry import adjoint, elementwise
from .special_arguments import BY_ORDER, OF_COMPLEX


def _cylinder(function):
    """The rule of a Bessel function with C'(v) = (C(v - 1) - C(v + 1)) / 2: DLMF 10.6.1."""

    elementwise(function)(
        lambda v, z, *, out: (BY_ORDER, 0.5 * (function(v - 1, z) - function(v + 1, z)))
    )


def _scaled_cylinder(function):
    """The rule of one that is scaled, which of complex numbers isn't analytic."""

    @elementwise(function)
    def rule(v, z, *, out):
        if np.iscomplexobj(z):
            return OF_COMPLEX, OF_COMPLEX
        return BY_ORDER, 0.5 * (function(v - 1, z) - function(v + 1, z))


for _function in (special.jv, special.yv, special.hankel1, special.hankel2, special.yn):
    _cylinder(_function)
for _function in (special.jve, special.yve):
    _scaled_cylinder(_function)


@elementwise(special.hankel1e)
def hankel1e(v, z, *, out):
    return BY_ORDER, 0.5 * (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) - 1j * out


@elementwise(special.hankel2e)
def hankel2e(v, z, *, out):
    return BY_ORDER, 0.5 * (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) + 1j * out


elementwise(special.iv)(
    lambda v, z, *, out: (BY_ORDER, 0.5 * (special.iv(v - 1, z) + special.iv(v + 1, z)))
)


@elementwise(special.ive)
def ive(v, z, *, out):
    if np.iscomplexobj(z):
        return OF_COMPLEX, OF_COMPLEX
    return BY_ORDER, 0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z)) - np.sign(z) * out


elementwise(special.kv)(
    lambda v, z, *, out: (BY_ORDER, -0.5 * (special.kv(v - 1, z) + special.kv(v + 1, z)))
)
elementwise(special.kn)(
    lambda n, x, *, out: (BY_ORDER, -0.5 * (special.kv(n - 1, x) + special.kv(n + 1, x)))
)
elementwise(special.kve)(
    lambda v, z, *, out: (BY_ORDER, out - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z)))
)
elementwise(special.j0)(lambda x, *, out: -special.j1(x))
elementwise(special.j1)(lambda x, *, out: 0.5 * (special.j0(x) - special.jv(2, x)))
elementwise(special.y0)(lambda x, *, out: -special.y1(x))


@elementwise(special.y1)
def y1(x, *, out):
    """Without y2, which SciPy is slow to find: nothing cancels, near 0 either."""
    return special.y0(x) - out / x


elementwise(special.i0)(lambda x, *, out: special.i1(x))
elementwise(special.i1)(lambda x, *, out: 0.5 * (special.i0(x) + special.iv(2, x)))
elementwise(special.i0e)(lambda x, *, out: special.i1e(x) - np.sign(x) * out)
elementwise(special.i1e)(
    lambda x, *, out: 0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * out
)
elementwise(special.k0)(lambda x, *, out: -special.k1(x))
elementwise(special.k1)(lambda x, *, out: -special.k0(x) - out / x)
elementwise(special.k0e)(lambda x, *, out: out - special.k1e(x))
elementwise(special.k1e)(lambda x, *, out: out - special.k0e(x) - out / x)


def _derivative(function):
    """The rule of the n-th derivative of a Bessel function."""
    adjoint(function)(lambda v, z, n=1, *, out, d_out: (BY_ORDER, d_out * function(v, z, n + 1)))


def _spherical(function, sign):
    """The rule of a spherical Bessel function; its second derivative from DLMF 10.47."""

    @adjoint(function)
    def rule(n, z, derivative=False, *, out, d_out):
        if not derivative:
            return None, d_out * function(n, z, True)
        second = sign * (1 + sign * n * (n + 1) / (z * z)) * function(n, z) - 2 / z * out
        return None, d_out * second


for _name in ("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"):
    _derivative(getattr(special, _name))
_spherical(special.spherical_jn, -1)
_spherical(special.spherical_yn, -1)
_spherical(special.spherical_in, 1)
_spherical(special.spherical_kn, 1)


@elementwise(special.struve)
def struve(v, x, *, out):
    """DLMF 11.4.24, with the gamma function's sign."""
    power = (0.5 * x) ** v * special.rgamma(v + 1.5) / math.sqrt(math.pi)
    return BY_ORDER, 0.5 * (special.struve(v - 1, x) - special.struve(v + 1, x) + power)


@elementwise(special.modstruve)
def modstruve(v, x, *, out):
    power = (0.5 * x) ** v * special.rgamma(v + 1.5) / math.sqrt(math.pi)
    return BY_ORDER, 0.5 * (special.modstruve(v - 1, x) + special.modstruve(v + 1, x) + power)


@adjoint(special.airy, unused=None)
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


elementwise(special.ber)(lambda x, *, out: special.berp(x))
elementwise(special.bei)(lambda x, *, out: special.beip(x))
elementwise(special.ker)(lambda x, *, out: special.kerp(x))
elementwise(special.kei)(lambda x, *, out: special.keip(x))

# Their second derivatives: both ber + i bei and ker + i kei satisfy w'' + w' / x = i w, DLMF 10.61

elementwise(special.berp)(lambda x, *, out: -out / (x + (x == 0)) - special.bei(x))
elementwise(special.beip)(
    lambda x, *, out: np.where(x == 0, 0.5, -out / (x + (x == 0)) + special.ber(x))
)
elementwise(special.kerp)(lambda x, *, out: -out / x - special.kei(x))
elementwise(special.keip)(lambda x, *, out: -out / x + special.ker(x))
