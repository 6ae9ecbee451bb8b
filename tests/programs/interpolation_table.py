"""A car driven through a speed profile, its consumption looked up in an engine map by bilinear
interpolation in a table, with a gear chosen at each moment."""

import bisect

import numpy as np

ARGNUMS = (0, 1, 2, 3)


class Table2D:
    """Bilinear interpolation, held constant outside the table."""

    def __init__(self, x, y, values):
        self.x = list(x)
        self.y = list(y)
        self.values = values

    @staticmethod
    def bracket(axis, value):
        if value <= axis[0]:
            return 0, 0.0
        if value >= axis[-1]:
            return len(axis) - 2, 1.0
        i = bisect.bisect_right(axis, value) - 1
        return i, (value - axis[i]) / (axis[i + 1] - axis[i])

    def __call__(self, x, y):
        i, s = self.bracket(self.x, x)
        j, t = self.bracket(self.y, y)
        v = self.values
        low = v[i][j] + t * (v[i][j + 1] - v[i][j])
        high = v[i + 1][j] + t * (v[i + 1][j + 1] - v[i + 1][j])
        return low + s * (high - low)


def choose_gear(speed):
    for gear, limit in enumerate((5.0, 11.0, 18.0)):
        if speed < limit:
            return gear
    return 3


def program(consumption, gear_ratios, mass, speeds, rpm_axis, torque_axis):
    engine = Table2D(rpm_axis, torque_axis, consumption)
    fuel = 0.0
    shifts = 0
    last_gear = None
    for now, then in zip(speeds[1:], speeds[:-1], strict=True):
        gear = choose_gear(now)
        if last_gear is not None and gear != last_gear:
            shifts += 1
        last_gear = gear
        acceleration = now - then
        force = mass * acceleration + 0.4 * now**2 + 120.0
        rpm = 60.0 * now * gear_ratios[gear] / (2 * np.pi * 0.3)
        torque = 0.3 * force / gear_ratios[gear]
        if torque < 0:
            continue  # fuel is cut off
        fuel += engine(rpm, torque)
    return fuel / len(speeds) + 0.05 * shifts


def inputs(size=None):
    n = 20 if size is None else size
    rng = np.random.default_rng(0)
    rpm_axis = np.array([800.0, 1500.0, 2500.0, 4000.0])
    torque_axis = np.array([10.0, 40.0, 90.0, 160.0, 250.0])
    consumption = np.outer(rpm_axis, 20.0 + torque_axis) / 1e5 + 0.3 * rng.random((4, 5))
    speeds = 15.0 + 13.0 * np.sin(np.linspace(-1.5, 4.0, n)) + 0.4 * rng.random(n)
    ratios = np.array([13.0, 7.0, 4.5, 2.6])
    return consumption, ratios, 1100.0, speeds, rpm_axis, torque_axis
