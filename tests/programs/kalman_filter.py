"""A Kalman filter tracking a moving object from noisy positions, some of which are missing.

Returns the negative log likelihood of the measurements as a function of the noise levels, the
measurements and the initial state.
"""

import numpy as np

ARGNUMS = (0, 1, 2)


class KalmanFilter:
    def __init__(self, F, H, Q, R, x0, P0):
        self.F = F
        self.H = H
        self.Q = Q
        self.R = R
        self.x = x0
        self.P = P0
        self.log_likelihood = 0.0

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ y
        identity = np.eye(self.P.shape[0])
        # Joseph form
        A = identity - K @ self.H
        self.P = A @ self.P @ A.T + K @ self.R @ K.T
        _, log_determinant = np.linalg.slogdet(S)
        self.log_likelihood -= 0.5 * (
            y @ np.linalg.solve(S, y) + log_determinant + len(y) * np.log(2 * np.pi)
        )


def make_model(process_noise, measurement_noise, dt=1.0):
    F = np.eye(4)
    F[0, 2] = F[1, 3] = dt
    H = np.zeros((2, 4))
    H[[0, 1], [0, 1]] = 1.0
    G = np.array([[dt**2 / 2, 0], [0, dt**2 / 2], [dt, 0], [0, dt]])
    Q = process_noise**2 * G @ G.T
    R = np.diag(measurement_noise**2)
    return F, H, Q, R


def program(noise, measurements, x0, seen):
    process_noise, *rest = noise
    F, H, Q, R = make_model(process_noise, np.array(rest))
    kf = KalmanFilter(F, H, Q, R, x0, 4 * np.eye(4))
    track = []
    for z, available in zip(measurements, seen, strict=True):
        kf.predict()
        if available:
            kf.update(z)
        track.append(kf.x[:2])
    roughness = 0.0
    for k in range(2, len(track)):
        second = track[k] - 2 * track[k - 1] + track[k - 2]
        roughness += second @ second
    return -kf.log_likelihood + 0.1 * roughness + 0.01 * np.trace(kf.P)


def inputs(size=None):
    n = size or 15
    rng = np.random.default_rng(0)
    path = np.stack([np.arange(n) * 0.8, 0.05 * np.arange(n) ** 2], axis=1)
    measurements = path + 0.5 * rng.standard_normal((n, 2))
    seen = [k % 4 != 3 for k in range(n)]
    return np.array([0.3, 0.5, 0.7]), measurements, np.array([0.1, -0.2, 0.5, 0.1]), seen
