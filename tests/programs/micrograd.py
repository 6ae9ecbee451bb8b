"""A scalar autograd engine in pure Python, as in the lecture, used for gradient descent."""

import math

import numpy as np

ARGNUMS = (0, 1)


class Value:
    def __init__(self, data, _children=()):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = _children

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other))

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,))

        def _backward():
            self.grad += (1 - t**2) * out.grad

        out._backward = _backward
        return out

    def backward(self):
        topo, visited = [], []

        def build_topo(v):
            if not any(v is w for w in visited):
                visited.append(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)


class Neuron:
    def __init__(self, weights):
        *w, b = weights
        self.w, self.b = [Value(v) for v in w], Value(b)

    def __call__(self, x):
        return sum((wi * xi for wi, xi in zip(self.w, x, strict=False)), self.b).tanh()

    def parameters(self):
        return [*self.w, self.b]


def program(weights, rate, xs, ys):
    neurons = [Neuron(row) for row in weights]
    for _ in range(2):
        loss = Value(0.0)
        for x, y in zip(xs, ys, strict=False):
            difference = sum((n(x) for n in neurons), Value(0.0)) - y
            loss = loss + difference * difference
        for n in neurons:
            for p in n.parameters():
                p.grad = 0.0
        loss.backward()
        for n in neurons:
            for p in n.parameters():
                p.data -= rate * p.grad
    return loss.data + sum(p.data**2 for n in neurons for p in n.parameters())


def inputs(size=None):
    rng = np.random.default_rng(6)
    return rng.standard_normal((2, 3)), 0.1, [(0.5, -1.0), (1.0, 2.0)], [0.3, -0.2]
