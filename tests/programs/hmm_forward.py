"""The forward algorithm of a hidden Markov model, with scaling, and posterior smoothing.

Transition and emission probabilities are softmaxes of the parameters; element loops over states.
"""

import math

import numpy as np

ARGNUMS = (0, 1, 2)


def normalise_rows(scores):
    table = []
    for row in scores:
        e = [math.exp(s) for s in row]
        total = sum(e)
        table.append([value / total for value in e])
    return table


def forward(observations, start, transition, emission):
    states = len(start)
    alphas = []
    scales = []
    previous = None
    for t, symbol in enumerate(observations):
        alpha = []
        for s in range(states):
            if t == 0:
                reach = start[s]
            else:
                reach = sum(previous[r] * transition[r][s] for r in range(states))
            alpha.append(reach * emission[s][symbol])
        scale = sum(alpha)
        alpha = [a / scale for a in alpha]
        scales.append(scale)
        alphas.append(alpha)
        previous = alpha
    return alphas, scales


def backward(observations, scales, transition, emission):
    states = len(transition)
    beta = [1.0] * states
    betas = [beta]
    for t in range(len(observations) - 1, 0, -1):
        symbol = observations[t]
        beta = [
            sum(transition[s][r] * emission[r][symbol] * beta[r] for r in range(states)) / scales[t]
            for s in range(states)
        ]
        betas.insert(0, beta)
    return betas


def program(start_scores, transition_scores, emission_scores, observations):
    (start,) = normalise_rows([start_scores])
    transition = normalise_rows(transition_scores)
    emission = normalise_rows(emission_scores)
    alphas, scales = forward(observations, start, transition, emission)
    betas = backward(observations, scales, transition, emission)
    log_likelihood = sum(math.log(c) for c in scales)
    expected = 0.0
    for alpha, beta in zip(alphas, betas, strict=True):
        for s, (a, b) in enumerate(zip(alpha, beta, strict=True)):
            expected += (s + 1) * (a * b) ** 2
    return -log_likelihood + 0.1 * expected


def inputs(size=None):
    length = size or 12
    rng = np.random.default_rng(0)
    observations = rng.integers(0, 4, length).tolist()
    return (
        rng.standard_normal(3),
        rng.standard_normal((3, 3)),
        rng.standard_normal((3, 4)),
        observations,
    )
