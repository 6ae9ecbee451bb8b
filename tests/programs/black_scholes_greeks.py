"""Black-Scholes prices and Greeks with the math module for a small book of options, and the
implied volatility of a quote by Newton's method; the result is a hedging cost."""

import math

import numpy as np

ARGNUMS = (0, 1, 2, 3)


def normal_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def normal_pdf(x):
    return math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def black_scholes(S, K, T, r, sigma, kind="call"):
    root = sigma * math.sqrt(T)
    d1 = (math.log(S / K) + (r + 0.5 * sigma**2) * T) / root
    d2 = d1 - root
    discount = math.exp(-r * T)
    sign = 1.0 if kind == "call" else -1.0
    Nd1, Nd2 = normal_cdf(sign * d1), normal_cdf(sign * d2)
    return {
        "price": sign * (S * Nd1 - K * discount * Nd2),
        "delta": sign * Nd1,
        "gamma": normal_pdf(d1) / (S * root),
        "vega": S * normal_pdf(d1) * math.sqrt(T),
        "theta": -S * normal_pdf(d1) * sigma / (2 * math.sqrt(T)) - sign * r * K * discount * Nd2,
    }


def implied_volatility(quote, S, K, T, r):
    sigma = 0.3
    while True:
        greeks = black_scholes(S, K, T, r, sigma)
        difference = greeks["price"] - quote
        sigma -= difference / greeks["vega"]
        if abs(difference) < 1e-11:
            return sigma


def program(spot, rate, quote, strikes, book):
    sigma = implied_volatility(quote, spot, strikes[0], 1.0, rate)
    totals = dict.fromkeys(("price", "delta", "gamma", "vega", "theta"), 0.0)
    for position, (kind, maturity, quantity) in enumerate(book):
        K = strikes[position % len(strikes)]
        skew = sigma * (1.0 + 0.1 * math.log(K / spot) ** 2)
        greeks = black_scholes(spot, K, maturity, rate, skew, kind=kind)
        for name in totals:
            totals[name] += quantity * greeks[name]
    hedge = totals["price"] - totals["delta"] * spot
    return (
        0.1 * hedge
        + 50.0 * totals["gamma"] ** 2
        + 0.01 * totals["vega"]
        + 0.1 * math.fabs(totals["theta"])
    )


def inputs(size=None):
    n = 6 if size is None else size
    rng = np.random.default_rng(0)
    book = []
    for k in range(n):
        kind = "put" if k % 2 else "call"
        book.append((kind, float(rng.uniform(0.3, 2.0)), float(rng.uniform(-3.0, 5.0))))
    return 100.0, 0.03, 11.0, [98.0, 105.0, 110.0], book
