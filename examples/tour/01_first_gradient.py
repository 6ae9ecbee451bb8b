"""1. A first gradient: decorate a function, call it.

    python examples/tour/01_first_gradient.py

The function stays the one you wrote; `srcgrad` reads its source and writes that of its gradient.
"""

import numpy as np

from srcgrad import grad, value_and_grad


@grad
def area(sides):
    return sides[0] * sides[1]


print(area(np.array([2.0, 5.0])))  # [5. 2.]
print(area.primal(np.array([2.0, 5.0])))  # 10.0


def line(slope, offset, x, y):
    return np.mean((slope * x + offset - y) ** 2)


x = np.array([0.0, 1.0, 2.0])
y = np.array([1.0, 3.0, 5.0])

# By which arguments? Their positions or names; several give a tuple.
print(grad(line, argnums="offset")(1.0, 0.0, x, y))  # -4.0
d_slope, d_offset = grad(line, argnums=(0, 1))(1.0, 0.0, x, y)
print(round(d_slope, 3), d_offset)  # -5.333 -4.0

# Gradient descent: the value comes along with the gradient.
step = value_and_grad(line, argnums=(0, 1))
slope, offset = 0.0, 0.0
for _ in range(300):
    loss, (d_slope, d_offset) = step(slope, offset, x, y)
    slope -= 0.2 * d_slope
    offset -= 0.2 * d_offset
print(round(slope, 3), round(offset, 3))  # 2.0 1.0
