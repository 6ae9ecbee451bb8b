"""Forward kinematics of a robot arm by Denavit-Hartenberg matrices; the cost is the distance of
the hand from a target path plus penalties on joint limits and on hitting the floor."""

import numpy as np

ARGNUMS = (0, 1, 2)


def rot_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def rot_x(angle):
    c, s = np.cos(angle), np.sin(angle)
    R = np.eye(4)
    R[1, 1] = c
    R[1, 2] = -s
    R[2, 1] = s
    R[2, 2] = c
    return R


def translate(x=0.0, y=0.0, z=0.0):
    T = np.identity(4)
    T[:3, 3] = [x, y, z]
    return T


def forward_kinematics(joints, lengths, offsets, twists):
    T = np.eye(4)
    positions = [T[:3, 3]]
    for q, a, d, alpha in zip(joints, lengths, offsets, twists, strict=True):
        T = T @ rot_z(q) @ translate(z=d) @ translate(x=a) @ rot_x(alpha)
        positions.append(T[:3, 3])
    return positions, T[:3, :3]


def limit_penalty(joints, limit=1.2):
    penalty = 0.0
    for q in joints:
        if q > limit:
            penalty += (q - limit) ** 2
        elif q < -limit:
            penalty += (q + limit) ** 2
    return penalty


def program(trajectory, lengths, target, twists):
    offsets = [0.3] + [0.0] * (len(lengths) - 1)
    cost = 0.0
    previous = None
    for step, joints in enumerate(trajectory):
        positions, R = forward_kinematics(joints, lengths, offsets, twists)
        hand = positions[-1]
        goal = target + 0.1 * step
        cost += np.sum((hand - goal) ** 2) + 0.2 * (1.0 - R[2, 2])
        cost += limit_penalty(joints)
        cost += sum(min(p[2], 0.0) ** 2 for p in positions)
        if previous is not None:
            cost += 0.5 * np.sum((joints - previous) ** 2)
        previous = joints
    return cost


def inputs(size=None):
    steps = 4 if size is None else size
    rng = np.random.default_rng(0)
    twists = np.array([np.pi / 2, 0.0, 0.0, -np.pi / 2, np.pi / 2])
    trajectory = rng.uniform(-1.5, 1.5, size=(steps, 5))
    return trajectory, np.array([0.1, 1.0, 0.8, 0.3, 0.2]), np.array([0.8, 0.3, 0.9]), twists
