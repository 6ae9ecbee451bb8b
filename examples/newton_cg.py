"""Minimise a function of a thousand variables with exact products with its Hessian.

    python examples/newton_cg.py

Newton-CG never forms the Hessian: it asks for products with it, `hessp(x, v)`, which `hvp` gives at
about twice the cost of a gradient.
"""

import numpy as np
from scipy.optimize import minimize

from srcgrad import hvp, value_and_grad


def energy(x):
    """A chain of springs in a wavy landscape, its ends held."""
    stretched = np.diff(x, prepend=0.0, append=1.0) - 1 / (len(x) + 1)
    return len(x) * np.sum(stretched**2) + 0.01 * np.sum(np.cos(12 * x)) + 0.01 * np.sum(x**4)


def main():
    x = np.zeros(1000)
    gradient, product = value_and_grad(energy), hvp(energy)
    newton = minimize(gradient, x, jac=True, hessp=product, method="Newton-CG")
    limited = minimize(gradient, x, jac=True, method="L-BFGS-B", options={"maxiter": 10_000})
    for name, found in (("Newton-CG", newton), ("L-BFGS-B", limited)):
        size = np.linalg.norm(gradient(found.x)[1])
        products = f", {found.nhev} products" if "nhev" in found else ""
        print(
            f"{name:10} energy {found.fun:.8f}, |gradient| {size:.1e}: "
            f"{found.nfev} gradients{products}"
        )
    print(f"\nThe generated product with the Hessian:\n\n{product.source}")


if __name__ == "__main__":
    main()
