"""9. Saving a gradient as a module, which needs NumPy alone.

    python examples/tour/09_saving_a_gradient.py

Generate where you develop, ship plain NumPy: there srcgrad isn't installed, nothing is compiled,
and a reviewer sees all that runs.
"""

import importlib.util
import pickle
import tempfile
from pathlib import Path

import numpy as np

from srcgrad import grad


@grad
def energy(positions, charges):
    total = 0.0
    for i in range(len(charges)):
        for j in range(i):
            distance = np.sqrt(np.sum((positions[i] - positions[j]) ** 2))
            total += charges[i] * charges[j] / distance
    return total


rng = np.random.default_rng(0)
positions, charges = rng.normal(size=(4, 3)), np.array([1.0, -1.0, 2.0, 1.0])
forces = -energy(positions, charges)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "d_energy.py"
    energy.save(path)
    text = path.read_text()
    print([line for line in text.splitlines() if line[:6] == "import"])  # ['import numpy as np']

    spec = importlib.util.spec_from_file_location("d_energy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    again = -module.d_energy(positions, charges)
    print(np.array_equal(forces, again))  # True

# A Gradient can also be pickled, to be sent to other processes.
sent = pickle.loads(pickle.dumps(energy))
print(np.array_equal(sent(positions, charges), -forces))  # True
print(text)
