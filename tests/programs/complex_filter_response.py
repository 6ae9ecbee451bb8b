"""Frequency response of a cascade of digital filters (complex polynomials by Horner's rule), fitted
to a wanted response in decibels, with phase and group delay."""

import numpy as np

ARGNUMS = (0, 1)


def polynomial(coefficients, z):
    value = np.zeros(len(z), dtype=complex)
    for c in coefficients[::-1]:
        value = value * z + c
    return value


def section_response(b, a, omega):
    z = np.exp(-1j * omega)
    return polynomial(b, z) / polynomial(a, z)


def cascade_response(sections, gain, omega):
    H = gain * np.ones(omega.shape, dtype=np.complex128)
    for row in sections:
        b = row[:3]
        a = np.concatenate([[1.0], row[3:]])
        H *= section_response(b, a, omega)
    return H


def one_frequency(sections, gain, w):
    """The same by Python's complex numbers."""
    z = complex(np.cos(w), -np.sin(w))
    H = gain
    for b0, b1, b2, a1, a2 in sections:
        H = H * (b0 + b1 * z + b2 * z**2) / (1 + z * (a1 + a2 * z))
    return H


def program(sections, gain, omega, wanted_db):
    H = cascade_response(sections, gain, omega)
    magnitude = np.abs(H)
    error = 20 * np.log10(magnitude) - wanted_db
    # smoothness of the phase: the angle between neighbouring frequencies
    turn = H[1:] * np.conj(H[:-1])
    delay = np.arctan2(turn.imag, turn.real) / np.diff(omega)
    H0 = one_frequency(sections, gain, 0.1)
    return np.mean(error**2) + 0.1 * np.var(delay) + H0.real**2 + 2 * H0.imag**2


def inputs(size=None):
    n = 16 if size is None else size
    rng = np.random.default_rng(0)
    omega = np.linspace(0.1, 2.6, n)
    sections = np.array([[1.0, 0.5, 0.2, -0.6, 0.3], [0.8, -0.3, 0.4, 0.2, 0.25]])
    sections += 0.05 * rng.normal(size=sections.shape)
    return sections, 1.2, omega, np.where(omega < 1.2, 0.0, -6.0)
