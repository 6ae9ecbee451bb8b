"""A small state-vector simulator and the energy of a variational circuit (Ising model)."""

import functools

import numpy as np

X = np.array([[0, 1], [1, 0]], dtype=complex)
Z = np.diag([1.0 + 0j, -1.0])
I2 = np.eye(2, dtype=complex)


def rx(theta):
    c, s = np.cos(theta / 2), np.sin(theta / 2)
    return np.array([[c, -1j * s], [-1j * s, c]])


def rz(theta):
    return np.diag([np.exp(-0.5j * theta), np.exp(0.5j * theta)])


def apply(gate, state, qubit):
    """Contract a one-qubit gate with an axis of the state."""
    state = np.tensordot(gate, state, axes=([1], [qubit]))
    return np.moveaxis(state, 0, qubit)


def cnot(state, control, target):
    new = state.copy()
    flipped = [slice(None)] * state.ndim
    flipped[control] = 1
    kept = new[tuple(flipped)]
    axis = target if target < control else target - 1
    new[tuple(flipped)] = np.flip(kept, axis=axis)
    return new


def kron_all(matrices):
    return functools.reduce(np.kron, matrices)


def hamiltonian(n, field):
    dim = 2**n
    H = np.zeros((dim, dim), dtype=complex)
    for i in range(n - 1):
        H -= kron_all([Z if k in (i, i + 1) else I2 for k in range(n)])
    for i in range(n):
        H -= field * kron_all([X if k == i else I2 for k in range(n)])
    return H


def program(angles, n, field):
    state = np.zeros((2,) * n, dtype=complex)
    state[(0,) * n] = 1.0
    for layer in angles:
        for q in range(n):
            state = apply(rx(layer[q, 0]), state, q)
            state = apply(rz(layer[q, 1]), state, q)
        for q in range(n - 1):
            state = cnot(state, q, q + 1)
    psi = state.ravel()
    energy = np.vdot(psi, hamiltonian(n, field) @ psi).real
    populations = np.abs(psi) ** 2
    entropy = -np.sum(populations * np.log(populations + 1e-12))
    return energy + 0.1 * entropy


def inputs(size=None):
    rng = np.random.default_rng(3)
    n = size or 3
    return rng.standard_normal((2, n, 2)), n, 0.7
