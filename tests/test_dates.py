"""Dates and durations beside what is differentiated: schedules, rates, interpolation."""

from datetime import date, datetime, timedelta

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs

START, HALF, END = datetime(2022, 1, 1), datetime(2022, 7, 1), datetime(2023, 1, 1)
YEAR = timedelta(days=365)


def ratio_of_durations(x):
    return x[0] + (x[1] - x[0]) * ((HALF - START) / (END - START))


def attributes_of_what_was_computed(x):
    long = timedelta(days=3)
    total = long.days * x[0] ** 2 + long.total_seconds() / 86400 * x[1]
    if long > timedelta(days=1):
        total = total * 2
    longer = long * 2 + timedelta(hours=1)
    return total + x[2] ** 2 * (longer / timedelta(days=1)) + (-long).days * x[1] ** 2


def duration_that_grows(x):
    total, elapsed = 0.0, timedelta()
    for k in range(5):
        elapsed += timedelta(days=k)
        total += x[0] ** 2 * elapsed.days + x[1] ** (elapsed / timedelta(days=10))
    return total


def date_that_goes_on(x):
    day, total = START, 0.0
    while day < START + timedelta(days=10):
        total += x[0] * np.sin(day.day * x[1])
        day = day + timedelta(days=2)
    return total


def dates_as_keys(x):
    rates = {}
    for k in range(5):
        month = (START + timedelta(days=31 * k)).date()
        rates[month] = rates.get(month, 0.0) + x[0] * k * x[1]
    return sum(rates.values()) * x[2]


def between_dates(x):
    rates = {date(2022, 1, 1): x[0] ** 2, date(2022, 6, 1): x[1] * x[2]}
    days = sorted(rates)
    day = date(2022, 3, 1)
    share = (day - days[0]) / (days[1] - days[0])
    return rates[days[0]] * (1 - share) + rates[days[1]] * share


class Flow:
    def __init__(self, when, amount):
        self.when, self.amount = when, amount

    def value(self, rate):
        return self.amount / (1 + rate) ** ((self.when - START) / YEAR)


def flows_of_which_the_run_tells_how_many(x):
    flows = []
    for k in range(6):
        if x[0] * k < 1.4:
            when = datetime(2022, 1, 1 + k) + k * timedelta(days=182)
            flows.append(Flow(when, x[1] + k))
    return sum(flow.value(x[2]) for flow in flows)


@pytest.mark.parametrize("f", programs(globals()))
def test_gradient_matches_differences(f):
    check(f)


def number_by_duration(x):
    return x[0] + (x[1] - x[0]) * (HALF - START) / (END - START)


def durations_made_here(x):
    return x[0] * timedelta(days=181) / timedelta(days=365)


def durations_in_a_loop(x):
    days = [datetime(2022, 7, day) - START for day in (1, 2)]
    return sum(v * day / (datetime(2023, 1, 1) - START) for v, day in zip(x, days, strict=False))


def duration_of_a_number(x):
    return x[0] * ((START + x[1] * YEAR - HALF) / timedelta(days=1))


@pytest.mark.parametrize(
    "f", [number_by_duration, durations_made_here, durations_in_a_loop, duration_of_a_number]
)
def test_numbers_times_durations_are_refused(f):
    message = "numbers with a timedelta has no derivative\ndivide it by another one first"
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(X)
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.jvp(f, (X,), (X,))
