"""What the examples of this folder share: the generated backward beside the course's formula."""

import inspect

import numpy as np


def compare(gradient, by_hand, *args):
    """Print both, and check that they give the same for `args`."""
    generated, derived = gradient(*args), by_hand(*args)
    if not isinstance(generated, tuple):
        generated, derived = (generated,), (derived,)
    for one, other in zip(generated, derived, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    largest = max(
        np.max(np.abs(np.subtract(a, b))) for a, b in zip(generated, derived, strict=True)
    )
    print(f"--- generated for {gradient.__name__}\n\n{gradient.source}")
    print(f"--- derived by hand\n\n{inspect.getsource(by_hand)}")
    print(f"--- they agree: the largest difference is {largest:.1e}\n\n")
