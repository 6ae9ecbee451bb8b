"""Lloyd's k-means from given starting centres; the loss is the within-cluster sum of squares."""

import numpy as np

ARGNUMS = (0, 1)


def assign(points, centers):
    labels = []
    for p in points:
        distances = [np.sum((p - c) ** 2) for c in centers]
        labels.append(int(np.argmin(distances)))
    return labels


def update(points, labels, centers):
    clusters = {}
    for label, p in zip(labels, points, strict=True):
        clusters.setdefault(label, []).append(p)
    moved = centers.copy()
    for label, members in clusters.items():
        moved[label] = sum(members) / len(members)
    return moved


def program(points, centers, max_iterations=20):
    labels = None
    for _ in range(max_iterations):
        new_labels = assign(points, centers)
        if new_labels == labels:
            break
        labels = new_labels
        # a little inertia keeps the starting centres in the result
        centers = 0.9 * update(points, labels, centers) + 0.1 * centers
    inertia = 0.0
    for k, c in enumerate(centers):
        members = points[np.array(labels) == k]
        inertia += np.sum((members - c) ** 2)
    spread = np.sum((centers[0] - centers[-1]) ** 2)
    return inertia / (1.0 + spread)


def inputs(size=None):
    n = 30 if size is None else size
    rng = np.random.default_rng(0)
    truth = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]])
    points = truth[rng.integers(0, 3, size=n)] + 0.7 * rng.normal(size=(n, 2))
    return points, truth + rng.normal(size=truth.shape)
