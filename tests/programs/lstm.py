"""A character-level LSTM: cross entropy of a sequence under the model, gates cut from one product.

States are kept in dicts indexed by time, as in the much-copied minimal implementations.
"""

import numpy as np

ARGNUMS = (0,)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step(x, h_prev, c_prev, p):
    H = h_prev.shape[0]
    z = np.vstack((h_prev, x))
    gates = np.dot(p["W"], z) + p["b"]
    f = sigmoid(gates[0:H])
    i = sigmoid(gates[H : 2 * H])
    o = sigmoid(gates[2 * H : 3 * H])
    c_bar = np.tanh(gates[3 * H :])
    c = f * c_prev + i * c_bar
    h = o * np.tanh(c)
    return h, c


def program(params, text, targets):
    hidden = params["b"].shape[0] // 4
    vocabulary = params["V"].shape[0]
    hs, cs, ps = {}, {}, {}
    hs[-1] = np.zeros((hidden, 1))
    cs[-1] = np.zeros((hidden, 1))
    loss = 0
    for t in range(len(text)):
        x = np.zeros((vocabulary, 1))
        x[text[t]] = 1
        hs[t], cs[t] = lstm_step(x, hs[t - 1], cs[t - 1], params)
        y = np.dot(params["V"], hs[t]) + params["c"]
        ps[t] = np.exp(y) / np.sum(np.exp(y))
        loss += -np.log(ps[t][targets[t], 0])
    return loss / len(text)


def inputs(size=None):
    length = size or 12
    hidden, vocabulary = 6, 5
    rng = np.random.default_rng(0)
    params = {
        "W": 0.4 * rng.standard_normal((4 * hidden, hidden + vocabulary)),
        "b": 0.1 * rng.standard_normal((4 * hidden, 1)),
        "V": rng.standard_normal((vocabulary, hidden)),
        "c": np.zeros((vocabulary, 1)),
    }
    text = [int(k) for k in rng.integers(0, vocabulary, length + 1)]
    return params, text[:-1], text[1:]
