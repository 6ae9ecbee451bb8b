"""Bundle adjustment: reprojection residuals of points seen by cameras (Rodrigues rotation,
radial distortion), summed with a Huber loss."""

import numpy as np

ARGNUMS = (0, 1)


def rodrigues(r):
    theta = np.sqrt(np.dot(r, r))
    if theta < 1e-12:
        return np.eye(3)
    k = r / theta
    K = np.array([[0.0, -k[2], k[1]], [k[2], 0.0, -k[0]], [-k[1], k[0], 0.0]])
    return np.eye(3) + np.sin(theta) * K + (1 - np.cos(theta)) * (K @ K)


def project(point, camera):
    """camera: rotation vector (3), translation (3), focal length, two distortion terms."""
    R = rodrigues(camera[:3])
    t = camera[3:6]
    f, k1, k2 = camera[6:]
    X, Y, Z = R @ point + t
    x, y = -X / Z, -Y / Z
    r2 = x * x + y * y
    distortion = 1.0 + r2 * (k1 + k2 * r2)
    return f * distortion * x, f * distortion * y


def huber(e, delta):
    a = abs(e)
    if a <= delta:
        return 0.5 * a**2
    return delta * (a - 0.5 * delta)


def program(cameras, points, observations):
    residuals = np.empty((len(observations), 2))
    for row, (c, p, u, v) in enumerate(observations):
        pu, pv = project(points[p], cameras[c])
        residuals[row] = pu - u, pv - v
    total = 0.0
    for e in residuals.ravel():
        total += huber(e, 0.5)
    return total


def inputs(size=None):
    n_points = 6 if size is None else size
    rng = np.random.default_rng(0)
    cameras = np.zeros((3, 9))
    cameras[:, :3] = 0.2 * rng.normal(size=(3, 3))
    cameras[:, 3:5] = 0.3 * rng.normal(size=(3, 2))
    cameras[:, 5] = -5.0
    cameras[:, 6] = 3.0
    cameras[:, 7:] = 0.05 * rng.normal(size=(3, 2))
    points = rng.normal(size=(n_points, 3))
    observations = []
    for c in range(3):
        for p in range(n_points):
            if (c + p) % 4 == 3:
                continue
            u, v = project(points[p], cameras[c])
            noise = rng.normal(size=2)
            observations.append((c, p, float(u + noise[0]), float(v + noise[1])))
    return cameras, points + 0.05 * rng.normal(size=points.shape), observations
