"""Geodesic distances over a height field: Dijkstra's algorithm on the grid of an elevation map
(with climbing harder than descending), from one corner to several goals."""

import math

import numpy as np

ARGNUMS = (0, 1, 2)

NEIGHBOURS = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)]


def neighbours(node, shape):
    row, column = node
    for dr, dc in NEIGHBOURS:
        r, c = row + dr, column + dc
        if 0 <= r < shape[0] and 0 <= c < shape[1]:
            yield r, c


def edge_length(heights, a, b, spacing, effort):
    rise = heights[b] - heights[a]
    run = spacing * math.hypot(b[0] - a[0], b[1] - a[1])
    length = np.sqrt(run**2 + rise**2)
    if rise > 0:
        length += effort * rise**2
    return length


def dijkstra(heights, source, goals, spacing, effort):
    distance = {source: 0.0}
    parent = {}
    done = set()
    waiting = set(goals)
    while waiting:
        node = min((n for n in distance if n not in done), key=lambda n: distance[n])
        done.add(node)
        waiting.discard(node)
        for other in neighbours(node, heights.shape):
            if other in done:
                continue
            candidate = distance[node] + edge_length(heights, node, other, spacing, effort)
            if other not in distance or candidate < distance[other]:
                distance[other] = candidate
                parent[other] = node
    return distance, parent


def path_to(goal, parent):
    path = [goal]
    while path[-1] in parent:
        path.append(parent[path[-1]])
    return path[::-1]


def program(heights, spacing, effort, goals):
    distance, parent = dijkstra(heights, (0, 0), goals, spacing, effort)
    total = 0.0
    for k, goal in enumerate(goals):
        total += distance[goal] / (k + 1)
    path = path_to(goals[0], parent)
    return total**2 + 0.1 * sum(heights[node] for node in path)


def inputs(size=None):
    n = 5 if size is None else size
    rng = np.random.default_rng(0)
    return rng.uniform(0.0, 2.0, size=(n, n)), 1.1, 0.6, [(n - 1, n - 1), (n - 1, 0), (1, n - 2)]
