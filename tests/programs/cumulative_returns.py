"""Back-test of a trading strategy: moving-average signal, costs, equity curve; the score joins the
final wealth, the Sharpe ratio and the maximum drawdown."""

import numpy as np

ARGNUMS = (0, 1, 2)


def moving_average(prices, window):
    sums = np.cumsum(prices)
    sums[window:] = sums[window:] - sums[:-window]
    return sums[window - 1 :] / window


def max_drawdown(equity):
    peak = equity[0]
    worst = 0.0
    for value in equity:
        if value > peak:
            peak = value
        drawdown = (peak - value) / peak
        worst = max(worst, drawdown)
    return worst


def sharpe(returns):
    deviation = returns.std()
    if deviation == 0:
        return 0.0
    return returns.mean() / deviation * np.sqrt(252)


def backtest(log_returns, cost, leverage, short=3, long=8):
    prices = 100.0 * np.exp(np.cumsum(log_returns))
    fast = moving_average(prices, short)[long - short :]
    slow = moving_average(prices, long)
    returns = prices[long:] / prices[long - 1 : -1] - 1.0
    position = 0.0
    strategy = []
    for t, r in enumerate(returns):
        wanted = leverage * np.tanh(50.0 * (fast[t] / slow[t] - 1.0))
        traded = abs(wanted - position)
        position = wanted
        strategy.append(position * r - cost * traded)
    return np.array(strategy)


def program(log_returns, cost, leverage):
    strategy = backtest(log_returns, cost, leverage)
    equity = np.cumprod(1.0 + strategy)
    if equity.min() <= 0:
        return -1.0
    return np.log(equity[-1]) + 0.1 * sharpe(strategy) - 2.0 * max_drawdown(equity)


def inputs(size=None):
    n = 40 if size is None else size
    rng = np.random.default_rng(0)
    return 0.001 + 0.02 * rng.normal(size=n), 0.002, 1.5
