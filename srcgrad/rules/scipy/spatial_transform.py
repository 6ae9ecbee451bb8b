"""Rotations in space, as a class that the compiler can read.

`Rotation` keeps unit quaternions, and computes with them in Cython; so does `Turn`, in NumPy. What
has no derivative at the rotation by nothing (an angle) is written in squares, which have. Rotations
from outside the differentiated function are met by their quaternions.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import transform
from scipy.spatial.transform import Rotation, Slerp

from ...analysis.inference import Inferred
from ...kinds import Array, fresh_size
from ..registry import definition, inert, kind, passes_for, refuse
from ..spectral import unitary_factor


@passes_for(Rotation)
class Turn(Rotation):  # type: ignore[misc]
    """Rotations by their unit quaternions, the real part last: one, or an array of them."""

    def __init__(self, quat):
        self.quat = quat

    @property
    def single(self):
        return np.ndim(self.quat) == 1

    @property
    def shape(self):
        return np.shape(self.quat)[:-1]

    def __len__(self):
        return len(self.quat)

    def __getitem__(self, indexer):
        return Turn(self.quat[indexer])

    def __iter__(self):
        for i in range(len(self.quat)):
            yield Turn(self.quat[i])

    def __mul__(self, other):
        p, q = self.quat, turn(other).quat
        x, y, z, w = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
        a, b, c, d = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
        return Turn(
            np.stack(
                (
                    w * a + x * d + y * c - z * b,
                    w * b - x * c + y * d + z * a,
                    w * c + x * b - y * a + z * d,
                    w * d - x * a - y * b - z * c,
                ),
                axis=-1,
            )
        )

    def __pow__(self, n, modulus=None):
        return from_rotvec(n * self.as_rotvec())

    def inv(self):
        return Turn(self.quat * np.array([-1.0, -1.0, -1.0, 1.0]))

    def apply(self, vectors, inverse=False):
        vectors, matrix = np.asarray(vectors), self.as_matrix()
        if self.single:
            return vectors @ matrix if inverse else vectors @ matrix.T
        return np.einsum("...ji,...j->...i" if inverse else "...ij,...j->...i", matrix, vectors)

    def magnitude(self):
        imaginary = np.linalg.norm(self.quat[..., :3], axis=-1)
        return 2 * np.arctan2(imaginary, np.abs(self.quat[..., 3]))

    def mean(self, weights=None):
        weighted = self.quat if weights is None else np.asarray(weights)[:, None] * self.quat
        return Turn(np.linalg.eigh(weighted.T @ self.quat)[1][:, -1])

    def as_quat(self, canonical=False, *, scalar_first=False):
        quat = self.quat
        if canonical:
            x, y, z, w = quat[..., 0], quat[..., 1], quat[..., 2], quat[..., 3]
            first = np.where(w != 0, w, np.where(x != 0, x, np.where(y != 0, y, z)))
            quat = np.where(first < 0, -1.0, 1.0)[..., None] * quat
        return np.concatenate((quat[..., 3:], quat[..., :3]), axis=-1) if scalar_first else quat

    def as_matrix(self):
        q = self.quat
        x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
        rows = (
            np.stack((w * w + x * x - y * y - z * z, 2 * (x * y - z * w), 2 * (x * z + y * w)), -1),
            np.stack((2 * (x * y + z * w), w * w - x * x + y * y - z * z, 2 * (y * z - x * w)), -1),
            np.stack((2 * (x * z - y * w), 2 * (y * z + x * w), w * w - x * x - y * y + z * z), -1),
        )
        return np.stack(rows, -2)

    def as_rotvec(self, degrees=False):
        quat = np.where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        imaginary = quat[..., :3]
        square = np.sum(imaginary * imaginary, axis=-1, keepdims=True)
        small = square < 1e-6
        size = np.sqrt(np.where(small, 1.0, square))
        angle = 2 * np.arctan2(size, quat[..., 3:])
        series = 2 + square / 3 + 3 * square**2 / 20 + 5 * square**3 / 56  # of 2 arcsin(s) / s
        vector = np.where(small, series, angle / size) * imaginary
        return np.rad2deg(vector) if degrees else vector

    def as_mrp(self):
        quat = np.where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        return quat[..., :3] / (1 + quat[..., 3:])

    def as_euler(self, seq, degrees=False, *, suppress_warnings=False):
        """E. Bernardes and S. Viollet, Quaternion to Euler angles conversion: a direct, general and
        computationally efficient method, PLoS ONE 17 (2022), as SciPy has it."""
        extrinsic = seq.islower()
        i, j, k = ["xyz".index(letter) for letter in seq.lower()][:: 1 if extrinsic else -1]
        symmetric = i == k
        if symmetric:
            k = 3 - i - j
        sign = (i - j) * (j - k) * (k - i) // 2
        q = self.quat
        if symmetric:
            a, b, c, d = q[..., 3], q[..., i], q[..., j], sign * q[..., k]
        else:
            a, b = q[..., 3] - q[..., j], q[..., i] + sign * q[..., k]
            c, d = q[..., j] + q[..., 3], sign * q[..., k] - q[..., i]
        middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
        total, difference = np.arctan2(b, a), np.arctan2(d, c)
        aligned, opposite = np.abs(middle) <= 1e-7, np.abs(middle - np.pi) <= 1e-7
        locked = aligned | opposite
        turned = -2 * difference if extrinsic else 2 * difference
        alone = np.where(aligned, 2 * total, turned)
        first, last = total - difference, total + difference
        if extrinsic:
            first, last = np.where(locked, alone, first), np.where(locked, 0.0, last)
        else:
            first, last = np.where(locked, 0.0, first), np.where(locked, alone, last)
        if not symmetric:
            last, middle = sign * last, middle - np.pi / 2
        angles = (first, middle, last) if extrinsic else (last, middle, first)
        angles = (np.stack(angles, -1) + np.pi) % (2 * np.pi) - np.pi
        return np.rad2deg(angles) if degrees else angles


def turn(rotation):
    return rotation if isinstance(rotation, Turn) else Turn(rotation.as_quat())


# Making them


@definition(Rotation, Rotation.from_quat)
def from_quat(quat, *, scalar_first=False):
    quat = np.asarray(quat)
    if scalar_first:
        quat = np.concatenate((quat[..., 1:], quat[..., :1]), axis=-1)
    return Turn(quat / np.linalg.norm(quat, axis=-1, keepdims=True))


@definition(Rotation.from_rotvec)
def from_rotvec(rotvec, degrees=False):
    rotvec = np.deg2rad(rotvec) if degrees else np.asarray(rotvec)
    square = np.sum(rotvec * rotvec, axis=-1, keepdims=True)
    small = square <= 1e-6
    angle = np.sqrt(np.where(small, 1.0, square))
    sine = np.where(small, 0.5 - square / 48 + square**2 / 3840, np.sin(angle / 2) / angle)
    cosine = np.where(small, 1 - square / 8 + square**2 / 384, np.cos(angle / 2))
    return Turn(np.concatenate((sine * rotvec, cosine), axis=-1))


@definition(Rotation.from_mrp)
def from_mrp(mrp):
    mrp = np.asarray(mrp)
    square = np.sum(mrp * mrp, axis=-1, keepdims=True)
    return Turn(np.concatenate((2 * mrp, 1 - square), axis=-1) / (1 + square))


def about(axis, angle):
    """The rotations about the axis x, y or z (0, 1 or 2)."""
    sine = np.sin(angle / 2)
    parts = [sine if i == axis else np.zeros_like(sine) for i in range(3)]
    return Turn(np.stack((*parts, np.cos(angle / 2)), -1))


@definition(Rotation.from_euler)
def from_euler(seq, angles, degrees=False):
    angles = np.deg2rad(angles) if degrees else np.asarray(angles)
    if np.ndim(angles) == 0:
        angles = np.reshape(angles, 1)
    angles = np.reshape(angles, (*np.shape(angles)[:-1], len(seq)))
    result = about("xyz".index(seq[0].lower()), angles[..., 0])
    for i in range(1, len(seq)):
        other = about("xyz".index(seq[i].lower()), angles[..., i])
        result = result * other if seq.isupper() else other * result
    return result


@definition(Rotation.from_matrix)
def from_matrix(matrix, *, assume_valid=False):
    """A matrix that is no rotation is replaced by the nearest one; the largest component of the
    quaternion tells the others from sums and differences of elements."""
    m = unitary_factor(np.asarray(matrix))
    a, b, c = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    trace = a + b + c
    largest = np.argmax(np.stack((a, b, c, trace), -1), -1)[..., None]
    yz, zx, xy = (m[..., i, j] + m[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0)))
    x, y, z = (m[..., i, j] - m[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0)))
    by_x = np.stack((1 - trace + 2 * a, xy, zx, x), -1)
    by_y = np.stack((xy, 1 - trace + 2 * b, yz, y), -1)
    by_z = np.stack((zx, yz, 1 - trace + 2 * c, z), -1)
    by_w = np.stack((x, y, z, 1 + trace), -1)
    quat = np.where(
        largest == 0, by_x, np.where(largest == 1, by_y, np.where(largest == 2, by_z, by_w))
    )
    return Turn(quat / np.linalg.norm(quat, axis=-1, keepdims=True))


@definition(Rotation.identity)
def identity(num=None):
    one = np.array([0.0, 0.0, 0.0, 1.0])
    return Turn(one if num is None else np.tile(one, (num, 1)))


definition(Rotation.concatenate)(
    lambda rotations: Turn(np.concatenate([np.reshape(turn(r).quat, (-1, 4)) for r in rotations]))
)


@definition(Rotation.align_vectors)
def align_vectors(a, b, weights=None, return_sensitivity=False):
    """W. Kabsch, A solution for the best rotation to relate two sets of vectors (1976)."""
    a, b = np.asarray(a), np.asarray(b)
    if return_sensitivity or a.ndim == 1:
        raise NotImplementedError("align_vectors of one pair of vectors, or with the sensitivity")
    if len(a) == 1:
        raise ValueError("align_vectors of one pair of vectors has no derivative")
    weights = np.ones(len(a)) if weights is None else np.asarray(weights)
    product = (weights[:, None] * a).T @ b
    turned = unitary_factor(product)
    if np.linalg.det(turned) < 0:
        u, _, vh = np.linalg.svd(product)
        turned = turned - 2 * u[:, -1:] @ vh[-1:]
    squares = np.sum(weights[:, None] * (a * a + b * b)) - 2 * np.sum(turned * product)
    return from_matrix(turned), np.sqrt(np.maximum(squares, 0.0))


# Rotations from outside


def of_the_same_name(name):
    def method(self, *args, **kwargs):
        return getattr(Turn(self.as_quat()), name)(*args, **kwargs)

    definition(getattr(Rotation, name))(method)


for _name in ("apply", "inv", "magnitude", "mean", "__mul__", "__pow__", "as_matrix", "as_rotvec"):
    of_the_same_name(_name)
for _name in ("as_euler", "as_mrp", "__getitem__", "__len__"):
    of_the_same_name(_name)
inert(Rotation.as_quat, Rotation.approx_equal, Rotation.create_group)


@kind(Rotation.as_quat)
def quat_kind(args, kwargs):
    value = getattr(args[0], "value", None)
    if not isinstance(value, Rotation):
        return Inferred(Array(np.dtype(np.float64), None))
    shape = np.shape(value.as_quat())
    return Inferred(Array(np.dtype(np.float64), (*(fresh_size() for _ in shape[:-1]), 4)))


# Interpolation between them


class Arcs:
    """The shortest turns from each of some rotations to the next."""

    def __init__(self, times, rotations):
        self.times, self.rotations = times, rotations
        self.vectors = (rotations[:-1].inv() * rotations[1:]).as_rotvec()

    def __call__(self, times):
        times = np.asarray(times)
        i = np.maximum(np.searchsorted(self.times, times) - 1, 0)
        part = (times - self.times[i]) / (self.times[i + 1] - self.times[i])
        return self.rotations[i] * from_rotvec(part[..., None] * self.vectors[i])


definition(Slerp)(lambda times, rotations: Arcs(np.asarray(times), Turn(rotations.as_quat())))


refuse(
    *(
        getattr(Rotation, name)
        for name in ("from_davenport", "as_davenport", "reduce")
        if hasattr(Rotation, name)
    ),
    reason="it has no rule; use from_euler, from_rotvec or from_quat, and their inverses",
    always=True,
)
refuse(Rotation.random, reason="its result is random: draw it outside the function", always=True)
refuse(
    *(getattr(transform, n) for n in ("RotationSpline", "RigidTransform") if hasattr(transform, n)),
    reason="it has no rule; use Rotation and Slerp, and add translations",
    always=True,
)
