"""A character-level recurrent network with its parameters in a dict: the loss of predicting each
next character of a text, with a decayed penalty on the parameters."""

import numpy as np


def log_softmax(logits):
    shifted = logits - np.max(logits)
    return shifted - np.log(np.sum(np.exp(shifted)))


def rnn_step(params, h, index):
    h_new = params["Wxh"][index] + params["Whh"] @ h + params["bh"]
    return np.tanh(h_new)


def program(params, text):
    vocabulary = sorted(set(text))
    char_to_index = {c: i for i, c in enumerate(vocabulary)}
    h = np.zeros(len(params["bh"]))
    loss = 0.0
    counts = {}
    for current, following in zip(text, text[1:], strict=False):  # noqa: RUF007
        i = char_to_index[current]
        target = char_to_index[following]
        h = rnn_step(params, h, i)
        if current == "\n":
            h = h * 0.0
            continue
        logits = np.dot(params["Why"], h) + params["by"]
        # frequent characters count less
        counts[following] = counts.get(following, 0) + 1
        loss -= log_softmax(logits)[target] / counts[following]
    loss /= len(text) - 1
    for name, p in params.items():
        if not name.startswith("b"):
            loss += 1e-3 * np.sum(p**2)
    return loss


def inputs(size=None):
    text = "hello world\nfair is foul and foul is fair"
    if size is not None:
        text = (text * (size // len(text) + 1))[:size]
    n, hidden = len(set(text)), 8
    rng = np.random.default_rng(0)
    params = {
        "Wxh": 0.3 * rng.normal(size=(n, hidden)),
        "Whh": 0.3 * rng.normal(size=(hidden, hidden)),
        "Why": 0.3 * rng.normal(size=(n, hidden)),
        "bh": 0.1 * rng.normal(size=hidden),
        "by": 0.1 * rng.normal(size=n),
    }
    return params, text
