"""Structured arrays outside: tables of constants, read field by field and row by row."""

import numpy as np
import pytest

import srcgrad
from srcgrad import UnsupportedError
from srcgrad.testing import check_grads

JOINTS = np.array(
    [(0.0, np.pi / 2, 0.3), (0.5, 0.0, 0.0), (0.4, 0.1, 0.2)],
    dtype=[("a", float), ("alpha", float), ("d", float)],
)
ATOMS = np.array(
    [("H", 1, 1.008, (0.0, 1.0)), ("C", 6, 12.011, (1.0, 0.5)), ("O", 8, 15.999, (2.0, 3.0))],
    dtype=[("symbol", "U2"), ("z", int), ("mass", float), ("place", float, 2)],
)


def transform(a, alpha, d, theta):
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    )


def chain_of_joints(q):
    t = np.eye(4)
    for row, theta in zip(JOINTS, q, strict=True):
        t = t @ transform(row["a"], row["alpha"], row["d"], theta)
    return t[:3, 3] @ np.array([1.0, 2.0, 3.0])


def unpacked_rows(q):
    t = np.eye(4)
    for k, (a, alpha, d) in enumerate(JOINTS[::-1]):
        t = t @ transform(a, alpha, d, q[k])
    return t[0, 3] ** 2 + t[1, 3] * JOINTS[0][2] * len(JOINTS[0])


def centre_of_mass(x):
    centre = np.sum(ATOMS["mass"][:, None] * ATOMS["place"], axis=0) * x[:2] / ATOMS["mass"].sum()
    return centre @ centre


def chosen_rows(x):
    total = 0.0
    for i in range(len(x)):
        atom = ATOMS[i]
        total += atom["mass"] * x[i] ** 2 + ATOMS["place"][i] @ x[:2]
    heavy = ATOMS[ATOMS["z"] > 5]
    heaviest = ATOMS[np.argmax(ATOMS["mass"])]
    if total > 0:
        total += heavy["mass"].sum() * x[0] * heavy.size
    return total * ATOMS.shape[0] + heaviest["mass"] * x[1] * (1 + (ATOMS["symbol"] == "C").sum())


@pytest.mark.parametrize(
    "f", [chain_of_joints, unpacked_rows, centre_of_mass, chosen_rows], ids=lambda f: f.__name__
)
def test_it_gives_the_derivatives(f):
    check_grads(f, (np.array([0.3, -0.8, 1.2]),))


TABLE = np.zeros(2, dtype=[("weight", float), ("count", int)])


def weighed(x):
    return np.sum(TABLE["weight"] * x)


def written(x):
    TABLE["weight"] = x
    return np.sum(TABLE["weight"])


def test_it_is_read_when_the_gradient_runs(monkeypatch):
    gradient = srcgrad.grad(weighed)
    monkeypatch.setitem(globals(), "TABLE", TABLE.copy())
    TABLE["weight"] = [2.0, 3.0]
    np.testing.assert_array_equal(gradient(np.ones(2)), [2.0, 3.0])
    TABLE["weight"] = [4.0, 5.0]
    np.testing.assert_array_equal(gradient(np.ones(2)), [4.0, 5.0])
    longer = np.array([(1, 2, 0.5)] * 3, dtype=[("count", int), ("more", int), ("weight", float)])
    monkeypatch.setitem(globals(), "TABLE", longer)
    np.testing.assert_array_equal(gradient(np.ones(3)), [0.5, 0.5, 0.5])


def test_writes_are_refused():
    with pytest.raises(UnsupportedError, match="'weight' is outside of the function"):
        srcgrad.grad(written)(np.ones(2))
