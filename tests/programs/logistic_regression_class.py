"""Logistic regression as a class with a fit loop; the program trains it and returns the loss on
held-out data, as a function of the data, the starting weights and the hyperparameters."""

import numpy as np

ARGNUMS = (0, 2, 4, 5, 6)


class LogisticRegression:
    def __init__(self, w0, learning_rate=0.1, l2=0.01, n_iterations=10):
        self.weights = w0.copy()
        self.bias = 0.0
        self.learning_rate = learning_rate
        self.l2 = l2
        self.n_iterations = n_iterations
        self.losses = []

    @staticmethod
    def sigmoid(z):
        return 1.0 / (1.0 + np.exp(-z))

    @property
    def penalty(self):
        return 0.5 * self.l2 * np.sum(self.weights**2)

    def predict_proba(self, X):
        return self.sigmoid(X @ self.weights + self.bias)

    def loss(self, X, y):
        p = self.predict_proba(X)
        return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)) + self.penalty

    def fit(self, X, y):
        n_samples = X.shape[0]
        for iteration in range(self.n_iterations):
            error = self.predict_proba(X) - y
            dw = X.T.dot(error) / n_samples + self.l2 * self.weights
            db = np.sum(error) / n_samples
            self.weights -= self.learning_rate * dw
            self.bias -= self.learning_rate * db
            if iteration % 5 == 0:
                self.learning_rate *= 0.9
                self.losses.append(self.loss(X, y))
        return self


def program(X, y, X_test, y_test, w0, learning_rate, l2):
    model = LogisticRegression(w0, learning_rate, l2=l2)
    model.fit(X, y)
    return model.loss(X_test, y_test) + 0.1 * sum(model.losses)


def inputs(size=None):
    n = 20 if size is None else size
    rng = np.random.default_rng(0)
    w = rng.normal(size=4)
    X, X_test = rng.normal(size=(n, 4)), rng.normal(size=(n, 4))
    y = (X @ w + 0.5 * rng.normal(size=n) > 0).astype(float)
    y_test = (X_test @ w > 0).astype(float)
    return X, y, X_test, y_test, 0.1 * rng.normal(size=4), 0.5, 0.02
