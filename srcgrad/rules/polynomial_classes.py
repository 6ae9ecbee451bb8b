"""The classes of polynomials, as ones that the compiler can read."""

from __future__ import annotations

import numpy as np
from numpy import polynomial

from .registry import definition, made_of, passes_for, told_by

FAMILIES = {
    polynomial.Polynomial: (polynomial.polynomial, "poly", (-1.0, 1.0)),
    polynomial.Chebyshev: (polynomial.chebyshev, "cheb", (-1.0, 1.0)),
    polynomial.Legendre: (polynomial.legendre, "leg", (-1.0, 1.0)),
    polynomial.Hermite: (polynomial.hermite, "herm", (-1.0, 1.0)),
    polynomial.HermiteE: (polynomial.hermite_e, "herme", (-1.0, 1.0)),
    polynomial.Laguerre: (polynomial.laguerre, "lag", (0.0, 1.0)),
}


class Functions:
    """The functions of coefficients that belong to one class."""

    def __init__(self, module, name, window):
        self.window = window
        self.value, self.slope = getattr(module, name + "val"), getattr(module, name + "der")
        self.integral = getattr(module, name + "int")
        self.times, self.powers = getattr(module, name + "mul"), name == "poly"


@passes_for(*FAMILIES)
class Series:
    """A series by its coefficients, of an argument that is mapped from the domain to the window."""

    def __init__(self, functions, coef, domain, window):
        self.functions, self.coef = functions, coef
        self.domain, self.window = domain, window

    def made(self, coef):
        return Series(self.functions, coef, self.domain, self.window)

    def mapparms(self):
        scale = (self.window[1] - self.window[0]) / (self.domain[1] - self.domain[0])
        return self.window[0] - scale * self.domain[0], scale

    def __call__(self, arg):
        offset, scale = self.mapparms()
        return self.functions.value(offset + scale * arg, self.coef)

    def __len__(self):
        return len(self.coef)

    def degree(self):
        return len(self.coef) - 1

    def deriv(self, m=1):
        if self.functions.powers:
            scale = self.mapparms()[1]
            return self.made(np.polyder(self.coef[::-1], m)[::-1] * scale**m)
        matrix = self.functions.slope(np.eye(len(self.coef)), m)
        return self.made(matrix @ self.coef * self.mapparms()[1] ** m)

    def integ(self, m=1, lbnd=None):
        offset, scale = self.mapparms()
        start = 0.0 if lbnd is None else offset + scale * lbnd
        if self.functions.powers:
            coef = self.coef
            for _ in range(m):
                coef = np.polyint(coef[::-1]) / scale
                coef = np.polysub(coef, np.reshape(np.polyval(coef, start), 1))[::-1]
            return self.made(coef)
        identity = np.eye(len(self.coef))
        matrix = self.functions.integral(identity, m, lbnd=start)
        return self.made(matrix @ self.coef / scale**m)

    def convert(self, domain=None, kind=None, window=None):
        if kind is not None or not self.functions.powers:
            raise NotImplementedError("of a Polynomial to another one it has a rule")
        plain = self.functions.window
        domain, window = plain if domain is None else domain, plain if window is None else window
        offset, scale = self.mapparms()
        other_offset, other_scale = Series(self.functions, self.coef, domain, window).mapparms()
        ratio = scale / other_scale
        line = np.array([offset - ratio * other_offset, ratio])
        coef = self.coef[-1:]
        for c in self.coef[-2::-1]:
            coef = np.convolve(coef, line)
            coef[0] += c
        return Series(self.functions, coef, domain, window)

    def roots(self):
        if not self.functions.powers:
            raise NotImplementedError("the roots of a Polynomial have a rule")
        offset, scale = self.mapparms()
        return (np.sort(np.roots(self.coef[::-1])) - offset) / scale

    def linspace(self, n=100, domain=None):
        start, stop = self.domain if domain is None else domain
        x = np.linspace(start, stop, n)
        return x, self(x)

    def other(self, value):
        if isinstance(value, Series):
            return value.coef
        return np.reshape(value, -1)

    def __neg__(self):
        return self.made(-self.coef)

    def __add__(self, value):
        return self.made(np.polyadd(self.coef[::-1], self.other(value)[::-1])[::-1])

    def __radd__(self, value):
        return self + value

    def __sub__(self, value):
        return self.made(np.polysub(self.coef[::-1], self.other(value)[::-1])[::-1])

    def __rsub__(self, value):
        return -self + value

    def __mul__(self, value):
        if self.functions.powers:
            return self.made(np.convolve(self.coef, self.other(value)))
        return self.made(self.functions.times(self.coef, self.other(value)))

    def __rmul__(self, value):
        return self * value

    def __truediv__(self, value):
        return self.made(self.coef / value)

    def __pow__(self, power):
        result = self
        for _ in range(power - 1):
            result = result * self
        return result


def _register(cls, functions):
    def series(coef, domain=None, window=None, symbol="x"):
        return Series(
            functions, np.array(coef),
            functions.window if domain is None else domain,
            functions.window if window is None else window,
        )  # fmt: skip

    definition(cls)(series)
    told_by.setdefault(Series, ("functions", {}))[1][functions] = cls
    made_of[cls] = (cls, "coef", "domain", "window")


for _cls, _family in FAMILIES.items():
    _register(_cls, Functions(*_family))


@passes_for(np.poly1d)
class Descending:
    """A polynomial by its coefficients, the highest first."""

    def __init__(self, values):
        self.values = values  # with leading zeros, as only the run tells how many there are

    @property
    def coeffs(self):
        trimmed = np.trim_zeros(self.values, "f")
        return trimmed if len(trimmed) else np.zeros(1)

    c = coef = coefficients = coeffs

    @property
    def order(self):
        return len(self.coeffs) - 1

    o = order

    @property
    def roots(self):
        return np.roots(self.values)

    r = roots

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self.coeffs)

    def __getitem__(self, power):
        if power < 0 or power >= len(self.values):
            return 0.0
        return self.values[len(self.values) - 1 - power]

    def __pow__(self, power):
        found = Descending(np.ones(1))
        for _ in range(power):
            found = found * self
        return found

    def __call__(self, val):
        return np.polyval(self.values, val)

    def deriv(self, m=1):
        return Descending(np.polyder(self.values, m))

    def integ(self, m=1):
        return Descending(np.polyint(self.values, m))

    def other(self, value):
        return value.values if isinstance(value, Descending) else np.reshape(value, -1)

    def __neg__(self):
        return Descending(-self.values)

    def __add__(self, value):
        return Descending(np.polyadd(self.values, self.other(value)))

    def __radd__(self, value):
        return Descending(np.polyadd(self.other(value), self.values))

    def __sub__(self, value):
        return Descending(np.polysub(self.values, self.other(value)))

    def __rsub__(self, value):
        return Descending(np.polysub(self.other(value), self.values))

    def __mul__(self, value):
        return Descending(np.polymul(self.values, self.other(value)))

    def __rmul__(self, value):
        return Descending(np.polymul(self.other(value), self.values))

    def __truediv__(self, value):
        return Descending(self.values / value)


@definition(np.poly1d)
def poly1d(c_or_r, r=False, variable=None):
    if r:
        return Descending(np.poly(c_or_r))
    return c_or_r if isinstance(c_or_r, Descending) else Descending(np.asarray(c_or_r))


made_of[np.poly1d] = (np.poly1d, "coeffs")
