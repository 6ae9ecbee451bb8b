"""Densities of vectors and matrices."""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from ..helpers import known
from ..registry import definition


class Frozen:
    """A distribution with its parameters."""

    def __init__(self, distribution, parameters, seed=None):
        self.distribution, self.parameters, self.seed = distribution, parameters, seed

    def logpdf(self, x):
        return self.distribution.logpdf(x, *self.parameters)

    def pdf(self, x):
        return self.distribution.pdf(x, *self.parameters)

    def entropy(self):
        return self.distribution.entropy(*self.parameters)

    def rvs(self, size=1, random_state=None):
        if self.seed is not None:
            raise NotImplementedError(
                "a distribution with a seed has numbers of its own: pass rvs a random_state"
            )
        return self.distribution.rvs(*self.parameters, size=size, random_state=random_state)


def factor(cov, mean):
    """The Cholesky factor of a covariance matrix; its diagonal or a number may stand for it."""
    if np.ndim(cov) == 0:
        return np.sqrt(cov) * np.eye(1 if mean is None else np.size(mean))
    return np.linalg.cholesky(np.diag(cov) if np.ndim(cov) == 1 else cov)


def whitened(x, mean, cov):
    """The squared distances from the mean, the logarithm of the determinant, and the dimension."""
    lower = factor(np.asarray(cov), mean)
    dimension = lower.shape[0]
    x = np.asarray(x)
    # where only the run tells the dimension, a vector is one point; else `reshape` raises below
    if x.ndim == 0 or (x.ndim == 1 and known(dimension) and dimension == 1):
        x = x[..., None]
    delta = x - (np.zeros(dimension) if mean is None else mean)  # one number stands for all
    flat = delta.reshape(-1, dimension)
    z = np.linalg.solve(lower, flat.T)
    squared = np.sum(z * z, axis=0).reshape(delta.shape[:-1])
    if squared.ndim > 0:
        squared = np.squeeze(squared)  # SciPy leaves out all axes of length 1
    return squared, 2 * np.sum(np.log(np.diagonal(lower))), dimension


def normal_logpdf(self, x, mean=None, cov=1, allow_singular=False):
    """A singular covariance has no derivative: the factorization raises LinAlgError then."""
    squared, log_det, dimension = whitened(x, mean, cov)
    return -0.5 * (dimension * math.log(2 * math.pi) + log_det + squared)


def normal_pdf(self, x, mean=None, cov=1, allow_singular=False):
    return np.exp(normal_logpdf(self, x, mean, cov))


def normal_entropy(self, mean=None, cov=1):
    lower = factor(np.asarray(cov), mean)
    log_det = 2 * np.sum(np.log(np.diagonal(lower)))
    return 0.5 * (lower.shape[0] * (math.log(2 * math.pi) + 1) + log_det)


definition(type(stats.multivariate_normal).logpdf)(normal_logpdf)
definition(type(stats.multivariate_normal).pdf)(normal_pdf)
definition(type(stats.multivariate_normal).entropy)(normal_entropy)


def student_logpdf(self, x, loc=None, shape=1, df=1):
    squared, log_det, n = whitened(x, loc, shape)
    half = 0.5 * (df + n)
    constant = special.gammaln(half) - special.gammaln(0.5 * df)
    constant = constant - 0.5 * n * np.log(df * math.pi) - 0.5 * log_det
    return constant - half * np.log1p(squared / df)


def student_pdf(self, x, loc=None, shape=1, df=1, allow_singular=False):
    return np.exp(student_logpdf(self, x, loc, shape, df))


definition(type(stats.multivariate_t).logpdf)(student_logpdf)
definition(type(stats.multivariate_t).pdf)(student_pdf)


def dirichlet_logpdf(self, x, alpha):
    """x may leave out its last entry."""
    x, alpha = np.asarray(x), np.asarray(alpha)
    if x.shape[0] != alpha.shape[0]:
        x = np.concatenate((x, 1.0 - np.sum(x, axis=0, keepdims=True)))
    constant = special.gammaln(np.sum(alpha)) - np.sum(special.gammaln(alpha))
    return constant + np.sum(special.xlogy((alpha - 1).T, x.T).T, axis=0)


def dirichlet_pdf(self, x, alpha):
    return np.exp(dirichlet_logpdf(self, x, alpha))


definition(type(stats.dirichlet).logpdf)(dirichlet_logpdf)
definition(type(stats.dirichlet).pdf)(dirichlet_pdf)


def wishart_logpdf(self, x, df, scale):
    """Of one symmetric positive definite matrix."""
    n = scale.shape[0]
    constant = 0.5 * df * n * math.log(2.0) + special.multigammaln(0.5 * df, n)
    constant = constant + 0.5 * df * np.linalg.slogdet(scale)[1]
    trace = np.trace(np.linalg.solve(scale, x))
    return 0.5 * (df - n - 1) * np.linalg.slogdet(x)[1] - 0.5 * trace - constant


def inverse_wishart_logpdf(self, x, df, scale):
    """Of one symmetric positive definite matrix."""
    n = scale.shape[0]
    constant = 0.5 * df * n * math.log(2.0) + special.multigammaln(0.5 * df, n)
    constant = constant - 0.5 * df * np.linalg.slogdet(scale)[1]
    trace = np.trace(np.linalg.solve(x, scale))
    return -0.5 * (df + n + 1) * np.linalg.slogdet(x)[1] - 0.5 * trace - constant


definition(type(stats.wishart).logpdf)(wishart_logpdf)
definition(type(stats.invwishart).logpdf)(inverse_wishart_logpdf)


definition(type(stats.multivariate_normal).__call__)(
    lambda self, mean=None, cov=1, allow_singular=False, seed=None: Frozen(self, (mean, cov), seed)
)


@definition(type(stats.multivariate_t).__call__)
def frozen_student(self, loc=None, shape=1, df=1, allow_singular=False, seed=None):
    return Frozen(self, (loc, shape, df), seed)


definition(type(stats.dirichlet).__call__)(
    lambda self, alpha, seed=None: Frozen(self, (alpha,), seed)
)


# Distributions that were given their parameters outside the function


def _outside(frozen, logpdf):
    definition(frozen.logpdf)(logpdf)
    definition(frozen.pdf)(lambda self, x: np.exp(logpdf(self, x)))


_outside(
    type(stats.multivariate_normal()),
    lambda self, x: normal_logpdf(self, x, self.mean, self.cov_object.covariance),
)
definition(type(stats.multivariate_normal()).entropy)(
    lambda self: normal_entropy(self, self.mean, self.cov_object.covariance)
)
_outside(
    type(stats.multivariate_t()),
    lambda self, x: student_logpdf(self, x, self.loc, self.shape, self.df),
)
_outside(type(stats.dirichlet([1.0, 1.0])), lambda self, x: dirichlet_logpdf(self, x, self.alpha))
