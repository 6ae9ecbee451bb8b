"""5. Hessians, and products with them: gradients of gradients are gradients.

python examples/tour/05_hessians.py
"""

import numpy as np

from srcgrad import grad, hessian, hvp, jacobian, jvp


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


x = np.array([1.0, 1.0])
h = hessian(rosenbrock)(x)
print(h.tolist())  # [[802.0, -400.0], [-400.0, 200.0]]

# A product with the Hessian costs about as much as a gradient, and no matrix is made.
v = np.array([1.0, 2.0])
print(hvp(rosenbrock)(x, v))  # [2. 0.]
print(h @ v)  # [2. 0.]

# Newton's method
x = np.array([-1.2, 1.0])
gradient, second = grad(rosenbrock), hessian(rosenbrock)
for _ in range(8):
    x = x - np.linalg.solve(second(x), gradient(x))
print(np.round(x, 6))  # [1. 1.]


# Forward mode: the derivative along a direction, without a reverse sweep.
def polar(p):
    return np.array([p[0] * np.cos(p[1]), p[0] * np.sin(p[1])])


p = np.array([2.0, 0.0])
value, tangent = jvp(polar, (p,), (np.array([0.0, 1.0]),))
print(value, tangent)  # [2. 0.] [0. 2.]
print(jacobian(polar)(p).tolist())  # [[1.0, 0.0], [0.0, 2.0]]

# Any derivative can be derived once more.
print(grad(grad(grad(lambda t: t**5)))(2.0))  # 240.0
