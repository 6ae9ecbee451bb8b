"""Samples of scipy.special."""

import numpy as np

from srcgrad.rules import scipy as scipy_rules

from .kit import case
from .samples_elementwise import between, complexes, layouts, pairs

SAMPLES = {}
try:
    from scipy import special
except ImportError:
    special = None

ONE = {
    "gamma": (0.3, 5.0), "gammaln": (0.3, 5.0), "loggamma": (0.3, 5.0), "rgamma": (-2.7, 4.0),
    "digamma": (-1.8, -1.2), "erf": (-2, 2), "erfc": (-2, 2), "erfcx": (-1, 3), "erfi": (-1, 1),
    "erfinv": (-0.9, 0.9), "erfcinv": (0.1, 1.9), "dawsn": (-3, 3), "ndtr": (-3, 3),
    "log_ndtr": (-8, 3), "ndtri": (0.1, 0.9), "ndtri_exp": (-5, -0.1),
    "j0": (-5, 5), "j1": (-5, 5), "y0": (0.5, 5), "y1": (0.5, 5), "i0": (-3, 3), "i1": (-3, 3),
    "i0e": (0.2, 3), "i1e": (-3, -0.2), "k0": (0.4, 3), "k1": (0.4, 3), "k0e": (0.4, 3),
    "k1e": (0.4, 3), "ber": (0.2, 3), "bei": (-3, 3), "ker": (0.2, 3), "kei": (0.2, 3),
    "itj0y0": (0.3, 3), "iti0k0": (0.3, 3), "it2j0y0": (0.3, 3), "it2i0k0": (0.3, 3),
    "itstruve0": (0.3, 3), "itmodstruve0": (0.3, 3),
    "berp": (0.2, 3), "beip": (-3, 3), "kerp": (0.2, 3), "keip": (0.2, 3),
    "expit": (-5, 5), "logit": (0.1, 0.9), "log_expit": (-5, 5), "softplus": (-5, 5),
    "entr": (0.1, 3), "expm1": (-1, 1), "log1p": (-0.5, 1), "cbrt": (0.2, 2), "exp2": (-1, 1),
    "exp10": (-1, 1), "exprel": (-3, 3), "cosm1": (-3, 3), "sindg": (-90, 300),
    "cosdg": (-90, 300), "tandg": (-80, 80), "cotdg": (10, 170), "wrightomega": (-2, 3),
    "ellipk": (-2, 0.9), "ellipkm1": (0.1, 2), "ellipe": (-2, 0.9), "expi": (0.3, 3),
    "exp1": (0.3, 3), "sici": (0.3, 9), "shichi": (0.3, 3), "spence": (0.2, 4), "airy": (-4, 2),
    "fresnel": (-2, 2), "wofz": (-2, 2),
}  # fmt: skip
COMPLEX = (
    *("gamma", "loggamma", "rgamma", "erf", "erfc", "erfcx", "erfi", "dawsn", "wofz", "log_ndtr"),
    *("wrightomega", "expi", "exp1", "sici", "shichi", "spence", "airy", "fresnel"),
    *("expm1", "log1p"),
)
TWO = {  # intervals of both arguments, and which of them are not differentiated
    "beta": ((0.5, 3), (0.5, 3), ()), "betaln": ((0.5, 3), (0.5, 3), ()),
    "binom": ((3, 5), (0.5, 2.5), ()), "comb": ((3, 5), (0.5, 2.5), ()),
    "perm": ((3, 5), (0.5, 2.5), ()), "poch": ((1, 3), (0.5, 2.5), ()),
    "gammainc": ((0.6, 3), (0.3, 3), (0,)), "gammaincc": ((0.6, 3), (0.3, 3), (0,)),
    "gammaincinv": ((0.6, 3), (0.2, 0.8), (0,)), "gammainccinv": ((0.6, 3), (0.2, 0.8), (0,)),
    "zeta": ((1.5, 4), (0.4, 3), (0,)), "owens_t": ((-2, 2), (-2, 2), ()),
    "elliprc": ((0.3, 2), (2.2, 4), ()),
    "jv": ((-0.7, 3), (0.4, 5), (0,)), "yv": ((-0.7, 3), (0.8, 5), (0,)),
    "hankel1": ((-0.7, 3), (0.8, 5), (0,)), "hankel2": ((-0.7, 3), (0.8, 5), (0,)),
    "jve": ((-0.7, 3), (0.4, 5), (0,)), "yve": ((-0.7, 3), (0.8, 5), (0,)),
    "hankel1e": ((-0.7, 3), (0.8, 5), (0,)), "hankel2e": ((-0.7, 3), (0.8, 5), (0,)),
    "iv": ((-0.7, 3), (0.4, 3), (0,)), "ive": ((-0.7, 3), (0.4, 3), (0,)),
    "kv": ((-0.7, 3), (0.6, 3), (0,)), "kve": ((-0.7, 3), (0.6, 3), (0,)),
    "struve": ((-0.4, 3), (0.4, 4), (0,)), "modstruve": ((-0.4, 3), (0.4, 4), (0,)),
    "xlogy": ((0.3, 2), (0.3, 2), ()), "xlog1py": ((0.3, 2), (-0.5, 2), ()),
    "rel_entr": ((0.3, 2), (0.3, 2), ()), "kl_div": ((0.3, 2), (0.3, 2), ()),
    "huber": ((0.5, 1.5), (-3, 3), ()), "pseudo_huber": ((0.5, 1.5), (-3, 3), ()),
    "powm1": ((0.3, 2), (-2, 2), ()), "boxcox": ((0.3, 3), (-2, 2), ()),
    "boxcox1p": ((-0.5, 3), (-2, 2), ()), "inv_boxcox": ((-0.4, 0.4), (-2, 2), ()),
    "inv_boxcox1p": ((-0.4, 0.4), (-2, 2), ()), "ellipkinc": ((-5, 5), (-2, 0.8), ()),
    "ellipeinc": ((-5, 5), (-2, 0.8), ()), "ellipj": ((-3, 3), (0.1, 0.9), (1,)),
    "hyp0f1": ((0.5, 3), (-2, 2), (0,)), "stdtr": ((1, 9), (-3, 3), (0,)),
    "stdtrit": ((1, 9), (0.1, 0.9), (0,)), "chdtr": ((1, 9), (0.5, 5), (0,)),
    "chdtrc": ((1, 9), (0.5, 5), (0,)), "chdtri": ((1, 9), (0.1, 0.9), (0,)),
}  # fmt: skip
MORE = {  # intervals of any number of arguments, and which of them are not differentiated
    "betainc": (((0.6, 3), (0.6, 3), (0.1, 0.9)), (0, 1)),
    "betaincc": (((0.6, 3), (0.6, 3), (0.1, 0.9)), (0, 1)),
    "betaincinv": (((0.6, 3), (0.6, 3), (0.1, 0.9)), (0, 1)),
    "betainccinv": (((0.6, 3), (0.6, 3), (0.1, 0.9)), (0, 1)),
    "voigt_profile": (((-2, 2), (0.5, 2), (0.5, 2)), ()),
    "elliprf": (((0.5, 2), (0.5, 2), (0.5, 2)), ()),
    "elliprd": (((0.5, 2), (0.5, 2), (0.5, 2)), ()),
    "radian": (((0, 90), (0, 60), (0, 60)), ()),
    "hyp1f1": (((0.5, 2), (0.5, 2), (-2, 2)), (0, 1)),
    "hyp2f1": (((0.5, 2), (0.5, 2), (0.5, 2), (-2, 0.7)), (0, 1, 2)),
    "hyperu": (((0.5, 2), (0.5, 2), (0.5, 2)), (0, 1)),
    "wright_bessel": (((0.5, 2), (0.5, 2), (0.5, 2)), (0, 1)),
    "log_wright_bessel": (((0.5, 2), (0.5, 2), (0.5, 2)), (0, 1)),
    "fdtr": (((1, 6), (1, 6), (0.3, 2)), (0, 1)),
    "fdtrc": (((1, 6), (1, 6), (0.3, 2)), (0, 1)),
    "fdtri": (((1, 6), (1, 6), (0.2, 0.8)), (0, 1)),
    "gdtr": (((0.5, 2), (0.5, 2), (0.5, 2)), (1,)),
    "gdtrc": (((0.5, 2), (0.5, 2), (0.5, 2)), (1,)),
    "eval_jacobi": (((1, 4), (0.1, 2), (0.1, 2), (-0.8, 0.8)), (0, 1, 2)),
    "eval_gegenbauer": (((1, 4), (0.1, 2), (-0.8, 0.8)), (0, 1)),
    "eval_genlaguerre": (((1, 4), (0.1, 2), (0.2, 3)), (0, 1)),
}  # fmt: skip
OF_INTEGER_ORDER = {
    "polygamma": (0.4, 5), "yn": (0.8, 5), "kn": (1.8, 4), "expn": (0.3, 3),
    "spherical_jn": (0.4, 5), "spherical_yn": (0.4, 5), "spherical_in": (0.4, 3),
    "spherical_kn": (0.4, 3), "jvp": (0.4, 5), "yvp": (0.8, 5), "ivp": (0.4, 3), "kvp": (0.6, 3),
    "h1vp": (0.8, 5), "h2vp": (0.8, 5), "eval_legendre": (-0.9, 0.9), "eval_chebyt": (-0.9, 0.9),
    "eval_chebyu": (-0.9, 0.9), "eval_chebyc": (-1.9, 1.9), "eval_chebys": (-1.9, 1.9),
    "eval_hermite": (-2, 2), "eval_hermitenorm": (-2, 2), "eval_laguerre": (-1, 3),
    "eval_sh_legendre": (0.1, 0.9), "eval_sh_chebyt": (0.1, 0.9), "eval_sh_chebyu": (0.1, 0.9),
}  # fmt: skip

if special is not None:
    scipy_rules.load()
    for name, interval in ONE.items():
        if hasattr(special, name):
            SAMPLES[getattr(special, name)] = [case(x) for x in layouts(*interval)]
    for name in COMPLEX:
        SAMPLES[getattr(special, name)] += [case(z) for z in complexes(0.3, 1)]
    for name, (first, second, fixed) in TWO.items():
        SAMPLES[getattr(special, name)] = pairs(first, second, fixed)
    for name, (intervals, fixed) in MORE.items():
        if hasattr(special, name):
            shapes = [(), (4,), (2, 3), (0,)]
            SAMPLES[getattr(special, name)] = [
                *(case(*(between(*i, *shape) for i in intervals), fixed=fixed) for shape in shapes),
                case(*(float(between(*i)) for i in intervals), fixed=fixed),
                case(*(between(*i, *(3,) * (k % 3)) for k, i in enumerate(intervals)), fixed=fixed),
            ]
    for name, interval in OF_INTEGER_ORDER.items():
        orders = (0, 1, 2, 5) if name not in ("yn", "kn", "polygamma") else (1, 2, 5)
        SAMPLES[getattr(special, name)] = [
            *(case(n, float(between(*interval)), tolerance=2e-6) for n in orders),
            *(case(n, between(*interval, 2, 3), tolerance=2e-6) for n in orders),
            case(np.array([1, 2, 3]), between(*interval, 3), tolerance=2e-6),
        ]
    for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
        SAMPLES[getattr(special, name)] += [case(n, between(1, 3, 4), True) for n in (0, 1, 3)]
    for name in ("jvp", "ivp", "kvp"):
        SAMPLES[getattr(special, name)] += [case(2.5, between(1, 3, 4), n) for n in (0, 2)]
        SAMPLES[getattr(special, name)][-2:] = [
            case(*s.args, fixed=(0,)) for s in SAMPLES[getattr(special, name)][-2:]
        ]
    SAMPLES[special.lpmv] = [case(m, v, between(-0.9, 0.9, 3)) for m, v in ((0, 2), (1, 2), (2, 3))]
    if hasattr(special, "sph_harm_y"):
        SAMPLES[special.sph_harm_y] = [
            case(n, m, between(0.4, 2.6, 3), between(-2, 2, 3))
            for n, m in ((1, 0), (2, 1), (3, -2))
        ]
    SAMPLES[special.zeta] += [case(np.array([2, 3]), between(0.4, 3, 2))]
    SAMPLES[special.digamma] += [case(x) for x in layouts(0.4, 5)]
    SAMPLES[special.exprel] += [case(np.array([0.0, 1e-9, -1e-3, 0.1]))]
    SAMPLES[special.boxcox] += [case(between(0.5, 2, 4), 0.0), case(2.0, np.zeros(2))]
    SAMPLES[special.rgamma] += [case(np.array([0.0, -1.0, -3.0, 200.0, 2.0]))]
    SAMPLES[special.spence] += [case(np.array([1.0, 1 + 1e-9, 0.999]))]
    SAMPLES[special.ellipk] += [case(np.array([0.0, 1e-9]))]
    SAMPLES[special.elliprd] += [case(0.0, between(0.5, 2, 2), 1.0, fixed=(0,))]
    SAMPLES[special.log_ndtr] += [case(np.array([-40.0, -20.0, 8.0]))]
    SAMPLES[special.comb] += [
        case(between(2, 4, 3), between(1, 3, 3), repetition=True),
        case(5, 3, exact=True),
    ]
    SAMPLES[special.perm] += [case(5, 3, True)]
    SAMPLES[special.factorial] = [
        case(between(0.5, 4, 3)), case(float(between(1, 3))), case(4, True)
    ]  # fmt: skip
    SAMPLES[special.multigammaln] = [case(between(3, 5, 4), d) for d in (1, 2, 5)] + [case(4.5, 3)]
    SAMPLES[special.lambertw] = [
        case(between(0.3, 3, 4)),
        case(float(between(0.3, 3))),
        case(between(-0.3, -0.1, 3), -1),
        case(between(0.3, 1, 3) + 0.5j, 1),
    ]
    counts = np.array([0.0, 2.0, 4.0, 1.5])
    for name in ("bdtr", "bdtrc"):
        SAMPLES[getattr(special, name)] = [
            case(counts[:3], 5, between(0.2, 0.8, 3), fixed=(0,)),
            case(2.0, 5, between(0.2, 0.8, 2, 3), fixed=(0,)),
        ]
    for name in ("pdtr", "pdtrc"):
        SAMPLES[getattr(special, name)] = [case(counts, between(0.5, 4, 4), fixed=(0,))]
    for name in ("nbdtr", "nbdtrc"):
        SAMPLES[getattr(special, name)] = [
            case(np.array([0, 2, 4]), 5, between(0.2, 0.8, 3)),
        ]
    x = between(-2, 2, 3, 4)
    low = np.array([[-np.inf, -np.inf], [-np.inf, 0.5]])
    for name in ("softmax", "log_softmax"):
        SAMPLES[getattr(special, name)] = [
            case(x), case(x, 0), case(x, axis=-1), case(x[0]),
            case(between(-2, 2, 2, 3, 2), (0, 2)), case(x.T[::-1], 1),
        ]  # fmt: skip
    weights = between(0.5, 2, 4)
    SAMPLES[special.logsumexp] = [
        case(x), case(x, 0), case(x, axis=1), case(x, 1, keepdims=True), case(x[0]),
        case(between(-2, 2, 2, 3, 2), axis=(0, 2)), case(x, 1, weights), case(x, b=weights),
        case(x, 0, between(0.5, 2, 3, 1), True), case(x, 1, weights, return_sign=True),
        case(x, 1, np.array([1.0, -2.0, 0.5, -3.0]), return_sign=True), case(x, b=2),
        case(1e3 * x, 1), case(complexes(0.3, 1)[1]),
    ]  # fmt: skip
    SAMPLES[scipy_rules.special_gamma.polygamma_of_complex] = [
        case(n, z) for n in (1, 2) for z in (1.5 + 1j, -3.4 + 0.2j, np.array([30 + 2j, 0.3 - 1j]))
    ]
