"""A queue with several servers, customer by customer: named tuples for the customers, a deque for
those who wait; the cost weighs waiting, idle servers and staff."""

from collections import deque, namedtuple

import numpy as np

ARGNUMS = (0, 1, 2)

Customer = namedtuple("Customer", ["number", "arrival", "service"])


def customers(gaps, services, rate):
    clock = 0.0
    for number, (gap, service) in enumerate(zip(gaps, services, strict=True)):
        clock += gap / rate
        yield Customer(number, clock, service)


def simulate(people, n_servers, patience):
    free_at = [0.0] * n_servers
    waiting = deque(people)
    waits = {}
    idle = 0.0
    while waiting:
        customer = waiting.popleft()
        server = min(range(n_servers), key=free_at.__getitem__)
        start = max(customer.arrival, free_at[server])
        wait = start - customer.arrival
        if wait > patience:
            if customer.number % 3:
                continue  # gives up
            # asks for a shorter service
            customer = customer._replace(service=0.5 * customer.service)
        idle += start - free_at[server]
        free_at[server] = start + customer.service
        waits[customer.number] = wait
    return waits, idle, max(free_at)


def program(gaps, services, rate, n_servers, patience):
    people = list(customers(gaps, services, rate))
    waits, idle, end = simulate(people, n_servers, patience)
    waited = np.array([w for w in waits.values() if w > 0])
    lost = len(people) - len(waits)
    return np.sum(waited**2) + 0.5 * idle + 0.1 * end * n_servers + 3.0 * lost


def inputs(size=None):
    n = 25 if size is None else size
    rng = np.random.default_rng(0)
    return rng.exponential(1.0, size=n), rng.exponential(1.8, size=n), 1.1, 2, 1.0
