"""Train a two-layer network on 1,797 handwritten digits, in plain NumPy.

    pip install '.[examples]' && python examples/digits.py

The loss is ordinary NumPy; `@value_and_grad` writes its gradient, which is printed first.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

from srcgrad import value_and_grad


@value_and_grad
def loss(params, x, y, decay):
    """Cross entropy of the labels `y` (one row of a unit matrix each), and weight decay."""
    hidden = np.maximum(x @ params["W1"] + params["b1"], 0)
    logits = hidden @ params["W2"] + params["b2"]
    logits = logits - logits.max(axis=1, keepdims=True)
    entropy = np.log(np.exp(logits).sum(axis=1)) - (logits * y).sum(axis=1)
    return entropy.mean() + decay * ((params["W1"] ** 2).sum() + (params["W2"] ** 2).sum())


def predict(params, x):
    hidden = np.maximum(x @ params["W1"] + params["b1"], 0)
    return (hidden @ params["W2"] + params["b2"]).argmax(axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=128)
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    images, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    train, test = order[:1437], order[1437:]
    images = images / 16
    targets = np.eye(10)[labels]

    params = {
        "W1": rng.normal(size=(64, options.hidden)) * np.sqrt(2 / 64),
        "b1": np.zeros(options.hidden),
        "W2": rng.normal(size=(options.hidden, 10)) * np.sqrt(2 / options.hidden),
        "b2": np.zeros(10),
    }
    first = {k: np.zeros_like(p) for k, p in params.items()}  # Adam's moments
    second = {k: np.zeros_like(p) for k, p in params.items()}

    loss(params, images[train[: options.batch]], targets[train[: options.batch]], 1e-4)
    print(loss.source)

    step = 0
    progress = tqdm(range(options.epochs), unit="epoch")
    for _ in progress:
        values = []
        for batch in np.array_split(rng.permutation(train), len(train) // options.batch):
            value, gradient = loss(params, images[batch], targets[batch], 1e-4)
            values.append(value)
            step += 1
            for k, g in gradient.items():
                first[k] += 0.1 * (g - first[k])
                second[k] += 0.001 * (g * g - second[k])
                size = np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8
                params[k] -= 0.002 * first[k] / (1 - 0.9**step) / size
        progress.set_postfix(loss=f"{np.mean(values):.4f}")

    for name, part in (("training", train), ("test", test)):
        accuracy = np.mean(predict(params, images[part]) == labels[part])
        print(f"{name} accuracy: {accuracy:.2%} of {len(part)} digits")


if __name__ == "__main__":
    main()
