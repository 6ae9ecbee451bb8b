"""The Hodgkin-Huxley axon: a class of ion channels, a pulse, forward Euler in a loop."""

import numpy as np

ARGNUMS = (0, 1)


class Gate:
    def __init__(self, alpha, beta, v):
        self.alpha, self.beta = alpha, beta
        self.state = alpha(v) / (alpha(v) + beta(v))

    def step(self, v, dt):
        a, b = self.alpha(v), self.beta(v)
        self.state += dt * (a * (1 - self.state) - b * self.state)


class Neuron:
    C_m = 1.0
    E_Na, E_K, E_L = 50.0, -77.0, -54.387

    def __init__(self, conductances):
        self.g_Na, self.g_K, self.g_L = conductances
        self.v = -65.0
        self.m = Gate(
            lambda v: 0.1 * (v + 40) / (1 - np.exp(-(v + 40) / 10)),
            lambda v: 4 * np.exp(-(v + 65) / 18),
            self.v,
        )
        self.h = Gate(
            lambda v: 0.07 * np.exp(-(v + 65) / 20),
            lambda v: 1 / (1 + np.exp(-(v + 35) / 10)),
            self.v,
        )
        self.n = Gate(
            lambda v: 0.01 * (v + 55) / (1 - np.exp(-(v + 55) / 10)),
            lambda v: 0.125 * np.exp(-(v + 65) / 80),
            self.v,
        )

    @property
    def gates(self):
        return [self.m, self.h, self.n]

    def currents(self):
        i_na = self.g_Na * self.m.state**3 * self.h.state * (self.v - self.E_Na)
        i_k = self.g_K * self.n.state**4 * (self.v - self.E_K)
        i_l = self.g_L * (self.v - self.E_L)
        return i_na, i_k, i_l

    def step(self, stimulus, dt):
        total = sum(self.currents())
        self.v += dt * (stimulus - total) / self.C_m
        for gate in self.gates:
            gate.step(self.v, dt)


def program(conductances, amplitude, t_max, dt):
    neuron = Neuron(conductances)
    times = np.arange(0.0, t_max, dt)
    trace = np.empty_like(times)
    for i, t in enumerate(times):
        stimulus = amplitude if 0.5 <= t < 2.0 else 0.0
        neuron.step(stimulus, dt)
        trace[i] = neuron.v
    return np.mean((trace / 50.0) ** 2) + neuron.m.state


def inputs(size=None):
    return np.array([120.0, 36.0, 0.3]), 12.0, 0.02 * (size or 200), 0.02
