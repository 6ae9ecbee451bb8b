"""Logarithms of densities in standard form: location 0, scale 1, inside the support.

From these follow the density and, by the variable, location and scale, the derivatives of all
other methods (`stats_distributions.standardised`). The formulas are those of SciPy's documentation.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from .stats_distributions import (
    HALF_LOG_2PI,
    above_zero,
    between,
    not_negative,
    on_unit,
    positive,
    standard,
    strictly_above_zero,
    strictly_inside_unit,
    within,
)

# On the whole line

standard(stats.vonmises, valid=not_negative)(
    lambda z, kappa: kappa * special.cosm1(z) - math.log(2 * math.pi) - np.log(special.i0e(kappa))
)


@standard(stats.exponnorm)
def exponnorm(z, K):
    rate = 1 / K
    return 0.5 * rate * rate - rate * z + special.log_ndtr(z - rate) + np.log(rate)


standard(stats.skewnorm, valid=None)(
    lambda z, a: math.log(2.0) - 0.5 * z * z - HALF_LOG_2PI + special.log_ndtr(a * z)
)
standard(stats.loggamma)(lambda z, c: c * z - np.exp(z) - special.gammaln(c))


@standard(stats.laplace_asymmetric)
def laplace_asymmetric(z, kappa):
    return -kappa * np.maximum(z, 0.0) + np.minimum(z, 0.0) / kappa - np.log(kappa + 1 / kappa)


@standard(stats.johnsonsu, valid=None)
def johnsonsu(z, a, b):
    b = positive(b)
    normal = a + b * np.arcsinh(z)
    return np.log(b) - 0.5 * np.log1p(z * z) - 0.5 * normal * normal - HALF_LOG_2PI


standard(stats.hypsecant)(lambda z: math.log(2 / math.pi) - np.logaddexp(z, -z))
standard(stats.moyal)(lambda z: -0.5 * (z + np.exp(-z)) - HALF_LOG_2PI)
standard(stats.genlogistic)(
    lambda z, c: np.log(c) + c * special.log_expit(z) + special.log_expit(-z)
)


@standard(stats.dweibull)
def dweibull(z, c):
    size = np.abs(z)
    return np.log(0.5 * c) + special.xlogy(c - 1, size) - size**c


@standard(stats.dgamma)
def dgamma(z, a):
    size = np.abs(z)
    return special.xlogy(a - 1, size) - size - special.gammaln(a) - math.log(2.0)


standard(stats.gennorm)(
    lambda z, beta: np.log(0.5 * beta) - special.gammaln(1 / beta) - np.abs(z) ** beta
)


@standard(stats.norminvgauss, valid=None)
def norminvgauss(z, a, b):
    size = np.hypot(1.0, z)
    bessel = np.log(special.k1e(a * size)) - a * size
    return np.log(positive(a) / math.pi) + bessel - np.log(size) + b * z + np.sqrt(a * a - b * b)


standard(stats.powernorm)(
    lambda z, c: np.log(c) - 0.5 * z * z - HALF_LOG_2PI + (c - 1) * special.log_ndtr(-z)
)


@standard(stats.skewcauchy, valid=None)
def skewcauchy(z, a):
    side = z / (1 + a * np.sign(z))
    return -math.log(math.pi) - np.log1p(side * side)


# Above zero

standard(stats.halfcauchy, support=above_zero)(lambda z: math.log(2 / math.pi) - np.log1p(z * z))

standard(stats.weibull_max, support=between(lambda c: (-math.inf, 0.0)))(
    lambda z, c: np.log(c) + special.xlogy(c - 1, -z) - (-z) ** c
)


@standard(stats.invgauss, support=strictly_above_zero)
def invgauss(z, mu):
    deviation = (z - mu) / mu
    return -HALF_LOG_2PI - 1.5 * np.log(z) - 0.5 * deviation * deviation / z


standard(stats.wald, support=strictly_above_zero)(lambda z: invgauss(z, 1.0))


@standard(stats.gengamma, support=strictly_above_zero, valid=None)
def gengamma(z, a, c):
    a = positive(a)
    return np.log(np.abs(c)) + special.xlogy(c * a - 1, z) - z**c - special.gammaln(a)


standard(stats.maxwell, support=above_zero)(
    lambda z: 0.5 * math.log(2 / math.pi) + 2 * np.log(z) - 0.5 * z * z
)
standard(stats.levy, support=strictly_above_zero)(
    lambda z: -HALF_LOG_2PI - 1.5 * np.log(z) - 0.5 / z
)
standard(stats.lomax, support=above_zero)(lambda z, c: np.log(c) - (c + 1) * np.log1p(z))


@standard(stats.nakagami, support=above_zero)
def nakagami(z, nu):
    constant = math.log(2.0) + special.xlogy(nu, nu) - special.gammaln(nu)
    return constant + special.xlogy(2 * nu - 1, z) - nu * z * z


standard(stats.rice, support=above_zero, valid=not_negative)(
    lambda z, b: np.log(z) - 0.5 * (z - b) ** 2 + np.log(special.i0e(z * b))
)


@standard(stats.chi, support=above_zero)
def chi(z, df):
    half = 0.5 * df
    constant = math.log(2.0) - half * math.log(2.0) - special.gammaln(half)
    return constant + special.xlogy(df - 1, z) - 0.5 * z * z


standard(stats.fisk, support=above_zero)(
    lambda z, c: np.log(c) + special.xlogy(c - 1, z) - 2 * np.log1p(z**c)
)
standard(stats.erlang, support=above_zero)(
    lambda z, a: special.xlogy(a - 1, z) - z - special.gammaln(a)
)


@standard(stats.exponweib, support=above_zero)
def exponweib(z, a, c):
    power = z**c
    rise = special.xlogy(a - 1, -np.expm1(-power))
    return np.log(a) + np.log(c) + rise - power + special.xlogy(c - 1, z)


standard(stats.gompertz, support=above_zero)(lambda z, c: np.log(c) + z - c * np.expm1(z))

standard(stats.burr, support=above_zero)(
    lambda z, c, d: np.log(c) + np.log(d) + special.xlogy(c * d - 1, z) - (d + 1) * np.log1p(z**c)
)
standard(stats.burr12, support=above_zero)(
    lambda z, c, d: np.log(c) + np.log(d) + special.xlogy(c - 1, z) - (d + 1) * np.log1p(z**c)
)
standard(stats.foldnorm, support=above_zero, valid=not_negative)(
    lambda z, c: np.logaddexp(-0.5 * (z - c) ** 2, -0.5 * (z + c) ** 2) - HALF_LOG_2PI
)
standard(stats.foldcauchy, support=above_zero, valid=not_negative)(
    lambda z, c: np.log(1 / (1 + (z - c) ** 2) + 1 / (1 + (z + c) ** 2)) - math.log(math.pi)
)

standard(stats.halflogistic, support=above_zero)(
    lambda z: math.log(2.0) - z - 2 * np.log1p(np.exp(-z))
)

standard(stats.halfgennorm, support=above_zero)(
    lambda z, beta: np.log(beta) - special.gammaln(1 / beta) - z**beta
)
standard(stats.betaprime, support=above_zero)(
    lambda z, a, b: special.xlogy(a - 1, z) - special.xlog1py(a + b, z) - special.betaln(a, b)
)
standard(stats.mielke, support=above_zero)(
    lambda z, k, s: np.log(k) + special.xlogy(k - 1, z) - (1 + k / s) * np.log1p(z**s)
)
standard(stats.kappa3, support=above_zero)(lambda z, a: np.log(a) - (1 + 1 / a) * np.log(a + z**a))


@standard(stats.ncx2, support=above_zero, valid=None)
def ncx2(z, df, nc):
    order = 0.5 * df - 1
    root, spread = np.sqrt(z), np.sqrt(nc)
    bessel = np.log(0.5 * special.ive(order, root * spread))
    return 0.5 * special.xlogy(order, z / nc) - 0.5 * (root - spread) ** 2 + bessel


@standard(stats.exponpow, support=above_zero)
def exponpow(z, b):
    power = z**b
    return 1 + np.log(b) + special.xlogy(b - 1, z) + power - np.exp(power)


@standard(stats.fatiguelife, support=strictly_above_zero)
def fatiguelife(z, c):
    spread = (z - 1) ** 2 / (2 * z * c * c)
    return np.log(z + 1) - spread - np.log(2 * c) - HALF_LOG_2PI - 1.5 * np.log(z)


@standard(stats.gibrat, support=strictly_above_zero)
def gibrat(z):
    log = np.log(z)
    return -0.5 * log * log - log - HALF_LOG_2PI


standard(stats.invweibull, support=strictly_above_zero)(
    lambda z, c: np.log(c) - (c + 1) * np.log(z) - z**-c
)


@standard(stats.loglaplace, support=strictly_above_zero)
def loglaplace(z, c):
    log = np.log(z)
    return np.log(0.5 * c) - c * np.abs(log) - log


@standard(stats.recipinvgauss, support=strictly_above_zero)
def recipinvgauss(z, mu):
    deviation = (1 - mu * z) / mu
    return -0.5 * deviation * deviation / z - HALF_LOG_2PI - 0.5 * np.log(z)


@standard(stats.alpha, support=strictly_above_zero)
def alpha(z, a):
    deviation = a - 1 / z
    constant = -HALF_LOG_2PI - special.log_ndtr(a)
    return constant - 2 * np.log(z) - 0.5 * deviation * deviation


# Between two numbers

standard(stats.powerlaw, support=strictly_inside_unit)(
    lambda z, a: np.log(a) + special.xlogy(a - 1, z)
)


@standard(stats.johnsonsb, support=strictly_inside_unit, valid=None)
def johnsonsb(z, a, b):
    b = positive(b)
    normal = a + b * special.logit(z)
    return np.log(b) - np.log(z * (1 - z)) - 0.5 * normal * normal - HALF_LOG_2PI


standard(stats.arcsine, support=on_unit)(lambda z: -math.log(math.pi) - 0.5 * np.log(z * (1 - z)))
standard(stats.bradford, support=on_unit)(
    lambda z, c: np.log(c) - np.log1p(c * z) - np.log(np.log1p(c))
)


@standard(stats.triang, support=on_unit, valid=None)
def triang(z, c):
    rising = z < within(c, 1)
    height = np.where(rising, z / np.where(rising, c, 1.0), (1 - z) / np.where(rising, 1.0, 1 - c))
    return np.log(2 * height)


standard(stats.semicircular, support=between(lambda: (-1.0, 1.0)))(
    lambda z: math.log(2 / math.pi) + 0.5 * np.log1p(-z * z)
)


@standard(stats.rdist, support=between(lambda c: (-1.0, 1.0)))
def rdist(z, c):
    half = 0.5 * c
    return special.xlog1py(half - 1, -z * z) - special.betaln(0.5, half)


standard(stats.cosine, support=between(lambda: (-math.pi, math.pi)))(
    lambda z: np.log1p(np.cos(z)) - math.log(2 * math.pi)
)
standard(stats.anglit, support=between(lambda: (-math.pi / 4, math.pi / 4)))(
    lambda z: np.log(np.cos(2 * z))
)


@standard(stats.wrapcauchy, support=between(lambda c: (0.0, 2 * math.pi)), valid=None)
def wrapcauchy(z, c):
    c = within(c, 1)
    return np.log1p(-c * c) - math.log(2 * math.pi) - np.log(1 + c * c - 2 * c * np.cos(z))


standard(stats.truncexpon, support=between(lambda b: (0.0, b)))(
    lambda z, b: -z - np.log(-np.expm1(-b))
)
for _distribution in (stats.loguniform, stats.reciprocal):
    standard(_distribution, support=between(lambda a, b: (a, b)), valid=None)(
        lambda z, a, b: -np.log(z) - np.log(np.log(b) - np.log(positive(a)))
    )


@standard(stats.truncnorm, support=between(lambda a, b: (a, b)), valid=None)
def truncnorm(z, a, b):
    """The mass between the bounds is computed on the side where it is the smaller one."""
    right = a > 0
    lower = special.log_ndtr(np.where(right, -b, a))
    upper = special.log_ndtr(np.where(right, -a, b))
    mass = upper + np.log1p(-np.exp(lower - upper))
    return -0.5 * z * z - HALF_LOG_2PI - mass


def end_of_pareto(c):
    return 0.0, np.where(c < 0, -1 / np.where(c < 0, c, -1.0), np.inf)


@standard(stats.genpareto, support=between(end_of_pareto), valid=None)
def genpareto(z, c):
    curved = np.where(c == 0, 1.0, c)
    return np.where(c == 0, -z, -(c + 1) * np.log1p(curved * z) / curved)


def ends_of_extremes(c):
    bound = 1 / np.where(c == 0, 1.0, c)
    return np.where(c < 0, bound, -np.inf), np.where(c > 0, bound, np.inf)


@standard(stats.genextreme, support=between(ends_of_extremes), valid=None)
def genextreme(z, c):
    curved = np.where(c == 0, 1.0, c)
    log = np.log1p(-curved * z)
    power = np.where(c == 0, -z, log / curved)
    return power - np.exp(power) - np.where(c == 0, 0.0, log)
