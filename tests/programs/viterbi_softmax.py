"""A Viterbi recursion whose maximum is a soft maximum, for a linear-chain tagger.

The loss of a gold tag sequence; at temperature zero the best path is found by the hard recursion
and enters the loss with its score, as in structured perceptron training.
"""

import numpy as np

ARGNUMS = (0, 1)


def log_sum_exp(values):
    top = max(values)
    return top + np.log(sum(np.exp(v - top) for v in values))


def soft_viterbi(emissions, transitions, temperature):
    length, tags = emissions.shape
    score = list(emissions[0])
    for t in range(1, length):
        new_score = []
        for tag in range(tags):
            candidates = [
                (score[before] + transitions[before, tag]) / temperature for before in range(tags)
            ]
            new_score.append(temperature * log_sum_exp(candidates) + emissions[t, tag])
        score = new_score
    return temperature * log_sum_exp([s / temperature for s in score])


def hard_viterbi(emissions, transitions):
    length, tags = emissions.shape
    score = emissions[0].copy()
    pointers = np.zeros((length, tags), dtype=int)
    for t in range(1, length):
        total = score[:, None] + transitions
        pointers[t] = np.argmax(total, axis=0)
        score = total[pointers[t], np.arange(tags)] + emissions[t]
    best = [int(np.argmax(score))]
    for t in range(length - 1, 0, -1):
        best.append(int(pointers[t, best[-1]]))
    return score.max(), best[::-1]


def path_score(emissions, transitions, path):
    total = emissions[0, path[0]]
    for t, tag in enumerate(path[1:], start=1):
        total += transitions[path[t - 1], tag] + emissions[t, tag]
    return total


def program(emissions, transitions, gold, temperature=0.7):
    soft = soft_viterbi(emissions, transitions, temperature)
    hard, best = hard_viterbi(emissions, transitions)
    truth = path_score(emissions, transitions, gold)
    mistakes = sum(a != b for a, b in zip(best, gold, strict=True))
    margin = mistakes + path_score(emissions, transitions, best) - truth
    loss = soft - truth
    if margin > 0:
        loss += 0.5 * margin**2
    return loss + 0.1 * hard


def inputs(size=None):
    length = size or 10
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 4, length).tolist()
    return 2 * rng.standard_normal((length, 4)), rng.standard_normal((4, 4)), gold, 0.7
