"""What holds for every test: one BLAS thread a worker, and hypothesis without a deadline."""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before NumPy is imported: pytest-xdist uses the cores

from hypothesis import HealthCheck, settings  # noqa: E402

# Reproducible where nobody watches; a different search on each run at a developer's desk.
settings.register_profile("default", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "default")
