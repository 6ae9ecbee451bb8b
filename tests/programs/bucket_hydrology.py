"""A conceptual rainfall-runoff model (snow, soil, two reservoirs, routing) over daily forcing."""

import numpy as np

ARGNUMS = (0, 1)

DEFAULTS = {
    "tt": 0.3,
    "cfmax": 3.1,
    "fc": 150.0,
    "lp": 0.7,
    "beta": 2.2,
    "k0": 0.3,
    "k1": 0.12,
    "k2": 0.04,
    "uzl": 12.0,
    "perc": 1.1,
    "maxbas": 3,
}


def triangular_weights(maxbas):
    weights = []
    for i in range(maxbas):
        a, b = i / maxbas, (i + 1) / maxbas
        weights.append((b**2 - a**2) if b <= 0.5 else 1 - 2 * (1 - b) ** 2 - 2 * min(a, 0.5) ** 2)
    total = sum(weights)
    return [w / total for w in weights]


def hbv(precipitation, temperature, evaporation, **options):
    par = {**DEFAULTS, **options}
    snow, soil, upper, lower = 5.0, 80.0, 8.0, 20.0
    q = np.zeros(len(precipitation))
    for day, (p, t, e) in enumerate(zip(precipitation, temperature, evaporation, strict=False)):
        if t < par["tt"]:
            snow += p
            water = 0.0
        else:
            melt = min(snow, par["cfmax"] * (t - par["tt"]))
            snow -= melt
            water = p + melt
        recharge = water * (soil / par["fc"]) ** par["beta"]
        soil += water - recharge
        if soil > par["fc"]:
            recharge += soil - par["fc"]
            soil = par["fc"]
        soil -= min(e * min(1.0, soil / (par["fc"] * par["lp"])), soil)
        upper += recharge
        percolation = min(par["perc"], upper)
        upper -= percolation
        lower += percolation
        q0 = par["k0"] * max(0.0, upper - par["uzl"])
        q1, q2 = par["k1"] * upper, par["k2"] * lower
        upper -= q0 + q1
        lower -= q2
        q[day] = q0 + q1 + q2
    routed = np.zeros_like(q)
    for lag, w in enumerate(triangular_weights(par["maxbas"])):
        routed[lag:] += w * q[: len(q) - lag]
    return routed


def program(parameters, precipitation, temperature, evaporation, observed):
    names = ("cfmax", "fc", "beta", "k0", "k1", "k2", "perc")
    q = hbv(precipitation, temperature, evaporation, **dict(zip(names, parameters, strict=False)))
    # Nash-Sutcliffe efficiency
    return 1 - np.sum((q - observed) ** 2) / np.sum((observed - observed.mean()) ** 2)


def inputs(size=None):
    n = size or 10
    rng = np.random.default_rng(7)
    p = rng.gamma(0.8, 9.0, n)
    t = 4 * np.sin(np.arange(n) / 4) + rng.standard_normal(n)
    e = 1.5 + rng.random(n)
    parameters = np.array([3.1, 150.0, 2.2, 0.3, 0.12, 0.04, 1.1])
    return parameters, p, t, e, 3 + rng.random(n)
