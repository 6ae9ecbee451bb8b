"""Programs rewritten so that they mean the same have the same gradients: a few of them."""

import random

import pytest

from .metamorphic.driver import random_steps, rewritten, subjects

# Short programs, and seeds of which the rewritten ones compile
NAMES = ["cholesky_loop", "deriche_filter", "heat_equation", "kalman_filter", "lstm", "thermostat"]


@pytest.mark.parametrize("name", NAMES)
def test_rewritten(name):
    (subject,) = subjects([name])
    for seed, mode in enumerate(("grad", "value", "jvp", "vjp")):
        steps = random_steps(random.Random(f"{name}{seed}").randrange(10**9), None, 6)
        text, kept = rewritten(subject, steps)
        outcome = subject.differentiated(text, mode)
        assert outcome.kind == "right", f"{outcome}\n{kept}\n{text}"
