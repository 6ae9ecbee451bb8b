"""Models with structure: recurrence, mixtures, convolutions, geometry, spectra."""

from __future__ import annotations

import numpy as np

from benchmarks.workloads.base import Workload, integers, normal, sizes, uniform


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(wx, wh, b, xs):
    """Mean square of the hidden states of a long short-term memory, over a batch of sequences."""
    n = wh.shape[0]
    h = np.zeros((xs.shape[1], n))
    c = np.zeros((xs.shape[1], n))
    total = 0.0
    for x in xs:
        z = x @ wx + h @ wh + b
        i = _sigmoid(z[:, :n])
        f = _sigmoid(z[:, n : 2 * n])
        o = _sigmoid(z[:, 2 * n : 3 * n])
        g = np.tanh(z[:, 3 * n :])
        c = f * c + i * g
        h = o * np.tanh(c)
        total = total + np.sum(h * h)
    return total / (len(xs) * h.size)


def lstm_gradient(wx, wh, b, xs):
    """By hand: the three sigmoids as one, and the weights' sums over time as one product each."""
    steps, batch, features = xs.shape
    n = wh.shape[0]
    gates = (xs.reshape(-1, features) @ wx).reshape(steps, batch, 4 * n)
    gates += b
    hs = np.zeros((steps + 1, batch, n))
    cs = np.zeros((steps + 1, batch, n))
    tanh_cs = np.empty((steps, batch, n))
    for t in range(steps):
        z = gates[t]
        if t:
            z += hs[t] @ wh
        s, g = z[:, : 3 * n], z[:, 3 * n :]
        np.negative(s, out=s)
        np.exp(s, out=s)
        s += 1.0
        np.reciprocal(s, out=s)
        np.tanh(g, out=g)
        c = cs[t + 1]
        np.multiply(s[:, n : 2 * n], cs[t], out=c)
        c += s[:, :n] * g
        tanh_c = np.tanh(c, out=tanh_cs[t])
        np.multiply(s[:, 2 * n :], tanh_c, out=hs[t + 1])

    scale = 2 / (steps * batch * n)
    d_zs = np.empty_like(gates)
    d_h = scale * hs[steps]
    d_c = np.zeros((batch, n))
    for t in range(steps - 1, -1, -1):
        z, d_z, tanh_c = gates[t], d_zs[t], tanh_cs[t]
        s, i, f, o, g = z[:, : 3 * n], z[:, :n], z[:, n : 2 * n], z[:, 2 * n : 3 * n], z[:, 3 * n :]
        np.multiply(d_h, tanh_c, out=d_z[:, 2 * n : 3 * n])
        d_h *= o
        tanh_c *= tanh_c
        np.subtract(1.0, tanh_c, out=tanh_c)
        d_h *= tanh_c
        d_c += d_h
        np.multiply(d_c, g, out=d_z[:, :n])
        np.multiply(d_c, cs[t], out=d_z[:, n : 2 * n])
        d_g = np.multiply(d_c, i, out=d_z[:, 3 * n :])
        d_c *= f
        d_s = d_z[:, : 3 * n]
        d_s *= s
        np.subtract(1.0, s, out=s)
        d_s *= s
        g *= g
        np.subtract(1.0, g, out=g)
        d_g *= g
        if t:
            d_h = d_z @ wh.T
            d_h += scale * hs[t]
    d_zs = d_zs.reshape(-1, 4 * n)
    d_wx = xs.reshape(-1, features).T @ d_zs
    d_wh = hs[:-1].reshape(-1, n).T @ d_zs
    return d_wx, d_wh, d_zs.sum(axis=0)


def gaussian_mixture(log_weights, means, log_sigmas, x):
    """Log-likelihood of points under a mixture of normal distributions."""
    z = (x[:, None, :] - means) * np.exp(-log_sigmas)
    terms = log_weights - np.sum(log_sigmas, axis=1) - 0.5 * np.sum(z * z, axis=2)
    m = np.max(terms, axis=1, keepdims=True)
    per_point = m[:, 0] + np.log(np.sum(np.exp(terms - m), axis=1))
    return np.sum(per_point) - len(x) * np.log(np.sum(np.exp(log_weights)))


def gaussian_mixture_gradient(log_weights, means, log_sigmas, x):
    """By hand: everything is a sum weighted by ``p``, each component's share in each point."""
    n = len(x)
    precision = np.exp(-log_sigmas)
    z = x[:, None, :] - means
    z *= precision
    square = z * z
    p = square.sum(axis=2)
    p *= -0.5
    p += log_weights - log_sigmas.sum(axis=1)
    p -= p.max(axis=1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(axis=1, keepdims=True)
    counts = p.sum(axis=0)
    # one row times one matrix for each component
    rows = p.T[:, None, :]
    d_means = (rows @ z.transpose(1, 0, 2))[:, 0]
    d_means *= precision
    d_log_sigmas = (rows @ square.transpose(1, 0, 2))[:, 0]
    d_log_sigmas -= counts[:, None]
    weights = np.exp(log_weights)
    counts -= weights * (n / weights.sum())
    return counts, d_means, d_log_sigmas


def k_means(centres, x):
    """The sum of the squared distances to the nearest centre."""
    d = x[:, None, :] - centres
    return np.sum(np.min(np.sum(d * d, axis=2), axis=1))


def k_means_gradient(centres, x):
    """By hand: each centre, as often as it is nearest, minus the points it is nearest to."""
    nearest = _nearest_centre(centres, x)
    k = len(centres)
    d_centres = np.bincount(nearest, minlength=k)[:, None] * centres
    for j, column in enumerate(x.T):
        d_centres[:, j] -= np.bincount(nearest, column, k)
    d_centres *= 2.0
    return d_centres


def k_means_hvp(centres, x, v):
    """The Hessian times `v`, by hand: it is diagonal, twice the number of points of each centre."""
    return (2.0 * np.bincount(_nearest_centre(centres, x), minlength=len(centres)))[:, None] * v


def _nearest_centre(centres, x):
    d = x[:, None, :] - centres
    d *= d
    return d.sum(axis=2).argmin(axis=1)


def convolution(kernel, image):
    """Mean square of a rectified convolution, as a loop over the kernel."""
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    out = np.zeros((rows, columns))
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            out += kernel[i, j] * image[i : i + rows, j : j + columns]
    return np.mean(np.maximum(out, 0.0) ** 2)


def convolution_gradient(kernel, image):
    """By hand."""
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    out = np.zeros((rows, columns))
    t = np.empty((rows, columns))
    weights = kernel.tolist()
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            np.multiply(image[i : i + rows, j : j + columns], weight, out=t)
            out += t
    np.maximum(out, 0.0, out=out)
    out *= 2 / out.size
    d_kernel = np.empty_like(kernel)
    d_image = np.zeros(image.shape, image.dtype)
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            window = slice(i, i + rows), slice(j, j + columns)
            d_kernel[i, j] = np.einsum("ij,ij->", out, image[window])
            np.multiply(out, weight, out=t)
            d_window = d_image[window]
            d_window += t
    return d_kernel, d_image


def bundle_adjustment(cameras, points, weights, camera_of, point_of, seen):
    """Weighted squared error of where cameras see points.

    A camera is a rotation vector, a centre, a focal length, a principal point and two coefficients
    of radial distortion: eleven numbers.
    """
    camera = cameras[camera_of]
    rotation = camera[:, 0:3]
    x = points[point_of] - camera[:, 3:6]
    angle = np.sqrt(np.sum(rotation * rotation, axis=1, keepdims=True))
    axis = rotation / angle
    along = axis * np.sum(axis * x, axis=1, keepdims=True)
    turned = x * np.cos(angle) + np.cross(axis, x) * np.sin(angle) + along * (1 - np.cos(angle))
    p = turned[:, :2] / turned[:, 2:]
    square = np.sum(p * p, axis=1, keepdims=True)
    p = p * (1 + camera[:, 9:10] * square + camera[:, 10:11] * square * square)
    error = p * camera[:, 6:7] + camera[:, 7:9] - seen
    return 0.5 * np.sum((weights[:, None] * error) ** 2)


def bundle_adjustment_gradient(cameras, points, weights, camera_of, point_of, seen):
    """By hand, the eleven and the three components first, so that each is contiguous."""
    camera = cameras.T.take(camera_of, axis=1)
    x = points.T.take(point_of, axis=1)
    x -= camera[3:6]
    axis = camera[0:3]
    angle = np.sqrt((axis * axis).sum(axis=0))
    axis = axis / angle
    cos, sin = np.cos(angle), np.sin(angle)
    one_minus_cos = 1 - cos
    dot = (axis * x).sum(axis=0)
    cross = _cross(axis, x)
    turned = x * cos
    turned += cross * sin
    turned += axis * (dot * one_minus_cos)
    z = turned[2]
    p = turned[:2] / z
    square = (p * p).sum(axis=0)
    distortion = camera[10] * square
    slope = 2.0 * distortion
    slope += camera[9]
    distortion += camera[9]
    distortion *= square
    distortion += 1.0
    distorted = p * distortion
    error = distorted * camera[6]
    error += camera[7:9]
    error -= seen.T

    d_camera = np.empty_like(camera)
    d_error = error * weights
    error *= d_error
    d_weights = error.sum(axis=0)
    d_error *= weights
    d_camera[7:9] = d_error
    distorted *= d_error
    distorted.sum(axis=0, out=d_camera[6])
    d_error *= camera[6]
    d_distortion = (d_error * p).sum(axis=0)
    np.multiply(d_distortion, square, out=d_camera[9])
    np.multiply(d_camera[9], square, out=d_camera[10])
    d_error *= distortion
    slope *= d_distortion
    slope *= 2.0
    d_error += p * slope
    d_turned = np.empty_like(turned)
    np.divide(d_error, z, out=d_turned[:2])
    p *= d_turned[:2]
    np.negative(p.sum(axis=0), out=d_turned[2])

    d_dot = (d_turned * axis).sum(axis=0)
    d_angle = (d_turned * x).sum(axis=0)
    d_angle -= d_dot * dot
    d_angle *= sin
    np.subtract((d_turned * cross).sum(axis=0) * cos, d_angle, out=d_angle)
    d_dot *= one_minus_cos
    dot *= one_minus_cos
    d_axis = _cross(x, d_turned)
    d_axis *= sin
    d_axis += d_turned * dot
    d_axis += x * d_dot
    d_x = _cross(d_turned, axis)
    d_x *= sin
    d_turned *= cos
    d_x += d_turned
    d_x += axis * d_dot
    d_axis /= angle
    d_angle -= (d_axis * axis).sum(axis=0)
    axis *= d_angle
    np.add(d_axis, axis, out=d_camera[0:3])
    np.negative(d_x, out=d_camera[3:6])
    return _scatter(d_camera, camera_of, cameras), _scatter(d_x, point_of, points), d_weights


def _cross(a, b):
    out = a[[1, 2, 0]]
    out *= b[[2, 0, 1]]
    out -= a[[2, 0, 1]] * b[[1, 2, 0]]
    return out


def _scatter(columns, index, like):
    """Sums of the columns that belong to the same row of `like`, faster than np.add.at."""
    out = np.empty_like(like)
    for j, values in enumerate(columns):
        out[:, j] = np.bincount(index, values, len(like))
    return out


def spectral_filter(gain, signal, target):
    """Squared error of a signal whose frequencies have been amplified each by its own gain."""
    spectrum = np.fft.rfft(signal)
    filtered = np.fft.irfft(gain * spectrum, len(signal))
    return np.sum((filtered - target) ** 2)


def spectral_filter_gradient(gain, signal, target):
    """By hand: the filter is symmetric, its own adjoint in `signal`."""
    n = len(signal)
    spectrum = np.fft.rfft(signal)
    d_filtered = np.fft.irfft(gain * spectrum, n)
    d_filtered -= target
    d_filtered *= 2.0
    d_spectrum = np.fft.rfft(d_filtered)
    d_gain = d_spectrum.real * spectrum.real
    d_gain += d_spectrum.imag * spectrum.imag
    # all but the constant and, of an even number, the highest frequency stand for two
    d_gain[1 : (n + 1) // 2] *= 2
    d_gain /= n
    d_spectrum *= gain
    return d_gain, np.fft.irfft(d_spectrum, n)


def _lstm_inputs(n):
    features, steps, batch = max(2, n // 2), max(3, n), max(2, n // 2)
    return (
        normal(features, 4 * n) / np.sqrt(features),
        normal(n, 4 * n) / np.sqrt(n),
        normal(4 * n),
        normal(steps, batch, features),
    )


def _mixture_inputs(n):
    k, d = (3, 2) if n < 100 else (10, 8)
    return normal(k), normal(k, d), 0.3 * normal(k, d, seed=1), 1.5 * normal(n, d)


def _k_means_inputs(n):
    k, d = (3, 2) if n < 100 else (10, 8)
    return normal(k, d), normal(n, d, seed=1)


def _convolution_inputs(n):
    kernel = 3 if n < 100 else 5
    return normal(kernel, kernel), normal(n, n + 1)


def _bundle_inputs(n):
    cameras, points = max(2, n // 500), max(3, n // 10)
    bounds = [
        *[(0.2, 0.6)] * 3,
        *[(-0.5, 0.5)] * 3,
        (0.8, 1.2),
        *[(-0.1, 0.1)] * 4,
    ]
    columns = [uniform(low, high, cameras, seed=i) for i, (low, high) in enumerate(bounds)]
    return (
        np.stack(columns, axis=1),
        uniform(-1, 1, points, 3) + np.array([0, 0, 5.0]),
        uniform(0.5, 1.5, n),
        integers(cameras, n),
        integers(points, n, seed=1),
        uniform(-0.5, 0.5, n, 2),
    )


WORKLOADS = (
    Workload(
        "lstm",
        lstm,
        lstm_gradient,
        _lstm_inputs,
        sizes(3, 32, 128),
        argnums=(0, 1, 2),
        by_hand_differs="the weights' sums over time as one product each",
    ),
    Workload(
        "gaussian mixture",
        gaussian_mixture,
        gaussian_mixture_gradient,
        _mixture_inputs,
        sizes(8, 500, 50_000),
        argnums=(0, 1, 2),
        by_hand_differs="products with matrices in place of sums of products",
    ),
    Workload(
        "k-means",
        k_means,
        k_means_gradient,
        _k_means_inputs,
        sizes(10, 500, 50_000),
        hvp_by_hand=k_means_hvp,
        by_hand_differs="bincount in place of a mask",
    ),
    Workload(
        "convolution",
        convolution,
        convolution_gradient,
        _convolution_inputs,
        sizes(6, 128, 1_500),
        argnums=(0, 1),
    ),
    Workload(
        "bundle adjustment",
        bundle_adjustment,
        bundle_adjustment_gradient,
        _bundle_inputs,
        sizes(8, 1_000, 100_000),
        argnums=(0, 1, 2),
        by_hand_differs="the components first, so that each is contiguous",
    ),
    Workload(
        "spectral filter",
        spectral_filter,
        spectral_filter_gradient,
        lambda n: (normal(n // 2 + 1), normal(n), normal(n, seed=1)),
        sizes(12, 16_384, 1_048_576),
        argnums=(0, 1),
        by_hand_differs="the filter is its own adjoint",
    ),
)
