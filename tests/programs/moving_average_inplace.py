"""Streaming filters over a signal, each with its own state: a moving average in a ring buffer, a
weighted window as a sliding list, and exponential smoothing in place."""

import numpy as np

ARGNUMS = (0, 1, 2)


class MovingAverage:
    def __init__(self, width):
        self.width = width
        self.buffer = [0.0] * width
        self.position = 0
        self.count = 0
        self.total = 0.0

    def push(self, value):
        self.total -= self.buffer[self.position]
        self.total += value
        self.buffer[self.position] = value
        self.position = (self.position + 1) % self.width
        if self.count < self.width:
            self.count += 1
        return self.total / self.count


def weighted_windows(signal, weights):
    window = []
    out = []
    for value in signal:
        window.append(value)
        if len(window) < len(weights):
            continue
        out.append(sum(w * v for w, v in zip(weights, window, strict=True)))
        window.pop(0)
    return out


def smooth_inplace(x, alpha):
    for i in range(1, len(x)):
        x[i] *= alpha
        x[i] += (1 - alpha) * x[i - 1]
    x[:-1] += x[1:]
    x *= 0.5


def program(signal, weights, alpha, width):
    average = MovingAverage(width)
    averages = np.zeros(len(signal))
    for i, value in enumerate(signal):
        averages[i] = average.push(np.sin(value))
    windows = np.array(weighted_windows(signal, weights))
    smoothed = signal * averages
    smooth_inplace(smoothed, alpha)
    smooth_inplace(smoothed[::-1], alpha)
    lag = len(signal) - len(windows)
    return np.sum(averages**2) + np.sum(windows * smoothed[lag:]) + smoothed[0]


def inputs(size=None):
    n = 30 if size is None else size
    rng = np.random.default_rng(0)
    signal = np.sin(0.3 * np.arange(n)) + 0.2 * rng.normal(size=n)
    return signal, np.array([0.1, 0.2, 0.4, 0.3]), 0.4, 5
