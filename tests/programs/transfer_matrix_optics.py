"""Reflection of a stack of thin films by 2x2 complex matrices, over a range of wavelengths."""

import cmath
from dataclasses import dataclass

import numpy as np

ARGNUMS = (0, 1)


@dataclass(frozen=True)
class Layer:
    index: complex
    thickness: float

    def matrix(self, wavelength, sin_inside):
        cosine = cmath.sqrt(1 - (sin_inside / self.index) ** 2)
        phase = 2 * np.pi * self.index * self.thickness * cosine / wavelength
        eta = self.index * cosine
        return np.array(
            [
                [cmath.cos(phase), 1j * cmath.sin(phase) / eta],
                [1j * eta * cmath.sin(phase), cmath.cos(phase)],
            ]
        )


def reflectance(layers, wavelength, angle, substrate=1.52):
    M = np.eye(2, dtype=complex)
    sine = np.sin(angle)
    for layer in layers:
        M = M @ layer.matrix(wavelength, sine)
    eta0 = np.cos(angle)
    eta_s = substrate * np.sqrt(1 - (sine / substrate) ** 2)
    B, C = M @ np.array([1, eta_s])
    r = (eta0 * B - C) / (eta0 * B + C)
    return abs(r) ** 2


def program(thicknesses, indices, wavelengths, angle):
    layers = [Layer(complex(n, 1e-3), d) for n, d in zip(indices, thicknesses, strict=False)]
    return sum(reflectance(layers, w, angle) for w in wavelengths) / len(wavelengths)


def inputs(size=None):
    n = size or 4
    rng = np.random.default_rng(1)
    return 0.1 + 0.05 * rng.random(n), 1.4 + 0.8 * rng.random(n), np.linspace(0.4, 0.7, 5), 0.3
