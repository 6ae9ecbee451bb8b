"""A Rauch-Tung-Striebel smoother with missing observations: dicts of results, forwards and back."""

import numpy as np

ARGNUMS = (0, 1, 2)


class StateSpace:
    def __init__(self, F, H, Q, R):
        self.F, self.H, self.Q, self.R = F, H, Q, R

    @classmethod
    def local_trend(cls, q, r):
        F = np.array([[1.0, 1.0], [0.0, 1.0]])
        return cls(F, np.array([[1.0, 0.0]]), np.diag(q), np.array([[r]]))

    def predict(self, x, P):
        return self.F @ x, self.F @ P @ self.F.T + self.Q

    def correct(self, x, P, z):
        S = self.H @ P @ self.H.T + self.R
        K = P @ self.H.T @ np.linalg.inv(S)
        innovation = z - self.H @ x
        log_density = -0.5 * (
            innovation @ np.linalg.solve(S, innovation) + np.log(np.linalg.det(2 * np.pi * S))
        )
        return x + K @ innovation, (np.eye(len(x)) - K @ self.H) @ P, log_density


def smooth(model, observations, missing):
    x, P = np.zeros(2), 10.0 * np.eye(2)
    filtered, predicted = [], []
    loglik = 0.0
    for t, z in enumerate(observations):
        x, P = model.predict(x, P)
        predicted.append({"x": x, "P": P})
        if t not in missing:
            x, P, log_density = model.correct(x, P, np.atleast_1d(z))
            loglik += log_density
        filtered.append({"x": x, "P": P})
    smoothed = [filtered[-1]]
    for t in range(len(observations) - 2, -1, -1):
        f, p = filtered[t], predicted[t + 1]
        G = f["P"] @ model.F.T @ np.linalg.inv(p["P"])
        s = smoothed[0]
        smoothed.insert(
            0,
            {
                "x": f["x"] + G @ (s["x"] - p["x"]),
                "P": f["P"] + G @ (s["P"] - p["P"]) @ G.T,
            },
        )
    return smoothed, loglik


def program(observations, q, r, missing):
    model = StateSpace.local_trend(q, r)
    smoothed, loglik = smooth(model, observations, missing)
    level = np.array([s["x"][0] for s in smoothed])
    width = sum(np.trace(s["P"]) for s in smoothed)
    return -loglik + np.sum(np.diff(level) ** 2) + 0.01 * width


def inputs(size=None):
    rng = np.random.default_rng(2)
    z = np.cumsum(rng.standard_normal(size or 7))
    return z, np.array([0.3, 0.05]), 0.5, (2, 3)
